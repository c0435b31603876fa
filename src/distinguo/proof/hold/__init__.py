"""Proofs that a controller never fails."""
