"""The learner by a learned model (section 5.4): what was experienced is kept, and investigations ask it."""
