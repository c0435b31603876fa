"""Rules of resolution that are "blind with respect to the task requirements" (section 2.1): visits, vigilance.

The paper names them as assumptions about where distinctions matter: "the most frequently-seen areas of state-space
were most important" (Holdaway 1989), and "a new category for the current observation if its best classification is a
poor match" (ART; Carpenter and Grossberg 1988). A third, ``near_start``, is one of the core's baselines; that paths
taken matter most (Moore 1991) is ``vrdp``.
"""

from __future__ import annotations

import math

import numpy as np

from distinguo.controller import Controller
from distinguo.controls.fixed import extent_of_amounts, with_provenance
from distinguo.errors import DistinguoError, shown, whole_number
from distinguo.evaluation.audit import Visits, visited
from distinguo.representations.boxes import grid
from distinguo.representations.file import Representation
from distinguo.representations.voronoi import voronoi
from distinguo.tasks.spec import TaskSpec
from distinguo.tasks.task import observe, seeded

VISITS = 5_000  #: observations of random play that the two rules by visits look at
LONGEST = 10_000  #: steps after which a trial of random play is left
RATE = 0.1  #: share of the way that a category moves towards an observation that it matches


def by_visits(spec: TaskSpec, seed: int, units: int = 24) -> Representation:
    """Place prototypes as densely as random play visits the space: the means of so many clusters of observations.

    Holdaway let a layer of competing units organise itself; k-means (SciPy's) finds such places directly.

    >>> from distinguo.tasks.catalog import task_spec
    >>> by_visits(task_spec("puck"), seed=0, units=12).regions
    12
    """
    from scipy.cluster.vq import kmeans2  # heavy, and rarely asked for

    extent = extent_of_amounts(spec, seed, "most-visited")
    count = whole_number("The units of most-visited", units, 1, VISITS // 2)
    widths = np.array(extent.widths)
    rows = observations_of_random_play(spec, seed) / widths
    means, labels = kmeans2(rows, count, minit="++", rng=np.random.default_rng(seed))
    used = np.unique(labels)
    return with_provenance(spec, voronoi(means[used] * widths, widths), "most-visited", units=count)


def vigilance(spec: TaskSpec, seed: int, match: float = 0.9) -> Representation:
    """Cluster the observations of random play on line: one that no category matches well enough begins a new one.

    An observation matches a category by one less their distance, in widths of the space and divided by that of
    opposite corners; a category that matches moves a tenth of the way. The higher the vigilance, the more categories.

    >>> from distinguo.tasks.catalog import task_spec
    >>> vigilance(task_spec("puck"), 0, match=0.8).regions < vigilance(task_spec("puck"), 0, match=0.95).regions
    True
    """
    extent = extent_of_amounts(spec, seed, "vigilance")
    if not 0.0 < match < 1.0:
        raise DistinguoError(f"The vigilance should be a number between 0 and 1, got {shown(match)}.")
    widths = np.array(extent.widths)
    farthest = (1.0 - match) * math.sqrt(len(widths))
    categories: list[np.ndarray] = []
    for row in observations_of_random_play(spec, seed) / widths:
        distances = [float(np.linalg.norm(row - mean)) for mean in categories]
        if not distances or min(distances) > farthest:
            categories.append(row.copy())
        else:
            mean = categories[int(np.argmin(distances))]
            mean += RATE * (row - mean)
    return with_provenance(spec, voronoi(np.array(categories) * widths, widths), "vigilance", match=match)


def observations_of_random_play(spec: TaskSpec, seed: int, count: int = VISITS) -> np.ndarray:
    """Return what is observed while all actions are as good, trial after trial."""
    task = seeded(spec.task, seed)
    width = len(spec.dimensions)
    everywhere = grid([1] * width, [0.0] * width, [1.0] * width)
    indifferent = Controller(everywhere, np.zeros((1, len(spec.actions))))
    rows = visited(task, indifferent, Visits(count, seed, spec.cap(LONGEST)))
    return np.array([observe(task, tuple(row)) for row in rows.tolist()])
