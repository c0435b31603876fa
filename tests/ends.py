"""Every setting of every learner at both ends of its range: a short run that ends, keeps its budget and has no NaN.

    python -m tests.ends [--learners economy table] [--seconds 60]

The settings come from the registry, so new ones are included by themselves. A value just outside is rejected with one
sentence. Each learner has a process of its own with limited memory.
"""

from __future__ import annotations

import argparse
import math
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from distinguo.errors import DistinguoError
from distinguo.learners.learner import all_learners
from distinguo.runs.configuration import configure
from distinguo.runs.learn import learn_configured
from distinguo.settings import StageSettings

STEPS = 300  #: the budget of a run
MEMORY = 6 * 2**30  #: bytes of address space
LONGEST = 60.0  #: seconds of a run
TASKS = {"sweeping": "Taxi-v3", "parti-game": "maze"}  #: where a learner cannot learn the puck
WORK = {"learner.rehearsals": 1000}  #: in place of an end that asks for hours of work, and gets them
LARGEST, SMALLEST = 1e300, 1e-300  #: in place of a bound that a range does not have, or does not include


def ends(hint: Any) -> tuple[list[Any], list[Any]]:
    """The values at both ends of a range, and values just outside.

    >>> from typing import Annotated
    >>> from pydantic import Field
    >>> ends(Annotated[int, Field(ge=1, le=9)]), ends(Annotated[bool, Field()])
    (([1, 9], [0, 10]), ([False, True], []))
    """
    kind, field = get_args(hint)[:2]
    if kind is bool:
        return [False, True], []
    if get_origin(kind) is Literal:
        return list(get_args(kind)), ["no such word"]
    bounds = {
        mark: getattr(one, mark)
        for one in field.metadata
        for mark in ("gt", "ge", "lt", "le")
        if hasattr(one, mark)
    }
    if kind not in (int, float):
        return [], []
    inside: list[Any] = [bounds[mark] for mark in ("ge", "le") if mark in bounds]
    outside: list[Any] = [bounds[mark] for mark in ("gt", "lt") if mark in bounds]
    if kind is int:
        outside += [bounds[mark] + by for mark, by in (("ge", -1), ("le", 1)) if mark in bounds]
        return inside, outside
    inside += [math.nextafter(bounds["lt"], -math.inf)] if "lt" in bounds else []
    inside += [max(SMALLEST, bounds["gt"])] if "gt" in bounds else []
    inside += [LARGEST] if not {"lt", "le"} & set(bounds) else []
    outside += [math.nextafter(bounds["ge"], -math.inf)] if "ge" in bounds else []
    outside += [math.nextafter(bounds["le"], math.inf)] if "le" in bounds else []
    return inside, [*outside, math.nan]


def cases(learner: Any) -> Iterator[tuple[str, list[Any], list[Any]]]:
    """The settings of a learner and of its stage, with the values inside and outside of their ranges."""
    for table, kind in (("learner", learner.settings), ("stage", StageSettings)):
        for name, hint in get_type_hints(kind, include_extras=True).items():
            if hasattr(hint, "__metadata__"):
                yield f"{table}.{name}", *ends(hint)


def trouble_with(learner: str, key: str, value: Any) -> str:
    """Why a short run with a setting is not well; empty if it is, or if one sentence says why it cannot be."""
    budget = {
        "stage.steps": STEPS,
        "stage.trials": 20,
        "stage.cap": 100,
        "stage.confirm": 2,
        "stage.hold": 100,
    }
    began = time.monotonic()
    try:
        task = TASKS.get(learner, "puck")
        configuration = configure(task, learner=learner, changes={**budget, key: value})
        run = learn_configured(configuration)
    except DistinguoError as error:
        return "" if len(str(error).splitlines()) == 1 else f"says {error}"
    except Exception as error:
        return f"raises {type(error).__name__}: {error}"
    if not np.isfinite(run.q).all():
        return "has values that are not finite"
    allowed = value if key == "stage.steps" else STEPS
    if run.summary["environment_steps"] > allowed:
        return f"took {run.summary['environment_steps']} steps, {allowed} were allowed"
    seconds = time.monotonic() - began
    return f"took {seconds:.0f} s" if seconds > LONGEST else ""


def found_by(learner: Any, keys: set[str] | None = None) -> list[str]:
    """Try every setting of a learner; return what is wrong."""
    found = []
    trouble_with(learner.name, "stage.trials", 2)  # compiles
    for key, inside, outside in cases(learner):
        if keys is not None and key not in keys:
            continue
        sys.stderr.write(f"{learner.name} {key}\n")  # names what hangs
        for value in (min(one, WORK.get(key, one)) for one in inside):
            if key == "stage.steps" and value > STEPS:
                continue  # its upper end is no budget for a short run
            if trouble := trouble_with(learner.name, key, value):
                found.append(f"{learner.name} {key}={value!r} {trouble}")
        for value in outside:
            try:
                configure(TASKS.get(learner.name, "puck"), learner=learner.name, changes={key: value})
                found.append(f"{learner.name} {key}={value!r} is accepted")
            except DistinguoError as error:
                found += [f"{learner.name} {key}: {error}"] if len(str(error).splitlines()) != 1 else []
    return found


def main() -> None:
    """Try the learners, each in a process of its own."""
    names = [learner.name for learner in all_learners() if learner.name != "distilled"]
    parser = argparse.ArgumentParser()
    parser.add_argument("--learners", nargs="*", default=names, choices=names)
    parser.add_argument("--here", action="store_true", help="in this process")
    parser.add_argument("--seconds", type=float, default=1800.0, help="for one learner")
    asked = parser.parse_args()
    if asked.here:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        found = [line for one in all_learners() if one.name in asked.learners for line in found_by(one)]
        sys.stdout.write("".join(f"{line}\n" for line in found) or "nothing found\n")
        sys.exit(bool(found))
    codes = []
    for name in asked.learners:
        sys.stderr.write(f"== {name}\n")
        command = [sys.executable, "-m", "tests.ends", "--here", "--learners", name]
        codes.append(subprocess.run(command, timeout=asked.seconds, check=False).returncode)
    sys.exit(any(codes))


if __name__ == "__main__":
    main()
