"""A claim of the paper beside what came out here; those of section 4.1 and of the adaptive heuristic critic.

Every claim has a criterion, stated before its number: when it counts as reproduced. Ours may also be better than what
the paper reports, or differ from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from distinguo.tasks.puck.analysis import DIAGONAL_SLOPE, PuckMap, balance_point, separates
from distinguo.tasks.puck.puck import Puck
from distinguo_lab.learners.ahc import Balanced

REPRODUCED, BETTER, DIFFERS = "reproduced", "better", "differs"
#: What the paper reports (sections 4.1 and 4.2.2).
BALANCE_POINT = 0.54
AHC_TRIALS, AHC_STEPS = 13, 2_000
#: The paper tells of one run. Ours are many, and one of them counts as like the paper's if it is neither among the
#: lowest nor among the highest tenth.
CENTRAL = (10, 90)


class Claim(NamedTuple):
    """One claim under one reading."""

    id: str
    claim: str
    paper: str  #: what the paper reports
    criterion: str  #: when it is reproduced
    ours: str
    verdict: str  #: REPRODUCED, BETTER or DIFFERS

    @property
    def holds(self) -> bool:
        """Tell whether ours is what the paper reports, or better."""
        return self.verdict != DIFFERS

    def __repr__(self) -> str:
        return f"{self.verdict:10}  {self.claim}: paper {self.paper}; ours {self.ours}"


def verdict_of(reproduced: bool, better: bool = False) -> str:
    """Return the verdict; what is reproduced is not called better as well.

    >>> verdict_of(True, True), verdict_of(False, True), verdict_of(False)
    ('reproduced', 'better', 'differs')
    """
    return REPRODUCED if reproduced else BETTER if better else DIFFERS


def one_of(paper: float, ours: Sequence[float]) -> tuple[str, str]:
    """Ask whether the paper's number is one that comes out here, where fewer would be better: words and verdict.

    >>> one_of(24, [10, 15, 20, 25, 30])
    ('20 (median; central 80 %: 12-28)', 'reproduced')
    >>> one_of(24, [4, 4, 5])[1], one_of(24, [90, 99])[1]
    ('better', 'differs')
    """
    low, high = np.percentile(ours, CENTRAL)
    words = f"{np.median(ours):.0f} (median; central 80 %: {low:.0f}-{high:.0f})"
    return words, verdict_of(bool(low <= paper <= high), bool(high < paper))


def analysis_claims(task: Puck, puck_map: PuckMap) -> list[Claim]:
    """Section 4.1: the balance point, and the line that separates the critical states."""
    point = balance_point(task)
    line = f"v = {DIAGONAL_SLOPE} x separates must-push-left from must-push-right states"
    apart = separates(puck_map, DIAGONAL_SLOPE)
    return [
        Claim(
            "balance-point",
            "a resting puck can hold its place up to",
            f"±{BALANCE_POINT}",
            "the same when rounded",
            f"±{point:.4f}",
            verdict_of(round(point, 2) == BALANCE_POINT),
        ),
        Claim(
            "diagonal-separates",
            line,
            "all",
            "all of them",
            "all" if apart else "not all",
            verdict_of(apart),
        ),
    ]


def critic_claim(balanced: Sequence[Balanced]) -> Claim:
    """Section 4.2.2: the adaptive heuristic critic on the controllability quantization, from (0, 0)."""
    trials = float(np.mean([b.trials for b in balanced]))
    steps = float(np.mean([b.steps for b in balanced]))
    solved = sum(b.solved for b in balanced)
    quick = solved == len(balanced) and trials <= AHC_TRIALS
    return Claim(
        "critic-balances",
        "AHC on the controllability quantization balances 10,000 steps: trials and steps before, on average",
        f"{AHC_TRIALS} trials, {AHC_STEPS:,} steps",
        "on every seed, after at most as many trials, and steps within a factor of two",
        f"{trials:.1f} trials, {steps:,.0f} steps ({solved} of {len(balanced)} seeds)",
        verdict_of(quick and AHC_STEPS / 2 <= steps <= 2 * AHC_STEPS, quick and steps < AHC_STEPS / 2),
    )
