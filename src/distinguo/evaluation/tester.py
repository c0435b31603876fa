"""The separate tester (sections 3.4 and 4.2): fresh action values on a fixed partition, and a learning curve.

The tester never learns what made the partition. It measures at the ends of trials, when so many learning steps or so
many trials have passed since the last measurement; a measurement follows the frozen greedy policy from a batch of
random starts that is drawn once per run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.evaluation.curve import Curve
from distinguo.evaluation.decide import outcome_of
from distinguo.evaluation.qlearning import train
from distinguo.evaluation.simulate import Outcome
from distinguo.representation.table import for_lookup
from distinguo.seam import at_speed, is_compiled
from distinguo.settings import TesterSettings
from distinguo.tasks.extent import TEST, TRAINING, Extent
from distinguo.tasks.spec import LENGTH, TaskSpec
from distinguo.tasks.task import seeded, start

Watch = Callable[[int], None]  #: told the training steps done so far


class Exam(NamedTuple):
    """A partition on trial: everything that one run of the tester needs."""

    spec: TaskSpec
    partition: Any
    rows: int  #: the rows of a table of values indexed by region
    settings: TesterSettings
    extent: Extent

    def starts(self, rng: np.random.Generator, share: int, count: int) -> np.ndarray:
        """Draw states to start trials from: in the middle of the extent, or as the task itself starts them.

        A compiled task can be put anywhere; an environment, only where it has been.
        """
        if self.spec.score == LENGTH and is_compiled(self.spec.task):
            return self.extent.draw(rng, share, count)
        return np.array([start(self.spec.task, rng) for _ in range(count)])


class _Judge:
    """Measures the greedy policy; knows when a new policy cannot do other than the last one."""

    def __init__(self, exam: Exam, rng: np.random.Generator) -> None:
        self.exam, self.rng = exam, rng
        self.quick = for_lookup(exam.partition)
        self.starts = exam.starts(rng, TEST, exam.settings.batch)
        self.controllable = exam.spec.controllable_among(self.starts)
        self.policy: np.ndarray | None = None
        self.outcome: Outcome | None = None

    def measure(self, q: np.ndarray) -> tuple[float, float]:
        """Return the median score of the batch and the share of the controllable starts that survive."""
        settings = self.exam.settings
        controller = Controller(self.quick, q, settings.delta)
        policy = controller.policy
        if not self._known(policy):
            self.policy, self.outcome = policy, self._evaluate(controller)
        assert self.outcome is not None
        spec, outcome = self.exam.spec, self.outcome
        scores = outcome.lengths if spec.score == LENGTH else outcome.returns
        alive = ~outcome.ended if spec.threshold is None else outcome.returns >= spec.threshold
        held = alive[self.controllable]
        return float(np.median(scores)), float(held.mean()) if len(held) else 1.0

    def _known(self, policy: np.ndarray) -> bool:
        """Tell whether all regions that the last evaluation came through have kept their action."""
        if self.policy is None or self.outcome is None or self.outcome.tied:
            return False
        visited = self.outcome.visited
        return bool((policy[visited] == self.policy[visited]).all())

    def _evaluate(self, controller: Controller) -> Outcome:
        exam, settings = self.exam, self.exam.settings
        return outcome_of(
            exam.spec.task,
            controller,
            self.rng,
            self.starts,
            exam.spec.cap(settings.cap),
            plain=exam.partition,
            proof=settings.proof and exam.spec.score == LENGTH,
            patience=settings.patience if exam.spec.score == LENGTH else None,
        )


def learning_curve(exam: Exam, seed: int, run: int, watch: Watch | None = None) -> Curve:
    """Return the learning curve of one run, which depends on its seed and number alone.

    >>> from distinguo.representation.voronoi import voronoi
    >>> from distinguo.tasks.catalog import task_spec
    >>> hill = task_spec("puck")
    >>> two = voronoi([[0.3, 0.6], [-0.3, -0.6]], hill.scale)
    >>> short = TesterSettings(steps=20_000, cap=1000)
    >>> learning_curve(Exam(hill, two, 2, short, Extent(hill.low, hill.high)), seed=0, run=0).scores[-1]
    1000.0
    """
    settings = exam.settings
    own = seeded(exam.spec.task, int(np.random.SeedSequence([seed, run, 1]).generate_state(1)[0]))
    exam = exam._replace(spec=exam.spec._replace(task=own))
    training, testing = (np.random.default_rng(s) for s in np.random.SeedSequence([seed, run]).spawn(2))
    judge, q = _Judge(exam, testing), np.zeros((exam.rows, len(exam.spec.actions)))
    curve = Curve([0], *([value] for value in judge.measure(q)))
    steps = trials = 0
    measured_steps = measured_trials = 0
    while steps < settings.steps:
        steps += _train_once(exam, judge.quick, q, training)
        trials += 1
        due = (
            steps - measured_steps >= settings.every_steps
            or trials - measured_trials >= settings.every_trials
        )
        if due or steps >= settings.steps:
            measured_steps, measured_trials = steps, trials
            _add(curve, steps, *judge.measure(q))
        if watch:
            watch(steps)
    return curve


def trained_values(exam: Exam, rng: np.random.Generator) -> np.ndarray:
    """Return the action values that a fresh learner has at the end of its training, without measuring it."""
    q, steps = np.zeros((exam.rows, len(exam.spec.actions))), 0
    while steps < exam.settings.steps:
        steps += _train_once(exam, exam.partition, q, rng)
    return q


def _train_once(exam: Exam, partition: Any, q: np.ndarray, rng: np.random.Generator) -> int:
    first = exam.starts(rng, TRAINING, 1)[0]
    cap = exam.spec.cap(exam.settings.training_cap)
    length, _ = at_speed(train, exam.spec.task, partition)(
        exam.spec.task, partition, q, exam.settings, rng, first, cap
    )
    return int(length)


def _add(curve: Curve, steps: int, score: float, survival: float) -> None:
    curve.training_steps.append(steps)
    curve.scores.append(score)
    curve.survival.append(survival)
