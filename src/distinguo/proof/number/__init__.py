"""Numbers that stand for sets: a task's own program runs over them, for many cells at once."""
