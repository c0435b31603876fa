"""From the words of the command line to values."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from distinguo.controls.seeds import PAPER_SEEDS
from distinguo.errors import DistinguoError

MOST_SEEDS = 100_000  #: in one command


def changes(assignments: Sequence[str]) -> dict[str, Any]:
    """Read settings of the form ``table.name=value``.

    >>> changes(["learner.epsilon=0.1", "learner.discount_steps=true"])
    {'learner.epsilon': 0.1, 'learner.discount_steps': True}
    """
    result: dict[str, Any] = {}
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        if not equals or not key.strip():
            raise DistinguoError(
                f"--set takes TABLE.NAME=VALUE, such as learner.epsilon=0.1, got '{assignment}'."
            )
        if key.strip() in result:
            raise DistinguoError(f"--set gives {key.strip()} twice; give it once.")
        result[key.strip()] = _value(text.strip())
    return result


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text  # a bare word; the check of the setting says what it should be


def seeds(text: str) -> range:
    """Read ``A-B`` as the seeds from A to B, both included.

    >>> list(seeds("3-5"))
    [3, 4, 5]
    """
    match = re.fullmatch(r"([0-9]{1,19})-([0-9]{1,19})", text.strip())
    if not match or not 0 <= int(match[2]) - int(match[1]) < MOST_SEEDS:
        raise DistinguoError(
            f"--seeds takes a range such as 1-100, the lower number first and of at most {MOST_SEEDS:,} seeds, "
            f"got '{text[:50]}'."
        )
    return range(int(match[1]), int(match[2]) + 1)


def prototypes(text: str, dimensions: Sequence[str]) -> Any:
    """Read the prototypes to start from: ``seeds``, points, a representation file or a run folder.

    >>> prototypes("0.5,1;-0.5,-1", ["x", "v"])
    [[0.5, 1.0], [-0.5, -1.0]]
    """
    if text == "seeds":
        return PAPER_SEEDS
    path = Path(text)
    if path.is_dir():
        path = path / "representation.json"
    if path.exists() or text.endswith(".json"):
        return _from_file(path, dimensions)
    return [_point(point, text) for point in text.split(";") if point.strip()]


def _point(point: str, text: str) -> list[float]:
    try:
        return [float(number) for number in point.split(",")]
    except ValueError:
        raise DistinguoError(
            f"--from takes 'seeds', a representation file, a run folder or points like '0.27,0.62;-0.27,-0.62', "
            f"got '{text}'."
        ) from None


def _from_file(path: Path, dimensions: Sequence[str]) -> list[list[float]]:
    from distinguo.representation.file import load
    from distinguo.representation.partition import prototypes_of

    representation = load(path)
    prototypes = prototypes_of(representation.partition)
    if prototypes is None:
        raise DistinguoError(f"{path} is a tree of boxes, but learning starts from prototypes.")
    if len(representation.dimensions) != len(dimensions):
        raise DistinguoError(
            f"{path} has {len(representation.dimensions)} dimensions ({', '.join(representation.dimensions)}), "
            f"but the task has {len(dimensions)} ({', '.join(dimensions)})."
        )
    return prototypes.points.tolist()


def shard(text: str) -> tuple[int, int]:
    """Read ``I/N`` as the I-th of N parts.

    >>> shard("2/5")
    (2, 5)
    """
    match = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text.strip())
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise DistinguoError(f"--shard takes I/N with I from 1 to N, such as 2/5, got '{text}'.")
    return int(match[1]), int(match[2])
