"""A representation of your own: a function of a task and a seed that builds a partition for it.

distinguo test examples/own_representation.py:scattered grid:5x5 --runs 2 --cap 10000
"""

import numpy as np

import distinguo as dg
from distinguo.controls import build_representation
from distinguo.representations.voronoi import voronoi
from distinguo.tasks.catalog import task_spec


@dg.representation("scattered", usage="scattered:25")
def scattered(spec, seed, count):
    """Scatter so many prototypes over the extent of the task, each the heart of a region."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(spec.low, spec.high, (int(count or 25), len(spec.dimensions)))
    return voronoi(points, spec.scale)


if __name__ == "__main__":
    print(build_representation("scattered:40", task_spec("puck"), seed=1).regions, "regions")
