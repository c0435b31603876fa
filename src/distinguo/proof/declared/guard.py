"""The actions that a certificate of a declared task allows in a state: those that certainly lead back into its set.

A certificate is about several steps: from some states of its set every action leaves it for a few steps. There the
certified action is taken, and so on until the state is in the set again: that is what the certificate is about.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from distinguo.errors import DistinguoError
from distinguo.proof.checker.check import difference
from distinguo.proof.declared.flow import Flow
from distinguo.proof.declared.lattice import Lattice, boxes_stay
from distinguo.proof.declared.places import States
from distinguo.proof.declared.question import claim_like, refuse_laws
from distinguo.proof.number.form import Form
from distinguo.proof.number.program import program_of
from distinguo.proof.question import partition_of
from distinguo.proof.schema import ProgramCertificate, TreeClaim
from distinguo.representations.partition import regions_of
from distinguo.tasks.task import State, transition


class ProgramGuard:
    """The actions that a certificate of a declared task allows.

    >>> from distinguo.proof.declared.question import certify_declared
    >>> from distinguo.tasks.catalog import task_spec
    >>> puck = task_spec("puck")
    >>> guard = ProgramGuard(certify_declared(puck, 2_500), puck.task)
    >>> guard.allowed_actions((0.0, 0.0)).tolist(), guard.holds((2.0, 2.0))
    ([True, True], False)
    """

    def __init__(self, certificate: ProgramCertificate, task: Any) -> None:
        program, claim = program_of(task), certificate.task
        if other := difference(claim, claim_like(claim, task)):
            raise DistinguoError(f"The certificate belongs to another task: {other}.")
        if certificate.controller is None:
            refuse_laws(task)
        self.task, self.certificate, self.actions = task, certificate, claim.actions
        unknown = {name: (low, claim.high[name]) for name, low in claim.low.items() if low < claim.high[name]}
        self.flow = Flow(program, None, unknown, claim.actions)
        cells = certificate.cells
        matrix = np.array(cells.matrix)
        self.lattice = Lattice(
            matrix, np.linalg.inv(matrix), np.array(cells.low), np.array(cells.pitch), tuple(cells.counts)
        )
        self.alive = cells.alive().ravel()
        self.controller = certificate.controller

    def holds(self, s: Any) -> bool:
        """Whether a state certainly is in the set."""
        return bool(self.all_held(np.array([s], dtype=float))[0])

    def all_held(self, states: np.ndarray) -> np.ndarray:
        """Which states (a row each) certainly are in the set."""
        return self._inside(_points(states))

    def _inside(self, state: States) -> np.ndarray:
        first, last, off = self.lattice.covers(state, 0.0)
        return boxes_stay(self.alive, self.lattice.counts, first, last) & ~off

    def allowed_actions(self, s: Any, detour: int | None = None) -> np.ndarray:
        """The mask of the actions that certainly lead into the set, and in the set the certified action, too.

        On a detour, which began in the set with the certified action ``detour``, it is the next certified action that
        is allowed as well.
        """
        allowed = self.returning(np.array([s], dtype=float))[0]
        if (inside := self.holds(s)) or detour is not None:
            certified = self.certified_action(s, None if inside else detour)
            if certified is not None:
                allowed[certified] = True
        return allowed

    def returning(self, states: np.ndarray) -> np.ndarray:
        """Which actions (columns) certainly lead into the set in one step, from each of some states (rows)."""
        state = _points(states)
        return np.column_stack([self._returns(state, a, 1) for a in range(self.actions)])

    def _returns(self, state: States, a: int, steps: int) -> np.ndarray:
        """From which states an action certainly leads into the set, held for at most some steps."""
        returns = np.ones(len(state[0].centre), dtype=bool)
        source = np.arange(len(returns))
        for step in range(steps):
            found: list[tuple[np.ndarray, States]] = []
            for path in self.flow.step(state, a):
                returns[source[path.lost]] = False
                if not len(path.rows):
                    continue
                who, (after, terminal) = source[path.rows], path.result
                if terminal:
                    returns[who] = False
                    continue
                reached = tuple(form.at(path.kept) for form in after)
                out = np.flatnonzero(~self._inside(reached))
                if step == steps - 1:
                    returns[who[out]] = False
                found.append((who[out], tuple(form.at(out) for form in reached)))
            source = np.concatenate([np.zeros(0, dtype=np.int64), *(who for who, _ in found)])
            if not len(source):
                break
            state = tuple(Form.joined([forms[i] for _, forms in found]) for i in range(len(state)))
        return returns

    def certified_action(self, s: State, detour: int | None = None) -> int | None:
        """The action of the certificate: its policy's, the first of tied ones; or one to be held until the set is
        reached again, ``detour`` if that has begun. None if there is none.
        """
        found = self.certified_actions(
            np.array([s], dtype=float), np.array([-1 if detour is None else detour])
        )[0]
        return None if found < 0 else int(found)

    def certified_actions(self, states: np.ndarray, detours: np.ndarray) -> np.ndarray:
        """The same for some states (rows); -1 stands for none."""
        state = _points(states)
        if self.controller is not None:
            seen = np.stack([form.centre for form in self.flow.seen(state)], axis=1)
            firsts = np.array([actions[0] for actions in self.controller.actions])
            if isinstance(self.controller, TreeClaim):
                chosen: np.ndarray = firsts[regions_of(partition_of(self.controller), seen)]
                return chosen
            away = (seen[:, None, :] - np.array(self.controller.prototypes)) * np.array(
                self.controller.weight
            )
            return firsts[(away**2).sum(axis=2).argmin(axis=1)]
        found = detours.copy()
        for a in range(self.actions):
            rows = np.flatnonzero(found < 0)
            if len(rows):
                part = tuple(form.at(rows) for form in state)
                found[rows[self._returns(part, a, self.certificate.steps)]] = a
        return found

    def walk(self, states: np.ndarray, steps: int, seed: int = 0) -> int:
        """How many steps shielded random agents survive, one from each of some states of the set, all together.

        Each takes at random one of the actions that are allowed.
        """
        rng, states = np.random.default_rng(seed), np.array(states, dtype=float)
        states = states[self.all_held(states)]
        detours, survived = np.full(len(states), -1), 0
        for _ in range(steps):
            allowed, inside = self.returning(states), self.all_held(states)
            detours[inside] = -1
            certified = self.certified_actions(states, detours)
            allowed[np.flatnonzero(certified >= 0), certified[certified >= 0]] = True
            chosen = (rng.random(allowed.shape) * allowed).argmax(axis=1)
            detours = np.where(self.controller is None, chosen, -1)
            for n, a in enumerate(chosen):
                after, _, terminal = transition(self.task, tuple(states[n].tolist()), int(a))
                if terminal:
                    return survived
                states[n] = after
                survived += 1
        return survived


def _points(states: np.ndarray) -> States:
    return Form.of_cells(np.ascontiguousarray(states.T), np.zeros((states.shape[1], 0)))
