"""Regions in words: where they lie by the coordinates that set them apart, and what is done there."""
