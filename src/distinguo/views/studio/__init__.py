"""The studio: a small web server on this machine, and its page."""
