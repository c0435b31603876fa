"""The closed loop over cells: where the controller and the task's own program can lead in ``k`` steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.proof.number.form import Form, Unreadable
from distinguo.proof.number.paths import paths
from distinguo.proof.number.program import Parameters, Program
from distinguo.representations.voronoi import Voronoi

MARGIN = 1e-10  #: a prototype is excluded only if another is nearer by this share of the squared distances
States = tuple[Form, ...]


class Flow(NamedTuple):
    """A program, its controller, and the parameters that are only known to lie in ranges."""

    program: Program
    controller: Controller
    ranges: Mapping[str, tuple[float, float]]

    def follow(
        self, state: States, source: np.ndarray, steps: int
    ) -> tuple[States | None, np.ndarray, np.ndarray]:
        """Follow sets for some steps: where they end, the cell each came from, and the cells that may fail.

        A cell that may fail is not followed further.
        """
        failing = np.zeros(0, dtype=np.int64)
        for _ in range(steps):
            found: list[tuple[np.ndarray, States]] = []
            lost = [failing]
            possible = self.possible(state)
            for a in range(len(possible)):
                rows = np.flatnonzero(possible[a])
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
            failing = np.unique(np.concatenate(lost))
            if not found:
                return None, np.zeros(0, dtype=np.int64), failing
            source = np.concatenate([who for who, _ in found])
            state = tuple(Form.joined([forms[i] for _, forms in found]) for i in range(len(found[0][1])))
            keep = np.flatnonzero(~np.isin(source, failing))
            if len(keep) < len(source):
                source, state = source[keep], tuple(form.at(keep) for form in state)
            if not len(source):
                return None, source, failing
        return state, source, failing

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


def _of_box(gradient: np.ndarray) -> np.ndarray:
    """How far linear functions of the coordinates of cells (coordinates, cells) rise from the middle."""
    return np.asarray(np.abs(gradient).sum(axis=0))


def nearest_actions(
    partition: Voronoi,
    sets: np.ndarray,
    seen: States,
    rise: Callable[[np.ndarray], np.ndarray] = _of_box,
) -> np.ndarray:
    """The actions of every prototype that may be the nearest one somewhere in a set.

    The difference of two squared distances is affine, so an affine form bounds it well; ``rise`` says how far one
    rises in a set that is smaller than the box of its coordinates.
    """
    prototypes, weight = partition.prototypes, partition.weight**2
    centre = np.stack([form.centre for form in seen])
    gradient = np.stack([form.gradient for form in seen])
    radius = np.stack([form.radius for form in seen])
    distances = np.stack([((centre - p[:, None]) ** 2 * weight[:, None]).sum(axis=0) for p in prototypes])
    nearest = distances.argmin(axis=0)
    best = distances.min(axis=0)
    size = 1.0 + (weight[:, None] * np.stack([form.reach for form in seen]) ** 2).sum(axis=0)
    chosen = np.zeros((sets.shape[1], centre.shape[1]), dtype=bool)
    for p, place in enumerate(prototypes):
        slope = 2.0 * ((prototypes[nearest] - place) * weight).T
        reach = rise(-(slope[:, None, :] * gradient).sum(axis=0)) + (np.abs(slope) * radius).sum(axis=0)
        beaten = (nearest != p) & (distances[p] - best - reach > MARGIN * (size + distances[p] + best))
        chosen |= ~beaten[None, :] & sets[partition.regions[p]][:, None]
    return chosen
