"""Tasks to learn: what a task is, the tasks we ship, and any Gymnasium environment."""
