"""Search among maps: a map and its five moves, trials of maps from common starts, and races on them."""
