"""Proofs that a controller reaches its goal."""
