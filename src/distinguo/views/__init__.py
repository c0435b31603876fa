"""Pictures of runs: as values, as pixels, as text."""
