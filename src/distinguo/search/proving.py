"""Learn until proven: a race between maps whose trials are disturbed, until a prover can follow one of them.

A map that solves its task need not be provable: it may graze failure, return to its place too slowly, or drift away
from it so slowly that no trial shows it. So the race asks for a margin (search/margins.py). A change of the map is
kept if its trials last longer in common disturbances; when nearly all of them last, the disturbances grow. When no
change helps any more, the map is put to the prover. Starts that it could not decide join the race. A race that was
refused twice begins again from the first map, with other disturbances.

Where the states of a task are bounded, trials from anywhere within the limits count as well: of maps that are alike
from the starts, one that holds more states is better. A proven map is changed further while more states are proven.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.proof.arrive.question import ARRIVES
from distinguo.proof.certificate import certificate_text
from distinguo.proof.declared.question import PROGRAM, ProgramFinding
from distinguo.proof.declared.sliding import sliding
from distinguo.proof.number.program import NotProvableError, program_of, run, start_boxes
from distinguo.proof.question import Request
from distinguo.proof.verify import question_for, refusal_of
from distinguo.representations.voronoi import Voronoi
from distinguo.search.maps import (
    PrototypeMap,
    append_prototype,
    controller_of,
    drop_prototype,
    map_of,
    move_prototype,
    set_action,
    stretch_width,
)
from distinguo.search.margins import (
    WORLDS,
    PushedTrials,
    Pushes,
    pushed_score,
    pushes_for,
    worlds_within,
)
from distinguo.search.trials import fresh_trail, rerun
from distinguo.tasks.spec import LENGTH, TaskSpec
from distinguo.tasks.task import randomness, start
from distinguo.tasks.world import world_of

TRIALS = 64  #: disturbed trials that judge a map
CAP = 2_000  #: steps of each
SIZE, GROWTH = 1e-3, 1.3  #: the first size of the disturbances, in units of each coordinate, and how it grows
NEARLY_ALL = 0.98  #: the share of steps at which it does
PATIENCE = 400  #: changes in a row that gain nothing, after which a race has stalled
ROUND = 2_000  #: changes after which the prover is asked although some still gain a little
REFUSALS = 2  #: of one race by the prover, before another begins
UNDECIDED = 16  #: starts that the prover could not decide which join the race, at most
SAMPLED = 256  #: starts among which these are looked for
CELLS = 2**18  #: of a proof in the race
MORE = 2  #: prototypes that a map may have besides those of the first
SEVERAL = 0.4  #: how often a change is followed by another
ANYWHERE, LASTING = 256, 400  #: trials from anywhere within the limits, and steps of each
TIGHTER = 0.5  #: of its margin, at which a refused map is raced again
WIDER = 0.01  #: a proven map is changed further while this share of its proven states is gained
TARGET, COUNTS = (
    4,
    8.0,
)  #: undisturbed trials that show whether a map keeps its target, and their part of the score
LOST = "lost the target"
_STREAM = 6  #: follows the seed in the key of the random numbers


class Verdict(NamedTuple):
    """What a prover says of a controller."""

    proven: bool  #: from every start, and the checker accepted it
    share: float  #: of the starts
    finding: Any = None
    held: float = 0.0  #: the share of all states that is proven, where cells are laid over them
    undecided: np.ndarray = np.zeros((0, 0))  #: some starts that are not proven, a row each
    why: str = ""  #: not proven: what the prover or the checker said
    certificate: bytes | None = None  #: that the checker accepted


def ask_prover(
    spec: TaskSpec, controller: Controller, seed: int, ranges: Mapping[str, tuple[float, float]] | None = None
) -> Verdict:
    """Prove what can be proven of a controller, within a minute or so, and have it checked.

    Parameters may be anywhere in ``ranges``.

    >>> from distinguo.representations.voronoi import voronoi
    >>> from distinguo.tasks.catalog import task_spec
    >>> one = Controller(voronoi([[0.0] * 4], [1.0] * 4), np.array([[0.0, 1.0]]))
    >>> ask_prover(task_spec("CartPole-v1"), one, seed=0).proven
    False
    """
    request = Request(spec, controller, seed, ranges=ranges or {})
    question = question_for(request)
    if isinstance(question, str):
        return Verdict(False, 0.0, why=question)
    if question.capability is None and question.name == PROGRAM.name:  # by the task's own program, for ever
        settled = sliding(program_of(spec.task), controller)
        if settled is not None and not settled.is_stable:
            why = f"it slides away from its place: the modulus of its sliding mode is {settled.modulus:.5f}"
            return Verdict(False, 0.0, why=why)
        request = request._replace(cells=CELLS if question is PROGRAM else None)
    try:
        finding = question.ask(request)
    except NotProvableError as error:
        return Verdict(False, 0.0, why=str(error))
    data = None if finding.certificate is None else certificate_text(finding.certificate).encode()
    refusal = refusal_of(data, controller, spec.task)
    answer = finding.answer(refusal is None)
    undecided = _undecided(spec, finding, seed)
    accepted = data if refusal is None else None
    proven = answer.proven and answer.details.get("for_ever", True)  # not only until trials are stopped
    held = answer.details.get("share_of_all_states", 0.0)
    share = 1.0 if proven else answer.share  # a sum of volumes may be off by a rounding
    return Verdict(proven, share, finding, held, undecided, refusal or "", accepted)


def _pays(spec: TaskSpec, controller: Controller, seed: int) -> bool:
    """Whether the steps of a trial pay, so that it should last; else it should end soon."""
    first = np.array(start(spec.task, np.random.default_rng([seed, _STREAM])), dtype=np.float64)
    world = world_of(spec.task, len(first), len(spec.dimensions))
    return rerun(world, map_of(controller), fresh_trail(first, spec.cap(CAP)))[0].total > 0.0


def _undecided(spec: TaskSpec, finding: Any, seed: int) -> np.ndarray:
    """Some starts that are not proven."""
    rng = np.random.default_rng([seed, _STREAM])
    starts = np.array([start(spec.task, rng) for _ in range(SAMPLED)], dtype=np.float64)
    if not isinstance(finding, ProgramFinding):
        return starts[:0]
    found = finding.attempt.lattice.find(starts)
    return starts[(found < 0) | ~finding.attempt.alive[found]]


class Proven(NamedTuple):
    """The controller with the best verdict, and the effort."""

    controller: Controller
    verdict: Verdict
    changed: bool  #: whether its map is another than the first
    steps: int  #: environment steps of disturbed trials, and of those that check the target
    proofs: int  #: how often the prover was asked
    proposals: int
    kept: int
    margin: float  #: the size of the disturbances that nearly all trials survive, in units of ``_reach``
    seconds: float
    seconds_proving: float  #: of them


Prove = Callable[[Controller], Verdict]
Tell = Callable[[str], None]


def learn_until_proven(
    spec: TaskSpec,
    controller: Controller,
    *,
    seed: int,
    most_steps: int,
    hold: int,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    prove: Prove | None = None,
    watch: Tell = lambda _: None,
) -> Proven:
    """Change the map of a controller until it is proven, or until ``most_steps`` environment steps are used up.

    A map that loses the target is never put to the prover: it must hold for ``hold`` steps, or reach the threshold
    of the task. What is proven, and each step of a disturbed trial, has parameters anywhere in ``ranges``. By default
    the prover is :func:`ask_prover`, and the task says whether trials should last or arrive; with another prover
    they should last.
    """
    lasts = True
    if prove is None:
        question = question_for(Request(spec, controller, seed))
        if isinstance(question, str):
            nothing = Verdict(False, 0.0, why=question)
            return Proven(controller, nothing, False, 0, 0, 0, 0, 0.0, 0.0, 0.0)
        prove = partial(ask_prover, spec, seed=seed, ranges=ranges)
        lasts = question.name == PROGRAM.name or (
            question.name != ARRIVES.name and _pays(spec, controller, seed)
        )
    begun = time.monotonic()
    if not isinstance(controller.partition, Voronoi):  # no map of prototypes that could be changed
        verdict = prove(controller)
        seconds = time.monotonic() - begun
        return Proven(controller, verdict, False, 0, 1, 0, 0, 0.0, seconds, seconds)
    work = ProvingRace(spec, map_of(controller), seed, lasts, most_steps, ranges)
    watch("proving the map as it is")
    best, verdict, proofs = controller, prove(controller), 1
    seconds = time.monotonic() - begun
    latest, bold = verdict, verdict.proven
    while (not verdict.proven or verdict.held > 0.0) and work.go_on(latest, watch):
        found = controller_of(work.map.distinct(), len(spec.actions))
        latest = Verdict(False, 0.0, why=LOST)
        if work.keeps_target(hold):
            watch(f"proof {proofs + 1}: {work.map.size} prototypes, margin {work.size:.2%}")
            asked = time.monotonic()
            latest, proofs = prove(found), proofs + 1
            seconds += time.monotonic() - asked
        was, now = ((one.proven, one.share, one.held) for one in (verdict, latest))
        last = verdict.proven and not (latest.proven and latest.held > (1.0 + WIDER) * verdict.held)
        if now > was:
            best, verdict = found, latest
        again, bold = bold and best is controller, False
        if last and not again:
            break
        if last:  # a margin cost more than it gave: widen the map as it came
            latest, work.map, work.size = verdict, work.first, SIZE
    return Proven(
        best,
        verdict,
        best is not controller,
        work.steps,
        proofs,
        work.proposals,
        work.kept,
        work.size,
        time.monotonic() - begun,
        seconds,
    )


def _corners(spec: TaskSpec) -> np.ndarray:
    """The corners of the boxes of all starts, by the program of a task; none if it cannot be followed."""
    try:
        program = program_of(spec.task)
        boxes = run(program, lambda: start_boxes(program, {}))
    except NotProvableError:
        return np.zeros((0, 1))
    corners = [corner for box in boxes for corner in product(*zip(*box, strict=True))]
    return np.unique(np.array(corners), axis=0)


class ProvingRace:
    """A map, the disturbed trials that judge it, and the steps that were run."""

    def __init__(
        self,
        spec: TaskSpec,
        first: PrototypeMap,
        seed: int,
        lasts: bool,
        most_steps: int,
        ranges: Mapping[str, tuple[float, float]] | None = None,
    ) -> None:
        self.spec, self.first, self.map = spec, first, first
        self.most_steps = (
            most_steps if len(spec.actions) > 1 else 0
        )  # with a single law, all maps do the same
        self.rng = np.random.default_rng([seed, _STREAM])
        starts = np.array([start(spec.task, self.rng) for _ in range(TRIALS)], dtype=np.float64)
        corners = _corners(spec)[:TRIALS]
        starts[: len(corners)] = corners if len(corners) else starts[:0]
        self.world = world_of(spec.task, starts.shape[1], len(spec.dimensions))
        self.asked = PushedTrials(starts, CAP if lasts else spec.cap(CAP), lasts)
        self.target = PushedTrials(starts[:TARGET], spec.cap(CAP), lasts)
        self._lost = False  #: whether a map has lost the target: only then it is worth the steps to guard it
        self.steps = self.proposals = self.kept = 0
        self._noise = randomness(spec.task)  # of a stochastic task: the same in all trials
        self._noise_before: Any = None if self._noise is None else self._noise.bit_generator.state
        self.extent, self.unit = self._reach()
        self._one_world = not ranges
        self._no_pushes = pushes_for(TRIALS, starts.shape[1], np.random.default_rng(0))  # of size 0
        self.worlds = worlds_within(spec.task, ranges or {}, starts.shape[1], len(spec.dimensions), self.rng)
        self.pushes: Pushes = self._new_pushes()
        self.anywhere: tuple[PushedTrials, Pushes] | None = None
        low, high = np.array(spec.low), np.array(spec.high)
        if lasts and len(low) == starts.shape[1] and np.isfinite([*low, *high]).all():
            wide = PushedTrials(self.rng.uniform(low, high, (ANYWHERE, len(low))), LASTING, True)
            self.anywhere = wide, pushes_for(ANYWHERE, len(low), self.rng, self._one_world)
        self.size, self._refused = 0.0, 0
        self.score = self.lasting = 0.0  #: of all trials, and of those from the starts

    def _reach(self) -> tuple[np.ndarray, np.ndarray]:
        """How far the undisturbed trials of the first map range in each coordinate, and a unit for disturbances.

        The unit is the geometric mean of the range and of a step: a push should matter both to a coordinate that
        moves by its whole range in a few steps, and to one that takes hundreds.
        """
        rows, moves = [], []
        for one in self.asked.first[:8]:
            trail, steps = rerun(self.world, self.first, fresh_trail(one, self.asked.cap))
            self.steps += steps
            states = trail.states[: trail.length[0] + 1]
            rows.append(states)
            moves.append(np.diff(states, axis=0))
        extent = np.ptp(np.vstack(rows), axis=0)
        step = np.sqrt((np.vstack(moves) ** 2).mean(axis=0))
        return extent, np.sqrt(extent * step)

    def _new_pushes(self) -> Pushes:
        return pushes_for(TRIALS, self.asked.first.shape[1], self.rng, self._one_world)

    def go_on(self, latest: Verdict, watch: Tell) -> bool:
        """Race until nothing helps any more; False if the steps are used up."""
        grows = not latest.proven or self.size == 0.0  # what was proven as it came has no margin yet
        if latest.proven:
            self.size = max(self.size, SIZE)
        elif self.size > 0.0:  # it was asked about, and refused
            self._refused += 1
            self.pushes = self._new_pushes()
            if self.anywhere is not None:
                self.size, grows = self.size * TIGHTER, False
        if self.size == 0.0 or self._refused >= REFUSALS:
            self.map, self.size, self._refused, grows = self.first, SIZE, 0, True
        if len(latest.undecided):
            some = latest.undecided[:UNDECIDED]
            self.asked = self.asked._replace(first=np.vstack([self.asked.first[len(some) :], some]))
        self._lost |= latest.why == LOST
        self.score, idle, last = self._scored(self.map), 0, self.proposals + ROUND
        while idle < PATIENCE and self.proposals < last:
            if self.steps >= self.most_steps:
                return False
            while grows and self.lasting >= NEARLY_ALL and self.steps < self.most_steps:
                self.size *= GROWTH
                self.score, idle = self._scored(self.map), 0
            if self.proposals % 50 == 0:
                what = "margin" if grows else "proven set"
                watch(f"widening the {what}: {self.size:.2%}, {self.proposals:,} changes tried")
            idle = 0 if self._propose() else idle + 1
        return True

    def _propose(self) -> bool:
        """Try a change; whether it gained."""
        self.proposals += 1
        changed, lasting = self._changed(self.map), self.lasting
        score = self._scored(changed, self.score)
        gained = score > self.score
        if gained or (score == self.score and changed.size <= self.map.size):
            self.map, self.score, self.kept = changed, score, self.kept + 1
        else:
            self.lasting = lasting
        return gained

    def _scored(self, given: PrototypeMap, need: float = -1.0) -> float:
        """The share of steps that the trials from the starts last, or save, and those from anywhere, added up.

        Once the target was lost, undisturbed trials come first: a margin elsewhere does not make up for them.
        """
        if self._noise is not None:
            self._noise.bit_generator.state = self._noise_before
        size, more, kept = self.size * self.unit, 0.0 if self.anywhere is None else 1.0, 0.0
        if self._lost:
            share, steps = self._undisturbed(given, self.target)
            kept = COUNTS * share
            self.steps += steps
            if kept + 1.0 + more < need:
                return kept
        need -= kept
        self.lasting, steps = pushed_score(self.worlds, given, self.asked, self.pushes, size, need - more)
        self.steps += steps
        if self.anywhere is None or self.lasting + more < need:
            return kept + self.lasting
        more, steps = pushed_score(self.worlds, given, *self.anywhere, size, need - self.lasting)
        self.steps += steps
        return kept + self.lasting + more

    def _undisturbed(self, given: PrototypeMap, asked: PushedTrials, need: float = -1.0) -> tuple[float, int]:
        as_it_is = (self.world,) * WORLDS
        return pushed_score(as_it_is, given, asked, self._no_pushes, np.zeros_like(self.extent), need)

    def _changed(self, given: PrototypeMap) -> PrototypeMap:
        """The map after a random change of random size or, now and then, several."""
        rng, d = self.rng, len(given.scale)
        length, j = 10.0 ** rng.uniform(-2.5, -0.3), int(rng.integers(given.size))
        a, kind = int(rng.integers(len(self.spec.actions))), rng.random()
        shift = length * self._seen_extent * rng.normal(size=d)
        if kind < 0.45:
            changed = given.changed(move_prototype, j, given.prototypes[j] + shift * (rng.random(d) < 0.6))
        elif kind < 0.9:
            changed = given.changed(stretch_width, int(rng.integers(d)), np.exp(3.0 * length * rng.normal()))
        elif kind < 0.94 and given.size > 1:
            changed = given.changed(drop_prototype, j)
        elif kind < 0.97 and given.size < self.first.size + MORE:
            changed = given.changed(append_prototype, given.prototypes[j] + shift, a)
        else:
            changed = given.changed(set_action, j, a)
        return self._changed(changed) if rng.random() < SEVERAL else changed

    @property
    def _seen_extent(self) -> np.ndarray:
        """The extent of observations; of states where these are observed as they are."""
        same = len(self.extent) == len(self.first.scale)
        return self.extent if same else self.first.scale

    def keeps_target(self, hold: int) -> bool:
        """Whether undisturbed trials of the map hold, or reach the threshold of the task."""
        spec = self.spec
        if spec.score == LENGTH:
            score, steps = self._undisturbed(self.map, self.target._replace(cap=hold, lasts=True), 1.0)
            self.steps += steps
            return score >= 1.0
        if spec.threshold is None:
            return True
        trails = [rerun(self.world, self.map, fresh_trail(one, spec.cap(CAP))) for one in self.asked.first]
        self.steps += sum(steps for _, steps in trails)
        return bool(np.mean([trail.total for trail, _ in trails]) >= spec.threshold)
