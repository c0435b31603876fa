"""Lines for a terminal: words that fit its width, and colours; nothing here takes long to load."""
