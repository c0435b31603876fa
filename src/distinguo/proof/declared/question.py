"""The question of declared tasks whose trials should never end: does the controller hold for ever?

The task's own ``transition`` is followed over cells of its state space, several steps at a time: rounding to cells
costs less where they have moved farther. Steps and cells are tried from few to many until little is left to gain.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial, singledispatch
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import region_at
from distinguo.errors import DistinguoError, counted
from distinguo.proof.declared.flow import Flow
from distinguo.proof.declared.lattice import (
    LEEWAY,
    Lattice,
    greatest_set,
    hopeful_cells,
    lattice_over,
    sorted_images,
)
from distinguo.proof.declared.places import can_be_followed
from distinguo.proof.hold.question import PROVEN, UNDECIDED
from distinguo.proof.number.form import Form
from distinguo.proof.number.program import Program, program_of, run, start_boxes
from distinguo.proof.question import Answer, GreedyTrial, Question, Request, greedy_trial
from distinguo.proof.schema import (
    LARGEST,
    MOST_STEPS,
    LatticeClaim,
    LawsClaim,
    ProgramCertificate,
    ProgramClaim,
    PrototypesClaim,
    TreeClaim,
)
from distinguo.representations.boxes import Boxes
from distinguo.representations.voronoi import Voronoi
from distinguo.seam import has_own
from distinguo.tasks import task as generics
from distinguo.tasks.amounts import laws_of_task, needs_laws, takes_a_number
from distinguo.tasks.spec import CONTINUOUS, LENGTH, TaskSpec
from distinguo.tasks.task import seeded

MOST_DIMENSIONS = 3  #: with more, cells are too many
STEPS = (8, 24)  #: within which sets should be in the cells again

RECORDED = (1, 2, 4, 8, 16, 24)  #: after these steps it is asked whether they are
#: Cells at first, in all, and how many may be followed at each level; a level halves the cells at the border.
FIRST, AT_MOST, FOLLOWED = 10_000, 2**24, 150_000
NEIGHBOURS = 2  #: how far from the cells that are held, in cells, smaller ones are tried
#: Finer cells and longer images are tried until this share of the surviving states is held and the last attempt added
#: at most this share to the set.
ENOUGH, GAIN = 0.998, 0.005
MOST_OBLIQUE = 1e4  #: condition of the matrix of coordinates
AT_ONCE = 50_000  #: cells whose images are computed together
SAMPLES, TRIED = 300, 300  #: states whose survival is simulated, and for how many steps
COMPARED = 20_000  #: sampled states, to compare two sets
CAP = 100_000  #: steps for which a trial is followed to find a failure
_STREAM = 5  # of the sampled states


class Attempt(NamedTuple):
    """A set of cells that is never left."""

    lattice: Lattice
    alive: np.ndarray  #: (cells,)
    steps: int  #: within which states are in the set again
    hopeful: np.ndarray  #: (cells,) those outside that were seen to lead into the set, in part

    @property
    def volume(self) -> float:
        """The volume of the set in the coordinates of its cells."""
        return float(self.alive.sum() * np.prod(self.lattice.pitch))

    def holds(self, states: np.ndarray) -> np.ndarray:
        """Which states (a row each) are in the set."""
        found = self.lattice.find(states)
        return self.alive[found] & (found >= 0)


class ProgramFinding(NamedTuple):
    """Which states a controller is proven to hold."""

    request: Request
    program: Program
    attempt: Attempt
    starts: list[tuple[np.ndarray, np.ndarray]]  #: boxes of all starts
    surviving: np.ndarray  #: sampled states that did not fail in a simulation
    maximal: Attempt  #: what any controller can be proven to hold
    certificate: ProgramCertificate | None

    def answer(self, checked: bool) -> Answer:
        """Whether all starts are proven, and which share of the states."""
        alive, steps = self.attempt.alive, self.attempt.steps
        of_starts = _share_of_starts(self.attempt, self.starts) if checked else 0.0
        survivors = _share_of(self.attempt, self.surviving) if checked else 0.0
        proven = checked and self.certificate is not None and self.certificate.all_starts
        failure = None if proven else self._failure()
        details = {
            "share_of_surviving_states": survivors,
            "share_of_all_states": self._of_all() if checked else 0.0,
            "share_of_provable": self._of_provable() if checked else 0.0,
            "steps_of_images": steps,
            "failure": failure and failure.as_json(),
        }
        answer = Answer(proven, of_starts, int(alive.sum()), details, [], failure is not None)
        return answer._replace(sentences=_sentences(answer, failure))

    def _of_all(self) -> float:
        """The volume of the proven set in that of all states within the limits."""
        spec, lattice = self.request.spec, self.attempt.lattice
        whole = abs(np.linalg.det(lattice.matrix)) * np.prod(np.subtract(spec.high, spec.low))
        return min(1.0, float(self.attempt.volume / whole))

    def _of_provable(self) -> float:
        """The share of the states that any controller can be proven to hold for which this one is, by samples."""
        spec = self.request.spec
        rng = np.random.default_rng([self.request.seed, _STREAM + 1])
        states = rng.uniform(spec.low, spec.high, (COMPARED, len(spec.low)))
        held, most = self.attempt.holds(states), self.maximal.holds(states)
        return float(held.sum() / max(1, (held | most).sum()))

    def codes(self, xs: np.ndarray, vs: np.ndarray) -> np.ndarray:
        """``PROVEN`` or ``UNDECIDED`` for every state of a grid of two coordinates."""
        states = np.stack(np.meshgrid(xs, vs, indexing="ij"), axis=-1).reshape(-1, 2)
        return (
            np.where(self.attempt.holds(states), PROVEN, UNDECIDED).reshape(len(xs), len(vs)).astype(np.int8)
        )

    def slice_codes(
        self, axes: tuple[int, int], lines: tuple[np.ndarray, np.ndarray], value: float
    ) -> np.ndarray:
        """``PROVEN`` or ``UNDECIDED`` on a grid of two of three coordinates, at one value of the third."""
        states = np.full((len(lines[0]), len(lines[1]), 3), value)
        states[..., axes[0]], states[..., axes[1]] = np.meshgrid(*lines, indexing="ij")
        held = self.attempt.holds(states.reshape(-1, 3)).reshape(states.shape[:2])
        return np.where(held, PROVEN, UNDECIDED).astype(np.int8)

    def _failure(self) -> GreedyTrial | None:
        request = self.request
        trial = greedy_trial(request.spec.task, request.controller, request.seed, CAP)
        return trial if trial.ended else None


def _sentences(answer: Answer, failure: GreedyTrial | None) -> list[str]:
    lines = [f"Not proven: only {answer.share:.2%} of the starts are."]
    if failure is not None:
        lines = [
            f"Refuted: a trial from a start fails after {counted(failure.steps, 'step')}, at {failure.place}."
        ]
    if answer.proven:
        lines = [f"Proven: from every start the controller never fails ({counted(answer.cells, 'cell')})."]
    details = answer.details
    return [
        *lines,
        f"Proven for {details['share_of_surviving_states']:.1%} of the states that survive "
        f"{counted(TRIED, 'simulated step')}, {details['share_of_provable']:.1%} of what can be proven for any "
        f"controller, and {details['share_of_all_states']:.1%} of all states; images of up to "
        f"{counted(details['steps_of_images'], 'step')}.",
    ]


def why_unread(spec: TaskSpec) -> str | None:
    """Why the program of a task cannot be followed over sets of states; None if it can be tried.

    >>> from distinguo.tasks.catalog import task_spec
    >>> why_unread(task_spec("FrozenLake-v1"))
    'FrozenLake-v1 has labels instead of numbers'
    """
    if needs_laws(spec):
        return f"{spec.name} takes amounts, and no laws say how much"
    known = laws_of_task(spec.task)
    greatest = 0.0 if known is None else float(np.abs(known.table).max())
    if greatest > LARGEST:
        return f"a law of {spec.name} has a gain of {greatest:z.3g}, and proofs go up to {LARGEST:zg}"
    if spec.kind != CONTINUOUS:
        return f"{spec.name} has labels instead of numbers"
    if spec.interpreted or not has_own(generics.transition, spec.task):
        return f"{spec.name} is a Gymnasium environment, whose program cannot be read"
    return None


def why_unfollowed(spec: TaskSpec, controller: Any) -> str | None:
    """Why a controller of a task cannot be followed over sets of states; None if it can be tried."""
    unread = why_unread(spec)
    if unread is not None:
        return unread
    if not can_be_followed(controller.partition):
        kind = type(controller.partition).__name__
        return f"a {kind} cannot be followed over sets of states; prototypes and trees of boxes can"
    policy_claim(controller, spec.task)  # some kinds have no laws
    return None


def why_not(spec: TaskSpec, controller: Any) -> str | None:
    """Why a controller of a task cannot be proven to hold by following its program; None if it can be tried.

    >>> from distinguo.tasks.catalog import task_spec
    >>> why_not(task_spec("CartPole-v1"), None)
    'CartPole-v1 is judged by return, and proofs of declared tasks are about trials that should never end'
    """
    if spec.score != LENGTH:
        return f"{spec.name} is judged by return, and proofs of declared tasks are about trials that should never end"
    unfollowed = why_unfollowed(spec, controller)
    if unfollowed is not None:
        return unfollowed
    if len(spec.low) > MOST_DIMENSIONS:
        few = f"proofs of declared tasks go up to {MOST_DIMENSIONS}"
        return f"{spec.name} has {len(spec.low)} dimensions, and {few}"
    if not np.isfinite([*spec.low, *spec.high]).all():
        return f"{spec.name} has infinite bounds; declare finite low and high"
    return None


def program_asked(request: Request) -> tuple[Program, list[tuple[np.ndarray, np.ndarray]]]:
    """The program of a request, and boxes of all its starts."""
    spec = request.spec
    program = program_of(spec.task)
    for name in request.ranges:
        if name not in program.parameters:
            raise DistinguoError(
                f"{spec.name} has no parameter '{name}'; it has {', '.join(program.parameters)}."
            )
    starts = run(program, lambda: start_boxes(program, request.ranges))
    if len(starts[0][0]) != len(spec.low):
        raise DistinguoError(
            f"{spec.name} shows other coordinates than its states have, so cells cannot be laid."
        )
    return program, starts


def ask_program(request: Request) -> ProgramFinding:
    """Prove that the greedy policy never fails, by the task's own program."""
    spec = request.spec
    program, starts = program_asked(request)
    flow = Flow(program, request.controller, request.ranges)
    low, high = np.array(spec.low), np.array(spec.high)
    samples = np.random.default_rng([request.seed, _STREAM]).uniform(low, high, (SAMPLES, len(low)))
    surviving = samples[survivors(spec.task, request.controller, samples)]
    best, share, of_starts = None, -1.0, -1.0
    for attempt in _attempts(program, flow, spec, request.cells or AT_MOST, surviving):
        grown = attempt.volume - (best.volume if best else 0.0)
        if best is None or grown > 0.0:
            best, share = attempt, _share_of(attempt, surviving)
        before, of_starts = of_starts, _share_of_starts(best, starts)
        whole = all(_holds_box(best, *box) for box in starts)
        if share >= ENOUGH and grown <= GAIN * best.volume and (whole or of_starts <= before):
            break
    assert best is not None
    maximal = holdable_by_any(program, spec, request.ranges, min(FIRST, request.cells or FIRST), quick=True)
    certificate = None
    if best.alive.any():
        claim = policy_claim(request.controller, spec.task)
        certificate = _certificate(program, spec, request.ranges, claim, best, starts)
    return ProgramFinding(request, program, best, starts, surviving, maximal, certificate)


