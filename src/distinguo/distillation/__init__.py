"""From an existing policy to a small map: fitted to its actions, put on probation, confirmed."""
