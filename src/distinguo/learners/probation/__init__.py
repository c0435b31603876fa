"""Distinctions on probation: changes of a small map that are tried, and kept if they pay."""
