"""What becomes of a batch of greedy trials, by the cheapest means that gives the true answer.

A trial that is proven never to fail reaches any cap; one that fails soon is followed to its end; only what remains
undecided is simulated, in lock-step where the partition can. The lengths are those of a real simulation.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import TIED, Controller
from distinguo.evaluation.lockstep.driver import advance_lockstep, evaluate_lockstep
from distinguo.evaluation.simulate import Outcome, Patience, evaluate
from distinguo.proof.hold.closure import FOREVER, UNDECIDED, certify_states, is_provable

WORTH_PROVING = 200_000  #: caps below which simulating a batch takes no longer than proving it


class Batch(NamedTuple):
    """Trials to be run: where each starts, when they are stopped, and whether some may be given up before."""

    starts: np.ndarray
    cap: int
    patience: Patience | None = None

    def rest(self, remaining: np.ndarray, failures: int) -> Batch:
        """Return the batch of the trials that remain when so many others have failed."""
        if self.patience is None:
            return self._replace(starts=self.starts[remaining])
        patience = self.patience._replace(failures=self.patience.failures - failures)
        return Batch(self.starts[remaining], self.cap, patience)


def outcome_of(
    task: Any,
    controller: Controller,
    rng: np.random.Generator,
    batch: Batch,
    provable: Controller | None = None,
) -> Outcome:
    """Return what :func:`evaluate` would, but for the luck of tied actions.

    ``provable`` is the controller with its partition in the form that proofs know. Proofs speak of lengths only:
    leave it out where rewards matter.

    >>> from distinguo.representations.voronoi import voronoi
    >>> from distinguo.tasks.puck.puck import Puck
    >>> halves = voronoi([[0.3, 0.6], [-0.3, -0.6]], [4.8, 11.0])
    >>> two = Controller(halves, np.array([[0.0, -1.0], [-1.0, 0.0]]))
    >>> batch = Batch(np.array([[0.0, 0.0], [2.0, 2.0]]), cap=10**12)
    >>> outcome_of(Puck(), two, np.random.default_rng(0), batch, provable=two).lengths.tolist()
    [1000000000000, 9]
    """
    starts, cap, _ = batch
    if provable is None or cap < WORTH_PROVING or not is_provable(task, provable.partition):
        return _simulated(task, controller, rng, batch)
    proof = certify_states(task, provable, starts)
    lengths = np.where(proof.lengths == FOREVER, cap, proof.lengths)
    ended = (proof.lengths >= 0) & (lengths <= cap)
    visited, undecided = proof.visited.copy(), np.flatnonzero(proof.lengths == UNDECIDED)
    if len(undecided):
        rest = _simulated(task, controller, rng, batch.rest(undecided, int(ended.sum())))
        lengths[undecided], ended[undecided] = rest.lengths, rest.ended
        visited |= rest.visited
    tied = bool((controller.policy[visited] == TIED).any())
    return Outcome(np.minimum(lengths, cap), np.zeros(len(starts)), ended, visited, tied)


def _simulated(task: Any, controller: Controller, rng: np.random.Generator, batch: Batch) -> Outcome:
    patience = batch.patience
    if patience is None or patience.steps >= batch.cap:
        outcome = evaluate_lockstep(task, controller, rng, batch.starts, batch.cap)
    else:
        outcome = _in_two_steps(task, controller, rng, batch, patience)
    return evaluate(task, controller, rng, *batch) if outcome is None else outcome


def _in_two_steps(
    task: Any, controller: Controller, rng: np.random.Generator, batch: Batch, patience: Patience
) -> Outcome | None:
    """Run all trials for a while, and those that remain on to the cap, if the median depends on them."""
    states = np.array(batch.starts, dtype=np.float64, order="C")
    outcome = advance_lockstep(task, controller, rng, states, patience.steps)
    if outcome is None:
        return None
    alive = np.flatnonzero(~outcome.ended)
    outcome.lengths[alive] = batch.cap
    if outcome.ended.sum() > patience.failures or not len(alive):
        return outcome
    rest = advance_lockstep(task, controller, rng, states[alive], batch.cap - patience.steps)
    assert rest is not None  # as it was not before
    outcome.lengths[alive] = patience.steps + rest.lengths
    outcome.returns[alive] += rest.returns
    outcome.ended[alive] = rest.ended
    return outcome._replace(visited=outcome.visited | rest.visited, tied=outcome.tied or rest.tied)
