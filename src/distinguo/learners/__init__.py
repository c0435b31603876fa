"""Learners: what a learner is, the paper's (``economy``) and the adaptive heuristic critic."""
