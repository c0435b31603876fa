"""What the paper says of the generation stage (section 4.2.1), asked of many runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import ConfigDict, Field, TypeAdapter
from scipy import stats

from distinguo.errors import DistinguoError
from distinguo.evaluation.decide import Batch, outcome_of
from distinguo.reading.documents import read_json
from distinguo.reading.files import MEBIBYTE
from distinguo.representations.partition import prototypes_of
from distinguo.runs.run import Run
from distinguo.tasks.extent import TEST, Extent
from distinguo.tasks.task import transition
from distinguo_lab.paper.claims import Claim, one_of, verdict_of

LARGEST_GENERATED = 16 * MEBIBYTE  #: bytes
#: What the paper reports.
SCRATCH_CATEGORIES, SEEDED_CATEGORIES, SEEDED_TRIALS = 24, 4, 207
OFTEN = 0.2  #: of an outcome that is one of many, the share of our runs that makes it likely to be seen in one run
LONG_TRIAL = 100_000_000  #: "with the last trial continuing for over 100 million steps"
STARTS, HELD = 100, 200_000  #: starts from which a run's own policy is followed, and for how many steps
SURE = 0.95  #: share of the seeds that must be solved
OUTWARDS = -0.5  #: rank correlation of distance and value from which on values fall outwards


class GeneratedRun(NamedTuple):
    """What the claims ask of one learning run."""

    summary: dict[str, Any]
    held: float  #: the share of the test starts that can be held from which its own policy holds the puck
    outwards: float  #: how values go with the distance from the centre of the hill, as a rank correlation
    added: int  #: prototypes that were added to the given ones
    at_ends: bool  #: whether two were, one just before each wall

    @property
    def solved(self) -> bool:
        """Tell whether the run solved its task."""
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
    """Return what the claims ask of a run that began with so many prototypes."""
    prototypes = prototypes_of(run.representation.partition)
    assert prototypes is not None  # the paper's learner makes these
    points = prototypes.points[given:]
    before_wall = [_is_at_end(run.configuration.spec.task, s) for s in points]
    sides = points[before_wall][:, 0]
    at_ends = len(points) == 2 and all(before_wall) and sides.min() < 0 < sides.max()
    return GeneratedRun(run.summary, holds(run), falls_outwards(run), len(points), bool(at_ends))


def _is_at_end(task: Any, s: np.ndarray) -> bool:
    """Tell whether the next step ends the trial, whatever the action: a failure point."""
    return all(transition(task, tuple(s), a)[2] for a in (0, 1))


def holds(run: Run) -> float:
    """Return from which share of the tester's starts that can be held at all a run's own policy holds the puck."""
    spec, rng = run.configuration.spec, np.random.default_rng(run.configuration.seed)
    starts = Extent(spec.low, spec.high).draw(rng, TEST, STARTS)
    outcome = outcome_of(spec.task, run.controller, rng, Batch(starts, HELD), run.controller)
    return float((~outcome.ended[spec.controllable_among(starts)]).mean())


def falls_outwards(run: Run) -> float:
    """Return the rank correlation between how far a region's prototype is from the centre and what it is worth."""
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
    """Return what is said of learning from scratch."""
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


def seeded_claims(runs: Sequence[GeneratedRun], last_trial: int, long: int = LONG_TRIAL) -> list[Claim]:
    """Return what is said of learning from the two seed points.

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
