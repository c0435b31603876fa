"""Runs: what is asked, the stages, the folder of a run."""
