"""The closed loop over cells: where the controller and the task's own program can lead in ``k`` steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.proof.declared.places import States, actions_in
from distinguo.proof.number.form import Form, Unreadable
from distinguo.proof.number.paths import paths
from distinguo.proof.number.program import Parameters, Program

#: Sets that a cell may become; with more it is given up: where actions alternate, they double at every step.
MOST_SETS = 64


class Flow(NamedTuple):
    """A program, its controller, and the parameters that are only known to lie in ranges."""

    program: Program
    controller: Controller | None  #: None where any action may be taken
    ranges: Mapping[str, tuple[float, float]]
    actions: int = 0  #: of the task, where any may be taken

    @property
    def policy(self) -> Controller:
        """The controller, where one is followed."""
        assert self.controller is not None
        return self.controller

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
            for rows, a in self._chosen(state, held):
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
            source, state = source[keep], tuple(form.at(keep) for form in state)
            yield state, source

    def _chosen(self, state: States, held: int | None) -> Iterator[tuple[np.ndarray, int]]:
        """Which sets may see each action."""
        if held is not None:
            yield np.arange(len(state[0].centre)), held
            return
        for a, possible in enumerate(self.possible(state)):
            if possible.any():
                yield np.flatnonzero(possible), a

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
        return actions_in(self.policy.partition, np.asarray(self.policy.action_sets), seen)

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
