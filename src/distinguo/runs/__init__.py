"""Learning runs: what is asked, the generation stage, restarts, the run folder and its checkpoint."""
