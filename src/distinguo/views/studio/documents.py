"""Runs, maps, curves and trails as plain JSON for the page."""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Sequence
from itertools import islice
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller, choose
from distinguo.errors import DistinguoError, shown
from distinguo.exports.tables import labelled
from distinguo.exports.write import FORMATS, render
from distinguo.representations.partition import has_labels, region
from distinguo.runs.configuration import Configuration
from distinguo.runs.history import Frame, TrialRow
from distinguo.runs.run import Run
from distinguo.tasks.acrobot import Acrobot
from distinguo.tasks.amounts import law_formula
from distinguo.tasks.catalog import SPECS, check_imported, task_spec
from distinguo.tasks.pendulum import Pendulum, PendulumOfTorques
from distinguo.tasks.spec import TaskSpec
from distinguo.tasks.task import observe, seeded, start, transition, truncated, unpack
from distinguo.views.pictures import PartitionPicture, names_of, plane_of, representation_picture, tiles_of

# Runs, maps and curves as plain JSON for the page.


MOST_POINTS = 600  #: of a curve


def map_document(frame: Frame, configuration: Configuration) -> dict[str, Any]:
    """Return the picture of a map, and what maps a place in it to an observation."""
    spec = configuration.spec
    regions = frame.representation.regions
    title = f"{regions} region" if regions == 1 else f"{regions} regions"
    picture = representation_picture(frame.representation, spec, title, frame.controller)
    named = [law_formula(spec, a) or name for a, name in enumerate(picture.actions)]
    return {**picture_document(picture._replace(actions=tuple(named))), **_way_back(frame, spec)}


def picture_document(picture: PartitionPicture) -> dict[str, Any]:
    """Return a picture of a partition as plain values."""
    return {
        **{
            name: getattr(picture, name) for name in ("title", "axes", "low", "high", "prototypes", "primary")
        },
        **{name: getattr(picture, name) for name in ("actions", "note", "ticks")},
        "cells": [
            {"outline": cell.outline, "region": cell.region, "action": cell.action, "value": cell.value}
            for cell in picture.cells
        ],
        "labels": [{"x": label.x, "y": label.y, "text": label.text} for label in picture.labels],
    }


def _way_back(frame: Frame, spec: TaskSpec) -> dict[str, Any]:
    """Return the coordinates of the plane, or the state of every square, to turn a click into an observation."""
    if has_labels(frame.representation.partition):
        squares = tiles_of(frame.representation, spec, frame.controller).squares
        known = [square for square in squares if not any(math.isnan(c) for c in square.state)]
        return {"squares": [[square.x, square.y, square.state] for square in known]}
    plane = plane_of(frame.representation, spec, frame.controller)
    return {"plane": {"axes": plane.axes, "at": plane.at}, "axes": names_of(plane, spec.axes)}


def trials_document(trials: Sequence[TrialRow]) -> dict[str, Any]:
    """Return the curves of training: length, return and regions of each trial; long curves are thinned out."""
    every = max(1, math.ceil(len(trials) / MOST_POINTS))
    some = list(islice(trials, 0, None, every))
    if trials and (len(trials) - 1) % every:
        some.append(trials[-1])
    return {
        "trial": [row.trial for row in some],
        "length": [row.length for row in some],
        "gained": [row.gained for row in some],
        "regions": [row.regions for row in some],
        "count": len(trials),
    }


def task_document(configuration: Configuration) -> dict[str, Any]:
    """Return the names of a task's parts, and the configuration of its learner."""
    spec, learner = configuration.spec, configuration.learner
    return {
        "task": spec.name,
        "seed": configuration.seed,
        "learner": configuration.learner_name,
        "preset": configuration.preset,
        "dimensions": spec.dimensions,
        "axes": spec.axes,
        "low": spec.low,
        "high": spec.high,
        "actions": spec.actions,
        "goal": spec.goal.name,
        "interval": getattr(spec.task, "interval", None),
        "settings": {
            name: getattr(learner, name) for name in ("epsilon", "gamma", "regions") if hasattr(learner, name)
        },
    }


#: The figures of a finished run by which two are compared.
COMPARED = ("score", "trials", "environment_steps", "regions", "prototypes")


def result_document(run: Run | None) -> dict[str, Any]:
    """Return the figures of a finished run."""
    return {name: run.summary[name] for name in COMPARED if name in run.summary} if run else {}


def file_document(source: Any, what: str) -> dict[str, Any]:
    """Return a file of a run for the reader to save: its report, or its controller; nothing is written here."""
    run: Run = source.run()
    if not result_document(run):
        raise DistinguoError(f"{source.name} is not finished; wait until it is, then save its files.")
    if what == "report":
        from distinguo.views.report import NAME, page_of

        name, kind, text = NAME, "text/html", page_of([run])
    else:
        name, kind = FORMATS[what].file, "application/json" if what == "json" else "text/plain"
        text = str(render(labelled(run), what))
    words = re.sub(r"[^A-Za-z0-9.]+", "-", source.name).strip("-.")
    return {"about": "file", "name": f"{words}-{name}", "kind": kind, "text": text}


def frames_document(frames: Sequence[Frame]) -> list[list[int]]:
    """Return the history in short: the trial, the steps and the regions of each frame."""
    return [[m.trial, m.environment_steps, m.representation.regions] for m in frames]


# Trials under the greedy policy from any state, step by step.


