"""The paper's case study again: its claims and its figures."""
