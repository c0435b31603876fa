"""The closed loop over cells: where the controller and the task's own program can lead in ``k`` steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.proof.number.form import Form, Unreadable
from distinguo.proof.number.paths import paths
from distinguo.proof.number.program import Parameters, Program
from distinguo.representations.voronoi import Voronoi

MARGIN = 1e-10  #: a prototype is excluded only if another is nearer by this share of the squared distances
States = tuple[Form, ...]


#: Sets that a cell may become; with more it is given up: where actions alternate, they double at every step.
MOST_SETS = 64


class Flow(NamedTuple):
    """A program, its controller, and the parameters that are only known to lie in ranges."""

    program: Program
    controller: Controller | None  #: None where any action may be taken
    ranges: Mapping[str, tuple[float, float]]
    actions: int = 0  #: of the task, where any may be taken

    def walk(
        self, state: States, source: np.ndarray, steps: int, held: int | None = None
    ) -> Iterator[tuple[States, np.ndarray]]:
        """Follow sets for some steps; after each, yield the sets and the cell that each came from.

        A cell that may have failed is not followed further, nor is one that became too many sets. The action is
        ``held``, or any that the controller may take.
        """
        for _ in range(steps):
            found: list[tuple[np.ndarray, States]] = []
            lost: list[np.ndarray] = []
            possible = {held: None} if held is not None else dict(enumerate(self.possible(state)))
            for a, chosen in possible.items():
                rows = np.arange(len(source)) if chosen is None else np.flatnonzero(chosen)
                if len(rows):
                    for path in self.step(tuple(form.at(rows) for form in state), a):
                        lost.append(source[rows[path.lost]])
                        if not len(path.rows):
                            continue
                        who = source[rows[path.rows]]
                        after, terminal = path.result
                        if terminal:
                            lost.append(who)
                        else:
                            found.append((who, tuple(form.at(path.kept) for form in after)))
            if not found:
                return
            source = np.concatenate([who for who, _ in found])
            state = tuple(Form.joined([forms[i] for _, forms in found]) for i in range(len(found[0][1])))
            dropped = np.bincount(source, minlength=1) > MOST_SETS
            for who in lost:
                dropped[who[who < len(dropped)]] = True
            keep = np.flatnonzero(~dropped[source])
            if not len(keep):
                return
            if len(keep) < len(source):
                source, state = source[keep], tuple(form.at(keep) for form in state)
            yield state, source

    def step(self, state: States, a: int) -> Any:
        """Yield every path of one step by an action; the result is the next state and whether it is terminal."""
        directions = len(state[0].gradient)

        def once(rows: np.ndarray) -> tuple[States, bool]:
            here = tuple(form.at(rows) for form in state)
            fields = Parameters(self.program.parameters, self.ranges, (directions, len(rows)))
            after, _, terminal = self.program.step(fields, here, a)
            ended = bool(terminal)
            return tuple(here[0].like(number) for number in after), ended

        with np.errstate(all="ignore"):  # cells that do not go this way may hold anything
            yield from paths(once, len(state[0].centre))

    def possible(self, state: States) -> np.ndarray:
        """Which actions (rows) the controller may take somewhere in each set (columns)."""
        seen = self.seen(state)
        assert self.controller is not None
        partition = self.controller.partition
        sets = self.controller.action_sets
        assert isinstance(partition, Voronoi)
        return nearest_actions(partition, np.asarray(sets), seen)

    def seen(self, state: States) -> States:
        """What the controller observes of some states."""
        if self.program.observe is None:
            return state
        observe, directions = self.program.observe, len(state[0].gradient)

        def once(rows: np.ndarray) -> States:
            fields = Parameters(self.program.parameters, self.ranges, (directions, len(rows)))
            return tuple(observe(fields, tuple(form.at(rows) for form in state)))

        with np.errstate(all="ignore"):
            found = list(paths(once, len(state[0].centre)))
        if len(found) != 1 or len(found[0].lost):
            raise Unreadable("observes a state in more than one way")
        seen: States = found[0].result
        return seen


def nearest_actions(partition: Voronoi, sets: np.ndarray, seen: States) -> np.ndarray:
    """The actions of every prototype that may be the nearest one somewhere in a set.

    The difference of two squared distances is affine, so an affine form bounds it well. A prototype is left out if
    another is nearer everywhere: the one that is nearest to the centre, or any other that is not left out.
    """
    prototypes, weight = partition.prototypes, partition.weight**2
    count = len(seen[0].centre)
    distances = np.stack(
        [
            sum(w * (form.centre - x) ** 2 for w, form, x in zip(weight, seen, place, strict=True))
            for place in prototypes
        ]
    )
    size = 1.0 + sum(w * form.reach**2 for w, form in zip(weight, seen, strict=True))
    nearest = distances.argmin(axis=0)
    beaten = np.zeros(distances.shape, dtype=bool)

    def leave_out(p: int, q: int, cells: np.ndarray) -> None:
        """Leave ``p`` out in those of some cells where ``q`` is nearer everywhere."""
        slope = (2.0 * (prototypes[q] - prototypes[p]) * weight).tolist()
        reach = np.zeros(len(cells))
        for direction in range(len(seen[0].gradient)):
            turn = sum(k * form.gradient[direction][cells] for k, form in zip(slope, seen, strict=True))
            reach = reach + np.abs(turn)
        for k, form in zip(slope, seen, strict=True):
            reach = reach + abs(k) * form.radius[cells]
        far, near = distances[p][cells], distances[q][cells]
        beaten[p, cells] = far - near - reach > MARGIN * (size[cells] + far + near)

    for q in range(len(prototypes)):
        cells = np.flatnonzero(nearest == q)
        for p in range(len(prototypes)):
            if p != q and len(cells):
                leave_out(p, q, cells)
    several = np.flatnonzero((~beaten).sum(axis=0) > 2)
    for p in range(len(prototypes)):
        for q in range(len(prototypes)):
            cells = several[~beaten[p, several] & ~beaten[q, several] & (nearest[several] != q)]
            if p != q and len(cells):
                leave_out(p, q, cells)
    chosen = np.zeros((sets.shape[1], count), dtype=bool)
    for p in range(len(prototypes)):
        chosen |= ~beaten[p][None, :] & sets[partition.regions[p]][:, None]
    return chosen
