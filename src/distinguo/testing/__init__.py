"""The judge: a separate learner that puts a representation on trial."""
