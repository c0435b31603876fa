"""What the engines cost, and what they bear: the figures of docs/how-to/cluster.md and docs/reliability.md.

    python -m benchmarks.engines overhead            # jobs of a millisecond in processes and on dask
    python -m benchmarks.engines load --runs 10000   # puck runs in one study: memory, and milliseconds of a run
    python -m benchmarks.engines load --task CartPole-v1 --runs 1000
    python -m benchmarks.engines workers --workers 100   # many workers on one scheduler of this machine

The overhead of an engine is the time of all jobs, less their milliseconds over the workers, for each. Its processor
time, after the first answer, is that of the process that sends them: what the workers take as well they take at once.
That of a run in a study is its time beyond that of the same runs in a plain loop in one process.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from distinguo.engines.engine import Engine
from distinguo.engines.jobs import Job
from distinguo.engines.results import StudyResults
from distinguo.runs.configuration import configure
from distinguo.runs.settings_file import to_toml
from distinguo.studies.measure import learned
from distinguo.studies.plan import read_study
from distinguo.studies.study import study

MILLISECOND = 0.001
FIRST, SAMPLE = 700_000, 20  #: the first seed, and the runs of the plain loop


def wait_a_millisecond(number: int) -> int:
    time.sleep(MILLISECOND)
    return number


def jobs_of(count: int) -> list[Job]:
    return [Job(str(n), wait_a_millisecond, {"number": n}) for n in range(count)]


def overhead(count: int, workers: int) -> None:
    """Print the overhead of a job, with the start of the workers and without it."""
    slept = median(_slept() for _ in range(200))
    for name in ("processes", "dask"):
        engine, began, first, cpu = Engine(name, workers), time.perf_counter(), 0.0, 0.0
        with tempfile.TemporaryDirectory() as folder:
            for number, _ in enumerate(StudyResults(Path(folder)).each(jobs_of(count), engine)):
                first, cpu = first or time.perf_counter() - began, cpu or time.process_time()
                last = number
            own = 1e3 * (time.process_time() - cpu) / count
            whole = time.perf_counter() - began
        assert last == count - 1
        kept, bare = (1e3 * (seconds - count * slept / workers) / count for seconds in (whole, whole - first))
        asked = f"{count:,} jobs, {workers} workers"
        print(
            f"{name}: {kept:.2f} ms of a job, {bare:.2f} ms after the first answer, {own:.2f} ms of processor time "
            f"({asked})"
        )


def _slept() -> float:
    began = time.perf_counter()
    time.sleep(MILLISECOND)
    return time.perf_counter() - began


def memory() -> float:
    """Return the memory of this process now, in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


def load(task: str, count: int, workers: int) -> None:
    """Print what a study of many runs takes, and whether its results can be read meanwhile."""
    settings = to_toml(configure(task))
    learned(settings, FIRST - 1, 1)  # compiles
    began = time.perf_counter()
    for seed in range(FIRST, FIRST + SAMPLE):
        learned(settings, seed, 1)
    alone = (time.perf_counter() - began) / SAMPLE
    plan = read_study(f'[study]\ntasks = ["{task}"]\nseeds = "{FIRST}-{FIRST + count - 1}"\ntrials = 1\n')
    marks, read = dict[int, float](), list[int]()

    def watch(done: int, of: int) -> None:
        marks[100 * done // of // 10 * 10] = memory()

    with tempfile.TemporaryDirectory() as folder:
        stop = _every_second(lambda: read.append(_lines_in(Path(folder) / "study")))
        began = time.perf_counter()
        found = study(plan, Path(folder) / "study", engine="processes", workers=workers, watch=watch)
        wall = time.perf_counter() - began
        stop()
    assert read == sorted(read), "results disappeared while the study ran"
    print(
        f"{task}: {len(found.answers):,} runs, {len(found.failures)} failed, {wall:.0f} s with {workers} workers"
    )
    cores = min(workers, os.cpu_count() or 1)
    print(f"  {1e3 * wall * cores / count:.1f} ms of a core for a run; {1e3 * alone:.1f} ms in a loop")
    print(f"  memory in MB after each tenth: {', '.join(f'{marks[n]:.0f}' for n in sorted(marks))}")


def _lines_in(folder: Path) -> int:
    lines = [
        json.loads(line)
        for path in folder.glob("*.jsonl")
        for line in path.read_text().splitlines(True)
        if line.endswith("\n")
    ]
    return len(lines)


def _every_second(what: Callable[[], object]) -> Callable[[], None]:
    ended = threading.Event()

    def work() -> None:
        while not ended.wait(1.0):
            what()

    thread = threading.Thread(target=work)
    thread.start()

    def stop() -> None:
        ended.set()
        thread.join()

    return stop


def many_workers(count: int, jobs: int) -> None:
    """Print how long many workers of one scheduler take for short jobs."""
    from distributed import LocalCluster

    began = time.perf_counter()
    with LocalCluster(
        count,
        threads_per_worker=1,
        processes=False,
        protocol="tcp://",
        dashboard_address=None,
        host="127.0.0.1",
    ) as cluster:
        started = time.perf_counter() - began
        answers = dict(Engine("dask", address=cluster.scheduler_address).run(jobs_of(jobs)))
    assert answers == {str(n): n for n in range(jobs)}
    wall = time.perf_counter() - began - started
    print(
        f"{count} workers started in {started:.1f} s; {jobs:,} jobs in {wall:.1f} s, none lost, none double"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("overhead", "load", "workers"))
    parser.add_argument("--task", default="puck")
    parser.add_argument("--runs", type=int, default=5_000, help="runs or jobs")
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    if asked.what == "overhead":
        overhead(asked.runs, asked.workers)
    elif asked.what == "load":
        load(asked.task, asked.runs, asked.workers)
    else:
        many_workers(asked.workers, asked.runs)


if __name__ == "__main__":
    main()
