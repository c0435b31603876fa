"""Representations by name: plain baselines, those of installed packages, and the door for your own (``catalog``)."""
