"""Reproduce the paper: its analysis, its representations, its learning curves, and its claims beside ours.

Everything is done under two readings (paper/stages.py). All that the report shows is written into the folder first;
running again runs only what is missing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from distinguo.comparison.compare import CellsDone
from distinguo.comparison.plan import AveragedCurve
from distinguo.engines.engine import Engine
from distinguo.engines.jobs import Job
from distinguo.errors import checks_names
from distinguo.representations.file import dumps, load, loads
from distinguo.runs.configuration import check_seed
from distinguo.settings import TesterSettings
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.puck.analysis import PuckMap, analyse
from distinguo.tasks.spec import TaskSpec
from distinguo.writing import check_ours, write_atomically
from distinguo_lab.learners.ahc import Balanced, balance
from distinguo_lab.paper.claims import (
    LONG_TRIAL,
    Claim,
    adequacy_of,
    analysis_claims,
    critic_claim,
    curve_claims,
    scratch_claims,
    seeded_claims,
)
from distinguo_lab.paper.stages import (
    READINGS,
    Generated,
    Reading,
    control_file,
    generate,
    learning_curves,
    vrdp_files,
)

CRITICS = 40  #: seeds of the adaptive heuristic critic


class Scope(NamedTuple):
    """The part of the paper's protocol that is run."""

    runs: int  #: learning curves per representation
    cap: int  #: steps of a test trial
    seeds: int  #: learning runs behind the numbers of the generation stage
    last_trial: int  #: steps of the last trial from two seed points
    quick: bool

    @property
    def words(self) -> str:
        """Describe the differences from the paper's protocol."""
        if not self.quick:
            return "The full protocol: 10 runs, 50 test trials, cap 5,000,000."
        return (
            f"Quick: {self.runs} runs and a cap of {self.cap:,} steps instead of 10 runs and 5,000,000; "
            f"{self.seeds} learning runs; a last trial of {self.last_trial:,} steps is long enough."
        )


#: Files in the folder of a reproduction; the figures are others.
WRITTEN = ("claims.json", "claims.md", "report.html")

FULL = Scope(TesterSettings().runs, TesterSettings().cap, seeds=100, last_trial=LONG_TRIAL, quick=False)
QUICK = Scope(runs=3, cap=200_000, seeds=20, last_trial=1_000_000, quick=True)


class CaseStudy(NamedTuple):
    """The case study under one reading."""

    reading: Reading
    generated: Generated
    curves: dict[str, AveragedCurve]
    claims: list[Claim]
    folder: Path

    @property
    def adequacy(self) -> str:
        """How adequate the maps learned from scratch are, in a sentence."""
        return adequacy_of(self.generated.scratch)


class Reproduction(NamedTuple):
    """All that the report shows."""

    scope: Scope
    spec: TaskSpec
    puck_map: PuckMap
    studies: tuple[CaseStudy, ...]  #: one for each reading, that of the paper first
    folder: Path

    @property
    def rows(self) -> list[tuple[Claim, ...]]:
        """Return the claims, each under every reading."""
        return list(zip(*(study.claims for study in self.studies), strict=True))

    def as_json(self) -> list[dict[str, Any]]:
        """Return the claims as the command line prints them: under the paper's reading, and by default."""
        return [
            {**paper._asdict(), "holds": paper.holds, "default": _finding(default)}
            for paper, default in self.rows
        ]

    @property
    def holds(self) -> bool:
        """Whether every claim holds under the reading of the paper's own constants."""
        return all(
            claim.holds for study in self.studies if study.reading.like_paper for claim in study.claims
        )

    def __repr__(self) -> str:
        lines = []
        for study in self.studies:
            held = sum(claim.holds for claim in study.claims)
            lines += [f"Reading '{study.reading.name}' ({study.reading.words}):", *map(repr, study.claims)]
            lines += [f"{held} of {len(study.claims)} claims hold. {study.adequacy}", ""]
        return "\n".join([*lines, self.scope.words])


def _finding(claim: Claim) -> dict[str, Any]:
    return {"ours": claim.ours, "verdict": claim.verdict, "holds": claim.holds}


@checks_names()
def reproduce(
    out: str | Path | None = None,
    *,
    quick: bool = False,
    seed: int = 0,
    say: Callable[[str], None] | None = None,
    watch: CellsDone | None = None,
    engine: Engine | None = None,
) -> Reproduction:
    """Run the whole case study and return the paper's claims beside our results.

    The results are kept in ``out``, or in a folder under ``runs`` that is named by the seed. ``quick`` has fewer runs
    and shorter test trials. ``say`` is called with sentences on the progress, ``watch`` with the number of test runs
    done and of all test runs. ``engine`` is where runs are done: the results are the same.
    """
    check_seed(seed)
    workshop = engine or Engine()
    scope, say = QUICK if quick else FULL, say or (lambda text: None)
    folder = Path(out or Path("runs") / f"reproduce-{'quick' if quick else 'full'}-seed{seed}")
    check_ours(folder, WRITTEN, ["controls"])
    hill = task_spec("puck")
    say("Analysing the task (Figures 7 to 9) …")
    puck_map = analyse(hill.task)
    say("Generating representations (Figures 10 to 13) …")
    generated = _generate_all(scope, seed, folder, workshop)
    say("Testing representations (Figures 14 to 16) …")
    studies = tuple(_study(one, scope, seed, puck_map, folder, watch, workshop) for one in generated)
    reproduction = Reproduction(scope, hill, puck_map, studies, folder)
    write_atomically(folder / "claims.json", json.dumps(reproduction.as_json(), indent=2) + "\n")
    return reproduction


def _generate_all(scope: Scope, seed: int, out: Path, engine: Engine) -> list[tuple[Reading, Generated]]:
    """Run the generation stage under every reading, and make the controls."""
    seeds = range(seed, seed + scope.seeds)
    vrdp_files(out)
    return [(one, generate(one, seeds, scope.last_trial, out / one.name, engine)) for one in READINGS]


def _study(
    of: tuple[Reading, Generated],
    scope: Scope,
    seed: int,
    puck_map: PuckMap,
    out: Path,
    watch: CellsDone | None,
    engine: Engine,
) -> CaseStudy:
    reading, generated = of
    hill, folder = task_spec("puck"), out / reading.name
    tester = {"runs": scope.runs, "cap": scope.cap}
    curves = learning_curves(reading, tester, seed, folder, watch, engine=engine)
    quantization = control_file(reading, "controllability", folder)
    claims = [
        *analysis_claims(hill.task, puck_map),
        *scratch_claims(generated.scratch),
        *seeded_claims(generated.seeded, generated.from_seeds.summary["final_trial_steps"], scope.last_trial),
        *curve_claims(curves, scope.cap),
        critic_claim(critic(quantization, range(seed, seed + CRITICS), engine)),
    ]
    return CaseStudy(reading, generated, curves, claims, folder)


def critic(quantization: Path, seeds: Sequence[int], engine: Engine | None = None) -> list[Balanced]:
    """Train the adaptive heuristic critic on the controllability quantization, once per seed."""
    text = dumps(load(quantization))
    jobs = [Job(f"critic {seed}", balanced, {"representation": text, "seed": seed}) for seed in seeds]
    return [Balanced(*one) for one in (engine or Engine()).all(jobs)]


def balanced(representation: str, seed: int) -> list[Any]:
    """Train the critic on a quantization that is written as text."""
    quantization = loads(representation, "the quantization")
    return list(balance(task_spec("puck").task, quantization.partition, quantization.regions, seed))
