"""The learner for exact categories: a model of the task, swept by priority, and then made small."""