def holdable_by_any(
    program: Program,
    spec: TaskSpec,
    ranges: Mapping[str, tuple[float, float]],
    most: int,
    quick: bool = False,
) -> Attempt:
    """The greatest set found from which some controller can be proven never to fail; or the first that is found."""
    flow = Flow(program, None, ranges, len(spec.actions))
    low, high = np.array(spec.low), np.array(spec.high)
    states = np.random.default_rng(_STREAM).uniform(low, high, (SAMPLES, len(low)))
    for attempt in _attempts(program, flow, spec, most, states):
        if quick and attempt.alive.any():
            break
    return attempt


def certify_declared(
    spec: TaskSpec, cells: int = FIRST, ranges: Mapping[str, tuple[float, float]] | None = None
) -> ProgramCertificate:
    """Certify the greatest set found from which some controller never fails, for a shield."""
    refuse_laws(spec.task)
    program = program_of(spec.task)
    starts = run(program, lambda: start_boxes(program, ranges or {}))
    maximal = holdable_by_any(program, spec, ranges or {}, cells)
    if not maximal.alive.any():
        raise DistinguoError(
            f"Nothing can be proven of {spec.name} with {counted(cells, 'cell')}; allow more, or declare limits."
        )
    return _certificate(program, spec, ranges or {}, None, maximal, starts)


