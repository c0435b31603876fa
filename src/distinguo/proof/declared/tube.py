"""The question of slow systems: does the controller hold, from all starts, for ever or until trials are stopped?

All starts are followed together: a tube. Where the sliding is stable, the tube settles, and a set a little larger
than what it has become is followed in turn. Once it lies within itself again it is a core, and no trial ever fails.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from distinguo.errors import counted
from distinguo.proof.declared.core import (
    Body,
    Coordinates,
    Stopped,
    Tracker,
    body_of_box,
    frame_around,
    united,
)
from distinguo.proof.declared.flow import Flow
from distinguo.proof.declared.question import (
    CAP,
    policy_claim,
    program_asked,
    program_claim,
    title_of,
    why_unread,
)
from distinguo.proof.declared.sliding import Sliding, sliding
from distinguo.proof.number.form import Form, Unreadable
from distinguo.proof.number.paths import TooManyPathsError, paths
from distinguo.proof.number.program import NotProvableError, Parameters, Program, program_of, run
from distinguo.proof.question import Answer, GreedyTrial, Question, Request, greedy_trial
from distinguo.proof.schema import CoordinatesClaim, CoreCertificate, LegClaim, PrototypesClaim
from distinguo.representations.voronoi import Voronoi
from distinguo.tasks.amounts import laws_of
from distinguo.tasks.spec import LENGTH, TaskSpec

FEWEST_DIMENSIONS, MOST_DIMENSIONS = 3, 4
FINENESS = 40, 80  #: cells that a push crosses: tried in this order
SETTLING = 200  #: steps after which a tube is first tried as a core
TURN = 150  #: steps within which a core should come back into itself
WIDER = 0.05  #: by how much of its width a core is larger than the tube
SPARE = 0.01  #: of its width, that is left between a core and what comes back to it
RECENT = 6  #: roundings whose fast cells it has
MOST_STEPS, MOST_LEGS = 4_000, 6
FAR = 1e3  #: stands for an infinite bound where the rewards of a program are read


class Core(NamedTuple):
    """A set: fast cells, and one polygon of the slow coordinates for all of them."""

    cells: np.ndarray
    supports: np.ndarray

    def holds(self, body: Body) -> bool:
        """Whether all of a body lies in it, with a little room for the checker."""
        known = {tuple(cell) for cell in self.cells.tolist()}
        if not all(tuple(cell) in known for cell in body.cells.tolist()):
            return False
        room = SPARE * (self.supports + np.roll(self.supports, len(self.supports) // 2))
        return bool((body.polygon <= self.supports - room).all())

    @property
    def body(self) -> Body:
        """The core in cells."""
        return Body(self.cells, np.tile(self.supports, (len(self.cells), 1)))


class Leg(NamedTuple):
    """The steps between roundings, and the core that holds what there is after them."""

    schedule: list[int]
    core: Core


class Tube(NamedTuple):
    """A tube from all starts."""

    frame: Coordinates
    legs: list[Leg]
    schedule: list[int]  #: after the last leg
    closes: bool  #: whether it ends in the core of the last leg
    cells: int  #: the most that it had at a time

    @property
    def steps(self) -> int:
        """How long it is."""
        return sum(sum(leg.schedule) for leg in self.legs) + sum(self.schedule)


def core_around(bodies: list[Body]) -> Core:
    """A core a little larger than some bodies: the fast cells of all, and a wider polygon.

    The fast cells are not widened: a set that chatters across a border does not become narrower again.
    """
    cells = np.unique(np.concatenate([body.cells for body in bodies]), axis=0)
    supports = np.max([body.polygon for body in bodies], axis=0)
    width = supports + np.roll(supports, len(supports) // 2)
    return Core(cells, supports + 0.5 * WIDER * width)


def tube_from(follower: Tracker, starts: list[Any], limit: int | None, settles: bool) -> Tube:
    """Follow all starts until a core closes, or for ``limit`` steps if it does not settle; raise what stops it."""
    frame = follower.frame
    boxes = [body_of_box(frame, *box) for box in starts]
    body = boxes[0] if len(boxes) == 1 else united(frame, boxes)
    legs: list[Leg] = []
    schedule: list[int] = []
    recent: list[Body] = []
    done, cells = 0, len(body.cells)
    most = MOST_STEPS if settles else limit or 0
    try:
        while done < most:
            taken, body = follower.advanced(body, most - done)
            done, cells = done + taken, max(cells, len(body.cells))
            schedule.append(taken)
            if legs and legs[-1].core.holds(body):
                return Tube(frame, legs, schedule, True, cells)
            if settles and done >= SETTLING and (not legs or sum(schedule) >= TURN):
                if len(legs) == MOST_LEGS:
                    break
                legs.append(Leg(schedule, core_around([*recent, body])))
                schedule, body = [], legs[-1].core.body
            recent = [*recent[1 - RECENT :], body]
    except Stopped as why:
        if limit is None or done < limit:
            raise Stopped(f"{why} after {counted(done, 'step')}") from None
    if limit is None or done < limit:
        raise Stopped("does not settle")
    if not schedule:  # the last core was not followed
        schedule = legs.pop().schedule
    return Tube(frame, legs, schedule, False, cells)


def reward_of(program: Program, spec: TaskSpec) -> float | None:
    """What every step pays if a trial earns most by never ending; None if this is not so.

    Each step pays the same, more than nothing, and a step that ends the trial pays no more. So a trial with the
    greatest return is one that does not end, and to end is to fail.

    >>> from distinguo.tasks.catalog import task_spec
    >>> [reward_of(program_of(spec.task), spec) for spec in map(task_spec, ("CartPole-v1", "MountainCar-v0"))]
    [1.0, None]
    """
    d = len(spec.low)
    low, high = np.clip(spec.low, -FAR, FAR), np.clip(spec.high, -FAR, FAR)
    state = Form.of_cells((0.5 * (low + high))[:, None], np.diag(0.5 * (high - low)))
    going: set[float] = set()
    ending: set[float] = set()

    def once(rows: np.ndarray, a: int) -> tuple[Any, bool]:
        here = tuple(form.at(rows) for form in state)
        _, reward, terminal = program.step(Parameters(program.parameters, {}, (d, len(rows))), here, a)
        return reward, bool(terminal)

    try:
        with np.errstate(all="ignore"):
            for a in range(len(spec.actions)):
                for path in paths(partial(once, a=a), 1):
                    if len(path.lost) or (len(path.rows) and not isinstance(path.result[0], int | float)):
                        return None
                    if len(path.rows):
                        (ending if path.result[1] else going).add(float(path.result[0]))
    except (Unreadable, TooManyPathsError):
        return None
    if len(going) != 1 or min(going) <= 0.0 or max(ending, default=0.0) > min(going):
        return None
    return going.pop()


class CoreFinding(NamedTuple):
    """What was found about the starts of a slow system."""

    request: Request
    found: Sliding | None
    tube: Tube | None
    obstacle: str  #: why there is no core
    certificate: CoreCertificate | None

    def answer(self, checked: bool) -> Answer:
        """Whether all starts are proven, for ever or for as long as trials last."""
        tube = self.tube if checked else None
        trial = None
        if tube is None:
            task = self.request.spec.task
            trial = greedy_trial(task, self.request.controller, self.request.seed, self._limit or CAP)
        failure = trial if trial is not None and trial.ended else None
        details = {
            "for_ever": tube is not None and tube.closes,
            "steps_without_failure": tube.steps if tube is not None else 0,
            "reward_of_a_step": self.certificate.reward if tube is not None and self.certificate else None,
            "modulus_of_sliding": self.found and self.found.modulus,
            "failure": failure and failure.as_json(),
        }
        cells = tube.cells if tube is not None else 0
        sentences = self._sentences(tube, failure)
        return Answer(
            tube is not None, float(tube is not None), cells, details, sentences, failure is not None
        )

    @property
    def _limit(self) -> int | None:
        return self.request.spec.limit

    def _sentences(self, tube: Tube | None, failure: GreedyTrial | None) -> list[str]:
        earned = "."
        if self.certificate is not None and self.certificate.reward is not None and self._limit:
            earned = f", so every trial has a return of {self._limit * self.certificate.reward:g}."
        lines = [f"Not proven: {self.obstacle}."]
        if tube is not None and tube.closes:
            lines = [f"Proven: from every start the controller never fails{earned}"]
        elif tube is not None:
            lines = [
                f"Proven: from every start no trial fails within {counted(tube.steps, 'step')}{earned}",
                f"Not proven for longer: {self.obstacle}.",
            ]
        elif failure is not None:
            lines = [
                f"Refuted: a trial from a start fails after {counted(failure.steps, 'step')}, at {failure.place}.",
                f"{self.obstacle[0].upper()}{self.obstacle[1:]}.",
            ]
        if self.found is not None and self.found.is_stable:
            lines.append(
                f"Along its border the state settles by a factor of {self.found.modulus:.5f} a step."
            )
        return lines


def ask_core(request: Request) -> CoreFinding:
    """Prove that no trial fails: for ever if a core is found, else for as long as trials last."""
    spec = request.spec
    program, starts = program_asked(request)
    flow = Flow(program, request.controller, request.ranges)
    found = run(program, lambda: sliding(program, request.controller))
    if found is None:
        obstacle = "no point was found at which two actions hold a state on the border between them"
        return CoreFinding(request, None, None, obstacle, None)
    drift = (
        f"along its border the state drifts away by a factor of {found.modulus:.5f} a step (unstable sliding)"
    )
    obstacle = "no set was found that is never left" if found.is_stable else drift
    best: Tube | None = None
    if found.is_stable or spec.limit is not None:
        for fineness in FINENESS:
            frame = frame_around(found, fineness)
            if frame is None:
                obstacle = "its coordinates cannot be separated into fast and slow ones"
                break
            follower = Tracker(flow, frame, {})
            try:
                tube = run(program, partial(tube_from, follower, starts, spec.limit, found.is_stable))
            except Stopped as why:
                if best is None:
                    stopped = f"the set of all states that may be reached {why}"
                    obstacle = stopped if found.is_stable else f"{drift}, and {stopped}"
                continue
            best = tube
            obstacle = "no set was found that is never left" if found.is_stable else drift
            if tube.closes or not found.is_stable:
                break
    certificate = None if best is None else _certificate(request, program, best)
    return CoreFinding(request, found, best, obstacle, certificate)


def _certificate(request: Request, program: Program, tube: Tube) -> CoreCertificate:
    spec, frame = request.spec, tube.frame
    controller = policy_claim(request.controller, spec.task)
    assert isinstance(controller, PrototypesClaim)
    return CoreCertificate(
        task=program_claim(program, request.ranges, title_of(spec)),
        controller=controller,
        coordinates=CoordinatesClaim(
            origin=frame.origin.tolist(),
            matrix=frame.matrix.tolist(),
            pitch=frame.pitch.tolist(),
            directions=len(frame.directions),
        ),
        legs=[
            LegClaim(schedule=leg.schedule, cells=_runs(leg.core.cells), supports=leg.core.supports.tolist())
            for leg in tube.legs
        ],
        schedule=tube.schedule,
        closes=tube.closes,
        reward=reward_of(program, spec),
    )


def _runs(cells: np.ndarray) -> list[list[int]]:
    """Cells in order as runs of a row."""
    ends = np.flatnonzero((np.diff(cells[:, 0]) != 0) | (np.diff(cells[:, 1]) != 1))
    first, last = np.append(0, ends + 1), np.append(ends, len(cells) - 1)
    return np.column_stack([cells[first, 0], cells[first, 1], cells[last, 1]]).tolist()


def why_no_core(spec: TaskSpec, controller: Any) -> str | None:
    """Why a controller of a task cannot be asked to hold by a core and a tube; None if it can be tried.

    >>> from distinguo.tasks.catalog import task_spec
    >>> why_no_core(task_spec("Acrobot-v1"), None)
    'Acrobot-v1 has 6 dimensions, and cores need 3 or 4'
    """
    unread = why_unread(spec)
    if unread is not None:
        return unread
    if laws_of(spec) is not None:
        return f"the controller of {spec.name} follows laws, and cores need a few actions"
    d = len(spec.low)
    if not FEWEST_DIMENSIONS <= d <= MOST_DIMENSIONS:
        return f"{spec.name} has {d} dimensions, and cores need {FEWEST_DIMENSIONS} or {MOST_DIMENSIONS}"
    if spec.score != LENGTH and reward_of(program_of(spec.task), spec) is None:
        return f"a step of {spec.name} does not always pay the same, so to end a trial may not be to fail"
    if not isinstance(controller.partition, Voronoi):
        return f"a {type(controller.partition).__name__} cannot be followed over cells; prototypes can"
    return None


def core_or_reason(request: Request) -> CoreFinding:
    """What was proven; if nothing, an error that says why, so that trials are run instead."""
    finding = ask_core(request)
    if finding.certificate is None:
        raise NotProvableError(f"Not proven: {finding.obstacle}.")
    return finding


CORE = Question("never fails", None, core_or_reason, needless=("steps", "disturbance", "cells"))
