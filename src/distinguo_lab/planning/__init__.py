"""Policies without any representation: planning afresh at every state, with the task itself as a model."""
