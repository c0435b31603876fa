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
from distinguo.tasks.spec import TaskSpec

_MAKERS: dict[str, Callable[[TaskSpec, int], Representation]] = {
    "diagonal": lambda spec, seed: diagonal(spec),
    "vrdp": vrdp,
    "vrdp-enhanced": vrdp_enhanced,
    "controllability": lambda spec, seed: controllability(spec),
    "seeds": lambda spec, seed: seeds(spec),
}

#: The paper's controls; ``grid`` takes any counts.
NAMES = ("diagonal", "grid:10x10", "vrdp", "vrdp-enhanced", "controllability", "seeds")


def control(name: str, spec: TaskSpec, seed: int) -> Representation:
    """Build the control representation of that name; only the VRDP ones depend on the seed.

    >>> from distinguo.tasks.catalog import task_spec
    >>> control("grid:3x4", task_spec("puck"), seed=0).regions
    12
    >>> control("diagnoal", task_spec("puck"), seed=0)
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Unknown control 'diagnoal'; did you mean 'diagonal'?
    """
    if name.partition(":")[0] == "grid":
        return uniform(spec, _counts(name))
    if name not in _MAKERS:
        raise DistinguoError(f"Unknown control '{name}'; {did_you_mean(name, NAMES)}")
    return _MAKERS[name](spec, seed)


def _counts(name: str) -> list[int]:
    if not re.fullmatch(r"grid:\d{1,6}(x\d{1,6})*", name, re.ASCII):
        raise DistinguoError(
            f"A grid is written with a number of intervals per coordinate, as in grid:10x10, got '{name}'."
        )
    return [int(count) for count in name.removeprefix("grid:").split("x")]
