"""Runs, maps and curves as plain JSON for the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice
from typing import Any

from distinguo.representations.partition import has_labels
from distinguo.runs.configuration import Configuration
from distinguo.runs.written.history import Frame
from distinguo.runs.written.trial_table import TrialRow
from distinguo.tasks.spec import TaskSpec
from distinguo.views.pictures import PartitionPicture, representation_picture
from distinguo.views.slices import names_of, plane_of
from distinguo.views.tiles import tiles_of

MOST_POINTS = 600  #: of a curve


def map_document(frame: Frame, configuration: Configuration) -> dict[str, Any]:
    """Return the picture of a map, and how a place in it becomes an observation."""
    spec = configuration.spec
    regions = frame.representation.regions
    title = f"{regions} region" if regions == 1 else f"{regions} regions"
    picture = representation_picture(frame.representation, spec, title, frame.controller)
    return {**picture_document(picture), **_way_back(frame, spec)}


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
    """Return the coordinates of the plane, or the state of every square, by which a click means an observation."""
    if has_labels(frame.representation.partition):
        squares = tiles_of(frame.representation, spec, frame.controller).squares
        known = [square for square in squares if not any(math.isnan(c) for c in square.state)]
        return {"squares": [[square.x, square.y, square.state] for square in known]}
    plane = plane_of(frame.representation, spec, frame.controller)
    return {"plane": {"axes": plane.axes, "at": plane.at}, "axes": names_of(plane, spec.axes)}


def trials_document(trials: Sequence[TrialRow]) -> dict[str, Any]:
    """Return the curves of training: the length, the return and the regions of each trial, some of very many."""
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
    """Return the words for a task and what was asked of its learner."""
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


def frames_document(frames: Sequence[Frame]) -> list[list[int]]:
    """Return the history in short: the trial, the steps and the regions of each frame."""
    return [[m.trial, m.environment_steps, m.representation.regions] for m in frames]
