"""The separate tester (sections 3.4 and 4.2): fresh action values on a fixed partition, and a learning curve.

Features may replace the partition, and their weights the action values (``gradient``). The tester does not know
what made the partition. It measures at the end of a trial, once enough learning steps or trials have passed since
the last measurement. A measurement follows the frozen greedy policy from a batch of random starts that is drawn
once per run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import TIED, Controller, FeatureController, feature_parts
from distinguo.errors import DistinguoError
from distinguo.evaluation.gradient import (
    FOLLOWED,
    FeatureTraining,
    evaluate_features,
    fresh_feature_training,
    train_weights,
)
from distinguo.evaluation.lockstep.driver import advance_lockstep, evaluate_lockstep
from distinguo.evaluation.simulate import Outcome, Patience, evaluate
from distinguo.evaluation.statistics import Curve
from distinguo.evaluation.training import Training, fresh_training, train
from distinguo.features.feature import is_features
from distinguo.proof.hold.invariant import FOREVER, UNDECIDED, certify_states, is_provable
from distinguo.representations.boxes import for_lookup
from distinguo.seam import at_speed, is_compiled
from distinguo.settings import TesterSettings
from distinguo.tasks.extent import TEST, TRAINING, Extent
from distinguo.tasks.spec import LARGEST, TaskSpec
from distinguo.tasks.task import seeded, start


class Evaluation(NamedTuple):
    """All that one run of the tester needs: a partition or features, and the task."""

    spec: TaskSpec
    partition: Any
    rows: int  #: the rows of a table of values indexed by region, or of weights by feature
    settings: TesterSettings
    extent: Extent

    @property
    def training_cap(self) -> int:
        """Return the steps after which a training trial is stopped."""
        return self.spec.cap(self.settings.training_cap)

    @property
    def of_features(self) -> bool:
        """Whether the weights of features are learned instead of the action values of regions."""
        return is_features(self.partition)

    def fresh_training(self) -> Training | FeatureTraining:
        """Return a learner that knows nothing."""
        if self.of_features:
            width = len(start(self.spec.task, np.random.default_rng(0)))
            actions = len(self.spec.actions)
            return fresh_feature_training(self.partition, actions, self.settings, self.training_cap, width)
        return fresh_training(self.rows, len(self.spec.actions), self.settings, self.training_cap)

    def starts(self, rng: np.random.Generator, share: int, count: int) -> np.ndarray:
        """Draw states to start trials from: in the middle of the extent, or as the task itself starts them.

        A compiled task can start anywhere; an environment only where it starts itself.
        """
        if self.spec.goal.is_proven_by_lengths and is_compiled(self.spec.task):
            return self.extent.draw(rng, share, count)
        return np.array([start(self.spec.task, rng) for _ in range(count)])


class _TestTrials:
    """The batch of test trials; it knows when a new policy must give the last result, ties aside."""

    def __init__(self, evaluation: Evaluation, rng: np.random.Generator) -> None:
        self.evaluation, self.rng = evaluation, rng
        self.partition = evaluation.partition if evaluation.of_features else for_lookup(evaluation.partition)
        self.starts = evaluation.starts(rng, TEST, evaluation.settings.batch)
        self.controllable = evaluation.spec.controllable_among(self.starts)
        self.actions: np.ndarray | None = None
        self.outcome: Outcome | None = None

    def measure(self, learner: Training | FeatureTraining) -> tuple[float, float]:
        """Return the score of the batch and the share of the controllable starts that survive."""
        numbers = values_of(learner)
        outcome = self._weighted(numbers) if self.evaluation.of_features else self._tabled(numbers)
        goal = self.evaluation.spec.goal
        score = goal.score(outcome.lengths, outcome.returns)
        if not (abs(score) <= LARGEST and np.isfinite(numbers).all()):
            raise DistinguoError(
                f"{self.evaluation.spec.name} gave rewards that are not finite or too large to be added up: "
                f"test trials score {score:g}; allowed are sums up to {LARGEST:g}; fix its rewards."
            )
        reached = goal.reached(outcome.ended, outcome.returns)[self.controllable]
        return score, float(reached.mean()) if len(reached) else 1.0

    def _weighted(self, weights: np.ndarray) -> Outcome:
        spec, settings = self.evaluation.spec, self.evaluation.settings
        controller = FeatureController(self.partition, weights, settings.delta)
        patience = min(settings.patience, FOLLOWED) if spec.goal.is_proven_by_lengths else None
        return evaluate_features(
            spec.task, controller, self.rng, self.starts, spec.cap(settings.cap), patience
        )

    def _tabled(self, q: np.ndarray) -> Outcome:
        controller = Controller(self.partition, q, self.evaluation.settings.delta)
        actions = controller.action_sets
        if not self._known(actions):
            self.actions, self.outcome = actions, self._evaluate(controller)
        assert self.outcome is not None
        return self.outcome

    def _known(self, actions: np.ndarray) -> bool:
        """Whether all regions that the last evaluation visited have kept their preferred actions.

        If some are tied, the outcome was random, and a new draw would be as good as the old one.
        """
        if self.actions is None or self.outcome is None:
            return False
        visited = self.outcome.visited
        return bool((actions[visited] == self.actions[visited]).all())

    def _evaluate(self, controller: Controller) -> Outcome:
        spec, settings = self.evaluation.spec, self.evaluation.settings
        batch, provable = Batch(self.starts, spec.cap(settings.cap)), None
        if spec.goal.is_proven_by_lengths:  # else every trial is followed to its end
            batch = batch._replace(patience=Patience(settings.patience, len(self.starts) // 2))
            provable = controller._replace(partition=self.evaluation.partition) if settings.proof else None
        return outcome_of(spec.task, controller, self.rng, batch, provable)


def learning_curve(
    evaluation: Evaluation, seed: int, run: int, watch: Callable[[int], None] | None = None
) -> Curve:
    """Return the learning curve of one run; it depends on the seed and the number of the run only.

    ``watch`` is given the training steps done so far, after every trial.

    >>> from distinguo.representations.voronoi import voronoi
    >>> from distinguo.tasks.catalog import task_spec
    >>> hill = task_spec("puck")
    >>> two = voronoi([[0.3, 0.6], [-0.3, -0.6]], hill.scale)
    >>> short = TesterSettings(steps=20_000, cap=1000)
    >>> learning_curve(Evaluation(hill, two, 2, short, Extent(hill.low, hill.high)), seed=0, run=0).scores[-1]
    1000.0
    """
    settings = evaluation.settings
    own = seeded(evaluation.spec.task, int(np.random.SeedSequence([seed, run, 1]).generate_state(1)[0]))
    evaluation = evaluation._replace(spec=evaluation.spec._replace(task=own))
    training, testing = (np.random.default_rng(s) for s in np.random.SeedSequence([seed, run]).spawn(2))
    test, learner = _TestTrials(evaluation, testing), evaluation.fresh_training()
    curve = Curve([0], *([value] for value in test.measure(learner)))
    steps = trials = 0
    measured_steps = measured_trials = 0
    while steps < settings.steps:
        steps += _train_once(evaluation, test.partition, learner, training, steps)
        trials += 1
        due = (
            steps - measured_steps >= settings.every_steps
            or trials - measured_trials >= settings.every_trials
        )
        if due or steps >= settings.steps:
            measured_steps, measured_trials = steps, trials
            curve.add(steps, *test.measure(learner))
        if watch:
            watch(steps)
    return curve


def trained_values(evaluation: Evaluation, rng: np.random.Generator) -> np.ndarray:
    """Return the action values that a fresh learner has at the end of its training, without measuring it."""
    learner, steps = evaluation.fresh_training(), 0
    while steps < evaluation.settings.steps:
        steps += _train_once(evaluation, evaluation.partition, learner, rng, steps)
    return values_of(learner)


def values_of(learner: Training | FeatureTraining) -> np.ndarray:
    """The action values of regions, or the weights of features, that a learner has learned."""
    return learner.weights if isinstance(learner, FeatureTraining) else learner.q


def _train_once(
    evaluation: Evaluation,
    partition: Any,
    learner: Training | FeatureTraining,
    rng: np.random.Generator,
    before: int,
) -> int:
    """Learn in one more trial and return its length."""
    task, settings, cap = evaluation.spec.task, evaluation.settings, evaluation.training_cap
    if evaluation.spec.limit is None:  # it may never end
        cap = min(cap, settings.steps - before)
    first = evaluation.starts(rng, TRAINING, 1)[0]
    if not evaluation.of_features:
        length, _ = at_speed(train, task, partition)(task, partition, learner, settings, rng, first, cap)
        return int(length)
    run = at_speed(train_weights, task, *feature_parts(partition))
    length, _ = run(task, partition, learner, settings, rng, first, cap)
    _check_converging(values_of(learner), settings)
    return int(length)


def _check_converging(weights: np.ndarray, settings: TesterSettings) -> None:
    """Raise an error if the weights diverge; semi-gradient learning may, a table never does."""
    greatest = np.abs(weights).max()
    if not greatest <= LARGEST:
        raise DistinguoError(
            f"The weights of these features diverged to {greatest:g}, as semi-gradient Q-learning may; take a "
            f"smaller tester.alpha than {settings.alpha:g}, or tester.traces above 0, or other features."
        )


# The outcome of a batch of greedy trials, by the cheapest exact method.
#
# A trial that is proven never to fail reaches any cap; one that fails soon is followed to its end. Only undecided
# trials are simulated, in lock-step if the partition allows it. The lengths are those of a full simulation.


WORTH_PROVING = 200_000  #: caps below which simulating a batch takes no longer than proving it


class Batch(NamedTuple):
    """Trials to run: their starts, their cap, and when some may be given up."""

    starts: np.ndarray
    cap: int
    patience: Patience | None = None

    def rest(self, remaining: np.ndarray, failures: int) -> Batch:
        """Return the batch of the remaining trials after ``failures`` others have failed."""
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
    """The result of :func:`evaluate`, but for random choices among tied actions.

    ``provable`` is the controller with its partition in the form that proofs need. Proofs only give lengths: leave
    it out if rewards matter.

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
