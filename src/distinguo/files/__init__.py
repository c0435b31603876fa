"""Files: written whole or not at all, held by one process at a time, read with care."""
