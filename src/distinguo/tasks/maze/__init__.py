"""A maze in the plane."""