MOST_ENDS = 64  #: last states of trails, kept to continue from
_ALMOST = 1e-4  #: greatest difference from the requested observation


class GreedyTrail(NamedTuple):
    """A piece of a trial."""

    states: list[tuple[float, ...]]  #: the first is its start
    observations: list[tuple[float, ...]]
    actions: list[int]  #: one less
    gained: float
    ended: bool


class Simulator:
    """A task for trials, separate from the one that is learned from."""

    def __init__(self, spec: TaskSpec, seed: int) -> None:
        self.spec, self._rng = spec, np.random.default_rng(seed)
        self._task: Any = None
        self._seed, self._alone = seed, Lock()  # an environment of Gymnasium has one state
        self._ends: deque[tuple[float, ...]] = deque(maxlen=MOST_ENDS)

    def first(self) -> tuple[float, ...]:
        """Return a start of the task."""
        with self._alone:
            return tuple(float(c) for c in start(self._world(), self._rng))

    def state_at(self, observation: Sequence[float]) -> tuple[float, ...]:
        """Return the state behind an observation; raise if there is none."""
        seen = checked_observation(self.spec, observation)
        if self.spec.interpreted:
            raise DistinguoError(
                f"The state of {self.spec.name}, an environment of Gymnasium, cannot be set; "
                "run it from its start."
            )
        task = self._world()
        state = _by_angles(task, seen)
        if not np.allclose(observe(task, state), seen, rtol=_ALMOST, atol=_ALMOST):
            raise DistinguoError(f"No state of {self.spec.name} looks like {shown(list(seen))}; try another.")
        return state

    def resumed(self, state: Sequence[float]) -> tuple[float, ...]:
        """Return a state to continue from: the end of an earlier trail, or one that was set in a scene."""
        whole = tuple(float(c) for c in state)
        if whole in self._ends:
            return whole
        if self.spec.interpreted:
            raise DistinguoError(
                f"That state of {self.spec.name} is no longer available; run it from its start."
            )
        width = len(start(self._world(), np.random.default_rng(0)))
        if len(whole) != width:
            raise DistinguoError(f"A state of {self.spec.name} has {width} numbers, got {len(whole)}.")
        s = unpack(self._world(), np.array(whole, dtype=np.float64))
        checked_observation(self.spec, observe(self._world(), s))
        return s

    def follow(self, controller: Controller, s: tuple[float, ...], steps: int) -> GreedyTrail:
        """Follow the greedy policy for at most ``steps`` steps."""
        task = self._world()
        trail, gained, ended = GreedyTrail([s], [observe(task, s)], [], 0.0, ended=False), 0.0, False
        with self._alone:
            while not ended and len(trail.actions) < steps:
                values = controller.q[region(controller.partition, trail.observations[-1])]
                a = choose(values, controller.delta, self._rng)
                s, reward, terminal = transition(task, s, a)
                trail.states.append(s)
                trail.observations.append(observe(task, s))
                trail.actions.append(int(a))
                gained, ended = gained + float(reward), bool(terminal or truncated(task, s))
        self._ends.append(tuple(float(c) for c in s))
        return trail._replace(gained=gained, ended=ended)

    def _world(self) -> Any:
        if self._task is None:
            self._task = seeded(self.spec.task, self._seed)
        return self._task


def fresh_world(spec: TaskSpec) -> TaskSpec:
    """Return a task of one's own: an environment of Gymnasium is made again, other tasks have no state to share."""
    if not spec.interpreted:
        return spec
    check_imported(spec.name, "The folder of this run")
    return task_spec(spec.name, spec.parameters, interpreted=spec.name in SPECS)


def checked_observation(spec: TaskSpec, given: Sequence[float]) -> tuple[float, ...]:
    """Return an observation of a task; raise if it is not valid.

    >>> from distinguo.tasks.catalog import task_spec
    >>> checked_observation(task_spec("puck"), (0.5, 99))
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: v of puck lies between -5.5 and 5.5, got 99; take a state within.
    """
    if len(given) != len(spec.dimensions):
        raise DistinguoError(
            f"A state of {spec.name} has {len(spec.dimensions)} coordinates ({', '.join(spec.dimensions)}), "
            f"got {len(given)}."
        )
    for name, c, low, high in zip(spec.dimensions, given, spec.low, spec.high, strict=True):
        if not low - _ALMOST <= c <= high + _ALMOST:
            raise DistinguoError(
                f"{name} of {spec.name} lies between {low:g} and {high:g}, got {c:g}; take a state within."
            )
    return tuple(float(c) for c in given)


def _by_angles(task: Any, seen: tuple[float, ...]) -> tuple[float, ...]:
    """Return the state behind an observation; some tasks observe the cosine and the sine of an angle."""
    if isinstance(task, Acrobot):
        return (math.atan2(seen[1], seen[0]), math.atan2(seen[3], seen[2]), seen[4], seen[5])
    if isinstance(task, Pendulum | PendulumOfTorques):
        return (math.atan2(seen[1], seen[0]), seen[2])
    return seen


def trail_document(trail: GreedyTrail, number: int) -> dict[str, Any]:
    """Return a piece of a trial for the page."""
    return {
        "number": number,
        "states": trail.states,
        "observations": trail.observations,
        "actions": trail.actions,
        "gained": trail.gained,
        "ended": trail.ended,
    }
