"""The lab's representations by name: the paper's controls, rules blind to the task, features."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from distinguo.controller import Controller
from distinguo.controls import extent_of_numbers, representation, whole_argument, with_provenance
from distinguo.errors import DistinguoError, shown, whole_number
from distinguo.evaluation.audit import Visits, visited
from distinguo.features.bases import perceptron, radial_bases, tiles
from distinguo.representations.boxes import grid
from distinguo.representations.file import Representation
from distinguo.representations.voronoi import voronoi
from distinguo.tasks.spec import TaskSpec
from distinguo.tasks.task import observe, seeded
from distinguo_lab.controls.controllability import controllability, integrated_controllability
from distinguo_lab.controls.resolution.variable import resolution_named
from distinguo_lab.controls.vrdp import vrdp, vrdp_enhanced

# Rules of resolution that are "blind with respect to the task requirements" (section 2.1): visits, vigilance.
#
# The paper names them as assumptions about where distinctions matter: "the most frequently-seen areas of state-space
# were most important" (Holdaway 1989), and "a new category for the current observation if its best classification is
# a poor match" (ART; Carpenter and Grossberg 1988). A third, ``near_start``, is one of the core's baselines. A
# fourth, that paths taken matter most (Moore 1991), is ``vrdp``.


VISITS = 5_000  #: observations of random play for the two rules by visits
LONGEST = 10_000  #: limit of a trial of random play
RATE = 0.1  #: how far a category moves towards a matching observation, as a share of the distance


def by_visits(spec: TaskSpec, seed: int, units: int = 24) -> Representation:
    """Place prototypes as densely as random play visits the space: at the means of clusters of observations.

    Holdaway let a layer of competing units organise itself; k-means (SciPy's) finds such places directly.

    >>> from distinguo.tasks.catalog import task_spec
    >>> by_visits(task_spec("puck"), seed=0, units=12).regions
    12
    """
    from scipy.cluster.vq import kmeans2  # heavy, and rarely needed

    extent = extent_of_numbers(spec, seed, "most-visited")
    count = whole_number("The units of most-visited", units, 1, VISITS // 2)
    widths = np.array(extent.widths)
    rows = observations_of_random_play(spec, seed) / widths
    means, labels = kmeans2(rows, count, minit="++", rng=np.random.default_rng(seed))
    used = np.unique(labels)
    return with_provenance(spec, voronoi(means[used] * widths, widths), "most-visited", units=count)


def vigilance(spec: TaskSpec, seed: int, match: float = 0.9) -> Representation:
    """Cluster the observations of random play online: one that no category matches well begins a new category.

    The match is one minus the distance, in widths of the space and divided by that of opposite corners. A matching
    category moves a tenth of the way towards the observation. The higher the vigilance, the more categories.

    >>> from distinguo.tasks.catalog import task_spec
    >>> vigilance(task_spec("puck"), 0, match=0.8).regions < vigilance(task_spec("puck"), 0, match=0.95).regions
    True
    """
    extent = extent_of_numbers(spec, seed, "vigilance")
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
    """Return the observations of random play, trial after trial."""
    task = seeded(spec.task, seed)
    width = len(spec.dimensions)
    everywhere = grid([1] * width, [0.0] * width, [1.0] * width)
    indifferent = Controller(everywhere, np.zeros((1, len(spec.actions))))
    rows = visited(task, indifferent, Visits(count, seed, spec.cap(LONGEST)))
    return np.array([observe(task, tuple(row)) for row in rows.tolist()])


# Features by name: tile coding, radial basis functions and perceptrons over the extent of a task.


def tiles_representation(spec: TaskSpec, seed: int, counts: str) -> Representation:
    """Lay tilings over the extent: ``8x10x10`` is eight of ten by ten tiles, ``8x10`` ten along every coordinate.

    >>> from distinguo.tasks.catalog import task_spec
    >>> tiles_representation(task_spec("puck"), 0, "8x10").regions
    968
    """
    tilings, *per_coordinate = _numbers("tiles", counts, "8x10x10", "tilings × tiles along each coordinate")
    along = _along("tiles", counts, spec, per_coordinate)
    features = tiles(tilings, along, spec.low, spec.high)
    return with_provenance(spec, features, "tiles", tilings=tilings, counts=along)


def radial_representation(spec: TaskSpec, seed: int, counts: str) -> Representation:
    """Put bell curves on a grid of centres: ``10x10``, or ``10`` for ten along every coordinate.

    >>> from distinguo.tasks.catalog import task_spec
    >>> radial_representation(task_spec("puck"), 0, "10x10").regions
    100
    """
    return _radial("rbf", spec, counts, normalised=False)


def normalised_radial_representation(spec: TaskSpec, seed: int, counts: str) -> Representation:
    """Put bell curves on a grid of centres, normalised to a sum of 1."""
    return _radial("normalised-rbf", spec, counts, normalised=True)


def _radial(name: str, spec: TaskSpec, counts: str, normalised: bool) -> Representation:
    along = _along(name, counts, spec, _numbers(name, counts, "10x10", "centres along each coordinate"))
    features = radial_bases(along, spec.low, spec.high, normalised=normalised)
    return with_provenance(spec, features, name, counts=along)


def perceptron_representation(spec: TaskSpec, seed: int, units: str) -> Representation:
    """Take the scaled coordinates and a bias; ``perceptron:64`` adds 64 threshold units drawn from the seed.

    >>> from distinguo.tasks.catalog import task_spec
    >>> perceptron_representation(task_spec("puck"), 0, "").regions
    3
    """
    count = _numbers("perceptron", units, "64", "the number of threshold units")[0] if units else 0
    features = perceptron(spec.low, spec.high, count, seed)
    drawn: dict[str, Any] = {"units": count, "seed": seed} if count else {}
    return with_provenance(spec, features, "perceptron", **drawn)


def _numbers(name: str, text: str, example: str, meaning: str) -> list[int]:
    """Read whole numbers separated by x."""
    if not re.fullmatch(r"\d{1,6}(x\d{1,6})*", text, re.ASCII) or (name == "perceptron" and "x" in text):
        raise DistinguoError(
            f"{name} is written with {meaning}, as in {name}:{example}, got '{name}:{text}'."
        )
    return [int(number) for number in text.split("x")]


def _along(name: str, text: str, spec: TaskSpec, given: list[int]) -> list[int]:
    """Return a number for each coordinate: as given, or the same for all of them."""
    dimensions = len(spec.dimensions)
    if len(given) not in (1, dimensions):
        raise DistinguoError(
            f"{name} needs one number for all coordinates, or one for each ({', '.join(spec.dimensions)}), got "
            f"{len(given)} in '{name}:{text}'."
        )
    return given * dimensions if len(given) == 1 else given


# The lab's representations by name, as ``distinguo test`` takes them.


vrdp_named = representation("vrdp")(vrdp)
vrdp_enhanced_named = representation("vrdp-enhanced")(vrdp_enhanced)
tiles_named = representation("tiles", usage="tiles:8x10x10")(tiles_representation)
radial_named = representation("rbf", usage="rbf:10x10")(radial_representation)
normalised_radial_named = representation("normalised-rbf", usage="normalised-rbf:10x10")(
    normalised_radial_representation
)
perceptron_named = representation("perceptron")(perceptron_representation)


@representation("controllability")
def controllability_named(spec: TaskSpec, seed: int, tolerance: str) -> Representation:
    """Compute the controllability analysis of section 4.2, exactly or with a tolerance."""
    if not tolerance:
        return controllability(spec)
    try:
        return integrated_controllability(spec, float(tolerance))
    except ValueError:
        raise DistinguoError(
            "The tolerance of a controllability analysis is a number, as in controllability:2e-7, got "
            f"'controllability:{tolerance}'."
        ) from None


@representation("variable-resolution", usage="variable-resolution:policy,200")
def variable_resolution_named(spec: TaskSpec, seed: int, words: str) -> Representation:
    """Halve boxes where a criterion says so (Munos and Moore 2002)."""
    return resolution_named(spec, words, seed).representation


@representation("most-visited", usage="most-visited:24")
def most_visited_named(spec: TaskSpec, seed: int, units: str) -> Representation:
    """Put prototypes where random play is most often (Holdaway 1989)."""
    return by_visits(spec, seed, whole_argument("most-visited", units, 24))


@representation("vigilance", usage="vigilance:0.9")
def vigilance_named(spec: TaskSpec, seed: int, match: str) -> Representation:
    """Begin a new prototype where none matches well (Carpenter and Grossberg 1988)."""
    if not re.fullmatch(r"(0?\.\d{1,15})?", match, re.ASCII):
        raise DistinguoError(
            f"The vigilance is a number between 0 and 1, as in vigilance:0.9, got 'vigilance:{match}'."
        )
    return vigilance(spec, seed, float(match or 0.9))
