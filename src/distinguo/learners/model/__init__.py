"""The learner by a learned model (section 5.4): experience is stored, and investigations use it."""
