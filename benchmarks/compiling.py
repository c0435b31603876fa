"""What a first run costs: compiling each learner, and a task of one's own on a machine that has run another one.

python -m benchmarks.compiling

Every row is a process of its own. A learner is compiled into an empty cache; then a task of another class and another
number of coordinates is learned from that cache, which compiles only what belongs to the task. Compiling is measured
as CPU seconds of the first run less those of a second one in the same process; steps as nanoseconds of a trial.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

#: Learners with a task that suits each, and a task of one's own for the same learner.
ROWS = {
    "economy": ("puck", "hold"),
    "surprise": ("puck", "hold"),
    "model": ("puck", "hold"),
    "probation": ("CartPole-v1", "return"),
    "sweeping": ("FrozenLake-v1", ""),
}
OWN = """
from typing import NamedTuple
import distinguo as dg


@dg.task(states=("x", "v", "w"), actions=("left", "right"), low=(-1, -3, -1), high=(1, 3, 1), {goal})
class Own(NamedTuple):
    push: float = {push}

    def transition(self, s, a):
        x, v, w = s
        out = abs(x + 0.02 * v) > 1.0
        force = self.push if a == 1 else -self.push
        return (x + 0.02 * v, v + 0.02 * (force + 4.0 * x), 0.5 * w), {reward}, out

    def start(self, rng):
        return (rng.uniform(-0.05, 0.05), 0.0, rng.uniform(-1.0, 1.0))
"""
GOALS = {
    "hold": {"goal": "", "reward": "(-1.0 if out else 0.0)"},
    "return": {"goal": "limit=200, threshold=195.0, score='return'", "reward": "1.0"},
}
MEASURE = """
import json, sys, time
began = time.perf_counter()
import distinguo as dg
task, learner = sys.argv[1], sys.argv[2]
if task.endswith(".py"):
    sys.path.insert(0, sys.argv[3])
    import own
    task = own.Own()
times = []
for _ in range(2):
    cpu, wall = time.process_time(), time.perf_counter()
    run = dg.learn(task, seed=1, learner=learner)
    times.append((time.process_time() - cpu, time.perf_counter() - wall))
print(json.dumps({"compile": times[0][0] - times[1][0], "beyond": times[0][1] - times[1][1], "learn": times[1][1],
                  "import": wall - began - times[0][1]}))
"""


def measured(cache: Path, *words: str) -> dict[str, float]:
    """Learn twice in a process that has only this cache."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *words], env=environment, capture_output=True, text=True, check=True
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print a row for each learner."""
    print("| learner | task | compiling, CPU s | again, from the cache, s | a task of one's own, wall s |")
    print("|---|---|---|---|---|")
    for learner, (task, kind) in ROWS.items():
        with tempfile.TemporaryDirectory() as place:
            cache = Path(place) / "cache"
            first, again = measured(cache, task, learner), measured(cache, task, learner)
            own = "-"
            if kind:
                (Path(place) / "own.py").write_text(OWN.format(push=3.0, **GOALS[kind]))
                own = f"{measured(cache, 'own.py', learner, place)['beyond']:.1f}"
            print(
                f"| {learner} | {task} | {first['compile']:.1f} | {again['beyond']:.1f} | {own} |", flush=True
            )


if __name__ == "__main__":
    main()
