"""The files of a run: what was asked, and what grows while it is learned."""
