"""Reproduce the paper: its analysis, its representations, its learning curves, and its claims beside ours.

Everything that the report shows is written into the folder first; running again runs only the cells that are missing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from distinguo.controls.catalog import build_representation
from distinguo.controls.fixed import PAPER_SEEDS
from distinguo.learners.ahc import Balanced, balance
from distinguo.paper.claims import (
    ENHANCED_CATEGORIES,
    Claim,
    analysis_claims,
    critic_claim,
    curve_claims,
    generation_claims,
)
from distinguo.representations.file import dumps
from distinguo.runs.configuration import Configuration, configure
from distinguo.runs.files import write_atomically
from distinguo.runs.learn import learn_configured, learn_many
from distinguo.runs.run import Run
from distinguo.settings import TesterSettings
from distinguo.study.compare import CellsDone, compare_plan
from distinguo.study.plan import make_plan
from distinguo.study.results import AveragedCurve
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.puck.analysis import PuckMap, analyse
from distinguo.tasks.spec import TaskSpec

CONTROLS = ("diagonal", "grid:10x10", "vrdp", "vrdp-enhanced", "controllability")
VRDP_TRIALS = 20  #: successful trials of which the one nearest to the paper's is taken
CRITICS = 20  #: seeds of the adaptive heuristic critic


class Scope(NamedTuple):
    """How much of the paper's protocol is run."""

    runs: int  #: learning curves per representation
    cap: int  #: steps of a test trial
    seeds: int  #: learning runs behind the numbers of the generation stage
    quick: bool

    @property
    def words(self) -> str:
        """Say what differs from the paper's protocol."""
        if not self.quick:
            return "The full protocol: 10 runs, 50 test trials, cap 5,000,000."
        return f"Quick: {self.runs} runs and a cap of {self.cap:,} steps instead of 10 runs and 5,000,000."


FULL = Scope(runs=TesterSettings().runs, cap=TesterSettings().cap, seeds=100, quick=False)
QUICK = Scope(runs=3, cap=200_000, seeds=20, quick=True)


class Reproduction(NamedTuple):
    """All that the report shows."""

    scope: Scope
    spec: TaskSpec
    puck_map: PuckMap
    scratch: Run
    seeded: Run
    curves: dict[str, AveragedCurve]
    claims: list[Claim]
    folder: Path

    def __repr__(self) -> str:
        return "\n".join([*map(repr, self.claims), self.scope.words])


def reproduce(
    out: str | Path | None = None,
    *,
    quick: bool = False,
    seed: int = 0,
    say: Callable[[str], None] | None = None,
    watch: CellsDone | None = None,
) -> Reproduction:
    """Run the whole case study and return what the paper claims beside what came out.

    The results are kept in ``out``, or in a folder under ``runs`` that is named by the seed; ``quick`` does with
    fewer runs and shorter test trials. ``say`` is given sentences on what is going on, ``watch`` how many test runs
    are done, of how many.
    """
    scope, say = QUICK if quick else FULL, say or (lambda text: None)
    folder = Path(out or Path("runs") / f"reproduce-{'quick' if quick else 'full'}-seed{seed}")
    hill = task_spec("puck")
    say("Analysing the task (Figures 8 and 9) …")
    puck_map = analyse(hill.task)
    say("Generating representations (Figures 10 and 11) …")
    scratch = learn_configured(_configuration(seed), folder / "learned")
    seeded = learn_configured(_configuration(seed, PAPER_SEEDS), folder / "from-seeds")
    numbers = range(seed, seed + scope.seeds)
    many = [run.summary for run in learn_many([_configuration(n) for n in numbers])]
    many_seeded = [run.summary for run in learn_many([_configuration(n, PAPER_SEEDS) for n in numbers])]
    say("Testing representations (Figures 12 to 16) …")
    curves = _curves(folder, scope, seed, watch)
    say("Training the adaptive heuristic critic …")
    balanced = critic(hill, seeds=range(seed, seed + CRITICS))
    claims = [
        *analysis_claims(hill.task, puck_map),
        *generation_claims(many, many_seeded),
        *curve_claims(curves, scope.cap),
        critic_claim(balanced),
    ]
    write_atomically(folder / "claims.json", json.dumps([c._asdict() for c in claims], indent=2) + "\n")
    return Reproduction(scope, hill, puck_map, scratch, seeded, curves, claims, folder)


def _configuration(seed: int, prototypes: Any = None) -> Configuration:
    return configure("puck", seed=seed, preset_name="paper", prototypes=prototypes)


def _curves(out: Path, scope: Scope, seed: int, watch: CellsDone | None) -> dict[str, AveragedCurve]:
    names = [CONTROLS[0], "learned", *CONTROLS[1:]]
    files = {"learned": out / "learned", **_vrdp_files(out)}
    # resolved, so that it is the same plan from whichever folder it is called
    whats = [str(files[name].resolve()) if name in files else name for name in names]
    plan = make_plan(whats, seed=seed, tester={"runs": scope.runs, "cap": scope.cap})
    curves = compare_plan(plan, out / "test", watch=watch).without_failures().curves
    return {name: curve._replace(representation=name) for name, curve in zip(names, curves, strict=True)}


def _vrdp_files(out: Path) -> dict[str, Path]:
    """Build the VRDP representations from the successful trial that comes nearest to the paper's.

    Which states a successful trial visits is a matter of chance, and so is the size of the map; all that is known
    of the paper's trial is that it gave 117 categories.
    """
    files = {name: out / "controls" / f"{name}.json" for name in ("vrdp", "vrdp-enhanced")}
    if not all(path.exists() for path in files.values()):
        hill = task_spec("puck")
        sizes = [build_representation("vrdp-enhanced", hill, n).regions for n in range(VRDP_TRIALS)]
        nearest = min(range(VRDP_TRIALS), key=lambda n: abs(sizes[n] - ENHANCED_CATEGORIES))
        (out / "controls").mkdir(parents=True, exist_ok=True)
        for name, path in files.items():
            write_atomically(path, dumps(build_representation(name, hill, nearest)))
    return files


def critic(hill: TaskSpec, seeds: Sequence[int]) -> list[Balanced]:
    """Let the adaptive heuristic critic learn on the controllability quantization, once per seed."""
    representation = build_representation("controllability", hill, 0)
    return [balance(hill.task, representation.partition, representation.rows, seed) for seed in seeds]
