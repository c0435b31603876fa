"""The systems that the paper compares itself with, side by side: one table for each task, and one picture."""
