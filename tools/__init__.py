"""Scripts that make documents: references from the code, pictures from runs."""
