"""The speed of the kernels, compared with C compiled on the spot and with a plain Python loop."""
