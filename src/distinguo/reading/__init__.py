"""Reading files: no code in them is run, and their size is limited."""