def _attempts(
    program: Program, flow: Flow, spec: TaskSpec, most: int, surviving: np.ndarray
) -> Iterator[Attempt]:
    """Yield sets that are never left, each with all of the one before.

    What is not held by short images is tried with longer ones, and then with cells of half the size near the border.
    """
    low, high = np.array(spec.low), np.array(spec.high)
    d = len(low)
    counts: tuple[int, ...] = (max(2, round(min(FIRST, most) ** (1 / d))),) * d
    # a little more than the declared box: an angle that goes on at its other end touches it there
    room = 2.0 * LEEWAY * (high - low) / counts
    low, high = low - room, high + room
    empty = np.zeros(math.prod(counts), dtype=bool)
    begun = []
    for matrix in stretching_coordinates(spec):
        nothing = Attempt(lattice_over(low, high, counts, matrix), empty, 0, empty)
        begun.append(run(program, partial(held_cells, flow, nothing, np.arange(len(empty)), STEPS[0])))
    attempt = max(begun, key=lambda one: _share_of(one, surviving))
    yield attempt
    tried: np.ndarray = ~empty
    rest: tuple[int, ...] = STEPS[1:]
    while True:
        for steps in rest:
            flat = np.flatnonzero(tried & ~attempt.alive)
            attempt = run(program, partial(held_cells, flow, attempt, flat, steps))
            yield attempt
        rest = STEPS
        from scipy.ndimage import binary_dilation  # takes a while to load

        whole = attempt.alive.reshape(attempt.lattice.counts)
        near = ~whole if not whole.any() else binary_dilation(whole, iterations=NEIGHBOURS) & ~whole
        hopeful = attempt.hopeful.reshape(whole.shape) | near
        near = hopeful if hopeful.sum() * 2**d <= FOLLOWED else near
        lattice = attempt.lattice.halved()
        if near.sum() * 2**d > FOLLOWED or lattice.cells > most:
            return
        for axis in range(d):
            whole, near = np.repeat(whole, 2, axis=axis), np.repeat(near, 2, axis=axis)
        tried = near.ravel()
        attempt = attempt._replace(lattice=lattice, alive=whole.ravel(), hopeful=np.zeros_like(tried))


