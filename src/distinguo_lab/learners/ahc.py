"""The Adaptive Heuristic Critic of Barto, Sutton and Anderson (1983): an actor, a critic, and traces of both.

The paper compares with a quantization by Hu (1996) that "was part of an Adaptive Heuristic Critic system"; this
learner lets that comparison be made. A state activates the one unit of its region. The *associative search element*
(ASE) pushes by the sign of its weight and some noise; the *adaptive critic element* (ACE) predicts reinforcement. The
change of the prediction trains both, each along a fading trace of the visited regions.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import Field

from distinguo.controller import region_at
from distinguo.seam import kernel, part
from distinguo.tasks.task import start, transition, unpack


class AhcSettings(NamedTuple):
    """The constants of the critic, under the names and with the values of its paper.

    >>> AhcSettings().alpha
    1000.0
    """

    alpha: Annotated[float, Field(gt=0, description="learning rate of the ASE; Barto et al. 1983")] = 1000.0
    beta: Annotated[float, Field(gt=0, description="learning rate of the ACE; Barto et al. 1983")] = 0.5
    delta: Annotated[float, Field(ge=0, lt=1, description="decay of the ASE's trace; Barto et al. 1983")] = (
        0.9
    )
    gamma: Annotated[
        float, Field(gt=0, le=1, description="discount of the prediction; Barto et al. 1983")
    ] = 0.95
    lambda_: Annotated[
        float, Field(ge=0, lt=1, description="decay of the ACE's trace; Barto et al. 1983")
    ] = 0.8
    noise: Annotated[float, Field(ge=0, description="deviation of the ASE's noise; Barto et al. 1983")] = 0.01


class AhcMemory(NamedTuple):
    """Rows are indexed by region."""

    w: np.ndarray  #: weights of the ASE: above zero pushes by action 1, below zero by action 0
    v: np.ndarray  #: weights of the ACE: the reinforcement predicted
    e: np.ndarray  #: trace of the ASE, signed by the action taken
    x_bar: np.ndarray  #: trace of the ACE


def fresh_ahc(rows: int) -> AhcMemory:
    """The memory of an untrained critic.

    >>> fresh_ahc(3).w
    array([0., 0., 0.])
    """
    return AhcMemory(np.zeros(rows), np.zeros(rows), np.zeros(rows), np.zeros(rows))


@kernel
def ahc_trial(
    task: Any,
    partition: Any,
    memory: AhcMemory,
    settings: AhcSettings,
    rng: np.random.Generator,
    now: np.ndarray,
    cap: int,
) -> tuple[int, bool]:
    """Learn in one trial from ``now`` in a task of two actions; return its length, and whether it failed."""
    memory.e[:] = 0.0
    memory.x_bar[:] = 0.0
    s = unpack(task, now)
    j = region_at(task, partition, s)
    p = memory.v[j]
    length = 0
    terminal = False
    while not terminal and length < cap:
        y = 1.0 if memory.w[j] + settings.noise * rng.standard_normal() >= 0.0 else -1.0
        memory.e[j] += (1.0 - settings.delta) * y
        memory.x_bar[j] += 1.0 - settings.lambda_
        s, r, terminal = transition(task, s, 1 if y > 0.0 else 0)
        j = region_at(task, partition, s)
        p_next = 0.0 if terminal else memory.v[j]  # no region is active after a failure
        _learn(memory, settings, r + settings.gamma * p_next - p)
        p = p_next
        length += 1
    return length, terminal


@part
def _learn(memory: AhcMemory, settings: AhcSettings, r_hat: float) -> None:
    """Spread the heuristic reinforcement over the traces, and let these fade."""
    for i in range(len(memory.w)):
        memory.w[i] += settings.alpha * r_hat * memory.e[i]
        memory.v[i] += settings.beta * r_hat * memory.x_bar[i]
        memory.e[i] *= settings.delta
        memory.x_bar[i] *= settings.lambda_


class Balanced(NamedTuple):
    """The cost of learning to balance."""

    solved: bool
    trials: int  #: failed trials before the one that held
    steps: int  #: training steps in them


def balance(
    task: Any,
    partition: Any,
    rows: int,
    seed: int,
    hold: int = 10_000,
    most_trials: int = 500,
    settings: AhcSettings | None = None,
) -> Balanced:
    """Learn from the start until a trial holds so many steps; "over 10,000 steps" in the paper, section 4.2.2.

    >>> from distinguo.representations.voronoi import voronoi
    >>> from distinguo.tasks.puck.puck import Puck
    >>> two = voronoi([[0.3, 0.6], [-0.3, -0.6]], [4.8, 11.0])
    >>> balance(Puck(), two, rows=2, seed=0, hold=2000).solved
    True
    """
    rng, memory, steps = np.random.default_rng(seed), fresh_ahc(rows), 0
    for trials in range(most_trials):
        first = np.array(start(task, rng))
        length, fell = ahc_trial(task, partition, memory, settings or AhcSettings(), rng, first, hold)
        if not fell:
            return Balanced(True, trials, steps)
        steps += int(length)
    return Balanced(False, most_trials, steps)
