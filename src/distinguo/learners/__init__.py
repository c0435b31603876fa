"""Learners: what a learner is, the paper's (``economy``), and others, each in a package of its own."""
