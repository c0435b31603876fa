"""Proofs about any declared task: its own program is followed over cells."""
