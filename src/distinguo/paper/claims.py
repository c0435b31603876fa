"""Every number and claim of sections 4.1 and 4.2 of the paper, as a row: claim, paper, ours, holds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from distinguo.learners.ahc import Balanced
from distinguo.study.results import AveragedCurve
from distinguo.tasks.puck.analysis import DIAGONAL_SLOPE, PuckMap, balance_point, separates
from distinguo.tasks.puck.puck import Puck

#: What the paper reports (sections 4.1 and 4.2).
BALANCE_POINT = 0.54
SCRATCH_CATEGORIES, SEEDED_CATEGORIES, SEEDED_TRIALS = 24, 4, 207
VRDP_BEST, POOR_SCORE = 2_215, 2_500
ENHANCED_CATEGORIES, GRID_CATEGORIES, DIAGONAL_CATEGORIES = 117, 100, 2
AHC_TRIALS, AHC_STEPS = 13, 2_000
NEARLY = (
    0.98  #: curves this close are on a level: the two best reach the cap at the first or second measurement
)
#: "From the top, these are": the order of the curves of Figure 16.
BEST_FOUR = ("diagonal", "learned", "grid:10x10", "vrdp-enhanced")


class Claim(NamedTuple):
    """One row of the comparison."""

    id: str
    claim: str
    paper: str
    ours: str
    holds: bool

    def __repr__(self) -> str:
        return f"{'holds ' if self.holds else 'FAILS '} {self.claim}: paper {self.paper}; ours {self.ours}"


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
            f"±{point:.4f}",
            round(point, 2) == BALANCE_POINT,
        ),
        Claim("diagonal-separates", line, "all", "all" if apart else "not all", apart),
    ]


def generation_claims(scratch: Sequence[dict[str, Any]], seeded: Sequence[dict[str, Any]]) -> list[Claim]:
    """Section 4.2.1: the sizes of the generated representations, and how long it took."""
    categories = _spread(scratch, "regions")
    seeded_categories, seeded_trials = _spread(seeded, "regions"), _spread(seeded, "trials")
    solved = sum(bool(s["solved"]) for s in scratch)
    return [
        Claim(
            "scratch-solves",
            "from scratch, the system learns the task",
            "1 of 1",
            f"{solved} of {len(scratch)}",
            solved >= 0.95 * len(scratch),
        ),
        Claim(
            "scratch-categories",
            "categories learned from scratch",
            str(SCRATCH_CATEGORIES),
            _words(categories),
            bool(categories[1] <= SCRATCH_CATEGORIES),
        ),
        Claim(
            "seeded-categories",
            "categories learned from two good seed points",
            str(SEEDED_CATEGORIES),
            _words(seeded_categories),
            bool(seeded_categories[1] <= SEEDED_CATEGORIES),
        ),
        Claim(
            "seeded-trials",
            "trials needed from two good seed points",
            str(SEEDED_TRIALS),
            _words(seeded_trials),
            bool(seeded_trials[1] <= SEEDED_TRIALS),
        ),
    ]


def _spread(summaries: Sequence[dict[str, Any]], key: str) -> np.ndarray:
    return np.percentile([s[key] for s in summaries], [5, 50, 95])


def _words(spread: np.ndarray) -> str:
    return f"{spread[1]:.0f} (median; 5-95 %: {spread[0]:.0f}-{spread[2]:.0f})"


def curve_claims(curves: dict[str, AveragedCurve], cap: int) -> list[Claim]:
    """Section 4.2.3: what the learning curves show."""
    mean = {name: curve.scores.mean(axis=0) for name, curve in curves.items()}
    rows = [_reaches(curves[name], cap) for name in ("diagonal", "learned")]
    best = mean["vrdp"].max()
    rows.append(
        Claim(
            "vrdp-best",
            "greatest averaged score of the original VRDP representation",
            f"{VRDP_BEST:,}",
            f"{best:,.0f}",
            bool(best < POOR_SCORE),
        )
    )
    rows += [_poor(name, mean[name]) for name in ("vrdp", "controllability")]
    rows.append(_order(mean))
    rows.append(_better(curves))
    return rows + _sizes(curves)


def _better(curves: dict[str, AveragedCurve]) -> Claim:
    """Compare the VRDP representations by survival, which is not ruled by single runs at the cap as scores are."""
    enhanced, original = (float(curves[name].survival.mean()) for name in ("vrdp-enhanced", "vrdp"))
    return Claim(
        "enhanced-better",
        "the enhanced VRDP representation performs better than the original (survival over the curve)",
        "much better",
        f"{enhanced:.2f} against {original:.2f}",
        enhanced > original,
    )


def _reaches(curve: AveragedCurve, cap: int) -> Claim:
    at_cap = int((curve.scores[:, -1] >= cap).sum())
    runs = len(curve.scores)
    return Claim(
        f"{curve.representation}-reaches-cap",
        f"{curve.representation}: averaged score after {curve.training_steps[-1]:,} training steps",
        "5,000,000",
        f"{curve.scores[:, -1].mean():,.0f} ({at_cap} of {runs} runs at {cap:,})",
        at_cap >= 0.9 * runs,
    )


def _poor(name: str, mean: np.ndarray) -> Claim:
    text = f"{name}: all averaged scores are under {POOR_SCORE:,}"
    return Claim(f"{name}-poor", text, "yes", f"at most {mean.max():,.0f}", bool(mean.max() < POOR_SCORE))


def _order(mean: dict[str, np.ndarray]) -> Claim:
    """Order the four best curves by the mean of the averaged score over the training time."""
    levels = [float(mean[name].mean()) for name in BEST_FOUR]
    order = sorted(BEST_FOUR, key=lambda name: -float(mean[name].mean()))
    return Claim(
        "order-of-best",
        "the four curves of Figure 16, from the top (mean over the curve)",
        ", ".join(BEST_FOUR),
        ", ".join(f"{name} ({float(mean[name].mean()):,.0f})" for name in order),
        all(a >= NEARLY * b for a, b in pairwise(levels)),
    )


def _sizes(curves: dict[str, AveragedCurve]) -> list[Claim]:
    papers = (DIAGONAL_CATEGORIES, SCRATCH_CATEGORIES, GRID_CATEGORIES, ENHANCED_CATEGORIES)
    rows = []
    for name, paper in zip(BEST_FOUR, papers, strict=True):
        ours = curves[name].regions
        exact = name in ("diagonal", "grid:10x10")
        # the learned one may be smaller; the enhanced one was made by hand, so about its size will do
        holds = (
            ours == paper if exact else ours <= paper if name == "learned" else 0.75 <= ours / paper <= 1.25
        )
        rows.append(Claim(f"{name}-categories", f"categories of {name}", str(paper), str(ours), holds))
    return rows


def critic_claim(balanced: Sequence[Balanced]) -> Claim:
    """Section 4.2.2: the adaptive heuristic critic on the controllability quantization, from (0, 0)."""
    trials = float(np.mean([b.trials for b in balanced]))
    steps = float(np.mean([b.steps for b in balanced]))
    solved = sum(b.solved for b in balanced)
    return Claim(
        "critic-balances",
        "AHC on the controllability quantization balances 10,000 steps: trials and steps before, on average",
        f"{AHC_TRIALS} trials, {AHC_STEPS:,} steps",
        f"{trials:.1f} trials, {steps:,.0f} steps ({solved} of {len(balanced)} seeds)",
        bool(solved == len(balanced) and trials <= AHC_TRIALS and steps <= AHC_STEPS),
    )
