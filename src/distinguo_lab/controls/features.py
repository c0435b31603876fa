"""Features by name: tile coding, radial basis functions and perceptrons over the extent of a task."""

from __future__ import annotations

import re
from typing import Any

from distinguo.controls.fixed import with_provenance
from distinguo.errors import DistinguoError
from distinguo.features.perceptron import perceptron
from distinguo.features.radial import radial_bases
from distinguo.features.tiles import tiles
from distinguo.representations.file import Representation
from distinguo.tasks.spec import TaskSpec


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
    """Put bell curves on a grid of centres, whose strengths always add up to 1."""
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
    """Read whole numbers with an x between them."""
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
