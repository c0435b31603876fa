"""Agents with the interface of Stable-Baselines3, and representations for other agents."""
