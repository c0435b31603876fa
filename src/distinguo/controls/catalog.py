"""The control representations by name, as the command line and the tester ask for them."""

from __future__ import annotations

import re
from collections.abc import Callable

from distinguo.controls.controllability import controllability
from distinguo.controls.diagonal import diagonal
from distinguo.controls.seeds import seeds
from distinguo.controls.uniform import uniform
from distinguo.controls.vrdp import vrdp, vrdp_enhanced
from distinguo.errors import DistinguoError, did_you_mean
from distinguo.representation.file import Representation
from distinguo.tasks.world import World

_MAKERS: dict[str, Callable[[World, int], Representation]] = {
    "diagonal": lambda world, seed: diagonal(world),
    "vrdp": vrdp,
    "vrdp-enhanced": vrdp_enhanced,
    "controllability": lambda world, seed: controllability(world),
    "seeds": lambda world, seed: seeds(world),
}

#: The paper's controls; ``grid`` takes any counts.
NAMES = ("diagonal", "grid:10x10", "vrdp", "vrdp-enhanced", "controllability", "seeds")


def control(spec: str, world: World, seed: int) -> Representation:
    """Build the control representation of that name; only the VRDP ones depend on the seed.

    >>> from distinguo.tasks.catalog import world
    >>> control("grid:3x4", world("puck"), seed=0).regions
    12
    >>> control("diagnoal", world("puck"), seed=0)
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Unknown control 'diagnoal'; did you mean 'diagonal'?
    """
    if spec.partition(":")[0] == "grid":
        return uniform(world, _counts(spec))
    if spec not in _MAKERS:
        raise DistinguoError(f"Unknown control '{spec}'; {did_you_mean(spec, NAMES)}")
    return _MAKERS[spec](world, seed)


def _counts(spec: str) -> list[int]:
    if not re.fullmatch(r"grid:\d{1,6}(x\d{1,6})*", spec, re.ASCII):
        raise DistinguoError(
            f"A grid is written with a number of intervals per coordinate, as in grid:10x10, got '{spec}'."
        )
    return [int(count) for count in spec.removeprefix("grid:").split("x")]
