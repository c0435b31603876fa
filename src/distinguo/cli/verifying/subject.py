"""What is to be verified: the controller of a run, or of a representation whose values are learned here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np

    from distinguo.representation.file import Representation
    from distinguo.tasks.world import World

PUCK = "puck"


class Subject(NamedTuple):
    """A controller, its task, and where to write what is found out."""

    name: str
    world: World
    representation: Representation
    q: np.ndarray
    delta: float
    folder: Path


class Options(NamedTuple):
    """What was asked of a verification."""

    seed: int
    cells: int
    ranges: list[str]
    disturbance: float
    horizon: int | None
    trials: int


def find_subject(what: str, task: str | None, seed: int, out: Path | None) -> Subject:
    """Return what a word of the command line means."""
    subject = (_of_run if Path(what).is_dir() else _of_representation)(what, task, seed, out)
    _make(subject.folder)
    return subject


def _of_run(what: str, task: str | None, seed: int, out: Path | None) -> Subject:
    from distinguo.errors import DistinguoError
    from distinguo.lab.folder import open_run
    from distinguo.tasks.catalog import ALIASES

    run = open_run(Path(what))
    settings, world = run.configuration, run.configuration.world
    if task is not None and ALIASES.get(task, task) != world.name:
        raise DistinguoError(
            f"{what} is a run of {world.name}, not of {task}; leave --task out, a run knows its task."
        )
    return Subject(what, world, run.representation, run.q, settings.learner.delta, out or Path(what))


def _of_representation(what: str, task: str | None, seed: int, out: Path | None) -> Subject:
    from distinguo.lab.contestants import contestant
    from distinguo.lab.plan import slug
    from distinguo.tasks.catalog import world

    place = world(task or PUCK)
    representation = contestant(what, place, seed)
    _same_task(what, representation, place)
    q, delta = _trained(place, representation, seed)
    folder = out or Path("runs") / f"verify-{slug(what)}-seed{seed}"
    return Subject(what, place, representation, q, delta, folder)


def _same_task(what: str, representation: Representation, world: World) -> None:
    """Refuse a file that says that it was learned on another task, even one of as many dimensions."""
    from distinguo.errors import DistinguoError

    made_for = representation.provenance.get("task")
    if isinstance(made_for, str) and made_for != world.name:
        raise DistinguoError(
            f"{what} was learned on {made_for}, not on {world.name}; give --task {made_for}."
        )


def _trained(world: World, representation: Representation, seed: int) -> tuple[np.ndarray, float]:
    """Learn the values of a partition as the tester does."""
    import numpy as np

    from distinguo.seam import at_speed
    from distinguo.testing.extent import TRAINING, Extent, extent_of
    from distinguo.testing.qlearner import train
    from distinguo.testing.settings import TesterSettings
    from distinguo.testing.tester import Exam

    settings, rng, steps = TesterSettings(), np.random.default_rng(seed), 0
    extent = Extent(world.low, world.high) if world.bounded else extent_of(world, seed)
    exam = Exam(world, representation.partition, representation.rows, settings, extent)
    q = np.zeros((representation.rows, len(world.actions)))
    learn = at_speed(train, world.task, exam.partition)
    while steps < settings.steps:
        first = exam.starts(rng, TRAINING, 1)[0]
        cap = world.cap(settings.training_cap)
        steps += learn(world.task, exam.partition, q, settings, rng, first, cap)[0]
    return q, settings.delta


def _make(folder: Path) -> None:
    from distinguo.errors import DistinguoError

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DistinguoError(f"Cannot write to {folder}: {error.strerror}.") from None
