"""The learner: the paper's Figures 1-6."""
