"""The engines. Threads suit compiled tasks, whose kernels release the interpreter lock; processes suit plain Python.

``dask`` sends jobs to other machines and survives the loss of workers and of the scheduler.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from typing import Any, NamedTuple, TypeVar

from distinguo.engines.cluster import on_cluster
from distinguo.engines.jobs import Job, answer_in, done
from distinguo.errors import DistinguoError, did_you_mean, shown, whole_number
from distinguo.processes import Failed, in_processes, safe_path

ENGINES = ("threads", "processes", "dask")
LONGEST = 10**6  #: seconds of a time limit; the system takes none that is much longer
MOST_WORKERS = 10_000
AHEAD = 4  #: jobs that wait for each thread, so that a million of them are not all in memory
Item = TypeVar("Item")
Result = tuple[str, Any]  #: the key of a job, and its answer or :class:`Failed`


class Engine(NamedTuple):
    """Where jobs are done.

    >>> dict(Engine().run([Job("a", round, {"number": 2.6}), Job("b", round, {"number": "x"})]))
    {'a': 3, 'b': Failed(reason="TypeError: type str doesn't define __round__ method")}
    """

    name: str = "threads"
    workers: int | None = None  #: all cores if not given
    address: str | None = None  #: of a dask scheduler; without one, dask starts its own workers
    seconds: float | None = None  #: that a job may take

    @property
    def many(self) -> int:
        """The number of workers on this machine."""
        return self.workers or os.cpu_count() or 1

    def run(self, jobs: Sequence[Job]) -> Generator[Result]:
        """Do the jobs, and yield the answer of each as soon as it is there."""
        if self.name == "threads":
            yield from _in_threads(jobs, self.many)
            return
        sent = _Sent(jobs)
        with safe_path():
            if self.name == "processes":
                answers = in_processes(done, sent, min(self.many, max(1, len(jobs))), self.seconds)
            else:
                answers = on_cluster(sent, self.many, self.address, self.seconds)
            try:
                for number, text in answers:
                    yield jobs[number].key, text if isinstance(text, Failed) else answer_in(text)
            finally:
                answers.close()

    def all(self, jobs: Sequence[Job]) -> list[Any]:
        """Do the jobs, and return their answers in the same order; an error names the first that failed.

        >>> Engine().all([Job("a", round, {"number": 2.6}), Job("b", round, {"number": 0.2})])
        [3, 0]
        """
        answers = {}
        with closing(self.run(jobs)) as results:
            for key, answer in results:
                if isinstance(answer, Failed):
                    raise DistinguoError(f"{key} failed: {answer.reason}")
                answers[key] = answer
        return [answers[job.key] for job in jobs]


class _Sent(Sequence[str]):
    """The jobs as they are sent: each is written when its turn comes."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.jobs = jobs

    def __len__(self) -> int:
        return len(self.jobs)

    def __getitem__(self, number: Any) -> Any:
        return self.jobs[number].sent()


def checked_engine(
    name: str, workers: int | None = None, address: str | None = None, seconds: float | None = None
) -> Engine:
    """Return an engine, if these words can make one.

    >>> checked_engine("thread")
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Unknown engine 'thread'; did you mean 'threads'?
    """
    if name not in ENGINES:
        raise DistinguoError(f"Unknown engine '{name}'; {did_you_mean(name, ENGINES)}")
    if address is not None and name != "dask":
        raise DistinguoError(f"An --address goes with --engine dask, got --engine {name}.")
    if seconds is not None and name == "threads":
        raise DistinguoError("A thread cannot be stopped; a time limit goes with --engine processes or dask.")
    if seconds is not None and not 0 < seconds <= LONGEST:
        raise DistinguoError(
            f"The time limit of a job should be above 0 and at most {LONGEST:,} seconds, got {shown(seconds)}."
        )
    if workers is not None:
        whole_number("workers", workers, 1, MOST_WORKERS)
    return Engine(name, workers, address, seconds)


def my_share(items: Sequence[Item], shard: tuple[int, int]) -> list[Item]:
    """Return the i-th of n parts: every n-th item.

    >>> my_share("abcde", (2, 2))
    ['b', 'd']
    """
    return list(items[shard[0] - 1 :: shard[1]])


def _in_threads(jobs: Sequence[Job], count: int) -> Iterator[Result]:
    pool = ThreadPoolExecutor(count)
    left, running = iter(jobs), dict[Future[Any], str]()

    def fill() -> None:
        for job in left:
            running[pool.submit(job.do)] = job.key
            if len(running) >= AHEAD * count:
                return

    try:
        fill()
        while running:
            finished = wait(running, return_when=FIRST_COMPLETED).done
            answers = [(running.pop(one), one.result()) for one in finished]
            fill()
            yield from answers
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
