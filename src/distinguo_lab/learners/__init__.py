"""Learners by others, for comparison with ours."""