def stretching_coordinates(spec: TaskSpec) -> list[np.ndarray]:
    """The task's own coordinates, and those along which one step stretches or shrinks states, if these are real.

    Any will do: they decide how much can be proven, never whether a proof is right.
    """
    own = np.eye(len(spec.low))
    low, high = np.array(spec.low), np.array(spec.high)
    middle, small = 0.5 * (low + high), 1e-4 * (high - low)
    jacobian = np.zeros_like(own)
    for axis in range(len(low)):
        ends = []
        for sign in (1.0, -1.0):
            s = middle + sign * small * own[axis]
            try:
                ends.append(generics.transition(seeded(spec.task, 0), tuple(s.tolist()), 0)[0])
            except (ArithmeticError, ValueError):
                return [own]
        jacobian[:, axis] = (np.array(ends[0]) - np.array(ends[1])) / (2.0 * small[axis])
    if not np.isfinite(jacobian).all():
        return [own]
    values, vectors = np.linalg.eig(jacobian * (high - low) / (high - low)[:, None])
    if np.iscomplex(values).any() or np.linalg.cond(vectors) > MOST_OBLIQUE:
        return [own]
    return [own, np.linalg.inv(vectors.real) / (high - low)]


def held_cells(flow: Flow, known: Attempt, flat: np.ndarray, steps: int) -> Attempt:
    """The greatest set of cells that are never left: those known, and as many others as can be held.

    Without a controller, it is enough that some action, held for some steps, leads back.
    """
    lattice, alive = known.lattice, known.alive.copy()
    actions = [None] if flow.controller is not None else list(range(flow.actions))
    found = []
    for begin in range(0, len(flat), AT_ONCE):
        part = flat[begin : begin + AT_ONCE]
        for n, action in enumerate(actions):
            ways = flow.walk(lattice.forms(part), np.arange(len(part)), steps, action)
            for step, (state, source) in enumerate(ways, 1):
                if step in RECORDED:
                    first, last, off = lattice.covers(state)
                    gone = np.zeros(len(part), dtype=bool)
                    gone[source[off]] = True
                    kept = ~gone[source]
                    group = n * (MOST_STEPS + 1) + step
                    found.append((part[source[kept]], group, first[kept], last[kept]))
    for source, *_ in found:
        alive[source] = True
    images = sorted_images(lattice.cells, found, len(lattice.counts))
    held_now = greatest_set(alive, lattice.counts, images)
    more = int(held_now.sum()) > int(known.alive.sum())
    hopeful = (known.hopeful | hopeful_cells(held_now, lattice.counts, images)) & ~held_now
    return Attempt(lattice, held_now, max(known.steps, steps) if more else known.steps, hopeful)


