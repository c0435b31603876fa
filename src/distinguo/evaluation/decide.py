"""What becomes of a batch of greedy trials, by the cheapest means that gives the true answer.

A trial that is proven never to fail reaches any cap; one that fails soon is followed to its end; only what is left
undecided is simulated, in lock-step where the partition allows it. The lengths are those of a real simulation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from distinguo.controller import TIED, Controller
from distinguo.evaluation.lockstep.boxes import evaluate_boxes
from distinguo.evaluation.lockstep.voronoi import evaluate_lockstep
from distinguo.evaluation.simulate import Outcome, evaluate
from distinguo.proof.hold.closure import FOREVER, UNDECIDED, certify_states, is_provable
from distinguo.representation.table import BoxTable

WORTH_PROVING = 200_000  #: caps below which simulating a batch takes no longer than proving it


def outcome_of(
    task: Any,
    controller: Controller,
    rng: np.random.Generator,
    starts: np.ndarray,
    cap: int,
    *,
    plain: Any = None,
    proof: bool = True,
    patience: int | None = None,
) -> Outcome:
    """Return what :func:`evaluate` would, but for the luck of tied actions.

    ``plain`` is the partition in the form that proofs know. With ``patience``, the median is exact but survivors need
    not be: when more than half of the trials have failed, those that are left after so many steps count as having
    reached the cap.

    Proofs speak of lengths only: where rewards matter, ask with ``proof=False``.

    >>> from distinguo.representation.voronoi import voronoi
    >>> from distinguo.tasks.puck.puck import Puck
    >>> two = voronoi([[0.3, 0.6], [-0.3, -0.6]], [4.8, 11.0])
    >>> q = np.array([[0.0, -1.0], [-1.0, 0.0]])
    >>> starts = np.array([[0.0, 0.0], [2.0, 2.0]])
    >>> outcome_of(Puck(), Controller(two, q, 0.0), np.random.default_rng(0), starts, 10**12).lengths.tolist()
    [1000000000000, 9]
    """
    known = controller if plain is None else controller._replace(partition=plain)
    if not (proof and cap >= WORTH_PROVING and is_provable(task, known.partition)):
        return _simulated(task, controller, rng, starts, cap, patience, len(starts) // 2)
    verdicts = certify_states(task, known, starts)
    lengths = np.where(verdicts.lengths == FOREVER, cap, verdicts.lengths)
    ended = (verdicts.lengths >= 0) & (lengths <= cap)
    returns, visited = np.zeros(len(starts)), verdicts.visited.copy()
    left = np.flatnonzero(verdicts.lengths == UNDECIDED)
    if len(left):
        more = len(starts) // 2 - int(ended.sum())
        rest = _simulated(task, controller, rng, starts[left], cap, patience, more)
        lengths[left], ended[left] = rest.lengths, rest.ended
        visited |= rest.visited
    tied = bool((controller.policy[visited] == TIED).any())
    return Outcome(np.minimum(lengths, cap), returns, ended, visited, tied)


def _simulated(
    task: Any,
    controller: Controller,
    rng: np.random.Generator,
    starts: np.ndarray,
    cap: int,
    patience: int | None,
    half: int,
) -> Outcome:
    """Simulate a batch; the median is decided when more than ``half`` of its trials have failed."""
    in_lockstep = evaluate_boxes if isinstance(controller.partition, BoxTable) else evaluate_lockstep
    if patience is None or patience >= cap:
        quick = in_lockstep(task, controller, starts, cap)
    else:
        quick = _in_two_steps(in_lockstep, (task, controller), starts, cap, patience, half)
    if quick is not None:
        return quick
    return evaluate(task, controller, rng, starts, cap, patience, half)


def _in_two_steps(
    in_lockstep: Any, subject: Any, starts: np.ndarray, cap: int, patience: int, half: int
) -> Outcome | None:
    """Run all trials for a while, and those that are left anew to the cap, if the median depends on them."""
    first: Outcome | None = in_lockstep(*subject, starts, patience)
    if first is None:
        return None
    alive = np.flatnonzero(~first.ended)
    first.lengths[alive] = cap
    if first.ended.sum() > half or not len(alive):
        return first
    rest: Outcome | None = in_lockstep(*subject, starts[alive], cap)
    if rest is None:
        return None
    for ours, theirs in (
        (first.lengths, rest.lengths),
        (first.returns, rest.returns),
        (first.ended, rest.ended),
    ):
        ours[alive] = theirs
    return first._replace(visited=first.visited | rest.visited)
