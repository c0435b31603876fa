"""Trials of maps and of teachers from numbered starts: compiled, or in environments that run beside each other."""
