"""Variable resolution discretization with a known model, after Munos and Moore (2002)."""
