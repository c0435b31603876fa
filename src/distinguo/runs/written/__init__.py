"""The files of a run that are read again: its settings."""
