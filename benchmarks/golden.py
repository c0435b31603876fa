"""Golden hashes: what a run writes, by seed. A change of structure leaves them as they are.

python benchmarks/golden.py            # compare with tests/golden/runs.json
python benchmarks/golden.py --write    # after a change that is meant to change results
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import distinguo

GOLDEN = Path(__file__).parent.parent / "tests" / "golden" / "runs.json"
#: What is learned, each for the seeds 1 to 5.
SUBJECTS: dict[str, dict[str, Any]] = {
    "puck-paper": {"task": "puck", "preset": "paper"},
    "puck-fast": {"task": "puck", "preset": "fast"},
    "puck-default": {"task": "puck"},
    "CartPole-v1": {"task": "CartPole-v1", "learner": "economy"},
    "CartPole-v1-probation": {"task": "CartPole-v1"},
    "Taxi-v4": {
        "task": "Taxi-v4",
        "learner": "economy",
        "settings": {"stage.steps": 2_000, "stage.confirm": 2, "stage.cap": 200},
    },
}
SEEDS = range(1, 6)


def fingerprint(folder: Path) -> str:
    """Return the hash of all results in a run folder: not of the words of its files, nor of the time it took."""
    digest = hashlib.sha256()
    run = distinguo.open_run(folder)
    for representation in (run.representation, run.carried or run.representation):
        digest.update(json.dumps(representation.provenance).encode())
        for array in representation.partition:
            digest.update(np.ascontiguousarray(array).tobytes())
    digest.update(run.q.tobytes() + run.updates.tobytes())
    for name in ("reasons.jsonl", "trials.csv"):
        digest.update((folder / name).read_bytes())
    result = json.loads((folder / "result.json").read_text())
    promised = (
        "solved",
        "score",
        "regions",
        "prototypes",
        "trials",
        "environment_steps",
        "confirmation_steps",
    )
    digest.update(json.dumps({name: result[name] for name in promised}).encode())
    return digest.hexdigest()[:16]


def measured(name: str, seed: int) -> str:
    """Learn a subject and return the hash of what came out."""
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "run"
        distinguo.learn(**SUBJECTS[name], seed=seed, out=out)
        return fingerprint(out)


def main() -> None:
    """Compare, or write anew."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write what is found")
    parser.add_argument("--only", nargs="+", default=list(SUBJECTS), choices=SUBJECTS, help="subjects")
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    asked = parser.parse_args()
    found = {name: {str(seed): measured(name, seed) for seed in asked.seeds} for name in asked.only}
    if asked.write:
        GOLDEN.write_text(json.dumps(found, indent=2) + "\n")
        return
    known = json.loads(GOLDEN.read_text())
    changed = [f"{n} seed {s}" for n, seeds in found.items() for s, h in seeds.items() if known[n][s] != h]
    print("changed: " + ", ".join(changed) if changed else "all golden hashes are the same")
    sys.exit(bool(changed))


if __name__ == "__main__":
    main()
