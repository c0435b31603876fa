"""The claims of the paper beside our results."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import ConfigDict, Field, TypeAdapter
from scipy import stats

from distinguo.comparison.audit import audit
from distinguo.comparison.plan import AveragedCurve
from distinguo.errors import DistinguoError
from distinguo.evaluation.tester import Batch, outcome_of
from distinguo.reading.files import MEBIBYTE, read_json
from distinguo.representations.partition import prototypes_of
from distinguo.runs.run import Run
from distinguo.tasks.extent import TEST, Extent
from distinguo.tasks.puck.analysis import DIAGONAL_SLOPE, PuckMap, balance_point, separates
from distinguo.tasks.puck.puck import Puck
from distinguo.tasks.task import transition
from distinguo_lab.learners.ahc import Balanced

# A claim of the paper beside our result; the claims of section 4.1 and of the adaptive heuristic critic.
#
# Every claim has a criterion, stated before its number, for when it counts as reproduced. Our result may also be
# better than the paper's, or differ from it.


REPRODUCED, BETTER, DIFFERS = "reproduced", "better", "differs"
#: What the paper reports (sections 4.1 and 4.2.2).
BALANCE_POINT = 0.54
AHC_TRIALS, AHC_STEPS = 13, 2_000
#: The paper reports one run. We have many; the paper's number is like ours if it is neither in the lowest nor in the
#: highest tenth.
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
        """Whether our result is the paper's, or better."""
        return self.verdict != DIFFERS

    def __repr__(self) -> str:
        judged = f"{self.verdict:10}  {self.claim}: paper {self.paper}; ours {self.ours}"
        return f"{judged} (reproduced if: {self.criterion})"


def verdict_of(reproduced: bool, better: bool = False) -> str:
    """Return the verdict; a reproduced claim is not called better.

    >>> verdict_of(True, True), verdict_of(False, True), verdict_of(False)
    ('reproduced', 'better', 'differs')
    """
    return REPRODUCED if reproduced else BETTER if better else DIFFERS


def one_of(paper: float, ours: Sequence[float]) -> tuple[str, str]:
    """Compare the paper's number with ours, where fewer is better; return words and a verdict.

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


# The claims about the learning curves (sections 4.2.2 and 4.2.3, Figures 15 and 16).


#: What the paper reports.
VRDP_BEST, POOR_SCORE = 2_215, 2_500
ENHANCED_CATEGORIES, GRID_CATEGORIES, DIAGONAL_CATEGORIES = 117, 100, 2
#: "From the top, these are": the order of the curves of Figure 16, and of Figure 15.
BEST_FOUR = ("diagonal", "learned", "grid:10x10", "vrdp-enhanced")
POOREST = ("vrdp", "controllability")
NEARLY = (
    0.98  #: curves this close count as equal: the two best reach the cap at the first or second measurement
)
MUCH = 2.0  #: the factor that counts as much better
ABOUT = 0.1  #: tolerance for the size of a map that the paper's author cut by hand

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


# The claims about the generation stage (section 4.2.1), checked with many runs.


LARGEST_GENERATED = 16 * MEBIBYTE  #: bytes
#: What the paper reports.
SCRATCH_CATEGORIES, SEEDED_CATEGORIES, SEEDED_TRIALS = 24, 4, 207
OFTEN = 0.2  #: share of our runs from which on an outcome is likely to be seen in a single run
LONG_TRIAL = 100_000_000  #: "with the last trial continuing for over 100 million steps"
STARTS, HELD = 100, 200_000  #: starts from which a run's own policy is followed, and the steps of each
SURE = 0.95  #: share of the seeds that must be solved
OUTWARDS = -0.5  #: rank correlation of distance and value below which values fall outwards


class GeneratedRun(NamedTuple):
    """The facts of one learning run that the claims need."""

    summary: dict[str, Any]
    held: float  #: share of the holdable test starts from which its own policy holds the puck
    outwards: float  #: rank correlation of value and distance from the centre of the hill
    added: int  #: prototypes that were added to the given ones
    at_ends: bool  #: whether two were, one just before each wall
    adequate: float | None = (
        None  #: share of epsilon-adequate states where its policy goes; older files have none
    )

    @property
    def solved(self) -> bool:
        """Whether the run solved its task."""
        return bool(self.summary["solved"])


class GeneratedRuns(NamedTuple):
    """The file ``generated.json``: the runs from scratch, those from two points, and the seeds of the two shown."""

    scratch: Annotated[list[GeneratedRun], Field(min_length=1)]
    seeded: Annotated[list[GeneratedRun], Field(min_length=1)]
    shown: Annotated[list[Annotated[int, Field(ge=0, lt=2**63)]], Field(min_length=2, max_length=2)]


def read_generated(path: Path) -> GeneratedRuns:
    """Read the facts of the runs of the generation stage."""
    try:
        content = _ADAPTER.validate_python(read_json(path, LARGEST_GENERATED))
        for run in (*content.scratch, *content.seeded):
            if not {"solved", "seed", "regions", "trials"} <= run.summary.keys():
                raise ValueError("a summary lacks something")
    except ValueError:  # as DistinguoError and pydantic's errors are
        raise DistinguoError(
            f"{path} is damaged or of an earlier version, which knew less of its runs; delete it to learn them again."
        ) from None
    return content


_ADAPTER = TypeAdapter(GeneratedRuns, config=ConfigDict(strict=True, allow_inf_nan=False))


def facts_of(run: Run, given: int = 1) -> GeneratedRun:
    """Return the facts of a run that began with so many prototypes."""
    prototypes = prototypes_of(run.representation.partition)
    assert prototypes is not None  # the paper's learner has prototypes
    points = prototypes.points[given:]
    before_wall = [_is_at_end(run.configuration.spec.task, s) for s in points]
    sides = points[before_wall][:, 0]
    at_ends = len(points) == 2 and all(before_wall) and sides.min() < 0 < sides.max()
    adequate = audit(run).adequate
    return GeneratedRun(run.summary, holds(run), falls_outwards(run), len(points), bool(at_ends), adequate)


def _is_at_end(task: Any, s: np.ndarray) -> bool:
    """Whether the next step ends the trial, whatever the action: a failure point."""
    return all(transition(task, tuple(s), a)[2] for a in (0, 1))


def holds(run: Run) -> float:
    """Return the share of the tester's holdable starts from which a run's own policy holds the puck."""
    spec, rng = run.configuration.spec, np.random.default_rng(run.configuration.seed)
    starts = Extent(spec.low, spec.high).draw(rng, TEST, STARTS)
    outcome = outcome_of(spec.task, run.controller, rng, Batch(starts, HELD), run.controller)
    return float((~outcome.ended[spec.controllable_among(starts)]).mean())


def falls_outwards(run: Run) -> float:
    """Return the rank correlation between a prototype's distance from the centre and its value."""
    prototypes = prototypes_of(run.representation.partition)
    assert prototypes is not None
    if len(prototypes.primaries) < 3:
        return 0.0
    distance = np.hypot(*(prototypes.points[prototypes.primaries] / np.array(run.configuration.spec.scale)).T)
    value = run.controller.q.max(axis=1)
    if len(np.unique(value)) == 1:
        return 0.0
    return float(stats.spearmanr(distance, value).statistic)


