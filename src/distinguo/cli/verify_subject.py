"""What ``distinguo verify`` is asked about: a controller, and how it is to be proven."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from distinguo.controller import Controller
    from distinguo.representation.file import Representation
    from distinguo.tasks.spec import TaskSpec


class Subject(NamedTuple):
    """What is to be verified."""

    name: str
    spec: TaskSpec
    representation: Representation
    controller: Controller
    folder: Path


class Request(NamedTuple):
    """A subject and what was asked about it; None where nothing was said."""

    subject: Subject
    seed: int = 0
    cells: int | None = None
    steps: int | None = None
    disturbance: float = 0.0
    ranges: tuple[str, ...] = ()


def subject_of(what: str, task: str | None, seed: int, out: Path | None) -> Subject:
    """Read a run, or make a representation and learn its values; then make room for what is written."""
    from distinguo.errors import DistinguoError

    subject = _run(what, task, out) if Path(what).is_dir() else _trained(what, task or "puck", seed, out)
    try:
        subject.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DistinguoError(f"Cannot write to {subject.folder}: {error.strerror}.") from None
    return subject


def _run(what: str, task: str | None, out: Path | None) -> Subject:
    from distinguo.errors import DistinguoError
    from distinguo.runs.folder import open_run

    run = open_run(what)
    settings = run.configuration
    if task not in (None, settings.spec.name):
        raise DistinguoError(f"{what} is a run of {settings.spec.name}, not of {task}.")
    return Subject(what, settings.spec, run.representation, run.controller, out or Path(what))


def _refuse_another_task(what: str, representation: Representation, spec: TaskSpec) -> None:
    """Refuse a file that was learned on another task, even one whose coordinates have the same names."""
    from distinguo.errors import DistinguoError

    home = representation.provenance.get("task")
    if isinstance(home, str) and home != spec.name:
        raise DistinguoError(f"{what} was learned on {home}, not on {spec.name}; give --task {home}.")


def _trained(what: str, task: str, seed: int, out: Path | None) -> Subject:
    """Learn the values of a representation as the tester does."""
    import numpy as np

    from distinguo.controller import Controller
    from distinguo.evaluation.qlearning import train
    from distinguo.evaluation.tester import Exam
    from distinguo.runs.files import slug
    from distinguo.seam import at_speed
    from distinguo.settings import TesterSettings
    from distinguo.study.sources import representation_named
    from distinguo.tasks.catalog import task_spec
    from distinguo.tasks.extent import TRAINING, Extent
    from distinguo.tasks.task import seeded

    known = task_spec(task)
    known = known._replace(task=seeded(known.task, seed))
    representation = representation_named(what, known, seed)
    _refuse_another_task(what, representation, known)
    settings, rng, steps = TesterSettings(), np.random.default_rng(seed), 0
    exam = Exam(
        known,
        representation.partition,
        representation.rows,
        settings,
        Extent(known.low, known.high),
    )
    q = np.zeros((exam.rows, len(known.actions)))
    learn, cap = at_speed(train, known.task, exam.partition), known.cap(settings.training_cap)
    while steps < settings.steps:
        first = exam.starts(rng, TRAINING, 1)[0]
        steps += learn(known.task, exam.partition, q, settings, rng, first, cap)[0]
    name = what if task == "puck" else f"{task}-{what}"
    folder = out or Path("runs") / f"verify-{slug(name)}-seed{seed}"
    controller = Controller(exam.partition, q, settings.delta)
    return Subject(what, known, representation, controller, folder)
