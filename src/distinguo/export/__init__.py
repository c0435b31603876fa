"""Controllers for others: a learned run as a C header, JSON, a graph or plain arrays."""
