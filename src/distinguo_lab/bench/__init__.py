"""How fast the kernels are, beside C compiled on the spot and beside what one would write instead."""
