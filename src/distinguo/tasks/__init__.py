"""Worlds: what a task is, and the tasks we ship."""
