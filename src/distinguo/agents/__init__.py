"""Agents in the habits of the ecosystem, and representations for the agents of others."""
