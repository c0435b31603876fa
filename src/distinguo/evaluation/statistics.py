"""Learning curves, their averages and intervals, and when a mean return is good enough.

``scipy.stats`` is imported where it is used: it takes half a second, which every worker of a cluster would pay.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

CONFIDENCE = 0.95
RESAMPLES = 2_000
AT_ONCE = 10_000_000  #: numbers that are resampled together


def interval(scores: np.ndarray, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return a bootstrap interval of the mean over runs at each checkpoint.

    Runs are resampled whole, so that the checkpoints of a curve stay together.

    >>> low, high = interval(np.array([[1.0, 5.0], [3.0, 5.0], [2.0, 5.0]]))
    >>> bool(low[0] < 2 < high[0]), float(low[1]), float(high[1])
    (True, 5.0, 5.0)
    """
    if len(scores) == 1:
        return scores[0], scores[0]
    width = max(1, AT_ONCE // (RESAMPLES * len(scores)))
    blocks = [_interval(scores[:, n : n + width], seed) for n in range(0, scores.shape[1], width)]
    return np.concatenate([low for low, _ in blocks]), np.concatenate([high for _, high in blocks])


def _interval(scores: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    from scipy import stats

    bootstrap = stats.bootstrap(
        (scores,),
        np.mean,
        axis=0,
        n_resamples=RESAMPLES,
        batch=max(1, AT_ONCE // scores.size),
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(seed),
    )
    return bootstrap.confidence_interval.low, bootstrap.confidence_interval.high


def interquartile_mean(scores: np.ndarray) -> np.ndarray:
    """Return the mean of the middle half of the runs at each checkpoint.

    >>> interquartile_mean(np.array([[0.0], [10.0], [12.0], [1000.0]])).tolist()
    [11.0]
    """
    from scipy import stats

    return np.asarray(stats.trim_mean(scores, 0.25, axis=0))


def stratified_interval(groups: list[np.ndarray], seed: int = 0) -> tuple[float, float]:
    """Return a bootstrap interval of the mean over several groups of runs, each resampled within itself.

    >>> low, high = stratified_interval([np.array([1.0, 1.0]), np.array([3.0, 3.0])])
    >>> low, high
    (2.0, 2.0)
    """
    from scipy import stats

    rng = np.random.default_rng(seed)
    bootstrap = stats.bootstrap(
        [np.repeat(group, 2) if len(group) == 1 else group for group in groups],  # one run has no spread
        lambda *samples: np.mean([np.mean(s, axis=-1) for s in samples], axis=0),
        n_resamples=RESAMPLES,
        confidence_level=CONFIDENCE,
        method="percentile",
        vectorized=False,
        rng=rng,
    )
    return float(bootstrap.confidence_interval.low), float(bootstrap.confidence_interval.high)


def iqm_interval(groups: list[np.ndarray], seed: int = 0) -> tuple[float, float, float]:
    """Return the interquartile mean of all runs of all groups, and a bootstrap interval of it.

    Each group, such as the runs of a task, is resampled within itself (Agarwal et al., 2021).

    >>> iqm_interval([np.array([0.0, 0.0]), np.array([1.0, 1.0])])
    (0.5, 0.5, 0.5)
    """
    from scipy import stats

    rng = np.random.default_rng(seed)
    drawn = [group[rng.integers(len(group), size=(RESAMPLES, len(group)))] for group in groups]
    means = stats.trim_mean(np.concatenate(drawn, axis=1), 0.25, axis=1)
    tail = 50 * (1 - CONFIDENCE)
    low, high = np.percentile(means, [tail, 100 - tail])
    return float(interquartile_mean(np.concatenate(groups))), float(low), float(high)


def performance_profile(scores: np.ndarray, bars: np.ndarray) -> np.ndarray:
    """Return the share of the runs whose score is above each bar.

    >>> performance_profile(np.array([0.2, 0.6, 1.0]), np.array([0.0, 0.5, 1.0])).tolist()
    [1.0, 0.6666666666666666, 0.0]
    """
    return np.asarray((scores[:, None] > bars).mean(axis=0))


def probability_better(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Return the probability that a run of ours beats one of theirs; ties count half.

    >>> probability_better(np.array([2.0, 3.0]), np.array([1.0, 2.0]))
    0.875
    """
    from scipy import stats

    wins = stats.mannwhitneyu(ours, theirs).statistic
    return float(wins / (len(ours) * len(theirs)))


class Curve(NamedTuple):
    """One run of the tester: a measurement at the end of some trials.

    >>> Curve([0, 700, 1200], [20.0, 90.0, 5e6], [0.0, 0.5, 1.0]).at([500, 1000, 1100]).tolist()
    [20.0, 90.0, 5000000.0]
    """

    training_steps: list[int]  #: learning steps before each measurement
    scores: list[float]  #: the median over the batch
    survival: list[float]  #: the share of the controllable starts that reached the cap

    def add(self, steps: int, score: float, survival: float) -> None:
        """Add the measurement after ``steps`` training steps."""
        self.training_steps.append(steps)
        self.scores.append(score)
        self.survival.append(survival)

    def at(self, checkpoints: list[int]) -> np.ndarray:
        """Return the score at each checkpoint: the latest that was known by then; at the last, the final one."""
        return np.array(self.scores)[self._places(checkpoints)]

    def survival_at(self, checkpoints: list[int]) -> np.ndarray:
        """Return the survival at each checkpoint, of the same measurements."""
        return np.array(self.survival)[self._places(checkpoints)]

    def _places(self, checkpoints: list[int]) -> np.ndarray:
        places = np.searchsorted(self.training_steps, checkpoints, side="right") - 1
        places[-1] = (
            len(self.training_steps) - 1
        )  # a trial that has a limit may end a little after the training
        return places


def checkpoints(steps: int, every: int) -> list[int]:
    """Return the training steps at which runs are compared.

    >>> checkpoints(10, 4)
    [0, 4, 8, 10]
    """
    return sorted({*range(0, steps, every), steps})
