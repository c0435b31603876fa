"""The two stages of the case study under one reading: learning runs, then learning curves of representations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from distinguo.controls.catalog import build_representation
from distinguo.controls.fixed import PAPER_SEEDS
from distinguo.paper.curves import ENHANCED_CATEGORIES
from distinguo.paper.generated import SCRATCH_CATEGORIES, SEEDED_TRIALS, GeneratedRun, facts_of
from distinguo.paper.readings import Reading
from distinguo.representations.file import dumps
from distinguo.runs.configuration import Configuration, configure
from distinguo.runs.files import slug, write_atomically
from distinguo.runs.learn import learn_many
from distinguo.runs.run import Run
from distinguo.study.compare import CellsDone, compare_plan
from distinguo.study.plan import make_plan
from distinguo.study.results import AveragedCurve
from distinguo.tasks.catalog import task_spec

VRDP_TRIALS = 20  #: successful trials of which the one nearest to the paper's is taken
HOLDS = (
    0.99  #: from that share of the starts a run's own policy should hold the puck for its map to be tested
)
NAMES = ("diagonal", "learned", "grid:10x10", "vrdp", "vrdp-enhanced", "controllability")


class Generated(NamedTuple):
    """What came of the generation stage: facts of all runs, and the two runs that are shown."""

    scratch: list[GeneratedRun]
    seeded: list[GeneratedRun]
    from_scratch: Run
    from_seeds: Run


def generate(reading: Reading, seeds: Sequence[int], last_trial: int, folder: Path) -> Generated:
    """Learn from scratch and from the paper's two points, with every seed; keep the two runs that are shown.

    The last trial of the one from two points is not stopped before ``last_trial`` steps.
    """
    kept = folder / "generated.json"
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(kept, json.dumps(_learn_all(reading, seeds)) + "\n")
    scratch, seeded = ([GeneratedRun(**row) for row in rows] for rows in json.loads(kept.read_text()))
    shown = [
        _configuration(reading, _shown(scratch, _unlike_scratch) if reading.like_paper else seeds[0]),
        _configuration(
            reading,
            _shown(seeded, _unlike_seeded) if reading.like_paper else seeds[0],
            PAPER_SEEDS,
            {"stage.cap": last_trial + 1},
        ),
    ]
    from_scratch, from_seeds = learn_many(shown, [folder / "learned", folder / "from-seeds"])
    return Generated(scratch, seeded, from_scratch, from_seeds)


def _learn_all(reading: Reading, seeds: Sequence[int]) -> list[list[dict[str, Any]]]:
    scratch = [_configuration(reading, seed) for seed in seeds]
    seeded = [_configuration(reading, seed, PAPER_SEEDS) for seed in seeds]
    runs = learn_many([*seeded, *scratch])  # long ones last would leave a core idle
    return [
        [facts_of(run)._asdict() for run in runs[len(seeded) :]],
        [facts_of(run, given=len(PAPER_SEEDS))._asdict() for run in runs[: len(seeded)]],
    ]


def _configuration(
    reading: Reading, seed: int, prototypes: Any = None, changes: dict[str, Any] | None = None
) -> Configuration:
    return configure("puck", seed=seed, preset_name=reading.preset, changes=changes, prototypes=prototypes)


def _shown(runs: Sequence[GeneratedRun], unlike: Any) -> int:
    """Return the seed of the solved run that is least unlike the one that the paper shows."""
    return int(min(runs, key=lambda run: (not run.solved, unlike(run))).summary["seed"])


def _unlike_scratch(run: GeneratedRun) -> tuple[bool, float]:
    """Prefer maps of the same size on which "good performance from a variety of starting points" is possible."""
    return run.held < HOLDS, float(abs(run.summary["regions"] - SCRATCH_CATEGORIES))


def _unlike_seeded(run: GeneratedRun) -> tuple[bool, float]:
    return not run.at_ends, float(abs(run.summary["trials"] - SEEDED_TRIALS))


def learning_curves(
    reading: Reading,
    tester: dict[str, Any],
    seed: int,
    folder: Path,
    watch: CellsDone | None = None,
    results: str = "test",
) -> dict[str, AveragedCurve]:
    """Test the representations of Figures 15 and 16 under a reading; the learned one is in the folder."""
    files = {"learned": folder / "learned", **vrdp_files(folder.parent)}
    # resolved, so that it is the same plan from whichever folder it is called
    whats = [str(files[name].resolve()) if name in files else _control(reading, name) for name in NAMES]
    plan = make_plan(whats, seed=seed, tester={**reading.tester, **tester})
    curves = compare_plan(plan, folder / results, watch=watch).without_failures().curves
    return {name: curve._replace(representation=name) for name, curve in zip(NAMES, curves, strict=True)}


def _control(reading: Reading, name: str) -> str:
    return reading.controllability if name == "controllability" else name


def control_file(reading: Reading, name: str, folder: Path) -> Path:
    """Return where the file of a control is that was tested under a reading."""
    if name.startswith("vrdp"):
        return folder.parent / "controls" / f"{name}.json"
    return folder / "test" / "representations" / f"{slug(_control(reading, name))}.json"


def vrdp_files(out: Path) -> dict[str, Path]:
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
