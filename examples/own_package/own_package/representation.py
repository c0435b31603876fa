"""A representation in a package: distinguo test strips:4 diagonal"""

import distinguo as dg


@dg.representation("strips", usage="strips:4")
def strips(spec, seed, count):
    """Cut the first coordinate into strips; all others stay whole."""
    counts = [int(count or 4)] + [1] * (len(spec.dimensions) - 1)
    return dg.grid(counts, spec.low, spec.high)