def _share_of(attempt: Attempt, states: np.ndarray) -> float:
    return float(attempt.holds(states).mean()) if len(states) else 0.0


def survivors(task: Any, controller: Any, states: np.ndarray) -> np.ndarray:
    """Which states do not fail within ``TRIED`` simulated steps."""
    greedy, kept = controller.greedy, np.ones(len(states), dtype=bool)
    for n, first in enumerate(states):
        s = tuple(map(float, first))
        for _ in range(TRIED):
            s, _, terminal = generics.transition(
                task, s, int(greedy[region_at(task, controller.partition, s)])
            )
            if terminal:
                kept[n] = False
                break
    return kept


def _share_of_starts(attempt: Attempt, starts: list[tuple[np.ndarray, np.ndarray]]) -> float:
    """The share of the boxes of starts that lies in the set, by volume; a box without width counts by its sides."""
    lattice, alive = attempt.lattice, attempt.alive.reshape(attempt.lattice.counts)
    shares = []
    for low, high in starts:
        share = np.ones(())
        for axis, count in enumerate(lattice.counts):
            edges = lattice.low[axis] + lattice.pitch[axis] * np.arange(count + 1)
            width = high[axis] - low[axis]
            if width <= 0.0:
                overlap = ((edges[:-1] <= low[axis]) & (low[axis] < edges[1:])).astype(float)
            else:
                common = np.minimum(edges[1:], high[axis]) - np.maximum(edges[:-1], low[axis])
                overlap = np.clip(common, 0, None) / width
            share = np.multiply.outer(share, overlap)
        shares.append(float((share * alive).sum()))
    return min(1.0, float(np.mean(shares)))


def _holds_box(attempt: Attempt, low: np.ndarray, high: np.ndarray) -> bool:
    lattice = attempt.lattice
    form = tuple(Form.between(low[i : i + 1], high[i : i + 1], 1) for i in range(len(low)))
    first, last, off = lattice.covers(form)
    if off[0]:
        return False
    box = tuple(slice(a, z + 1) for a, z in zip(first[0], last[0], strict=True))
    return bool(attempt.alive.reshape(lattice.counts)[box].all())


