"""The paper's learner: Figures 1-6, and the non-active form of section 5.4."""
