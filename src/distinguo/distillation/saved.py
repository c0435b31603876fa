"""A distilled map as a run, and its folder: what every run has, and beside it the dial and the fidelity."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from distinguo.distillation.fidelity import DOCUMENT, Fidelity
from distinguo.errors import DistinguoError
from distinguo.learners.probation.learner import acting_by
from distinguo.learners.refinement.condense import Notch
from distinguo.learners.refinement.improvement import PrototypeMap
from distinguo.reading.documents import parse_json
from distinguo.reading.files import MEBIBYTE, read_text
from distinguo.representations.file import Representation
from distinguo.runs.configuration import Configuration
from distinguo.runs.folder import is_finished, is_free, write_run
from distinguo.runs.run import Run
from distinguo.runs.written.history import Frame
from distinguo.study.condense import DIAL, dial_csv
from distinguo.tasks.spec import TaskSpec
from distinguo.versions import software
from distinguo.writing.atomic import write_atomically

FIDELITY = "fidelity.json"
MARGIN = 0.1  #: of what was seen, around it
LARGEST_FIDELITY = 64 * MEBIBYTE  #: bytes


def run_of_map(
    configuration: Configuration,
    map_: PrototypeMap,
    seen: np.ndarray,
    summary: dict[str, Any],
    reasons: list[dict[str, Any]],
) -> Run:
    """Return a map as a run; ``seen`` are states that tell how far its trials range."""
    spec = configuration.spec
    controller = acting_by(map_.prototypes, map_.scale, map_.actions, len(spec.actions))
    low, high = shown_extent(spec, seen)
    provenance = {
        "task": spec.name,
        "preset": configuration.preset,
        "seed": configuration.seed,
        "teacher": configuration.learner.teacher,
        "extent": [low.tolist(), high.tolist()],
        "observed": [seen.min(axis=0).tolist(), seen.max(axis=0).tolist()],
    }
    representation = Representation(controller.partition, spec.dimensions, provenance)
    whole = {
        "task": spec.name,
        "seed": configuration.seed,
        "preset": configuration.preset,
        "learner": configuration.learner_name,
        "teacher": configuration.learner.teacher,
        "regions": representation.regions,
        "prototypes": representation.prototypes,
        "investigation_steps": 0,
        "final_trial_steps": 0,
        "attempts": 1,
        "representation_regions": representation.regions,
        "representation_prototypes": representation.prototypes,
        **summary,
        "versions": software(),
    }
    frame = Frame(int(whole["trials"]), int(whole["environment_steps"]), representation, controller.q)
    updates = np.zeros(controller.q.shape, dtype=np.int64)
    return Run(configuration, representation, controller.q, updates, whole, [], reasons, history=[frame])


def shown_extent(spec: TaskSpec, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the extent that pictures and words are about: all of a plane, of more coordinates where trials go.

    What is allowed beyond says little: of LunarLander's velocities of up to 10, trials see a tenth.

    >>> from distinguo.tasks.catalog import task_spec
    >>> low, high = shown_extent(task_spec("CartPole-v1"), np.array([[-1.0, 0.0, 0.0, -2.0], [1.0, 0.0, 0.1, 2.0]]))
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([-1.2, -0.1, -0.01, -2.4], [1.2, 0.1, 0.11, 2.4])
    """
    bounds = np.array(spec.low), np.array(spec.high)
    width = np.ptp(seen, axis=0)
    margin = MARGIN * np.where(width > 0.0, width, 1.0)
    lower, upper = seen.min(axis=0) - margin, seen.max(axis=0) + margin
    if len(spec.dimensions) > 2:
        return np.maximum(bounds[0], lower), np.minimum(bounds[1], upper)
    return np.where(np.isfinite(bounds[0]), bounds[0], lower), np.where(
        np.isfinite(bounds[1]), bounds[1], upper
    )


def check_free(path: Path) -> None:
    """See that a folder can take a run."""
    if not is_free(path):
        holds = "holds a run" if is_finished(path) else "is not empty"
        raise DistinguoError(f"{path} {holds}; choose another --out, or delete it.")


def write_distilled(run: Run, notches: list[Notch], fidelity: Fidelity, path: Path) -> Run:
    """Write a distilled run into a folder of its own."""
    write_run(run, path)
    write_atomically(path / DIAL, dial_csv(notches, int(run.summary["prototypes"])))
    write_atomically(path / FIDELITY, json.dumps(fidelity.document()) + "\n")
    return run._replace(path=path)


def read_fidelity(path: Path) -> dict[str, Any]:
    """Read what is known of a map and its teacher."""
    known = parse_json(read_text(path, LARGEST_FIDELITY), str(path))
    if (
        not isinstance(known, dict)
        or not set(DOCUMENT) <= known.keys()
        or len(known["seen"]) != len(known["agreed"])
    ):
        raise DistinguoError(f"{path} is damaged; distil again to write it anew.")
    return known
