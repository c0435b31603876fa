"""A fresh learner on fixed features: semi-gradient Q-learning of their weights, under the tester's settings.

The learner of ``training`` with weighted sums in place of a table; on a partition as features it does the same, bit
for bit. The error of a step is shared among the features that responded: a weight moves by ``alpha * f_i / sum
f^2`` times the error, so that with alpha = 1 the value would be right afterwards. For tiles that is alpha over the
number of tilings.

Of the settings for coarse regions, ``hold`` and first visits use the *group* of a state: the feature that responds
most (docs/readings.md, "The tester"). Features that are plain numbers, such as a perceptron's, form no groups:
there every step chooses anew, and all visits are learned from.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import FeatureController, choose, fill_values, room_for, running_parts
from distinguo.criteria import look_ahead, state_value
from distinguo.evaluation.simulate import CHUNK_STEPS, Outcome, RunningTrials, fresh_lanes, trials_together
from distinguo.features.feature import Workspace, add_up, count_features, respond, strongest, workspace
from distinguo.seam import at_speed, kernel, part
from distinguo.settings import TesterSettings
from distinguo.tasks.task import observe, transition, truncated, unpack

LEAST_NORM = (
    1e-6  #: of squared strengths: little is learned from a state to which hardly any feature responds
)


class FeatureTraining(NamedTuple):
    """The memory of a learner: its weights, and the running trial."""

    weights: np.ndarray  #: (features, actions)
    lessons: np.ndarray  #: (features, actions) how much each was learned, in strengths
    taken: np.ndarray  #: (features, actions) the trial in which the action was last taken in that group
    held: np.ndarray  #: (features,) the action that was last chosen in that group
    chosen: np.ndarray  #: (features,) the trial in which it was chosen
    trial: np.ndarray  #: (1,) the number of the running trial
    states: np.ndarray  #: (cap, width) the trial so far, kept only if it is learned from at its end
    actions: np.ndarray  #: (cap,)
    rewards: np.ndarray  #: (cap,)
    first: np.ndarray  #: (cap,) whether it is learned from: the action was not taken in that group before
    here: Workspace  #: for the state
    there: Workspace  #: for the next one


def fresh_feature_training(
    features: Any, actions: int, settings: TesterSettings, cap: int, width: int
) -> FeatureTraining:
    """Return a fresh learner: all weights are 0. A state is a row of ``width`` numbers.

    >>> from distinguo.features.bases import tiles
    >>> eight = tiles(8, [10, 10], low=[-1.0, -1.0], high=[1.0, 1.0])
    >>> fresh_feature_training(eight, 2, TesterSettings(), cap=500, width=2).weights.shape
    (968, 2)
    """
    count, kept = count_features(features), cap if settings.traces > 0.0 else 0
    return FeatureTraining(
        weights=np.zeros((count, actions)),
        lessons=np.zeros((count, actions)),
        taken=np.zeros((count, actions), dtype=np.int64),
        held=np.zeros(count, dtype=np.int64),
        chosen=np.zeros(count, dtype=np.int64),
        trial=np.zeros(1, dtype=np.int64),
        states=np.zeros((kept, width)),
        actions=np.zeros(kept, dtype=np.int64),
        rewards=np.zeros(kept),
        first=np.zeros(kept, dtype=np.bool_),
        here=workspace(features, actions),
        there=workspace(features, actions),
    )


@kernel
def train_weights(
    task: Any,
    features: Any,
    training: FeatureTraining,
    settings: TesterSettings,
    rng: np.random.Generator,
    now: np.ndarray,
    cap: int,
) -> tuple[int, bool]:
    """Learn in one trial from ``now``: return its length, and whether it ended in a terminal state."""
    s = unpack(task, now)
    here, there = training.here, training.there
    training.trial[0] += 1
    length = 0
    terminal, stopped = False, False
    respond(features, observe(task, s), here)
    while not terminal and not stopped and length < cap:
        add_up(training.weights, here)
        group = strongest(features, here)
        a = _feature_action(training, settings, here.q, group, rng)
        s_next, r, terminal = transition(task, s, a)
        v_next = 0.0
        if not terminal:
            respond(features, observe(task, s_next), there)
            add_up(training.weights, there)
            v_next = state_value(there.q)
        if settings.traces > 0.0:
            _keep_step(training, length, s, group, a, r)
        else:
            _share_out(training, settings, here, a, look_ahead(r, settings.gamma, v_next))
        here, there, s = there, here, s_next
        length += 1
        stopped = truncated(task, s)
    if settings.traces > 0.0:
        v_last = 0.0
        if not terminal:
            add_up(training.weights, here)
            v_last = state_value(here.q)
        _weights_from_returns(task, features, training, settings, length, v_last)
    return length, terminal


@part
def _feature_action(
    training: FeatureTraining, settings: TesterSettings, q: np.ndarray, group: int, rng: np.random.Generator
) -> int:
    """Return the action of a state: the one its group has in this trial, a random one, or a preferred one."""
    if settings.hold and group >= 0 and training.chosen[group] == training.trial[0]:
        return training.held[group]
    if settings.explore > 0.0 and rng.random() < settings.explore:
        a = int(rng.random() * len(q))
    else:
        a = choose(q, settings.delta, rng)
    if group >= 0:
        training.held[group] = a
        training.chosen[group] = training.trial[0]
    return a


@part
def _keep_step(
    training: FeatureTraining, step: int, s: tuple[float, ...], group: int, a: int, r: float
) -> None:
    """Record a step, to learn from it when the trial has ended."""
    for i in range(len(s)):
        training.states[step, i] = s[i]
    training.actions[step] = a
    training.rewards[step] = r
    training.first[step] = True
    if group >= 0:
        training.first[step] = training.taken[group, a] != training.trial[0]
        training.taken[group, a] = training.trial[0]


@part
def _weights_from_returns(
    task: Any, features: Any, training: FeatureTraining, settings: TesterSettings, length: int, v_last: float
) -> None:
    """Learn from a trial backwards: the return of every first visit, mixed with the values on the way."""
    work = training.here
    g = v_last
    v = v_last
    for back in range(length):
        step = length - 1 - back
        ahead = (1.0 - settings.traces) * v + settings.traces * g
        g = look_ahead(training.rewards[step], settings.gamma, ahead)
        if training.first[step] or settings.traces < 1.0:
            respond(features, observe(task, unpack(task, training.states[step])), work)
            add_up(training.weights, work)
            v = state_value(work.q)
        if training.first[step]:
            _share_out(training, settings, work, training.actions[step], g)


@part
def _share_out(
    training: FeatureTraining, settings: TesterSettings, work: Workspace, a: int, q_new: float
) -> None:
    """Move a value towards its target by the weights of the features that responded.

    While ``averaging``, a weight is at first the mean of its targets, each weighted by its strength.
    """
    norm = 0.0
    for n in range(work.number[0]):
        norm += work.strengths[n] * work.strengths[n]
    norm = max(norm, LEAST_NORM)
    error = q_new - work.q[a]
    for n in range(work.number[0]):
        i, f = work.active[n], work.strengths[n]
        training.lessons[i, a] += abs(f)
        rate = settings.alpha
        if settings.averaging:
            rate = max(rate, min(1.0, 1.0 / max(training.lessons[i, a], LEAST_NORM)))
        training.weights[i, a] += rate * (f / norm) * error


# Greedy trials of features with weights: a batch whose trials advance together, as in ``simulate``.
#
# There are no proofs for weighted sums, so trials are simulated; to follow each for millions of steps would take
# hours. On tasks judged by the length of trials, one that still runs after ``FOLLOWED`` steps counts as having
# reached the cap.


#: Steps of a test trial judged by its length. Of 268 trials of tiles and radial bases on the puck that ran for
#: 1,000 steps, 4 ended before 300,000, all within 1,700.
FOLLOWED = 10_000


def evaluate_features(
    task: Any,
    controller: FeatureController,
    rng: np.random.Generator,
    starts: np.ndarray,
    cap: int,
    patience: int | None = None,
) -> Outcome:
    """Follow the greedy policy from every start, for at most ``cap`` steps or ``patience``, whichever is less.

    >>> from distinguo.features.bases import perceptron
    >>> from distinguo.tasks.puck.puck import Puck
    >>> line = perceptron(low=[-2.4, -5.5], high=[2.4, 5.5])
    >>> against = FeatureController(line, np.array([[0.0, 0.0], [1.0, -1.0], [1.3, -1.3]]))
    >>> starts = np.array([[0.0, 0.0], [2.0, 2.0]])
    >>> evaluate_features(Puck(), against, np.random.default_rng(0), starts, 1000).lengths.tolist()
    [1000, 9]
    """
    lanes, room = fresh_lanes(starts, 0), room_for(controller)
    advance = at_speed(_run_weighted, task, *running_parts(controller))
    most = cap if patience is None else min(cap, patience)
    for together in trials_together(task, len(starts)):
        lanes.running[: len(together)] = together
        remaining, done = len(together), 0
        while remaining and done < most:
            steps = min(CHUNK_STEPS, most - done)
            remaining = advance(task, controller, room, rng, lanes, remaining, steps)
            done += steps
        lanes.lengths[lanes.running[:remaining]] = cap
    return Outcome(lanes.lengths, lanes.returns, lanes.ended, lanes.visited, tied=False)


@kernel
def _run_weighted(
    task: Any,
    controller: FeatureController,
    room: Workspace,
    rng: np.random.Generator,
    lanes: RunningTrials,
    count: int,
    steps: int,
) -> int:
    """Advance the first ``count`` running lanes and return how many still run, in their old order."""
    for _ in range(steps):
        kept = 0
        for place in range(count):
            lane = lanes.running[place]
            s = unpack(task, lanes.states[lane])
            fill_values(controller, observe(task, s), room)
            s, r, terminal = transition(task, s, choose(room.q, controller.delta, rng))
            for i in range(len(s)):
                lanes.states[lane, i] = s[i]
            lanes.lengths[lane] += 1
            lanes.returns[lane] += r
            lanes.ended[lane] = terminal
            if not (terminal or truncated(task, s)):
                lanes.running[kept] = lane
                kept += 1
        count = kept
        if count == 0:
            break
    return count
