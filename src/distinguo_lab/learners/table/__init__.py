"""A fixed table of action values, learned by Q-learning, with or without active investigation (section 5.3)."""
