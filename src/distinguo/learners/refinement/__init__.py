"""Refinement of a map that solves its task: it is improved and made fit for other learners."""
