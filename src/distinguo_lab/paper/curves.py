"""What the paper says of the learning curves (sections 4.2.2 and 4.2.3, Figures 15 and 16)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from distinguo.study.results import AveragedCurve
from distinguo_lab.paper.claims import Claim, verdict_of
from distinguo_lab.paper.generated import SCRATCH_CATEGORIES

#: What the paper reports.
VRDP_BEST, POOR_SCORE = 2_215, 2_500
ENHANCED_CATEGORIES, GRID_CATEGORIES, DIAGONAL_CATEGORIES = 117, 100, 2
#: "From the top, these are": the order of the curves of Figure 16, and of Figure 15.
BEST_FOUR = ("diagonal", "learned", "grid:10x10", "vrdp-enhanced")
POOREST = ("vrdp", "controllability")
NEARLY = (
    0.98  #: curves this close are on a level: the two best reach the cap at the first or second measurement
)
MUCH = 2.0  #: how many times as good is much better
ABOUT = 0.1  #: how far off the size of a map may be that the paper's author cut by hand

Means = dict[str, np.ndarray]


def curve_claims(curves: dict[str, AveragedCurve], cap: int) -> list[Claim]:
    """Return all claims about curves."""
    mean = {name: curve.scores.mean(axis=0) for name, curve in curves.items()}
    return [
        *(_reaches(curves[name], cap) for name in ("diagonal", "learned")),
        _vrdp_best(mean["vrdp"]),
        *(_poor(name, mean[name]) for name in POOREST),
        _order("order-of-best", "the four curves of Figure 16", BEST_FOUR, mean),
        _order("order-of-poor", "the two curves of Figure 15", POOREST, mean),
        _better(mean),
        *_sizes(curves),
    ]


def _reaches(curve: AveragedCurve, cap: int) -> Claim:
    at_cap = int((curve.scores[:, -1] >= cap).sum())
    runs = len(curve.scores)
    return Claim(
        f"{curve.representation}-reaches-cap",
        f"{curve.representation}: averaged score after {curve.training_steps[-1]:,} training steps",
        "5,000,000",
        "at least nine runs of ten at the cap",
        f"{curve.scores[:, -1].mean():,.0f} ({at_cap} of {runs} runs at {cap:,})",
        verdict_of(at_cap >= 0.9 * runs),
    )


def _vrdp_best(mean: np.ndarray) -> Claim:
    best, before = float(mean.max()), float(mean[0])
    return Claim(
        "vrdp-best",
        "greatest averaged score of the original VRDP representation",
        f"{VRDP_BEST:,}",
        f"it learns, but little: {MUCH:.0f} times its score before training, at most {MUCH:.0f} times the paper's",
        f"{best:,.0f}, before training {before:,.0f}",
        verdict_of(MUCH * before <= best <= MUCH * VRDP_BEST),
    )


def _poor(name: str, mean: np.ndarray) -> Claim:
    return Claim(
        f"{name}-poor",
        f"{name}: all averaged scores are under {POOR_SCORE:,}",
        "yes",
        "all of them",
        f"at most {mean.max():,.0f}",
        verdict_of(bool(mean.max() < POOR_SCORE)),
    )


def _order(key: str, what: str, names: tuple[str, ...], mean: Means) -> Claim:
    """Order curves by the mean of the averaged score over the training time."""
    level = {name: float(mean[name].mean()) for name in names}
    order = sorted(names, key=lambda name: -level[name])
    return Claim(
        key,
        f"{what}, from the top (mean over the curve)",
        ", ".join(names),
        f"none lies below {NEARLY:.0%} of the next",
        ", ".join(f"{name} ({level[name]:,.0f})" for name in order),
        verdict_of(all(level[a] >= NEARLY * level[b] for a, b in pairwise(names))),
    )


def _better(mean: Means) -> Claim:
    enhanced, original = (float(mean[name].max()) for name in ("vrdp-enhanced", "vrdp"))
    return Claim(
        "enhanced-better",
        "the enhanced VRDP representation performs better than the original (greatest averaged score)",
        "much better",
        f"at least {MUCH:.0f} times as good",
        f"{enhanced:,.0f} against {original:,.0f}",
        verdict_of(enhanced >= MUCH * original),
    )


def _sizes(curves: dict[str, AveragedCurve]) -> list[Claim]:
    papers = (DIAGONAL_CATEGORIES, SCRATCH_CATEGORIES, GRID_CATEGORIES, ENHANCED_CATEGORIES)
    return [_size(name, paper, curves[name].regions) for name, paper in zip(BEST_FOUR, papers, strict=True)]


def _size(name: str, paper: int, ours: int) -> Claim:
    exact = name in ("diagonal", "grid:10x10")
    close = ours == paper if exact else abs(ours - paper) <= ABOUT * paper
    criterion = "the same" if exact else f"within {ABOUT:.0%}"
    if name == "learned":
        criterion += "; fewer is better"
    verdict = verdict_of(close, better=name == "learned" and ours < paper)
    return Claim(f"{name}-categories", f"categories of {name}", str(paper), criterion, str(ours), verdict)
