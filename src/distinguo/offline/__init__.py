"""Learning from logged transitions: read them, learn in a model of them, and say what they cannot answer."""
