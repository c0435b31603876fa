"""From a policy that somebody has to a small map: fitted to what it does, then put on probation."""
