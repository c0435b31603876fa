"""Rules of resolution that are "blind with respect to the task requirements" (section 2.1): start, visits, vigilance.

The paper names them as assumptions about where distinctions matter: "states closest to the initial state required the
finest resolution" (Hu and Fellman 1996), "the most frequently-seen areas of state-space were most important"
(Holdaway 1989), and "a new category for the current observation if its best classification is a poor match" (ART;
Carpenter and Grossberg 1988). That paths taken matter most (Moore 1991) is ``vrdp``.
"""

from __future__ import annotations

import math

import numpy as np

from distinguo.controller import Controller
from distinguo.controls.fixed import MOST_REGIONS, with_provenance
from distinguo.errors import DistinguoError, shown, whole_number
from distinguo.evaluation.audit import Visits, visited
from distinguo.representations.boxes import Box, grid, tree
from distinguo.representations.file import Representation
from distinguo.representations.voronoi import voronoi
from distinguo.tasks.extent import Extent, task_extent
from distinguo.tasks.spec import CATEGORIES, TaskSpec
from distinguo.tasks.task import observe, seeded, start

VISITS = 5_000  #: observations of random play that the two rules by visits look at
LONGEST = 10_000  #: steps after which a trial of random play is left
RATE = 0.1  #: share of the way that a category moves towards an observation that it matches


def near_start(spec: TaskSpec, seed: int, levels: int = 3) -> Representation:
    """Cut each coordinate at the first observation, and on both sides at distances that double up to the bounds.

    With ``levels`` intervals on each side, the widths are as 1, 1, 2, 4, …: a source gives the principle, not the
    ratio.

    >>> from distinguo.tasks.catalog import task_spec
    >>> near_start(task_spec("puck"), seed=0, levels=3).regions
    36
    """
    extent = _amounts(spec, seed, "near-start")
    count = whole_number("The levels of near-start", levels, 1, 20)
    if (2 * count) ** len(extent.low) > MOST_REGIONS:
        raise DistinguoError(
            f"near-start:{count} would have {2 * count} intervals for each of {len(extent.low)} coordinates, more "
            f"than {MOST_REGIONS:,} boxes in all; take fewer levels."
        )
    first = _first(spec, seed)
    edges = [_doubling(*ends, count) for ends in zip(extent.low, extent.high, first, strict=True)]

    def cut(box: Box, depth: int) -> tuple[int, float] | None:
        for axis, places in enumerate(edges):
            inside = [place for place in places if box[0][axis] < place < box[1][axis]]
            if inside:
                return axis, inside[len(inside) // 2]
        return None

    return with_provenance(spec, tree(extent.low, extent.high, cut), "near-start", levels=count)


def _first(spec: TaskSpec, seed: int) -> tuple[float, ...]:
    task = seeded(spec.task, seed)
    return observe(task, start(task, np.random.default_rng(seed)))


def _doubling(low: float, high: float, first: float, count: int) -> list[float]:
    """Return where a coordinate is cut, in order.

    >>> _doubling(-4.0, 8.0, 0.0, 3)
    [-2.0, -1.0, 0.0, 2.0, 4.0]
    """
    shares = [2.0**-k for k in range(1, count)]
    below = [first + (low - first) * share for share in shares]
    above = [first + (high - first) * share for share in reversed(shares)]
    return [*below, first, *above]


def by_visits(spec: TaskSpec, seed: int, units: int = 24) -> Representation:
    """Place prototypes as densely as random play visits the space: the means of so many clusters of observations.

    Holdaway let a layer of competing units organise itself; k-means (SciPy's) finds such places directly.

    >>> from distinguo.tasks.catalog import task_spec
    >>> by_visits(task_spec("puck"), seed=0, units=12).regions
    12
    """
    from scipy.cluster.vq import kmeans2  # heavy, and rarely asked for

    extent = _amounts(spec, seed, "most-visited")
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
    extent = _amounts(spec, seed, "vigilance")
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


def _amounts(spec: TaskSpec, seed: int, name: str) -> Extent:
    """Return the extent of a task whose coordinates are amounts."""
    if spec.kind == CATEGORIES:
        raise DistinguoError(
            f"The representation '{name}' measures distances, but the observations of {spec.name} are labels; take a "
            "task whose coordinates are amounts."
        )
    return task_extent(spec, seed)
