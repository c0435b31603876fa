"""Distinctions on probation: a change of the map is tried where it changes a decision, and kept if it pays."""
