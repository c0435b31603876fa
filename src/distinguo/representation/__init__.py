"""Partitions of the state-space, and the file they are kept in."""
