"""Commands that list what there is: tasks and settings."""
