"""The studio and the playground in a real browser."""
