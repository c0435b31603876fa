"""Files that are written: whole or not at all, in folders that one process at a time works in."""