def scratch_claims(runs: Sequence[GeneratedRun]) -> list[Claim]:
    """Return the claims about learning from scratch."""
    solved = [run for run in runs if run.solved]
    sizes, size_verdict = one_of(SCRATCH_CATEGORIES, [run.summary["regions"] for run in solved or runs])
    outwards = float(np.median([run.outwards for run in solved or runs]))
    return [
        Claim(
            "scratch-solves",
            "from scratch, the system learns the task",
            "1 of 1",
            f"at least {SURE:.0%} of the seeds",
            f"{len(solved)} of {len(runs)}",
            verdict_of(len(solved) >= SURE * len(runs)),
        ),
        Claim(
            "scratch-categories",
            "categories learned from scratch",
            str(SCRATCH_CATEGORIES),
            "within the central 80 % of ours; fewer is better",
            sizes,
            size_verdict,
        ),
        Claim(
            "values-outwards",
            "states farther out are worth less (rank correlation of distance from the centre and value)",
            "more negative closer to failure points",
            f"at most {OUTWARDS} in the median run",
            f"{outwards:.2f}",
            verdict_of(outwards <= OUTWARDS),
        ),
    ]


def adequacy_of(runs: Sequence[GeneratedRun]) -> str:
    """How many of the solved maps are adequate wherever their policy goes, in a sentence.

    No claim of the paper: it reports that its maps work, not that they meet Definition 8.
    """
    shares = [run.adequate for run in runs if run.solved and run.adequate is not None]
    if not shares:
        return "No solved map from scratch was audited."
    whole = sum(share == 1.0 for share in shares)
    return (
        f"Of {len(shares)} solved maps from scratch, {whole} are ε-adequate at every state that their policy visits; "
        f"the median map at {np.median(shares):.1%} of these states."
    )


def seeded_claims(runs: Sequence[GeneratedRun], last_trial: int, long: int = LONG_TRIAL) -> list[Claim]:
    """Return the claims about learning from the two seed points.

    ``last_trial`` is the length of the last trial of the run that is shown; it should be more than ``long``.
    """
    solved = [run for run in runs if run.solved] or list(runs)
    sizes, size_verdict = one_of(SEEDED_CATEGORIES, [run.summary["regions"] for run in solved])
    trials, trial_verdict = one_of(SEEDED_TRIALS, [run.summary["trials"] for run in solved])
    at_ends, fewer = sum(run.at_ends for run in solved), sum(run.added < 2 for run in solved)
    return [
        Claim(
            "seeded-categories",
            "categories learned from two good seed points",
            str(SEEDED_CATEGORIES),
            "within the central 80 % of ours; fewer is better",
            sizes,
            size_verdict,
        ),
        Claim(
            "seeded-added",
            "states added to two good seed points",
            "two, at the usual failure points",
            f"two, one just before each wall, in at least {OFTEN:.0%} of the runs; better if most add fewer",
            f"just these in {at_ends} of {len(solved)} runs, fewer in {fewer}",
            verdict_of(at_ends >= OFTEN * len(solved), 2 * fewer > len(solved)),
        ),
        Claim(
            "seeded-trials",
            "trials needed from two good seed points",
            str(SEEDED_TRIALS),
            "within the central 80 % of ours; fewer is better",
            trials,
            trial_verdict,
        ),
        Claim(
            "seeded-long-trial",
            "the last trial goes on",
            f"over {LONG_TRIAL:,} steps",
            f"over {long:,} in the run that is shown",
            f"{last_trial:,} steps" + (", then stopped" if last_trial > long else ""),
            verdict_of(last_trial > long),
        ),
    ]
