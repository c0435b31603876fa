"""Proof instead of simulation: controllers of two-dimensional tasks that never fail (docs/proof.md)."""
