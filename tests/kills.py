"""Studies whose processes are killed at random: what they leave is what a study leaves that is never killed.

    python -m tests.kills --kills 300 --clusters 60

Puck runs of some milliseconds in two processes: a kill takes the study with its workers, the study alone (its workers
must end, too), or one of its workers. Of ``--kills``, ``--clusters`` are on a dask cluster: its scheduler, its worker
or the study is killed; what was killed is started again. A study that is finished is compared, and another begins.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from distinguo.engines.engine import Engine
from distinguo.engines.jobs import Job
from distinguo.engines.results import StudyResults
from distinguo.reading.files import parse_json
from distinguo.studies.plan import StudyPlan, read_study
from distinguo.studies.study import study
from tests.cuts import child, ended
from tests.engines.test_engine import a_scheduler, a_worker
from tests.engines.work import sleepy

PLAN = """
[study]
tasks = ["puck"]
seeds = "1-{runs}"
trials = 1
[settings.small.stage]
cap = 2000
hold = 2000
"""
RUNS, JOBS = 300, 400  #: of a study in processes, and on a cluster
GRACE = 20.0  #: seconds within which workers end whose study was killed
ALL, ALONE, WORKER, SCHEDULER = "study and workers", "study", "worker", "scheduler"


class Tally:
    """What was killed, and what was wrong in the end."""

    def __init__(self) -> None:
        self.kills, self.studies = Counter[str](), 0
        self.lost = self.double = self.other = self.orphans = 0

    def check(self, path: Path, keys: Sequence[str], same: bool) -> None:
        """Count the results of a finished study that are lost or double; ``same`` says whether its table is right."""
        kept = Counter(parse_json(line, str(path))["key"] for line in path.read_text().splitlines())
        self.studies += 1
        self.lost += sum(key not in kept for key in keys)
        self.double += sum(count - 1 for count in kept.values())
        self.other += not same
        sys.stdout.write(f"{self}\n")
        sys.stdout.flush()

    @property
    def wrong(self) -> int:
        """Everything that should not be."""
        return self.lost + self.double + self.other + self.orphans

    def __str__(self) -> str:
        kinds = ", ".join(f"{count} of a {kind}" for kind, count in sorted(self.kills.items()))
        return (
            f"{self.kills.total()} kills ({kinds}) in {self.studies} studies: {self.lost} results lost, "
            f"{self.double} double, {self.other} other tables, {self.orphans} workers left"
        )


def in_a_group(work: Callable[[], object]) -> int:
    """Start a child that leads a group of its own; return its number."""
    return child(lambda: (os.setsid(), work(), 0)[2])


def kill(number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(number, signal.SIGKILL)


def is_running(number: int) -> bool:
    """Whether a child has not ended; one that has ended stays to be waited for."""
    return os.waitid(os.P_PID, number, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


def group_ends(number: int) -> bool:
    """Whether no process of a group runs any more, after a while at most."""
    until = time.monotonic() + GRACE
    while members(number):
        if time.monotonic() > until:
            os.killpg(number, signal.SIGKILL)
            return False
        time.sleep(0.01)
    return True


def members(group: int) -> list[int]:
    """The processes of a group that run; those that nobody waits for have ended all the same."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, its_group = path.read_text().rpartition(")")[2].split()[:3]
            if int(its_group) == group and state != "Z":
                found.append(int(path.parent.name))
    return found


def table_of(text: str) -> list[dict[str, str]]:
    """The runs of a study without their times."""
    return [{**row, "seconds": ""} for row in csv.DictReader(io.StringIO(text))]


def in_processes(kills: int, draw: random.Random, place: Path, tally: Tally) -> None:
    """Kill studies and their workers."""
    plan = read_study(PLAN.format(runs=RUNS))
    began = time.monotonic()
    whole = table_of(study(plan, place / "whole", engine="processes", workers=2).csv())
    took, keys = time.monotonic() - began, [key for key, _, _ in plan.runs()]
    while kills > 0:
        out = place / f"study-{tally.studies}"
        while kills > 0 and not (out / "study-is-done").exists():
            kills -= _attempt(plan, out, draw, took / 2, tally)
        ended(in_a_group(lambda out=out: study(plan, out, engine="processes", workers=2)))
        same = table_of((out / "runs.csv").read_text()) == whole
        tally.check(out / "results-1-of-1.jsonl", keys, same)


def _attempt(plan: StudyPlan, out: Path, draw: random.Random, seconds: float, tally: Tally) -> int:
    """Begin or go on with a study and kill: workers as long as it lives, or all of it. Return the kills."""

    def work() -> None:
        study(plan, out, engine="processes", workers=2)
        (out / "study-is-done").touch()

    number, kills = in_a_group(work), 0
    while True:
        time.sleep(draw.uniform(0.0, seconds))
        if not is_running(number):
            break
        how = draw.choice([ALL, ALONE, WORKER])
        workers = [one for one in members(number) if one != number]
        if how == WORKER and not workers:
            continue
        tally.kills[how] += 1
        kills += 1
        if how == WORKER:
            kill(draw.choice(workers))
            continue
        if how == ALL:
            os.killpg(number, signal.SIGKILL)
        kill(number)
        break
    ended(number)
    tally.orphans += not group_ends(number)
    return kills


def on_clusters(kills: int, draw: random.Random, place: Path, tally: Tally) -> None:
    """Kill schedulers, workers and studies; start again what has ended."""
    port = draw.randrange(20_000, 30_000)
    jobs = [Job(str(n), sleepy, {"number": n, "seconds": 0.005}) for n in range(JOBS)]
    running: dict[str, subprocess.Popen[bytes]] = {}
    starts = {SCHEDULER: a_scheduler, WORKER: a_worker}

    def keep_running() -> None:
        for kind, start in starts.items():
            if kind not in running or running[kind].poll() is not None:
                running[kind] = start(port)

    try:
        while kills > 0:
            out = place / f"cluster-{tally.studies}"
            number = _begun(jobs, port, out)
            while is_running(number):
                keep_running()
                time.sleep(draw.uniform(0.0, 3.0))
                if kills > 0 and is_running(number):
                    kills -= 1
                    how = draw.choice([SCHEDULER, WORKER, ALONE])
                    tally.kills[f"{how} of a cluster"] += 1
                    if how == ALONE:
                        os.killpg(number, signal.SIGKILL)
                        ended(number)
                        number = _begun(jobs, port, out)
                    else:
                        running[how].kill()
                        running[how].wait()
            ended(number)
            answers = StudyResults(out).answers(jobs)
            same = answers == {job.key: job.arguments["number"] for job in jobs}
            tally.check(out / "results-1-of-1.jsonl", [job.key for job in jobs], same)
    finally:
        for process in running.values():
            process.kill()
            process.wait()


def _begun(jobs: list[Job], port: int, out: Path) -> int:
    engine = Engine("dask", address=f"tcp://127.0.0.1:{port}")
    return in_a_group(lambda: StudyResults(out).run(jobs, engine))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--clusters", type=int, default=60, help="how many of them are on a dask cluster")
    parser.add_argument("--seed", type=int, default=0)
    asked: Any = parser.parse_args()
    draw, tally = random.Random(asked.seed), Tally()
    with tempfile.TemporaryDirectory() as place:
        in_processes(asked.kills - asked.clusters, draw, Path(place), tally)
        on_clusters(asked.clusters, draw, Path(place), tally)
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
