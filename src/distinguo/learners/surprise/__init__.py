"""The non-active learner by surprise (section 5.4): nothing is needed of a task but its trials."""
