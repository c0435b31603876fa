"""Learning runs: the configuration, the generation stage, restarts, the run folder and its checkpoint."""
