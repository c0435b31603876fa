"""Features of states (Definition 1 in general): tiles, radial bases, perceptrons, and your own functions."""
