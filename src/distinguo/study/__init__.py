"""Comparisons of representations: plans, engines, curves."""
