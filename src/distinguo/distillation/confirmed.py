"""New trials that confirm that a map keeps the return, one group after the other until it is clear."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from distinguo.distillation.bar import Bar
from distinguo.distillation.trials.trials import Contender, Trials
from distinguo.evaluation.confirmation import OPEN, PASSED, ReturnQuestion, judge
from distinguo.learners.refinement.improvement import PrototypeMap

TOGETHER = 10  #: trials that are run side by side


def confirmed(
    trials: Trials, map_: PrototypeMap, bar: Bar, seen: np.ndarray, fresh: Callable[[int], list[int]]
) -> bool:
    """Tell, by the sequential test of evaluation/confirmation, whether a map keeps a mean return.

    ``seen`` are returns, as they are compared with the bar, of maps before: they tell how far returns range.
    """
    question = ReturnQuestion(bar.value, float(seen.min()), float(seen.max()))
    returns: list[float] = []
    began, outcome = trials.count.steps, OPEN
    while outcome == OPEN:
        groups = [Contender(map_, fresh(TOGETHER // 2)) for _ in range(2)]
        for group, gained in zip(groups, trials.judge(groups), strict=True):
            returns += bar.compared(gained, group.starts).tolist()
        outcome = judge(returns, trials.count.steps - began, question)
    return outcome == PASSED
