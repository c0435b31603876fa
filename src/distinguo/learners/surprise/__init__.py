"""The non-active learner by surprise (section 5.4): it needs nothing but trials."""
