"""How often does the test of a mean return err? Simulated runs of the real test, on fourteen laws of returns.

    python -m benchmarks.confirmation [--runs 5000] [--claims 20] [--table docs/confirmation.csv]

*False solved*: the mean is as high as it may be without counting as solved (``ReturnQuestion.bar``), and a run claims
up to ``--claims`` times; it errs if any claim passes. *False final*: the same of one final test, which goes on
longer, with the error of a first claim. *Refused*: the mean is above the threshold by a tenth of the range to the
best return, and a final test says *failed*. Each rate has its upper 95 % bound (Clopper and Pearson).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from math import nan
from pathlib import Path
from typing import NamedTuple

import numpy as np
from benchmarks import rows
from scipy.stats import beta

from distinguo.evaluation.confirmation import OPEN, PASSED, ReturnQuestion, answers, spent_error

Draw = Callable[[np.random.Generator, int], np.ndarray]
CHUNK = 250  #: trials that are drawn at once


class Law(NamedTuple):
    """A distribution of returns: good trials, and as many bad ones as make a given mean."""

    name: str
    threshold: float
    least: float
    greatest: float
    good: Draw
    bad: Draw
    means: tuple[float, float]  #: of good and of bad trials
    steps: Callable[[np.ndarray], np.ndarray]  #: of trials with these returns

    def question(self) -> ReturnQuestion:
        return ReturnQuestion(self.threshold, self.least, self.greatest)

    def draw(self, rng: np.random.Generator, mean: float, count: int) -> np.ndarray:
        high, low = self.means
        failing = rng.random(count) < (high - mean) / (high - low)
        return np.where(failing, self.bad(rng, count), self.good(rng, count))


def always(value: float) -> Draw:
    return lambda rng, count: np.full(count, value)


def uniform(low: float, high: float) -> Draw:
    return lambda rng, count: rng.uniform(low, high, count)


def bell(mean: float, spread: float) -> Draw:
    """A bell that is cut off alike on both sides, so that its mean is known."""
    return lambda rng, count: mean + np.clip(rng.normal(0.0, spread, count), -3.0 * spread, 3.0 * spread)


def tail(best: float, worst: float) -> Draw:
    """Most near the best, fewer and fewer below; the mean is two thirds of the way up."""
    return lambda rng, count: worst + (best - worst) * np.sqrt(rng.random(count))


def each(steps: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda returns: np.full(len(returns), steps)


LAWS = (
    Law("CartPole: 500 or 9", 475, 9, 500, always(500), always(9), (500, 9), np.abs),
    Law("CartPole: 500 or 250", 475, 9, 500, always(500), always(250), (500, 250), np.abs),
    Law("CartPole: bell, 441-500 or short", 475, 9, 500, bell(485, 5), uniform(9, 400), (485, 204.5), np.abs),
    Law(
        "MountainCar: 85-120 or 200",
        -110,
        -200,
        -83,
        uniform(-120, -85),
        always(-200),
        (-102.5, -200),
        np.abs,
    ),
    Law(
        "MountainCar: 100-119",
        -110,
        -200,
        -83,
        uniform(-112, -100),
        uniform(-119, -107),
        (-106, -113),
        np.abs,
    ),
    Law("Acrobot: 63-110 or 500", -100, -500, -63, uniform(-110, -63), always(-500), (-86.5, -500), np.abs),
    Law("Acrobot: long tail", -100, -500, -63, tail(-63, -150), tail(-63, -500), (-92, -208.667), np.abs),
    Law(
        "LunarLander: lands or crashes", 200, -500, 320, bell(250, 20), bell(-100, 60), (250, -100), each(300)
    ),
    Law("rare disaster", 200, -10_000, 260, uniform(200, 260), always(-10_000), (230, -10_000), each(200)),
    Law("success in 95 %, long trials", 0.95, 0, 1, always(1), always(0), (1, 0), each(5_000)),
    Law("success in 70 %", 0.7, 0, 1, always(1), always(0), (1, 0), each(40)),
    Law("threshold at the best return", 1.0, 0, 1, always(1), always(0), (1, 0), each(100)),
    Law("two ends", 0.5, 0, 1, uniform(0.9, 1.0), uniform(0.0, 0.1), (0.95, 0.05), each(100)),
    Law(
        "hardly any spread",
        -10,
        -60,
        0,
        uniform(-10.05, -9.05),
        uniform(-11.0, -10.0),
        (-9.55, -10.5),
        each(60),
    ),
)


def outcome(
    law: Law, mean: float, question: ReturnQuestion, rng: np.random.Generator, *, final: bool = False
) -> tuple[str, int, int]:
    """The answer of one test, its trials and its steps."""
    returns = np.zeros(0)
    while True:
        returns = np.concatenate([returns, law.draw(rng, mean, CHUNK)])
        steps = np.cumsum(law.steps(returns))
        said = answers(returns, steps, question, final=final)
        decided = np.flatnonzero(said != OPEN)
        if len(decided):
            first = int(decided[0])
            return str(said[first]), first + 1, int(steps[first])


def falsely_solved(law: Law, claims: int, rng: np.random.Generator) -> bool:
    """Whether a run of claims passes although the mean is at the bar."""
    question = law.question()._replace(is_claim=True)
    return any(
        outcome(law, question.bar, question._replace(error=spent_error(claim)), rng)[0] == PASSED
        for claim in range(1, claims + 1)
    )


def upper(count: int, runs: int) -> float:
    """The upper 95 % bound of a rate."""
    return 1.0 if count == runs else float(beta.ppf(0.95, count + 1, runs - count))


class Row(NamedTuple):
    """The rates of a law; ``upper`` is the upper 95 % bound of one."""

    distribution: str
    runs: int
    claims: int
    threshold: float
    bar: float
    false_solved: float
    false_solved_upper: float
    mean_above: float
    refused: float
    refused_upper: float
    undecided: float
    good_policy_passes: float
    good_policy_trials: int
    good_policy_steps: int
    false_final: float = nan
    false_final_upper: float = nan


def row(distribution: str, runs: int, claims: int) -> Row:
    """Simulate the tests of a law."""
    law = next(law for law in LAWS if law.name == distribution)
    rng = np.random.default_rng([25, len(law.name), runs])
    question = law.question()._replace(error=spent_error(1))
    false = sum(falsely_solved(law, claims, rng) for _ in range(runs))
    above = law.threshold + 0.1 * max(law.greatest - law.threshold, 0.0)
    better = min(above, law.means[0])
    rng = np.random.default_rng([26, len(law.name), runs])  # of final tests
    final = [outcome(law, better, question, rng, final=True) for _ in range(runs)]
    best = [outcome(law, law.means[0], question, rng, final=True) for _ in range(min(runs, 500))]
    passed = sum(outcome(law, question.bar, question, rng, final=True)[0] == PASSED for _ in range(runs))
    refused = sum(answer == "failed" for answer, _, _ in final)
    return Row(
        law.name,
        runs,
        claims,
        law.threshold,
        round(question.bar, 4),
        round(false / runs, 4),
        round(upper(false, runs), 4),
        round(better, 4),
        round(refused / runs, 4),
        round(upper(refused, runs), 4),
        round(sum(answer == "undecided" for answer, _, _ in final) / runs, 4),
        round(float(np.mean([answer == PASSED for answer, _, _ in best])), 4),
        int(np.median([trials for _, trials, _ in best])),
        int(np.median([steps for _, _, steps in best])),
        round(passed / runs, 4),
        round(upper(passed, runs), 4),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5_000)
    parser.add_argument("--claims", type=int, default=20)
    parser.add_argument("--table", type=Path, default=rows.KEPT / "confirmation.csv")
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    keys = [(law.name, asked.runs, asked.claims) for law in LAWS if asked.only in law.name]
    for one in rows.measured(asked.table, Row, row, keys):
        print(" ".join(f"{name}={value}" for name, value in one._asdict().items()))


if __name__ == "__main__":
    main()
