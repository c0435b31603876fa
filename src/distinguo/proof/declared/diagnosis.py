"""Why a controller was not proven to hold: how close it comes to failure, how it slides, and where a cell leads."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import counted
from distinguo.proof.declared.flow import Flow
from distinguo.proof.declared.lattice import Lattice
from distinguo.proof.declared.places import States
from distinguo.proof.declared.sliding import Sliding, sliding
from distinguo.proof.number.form import Form, Unreadable
from distinguo.proof.number.paths import TooManyPathsError
from distinguo.proof.number.program import NotProvableError, Program, program_of, run, start_boxes
from distinguo.proof.question import Request
from distinguo.tasks import task as generics
from distinguo.tasks.spec import TaskSpec

TRIALS, STEPS = 8, 1_000  #: simulated trials, and steps of each
FAR = 1.0  #: the greatest distance to failure that is looked for, in the range of a coordinate
FINE = 1e-4  #: how exactly it is found
MOST_SETS = 200  #: that a cell is followed as
FEWEST_STEPS = 8  #: that a cell is followed for, where no cell is held
LINKS = 60  #: cells between a start and the cell that may fail, at most


class Approach(NamedTuple):
    """How close simulated trials come to failure."""

    state: tuple[float, ...]
    coordinate: str  #: in which it is closest
    distance: float
    share: float  #: of the range of the coordinate


class Struck(NamedTuple):
    """A cell that may fail, or leave the grid, and how many cells it is from a start that is not proven."""

    low: tuple[float, ...]
    high: tuple[float, ...]
    leads_low: tuple[float, ...]
    leads_high: tuple[float, ...]
    links: int
    steps: int  #: that each cell is followed for
    why: str


class Diagnosis(NamedTuple):
    """What was found out about a controller that was not proven."""

    approach: Approach | None
    slides: Sliding | None
    struck: Struck | None

    def sentences(self) -> list[str]:
        """It in words."""
        lines = []
        if (near := self.approach) is not None:
            lines.append(
                f"Simulated trials come within {near.distance:.3g} of failure in {near.coordinate} "
                f"({near.share:.2%} of its range), at {_place(near.state)}."
            )
        if self.slides is not None:
            lines.append(_sliding_sentence(self.slides))
        if (one := self.struck) is not None:
            lines.append(
                f"The first cell that was struck is {_box(one.low, one.high)}, {counted(one.links, 'cell')} from a "
                f"start: within {counted(one.steps, 'step')}, which lead to {_box(one.leads_low, one.leads_high)}, "
                f"{one.why}."
            )
        return lines

    def as_json(self) -> dict[str, Any]:
        """It as the command line prints it."""
        slides = self.slides
        return {
            "approach": self.approach and self.approach._asdict(),
            "sliding": slides
            and {
                "point": slides.point.tolist(),
                "modulus": slides.modulus,
                "eigenvalues": [[float(one.real), float(one.imag)] for one in slides.eigenvalues],
            },
            "struck": self.struck and self.struck._asdict(),
        }


def _place(state: Any) -> str:
    return "(" + ", ".join(f"{number:z.4g}" for number in state) + ")"


def _box(low: Any, high: Any) -> str:
    return " x ".join(f"[{a:z.4g}, {b:z.4g}]" for a, b in zip(low, high, strict=True))


def _sliding_sentence(slides: Sliding) -> str:
    values = ", ".join(
        f"{one.real:.4f}" + (f"{one.imag:+.4f}i" if abs(one.imag) > 1e-9 else "")
        for one in slides.eigenvalues
    )
    what = "it drifts away from there, however slowly, so nothing can be proven"
    if slides.is_stable:
        half = np.log(0.5) / np.log(max(slides.modulus, 1e-9))
        what = f"what is left of a deviation is halved every {counted(max(1, round(half)), 'step')}"
    return (
        f"It slides along a border around {_place(slides.point)} with eigenvalues {values} (modulus "
        f"{slides.modulus:.5f}): {what}."
    )


def diagnose(request: Request, finding: Any) -> Diagnosis:
    """Find out why a controller was not proven to hold; ``finding`` is what the prover found."""
    spec, controller = request.spec, request.controller
    program = program_of(spec.task)
    attempt: Any = getattr(finding, "attempt", None)
    lattice = getattr(attempt, "lattice", None)
    struck = None
    if isinstance(lattice, Lattice):
        flow = Flow(program, controller, request.ranges)
        struck = run(
            program, lambda: first_struck(flow, lattice, attempt.alive, attempt.steps or FEWEST_STEPS)
        )
    return Diagnosis(closest_approach(spec, controller, request.seed), sliding(program, controller), struck)


def closest_approach(spec: TaskSpec, controller: Controller, seed: int) -> Approach | None:
    """The state of simulated trials from which the smallest shift of one coordinate makes the next step fail.

    None if no shift by the range of a coordinate does.
    """
    rng, best = np.random.default_rng(seed), None
    task = generics.seeded(spec.task, seed)
    reach = _ranges(spec)
    closest = FAR
    for _ in range(TRIALS):
        s = tuple(float(number) for number in generics.start(task, rng))
        for _ in range(STEPS):
            a = int(controller.action(generics.observe(task, s)))
            for axis in range(len(s)):
                for sign in (1.0, -1.0):
                    found = _shift_that_fails(task, s, a, axis, sign * reach[axis], closest)
                    if found is not None and found < closest:
                        closest = found
                        best = Approach(s, spec.dimensions[axis], found * float(reach[axis]), found)
            s, _, terminal = generics.transition(task, s, a)
            if terminal:
                break
    return best


def _ranges(spec: TaskSpec) -> np.ndarray:
    """The width of each coordinate; 1 where it is infinite."""
    widths = np.array(spec.high) - np.array(spec.low)
    return np.where(np.isfinite(widths), widths, 1.0)


def _shift_that_fails(
    task: Any, s: tuple[float, ...], a: int, axis: int, unit: float, closest: float
) -> float | None:
    """The smallest shift of a coordinate, in units, that makes the next step fail; None if it is not the closest."""

    def fails(shift: float) -> bool:
        moved = (*s[:axis], s[axis] + shift * unit, *s[axis + 1 :])
        try:
            return bool(generics.transition(task, moved, a)[2])
        except (ArithmeticError, ValueError):
            return True

    if not fails(closest):
        return None
    low, high = 0.0, closest
    while high - low > FINE * closest:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if fails(middle) else (middle, high)
    return high


def first_struck(flow: Flow, lattice: Lattice, alive: np.ndarray, steps: int) -> Struck | None:
    """Follow a start that is not held from cell to cell until one may fail; None if all starts are held."""
    cell = _start_not_held(flow, lattice, alive)
    seen: set[int] = set()
    for links in range(LINKS):
        if cell < 0 or cell in seen:
            return None
        seen.add(cell)
        forms = lattice.forms(np.array([cell]))
        state, why = followed(flow, forms, steps)
        low, high = _ends(state)
        if not why:
            first, last, off = lattice.covers(state)
            why = "it may leave the grid" if off.any() else ""
        if why:
            return Struck(*_ends(forms), low, high, links, steps, why)
        cell = _dead_in(alive, lattice.counts, first, last, seen)
    return None


def _ends(state: States) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return tuple(float(form.low.min()) for form in state), tuple(float(form.high.max()) for form in state)


def _start_not_held(flow: Flow, lattice: Lattice, alive: np.ndarray) -> int:
    """A cell of the starts that is not held; -1 if all are, or none is on the grid."""
    for low, high in start_boxes(flow.program, flow.ranges):
        shares = np.random.default_rng(0).random((200, len(low)))
        found = lattice.find(np.vstack([0.5 * (low + high), low, high, low + shares * (high - low)]))
        dead = found[(found >= 0) & ~alive[found]]
        if len(dead):
            return int(dead[0])
    return -1


def _dead_in(
    alive: np.ndarray, counts: tuple[int, ...], first: np.ndarray, last: np.ndarray, seen: set[int]
) -> int:
    """A cell that is not held among the boxes of an image; -1 if there is none."""
    for a, z in zip(first, last, strict=True):
        grids = np.meshgrid(
            *(np.arange(low, high + 1) for low, high in zip(a, z, strict=True)), indexing="ij"
        )
        flat = np.ravel_multi_index(tuple(grids), counts).ravel()
        for cell in flat[~alive[flat]]:
            if int(cell) not in seen:
                return int(cell)
    return -1


def followed(flow: Flow, state: States, steps: int) -> tuple[States, str]:
    """Follow one set for some steps: where it ends, and why it is followed no further, if so."""
    for _ in range(steps):
        found: list[States] = []
        possible = flow.possible(state)
        for a in range(len(possible)):
            rows = np.flatnonzero(possible[a])
            if not len(rows):
                continue
            for path in flow.step(tuple(form.at(rows) for form in state), a):
                if path.why:
                    return state, f"the program may {path.why}"
                if len(path.rows) and path.result[1]:
                    return tuple(form.at(path.kept) for form in path.result[0]), "it may fail"
                if len(path.rows):
                    found.append(tuple(form.at(path.kept) for form in path.result[0]))
        state = tuple(Form.joined([one[i] for one in found]) for i in range(len(state)))
        if len(state[0].centre) > MOST_SETS:
            return state, "actions alternate too often to be followed"
    return state, ""


def obstacle(spec: TaskSpec) -> str:
    """Why the program of a task cannot be followed from its starts, in a sentence; empty if it can.

    It is run once, for every action, on the set of all starts.
    """
    try:
        program = program_of(spec.task)
        run(program, lambda: _one_step(program, len(spec.actions)))
    except NotProvableError as error:
        return str(error)
    return ""


def _one_step(program: Program, actions: int) -> None:
    controller: Any = None  # only steps are taken
    for low, high in start_boxes(program, {}):
        if not np.isfinite([*low, *high]).all():
            raise Unreadable("starts from a box without bounds")
        state = tuple(Form.between(low[i : i + 1], high[i : i + 1], 1) for i in range(len(low)))
        flow = Flow(program, controller, {})
        for a in range(actions):
            try:
                for path in flow.step(state, a):
                    if path.why and not len(path.rows):
                        raise Unreadable(f"may {path.why} from its starts")
            except TooManyPathsError:
                return
