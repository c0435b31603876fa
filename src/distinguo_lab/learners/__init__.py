"""Learners by others, and older ones: what ours are compared with."""
