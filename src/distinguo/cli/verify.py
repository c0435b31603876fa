"""``distinguo verify``: proof that a controller never fails, or its absence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

if TYPE_CHECKING:
    import numpy as np

    from distinguo.proof.puck_enclosure import Pucks
    from distinguo.proof.verification import Verification
    from distinguo.representation.file import Representation
    from distinguo.tasks.world import World

CERTIFICATE, PICTURE = "certificate.json", "proof.png"
TRIALS, CAP = 100, 100_000  #: trials, and steps of each, where there is no proof
SHOWN = 10  #: states of a failing trial that are told
STARTS = 121  #: states along each side of the start box that shares are counted by


class Subject(NamedTuple):
    """What is to be verified."""

    name: str
    world: World
    representation: Representation
    q: np.ndarray
    delta: float
    folder: Path


def verify(
    what: Annotated[
        str, typer.Argument(metavar="RUN", help="The folder of a run, or a control such as diagonal.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of the training of a control's values, and of trials.")] = 0,
    cells: Annotated[int, typer.Option(min=1000, max=2**26, help="Cells that the proof may use, about.")] = 2
    ** 21,
    disturbance: Annotated[
        float, typer.Option(min=0, help="Prove it even if every step is off by so much in v (m/s).")
    ] = 0.0,
    ranges: Annotated[
        list[str] | None,
        typer.Option(
            "--range", help="Prove it for every value in a range: NAME=LOW:HIGH, such as mass=0.95:1.05."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Where to write; the default is the folder of the run.")
    ] = None,
) -> None:
    """Prove that the greedy policy of a run never fails, write a certificate and check it independently.

    A control has no values of its own: they are learned as the tester learns them, with --seed.

    Example: distinguo verify runs/puck-default-seed0
    """
    from distinguo.cli.console import answer, say, word_if_slow
    from distinguo.tasks.puck import Puck

    subject = _subject(what, seed, out)
    if not isinstance(subject.world.task, Puck):
        content = _not_a_proof(subject, seed)
    else:
        with word_if_slow("Proving; the first time on this machine the prover is compiled …"):
            content = _prove(subject, _pucks(subject.world.task, ranges or [], disturbance), cells, seed)
    for line in _sentences(content):
        say(line)
    answer(content, as_json)


def _subject(what: str, seed: int, out: Path | None) -> Subject:
    from distinguo.errors import DistinguoError
    from distinguo.lab.contestants import contestant
    from distinguo.lab.folder import open_run
    from distinguo.lab.plan import slug
    from distinguo.tasks.catalog import world

    path = Path(what)
    if path.is_dir():
        run = open_run(path)
        settings = run.configuration
        subject = Subject(
            what, settings.world, run.representation, run.q, settings.learner.delta, out or path
        )
    else:
        hill = world("puck")
        representation = contestant(what, hill, seed)
        q, delta = _trained(hill, representation, seed)
        folder = out or Path("runs") / f"verify-{slug(what)}-seed{seed}"
        subject = Subject(what, hill, representation, q, delta, folder)
    try:
        subject.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DistinguoError(f"Cannot write to {subject.folder}: {error.strerror}.") from None
    return subject


def _trained(hill: World, representation: Representation, seed: int) -> tuple[np.ndarray, float]:
    """Learn the values of a partition as the tester does."""
    import numpy as np

    from distinguo.testing.extent import TRAINING, Extent
    from distinguo.testing.qlearner import train
    from distinguo.testing.settings import TesterSettings

    settings, rng, steps = TesterSettings(), np.random.default_rng(seed), 0
    q, box = np.zeros((representation.rows, len(hill.actions))), Extent(hill.low, hill.high)
    while steps < settings.steps:
        first = box.draw(rng, TRAINING, 1)[0]
        steps += train(hill.task, representation.partition, q, settings, rng, first, settings.training_cap)[0]
    return q, settings.delta


def _pucks(task: Any, ranges: list[str], disturbance: float) -> Pucks:
    from distinguo.checks import checked
    from distinguo.errors import DistinguoError
    from distinguo.proof.puck_enclosure import pucks
    from distinguo.tasks.puck import Puck

    low, high = task._asdict(), task._asdict()
    for text in ranges:
        name, _, values = text.partition("=")
        try:
            low[name], high[name] = (float(value) for value in values.split(":"))
        except ValueError:
            raise DistinguoError(
                f"--range takes NAME=LOW:HIGH, such as mass=0.95:1.05, got '{text}'."
            ) from None
    return pucks(checked(Puck, low, "task"), checked(Puck, high, "task"), (0.0, disturbance))


def _prove(subject: Subject, task: Pucks, cells: int, seed: int) -> dict[str, Any]:
    import math
    import time

    from distinguo.proof.verification import verify

    begun = time.monotonic()
    side = math.isqrt(cells // 2)
    found = verify(task, subject.representation.partition, subject.q, subject.delta, (2 * side, side))
    proving = time.monotonic() - begun
    path, refusal = _write_and_check(subject, found)
    starts, whole = _shares(subject.world, found)
    checked = path is not None and not refusal
    held = checked and found.held.holds((0.0, 0.0))
    return {
        "proven": held,
        "share_of_controllable_starts": starts if checked else 0.0,
        "share_of_provable": found.share_of_provable if checked else 0.0,
        "share_of_start_box_doomed": whole,
        "cells": found.held.cells,
        "certificate": path and str(path),
        "checked": checked,
        "refusal": refusal,
        "failure": None if held else _failure(subject, seed),
        "picture": str(_draw(subject, found)),
        "seconds_proving": proving,
        "seconds": time.monotonic() - begun,
        "run": subject.name,
    }


def _write_and_check(subject: Subject, found: Verification) -> tuple[Path | None, str | None]:
    """Write the certificate, read it back and let the checker judge it: where it is, and why it was refused."""
    from distinguo.errors import DistinguoError
    from distinguo.lab.files import write_atomically
    from distinguo.proof.certificate import controller_claim, dumps, load
    from distinguo.proof.checker import check
    from distinguo.proof.possible import action_sets

    path = subject.folder / CERTIFICATE
    if found.certificate is None:
        path.unlink(missing_ok=True)  # one from before would be about something else
        return None, "no cell is held, so there is nothing to certify."
    write_atomically(path, dumps(found.certificate))
    sets = action_sets(subject.q, subject.delta)
    try:
        check(load(path), controller_claim(subject.representation.partition, sets))
    except DistinguoError as error:
        return path, str(error)
    return path, None


def _shares(world: World, found: Verification) -> tuple[float, float]:
    """Return the share of the controllable starts that are proven, and the share of the start box that is doomed."""
    import numpy as np

    from distinguo.proof.verification import DOOMED, PROVEN
    from distinguo.testing.extent import TEST, Extent

    low, high = Extent(world.low, world.high).central(TEST)
    codes = found.codes(*(np.linspace(low[i], high[i], STARTS) for i in (0, 1)))
    doomed = (codes == DOOMED).mean()
    return float((codes == PROVEN).mean() / max(1 - doomed, 1e-300)), float(doomed)


def _failure(subject: Subject, seed: int) -> dict[str, Any] | None:
    """Follow a trial from the start: how it fails, or nothing if it holds as long as anybody waits."""
    import numpy as np

    from distinguo.learners.values import choose
    from distinguo.representation.partition import region
    from distinguo.tasks.task import start, transition

    task, rng = subject.world.task, np.random.default_rng(seed)
    s, states = start(task, rng), list[list[float]]()
    for step in range(CAP):
        states = [*states[1 - SHOWN :], [float(number) for number in s]]
        a = choose(subject.q[region(subject.representation.partition, s)], subject.delta, rng)
        s, _, terminal = transition(task, s, a)
        if terminal:
            return {"steps": step + 1, "states": [*states, [float(number) for number in s]]}
    return None


def _draw(subject: Subject, found: Verification) -> Path:
    from distinguo.views.plots import save
    from distinguo.views.proof import draw_proof, proof_picture

    path = subject.folder / PICTURE
    save(draw_proof(proof_picture(found, subject.representation, subject.world, subject.name)), path)
    return path


def _not_a_proof(subject: Subject, seed: int) -> dict[str, Any]:
    """Say what trials can say of a task without an enclosure."""
    import time

    import numpy as np

    from distinguo.proof.bounds import LABEL, binomial_bound
    from distinguo.tasks.task import start
    from distinguo.testing.evaluation import evaluate

    begun, task, rng = time.monotonic(), subject.world.task, np.random.default_rng(seed)
    starts = np.array([start(task, rng) for _ in range(TRIALS)])
    outcome = evaluate(task, subject.representation.partition, subject.q, subject.delta, rng, starts, CAP)
    held = int((~outcome.ended).sum())
    low, high = binomial_bound(held, TRIALS)
    return {
        "proven": False,
        "share_of_controllable_starts": 0.0,
        "cells": 0,
        "certificate": None,
        "checked": False,
        "label": LABEL,
        "held": held,
        "trials": TRIALS,
        "bound": [low, high],
        "seconds": time.monotonic() - begun,
        "run": subject.name,
    }


def _sentences(content: dict[str, Any]) -> list[str]:
    if "bound" in content:
        low, high = content["bound"]
        return [
            f"There is no enclosure for this task, so this is {content['label']}: {content['held']} of "
            f"{content['trials']} trials held {CAP:,} steps, so with 95 % confidence {low:.1%} to {high:.1%} do."
        ]
    lines = []
    if content["proven"]:
        lines.append(f"Proven: from its start the controller never fails ({content['cells']:,} cells).")
    else:
        lines.append("Not proven: the start is not among the states that are proven.")
    if content["refusal"]:
        lines.append(f"No certificate: {content['refusal']}")
    lines.append(
        f"Proven for {content['share_of_controllable_starts']:.2%} of the controllable starts and "
        f"{content['share_of_provable']:.2%} of what can be proven for any controller; "
        f"{content['share_of_start_box_doomed']:.1%} of the start box is doomed whatever is done."
    )
    if content["failure"]:
        last = ", ".join(f"{number:.3f}" for number in content["failure"]["states"][-1])
        lines.append(
            f"A trial from the start fails after {content['failure']['steps']:,} steps, at ({last})."
        )
    if content["checked"]:
        lines.append(f"Certificate, checked independently: {content['certificate']}")
    lines.append(f"Picture: {content['picture']}")
    return lines
