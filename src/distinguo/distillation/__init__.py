"""From an existing policy to a small map: fitted to what it does, put on probation, confirmed."""