def _certificate(
    program: Program,
    spec: TaskSpec,
    ranges: Mapping[str, tuple[float, float]],
    controller: PrototypesClaim | TreeClaim | None,
    attempt: Attempt,
    starts: list[tuple[np.ndarray, np.ndarray]],
) -> ProgramCertificate:
    lattice, alive = attempt.lattice, attempt.alive
    changes = np.flatnonzero(np.diff(np.concatenate([[False], alive, [False]]).astype(np.int8)))
    return ProgramCertificate(
        task=program_claim(program, ranges, title_of(spec)),
        controller=controller,
        steps=attempt.steps,
        cells=LatticeClaim(
            matrix=lattice.matrix.tolist(),
            low=lattice.low.tolist(),
            pitch=lattice.pitch.tolist(),
            counts=list(lattice.counts),
            runs=np.column_stack([changes[::2], changes[1::2] - 1]).tolist(),
        ),
        all_starts=all(_holds_box(attempt, *box) for box in starts),
    )


def policy_claim(controller: Any, task: Any) -> PrototypesClaim | TreeClaim:
    """A controller as a certificate names it: the actions of each prototype, and their laws; or of each leaf."""
    return _claim_of(controller.partition, controller, task)


@singledispatch
def _claim_of(partition: Any, controller: Any, task: Any) -> PrototypesClaim | TreeClaim:
    raise DistinguoError(
        f"A {type(partition).__name__} cannot be named in a certificate; prototypes and boxes can."
    )


@_claim_of.register
def _(partition: Boxes, controller: Any, task: Any) -> TreeClaim:
    if laws_of_task(task) is not None:
        raise DistinguoError("Laws are proven over prototypes, not over boxes.")
    columns = {name: getattr(partition, name).tolist() for name in ("axis", "cut", "below", "above")}
    actions = [np.flatnonzero(row).tolist() for row in controller.action_sets]
    return TreeClaim(kind="tree", **columns, actions=actions)


@_claim_of.register
def _(partition: Voronoi, controller: Any, task: Any) -> PrototypesClaim:
    known = laws_of_task(task)
    sets = [np.flatnonzero(row).tolist() for row in controller.action_sets]
    places = {
        "prototypes": partition.prototypes.tolist(),
        "weight": partition.weight.tolist(),
        "actions": [sets[region] for region in partition.regions],
    }
    if known is None:
        return PrototypesClaim(**places)
    ends = {"low": known.low.tolist(), "high": known.high.tolist()}
    return LawsClaim(**places, **ends, laws=known.table.tolist(), single=takes_a_number(task.task, known))


class _Title(NamedTuple):
    """What a claim says of a task besides its program."""

    name: str
    dimensions: int
    actions: int


def title_of(spec: TaskSpec) -> _Title:
    """The name, dimensions and actions of a task."""
    return _Title(spec.name, len(spec.low), len(spec.actions))


def program_claim(program: Program, ranges: Any, title: Any) -> ProgramClaim:
    """A declared task as a certificate names it; name, dimensions and number of actions are those of ``title``."""
    ends = {name: ranges.get(name, (value, value)) for name, value in program.parameters.items()}
    return ProgramClaim(
        name=title.name,
        functions=program.functions,
        names=program.names,
        constants={name: _plain(value) for name, value in program.constants.items()},
        low={name: float(low) for name, (low, _) in ends.items()},
        high={name: float(high) for name, (_, high) in ends.items()},
        dimensions=title.dimensions,
        actions=title.actions,
    )


def refuse_laws(task: Any) -> None:
    """Refuse a set for any controller where laws are the actions: such a certificate has no laws."""
    if laws_of_task(task) is not None:
        raise DistinguoError(
            "A set for any controller is about a few actions, not about laws; take the certificate of a controller."
        )


def claim_like(claim: ProgramClaim, task: Any) -> ProgramClaim:
    """What a claim about a task should say of its program, as far as the task knows."""
    return program_claim(program_of(task), {}, _Title(claim.name, claim.dimensions, generics.actions(task)))


def _plain(value: Any) -> Any:
    """A constant of a program as a certificate names it."""
    return [float(number) for number in value] if isinstance(value, tuple) else float(value)


PROGRAM = Question("never fails", None, ask_program, needless=("steps", "disturbance"))
