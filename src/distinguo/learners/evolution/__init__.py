"""The learner ``evolution``: an evolution strategy over small maps (docs/evolution.md)."""
