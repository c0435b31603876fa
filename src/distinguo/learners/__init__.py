"""Learners: what a learner is, the paper's (``economy``), ``sweeping`` for exact categories, and a critic."""
