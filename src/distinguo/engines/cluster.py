"""Jobs on a dask cluster: the one at an address, or one of our own on this machine."""

from __future__ import annotations

import gc
import logging
import time
from collections.abc import Generator, Sequence
from concurrent.futures import CancelledError
from math import inf
from typing import Any
from uuid import uuid4

from distinguo.engines.alone import done_within
from distinguo.engines.jobs import done
from distinguo.errors import DistinguoError, reason_of
from distinguo.processes import Failed, without_ctrl_c

CONNECT_SECONDS = 10
PATIENCE = 120.0  #: seconds that a scheduler may be gone
AHEAD = 3  #: bundles of jobs for each worker of the cluster at once
BUNDLE_SECONDS, MOST = 0.1, 100  #: that the jobs of a bundle take together, and its largest size
RECOUNT = 2.0  #: seconds between two times that the workers are counted


def on_cluster(
    items: Sequence[str], count: int, address: str | None, seconds: float | None
) -> Generator[tuple[int, str | Failed]]:
    """Do jobs that are written as text, and yield the number and the answer of each.

    What a scheduler had not answered when it disappeared is sent again as soon as there is one at that address.
    """
    distributed, left, client = _import_distributed(), dict.fromkeys(range(len(items))), None
    while left:
        client = _client(distributed, count, address) if client is None else _again(distributed, address)
        with client:
            for number, answer in _answers(distributed, client, items, list(left), seconds):
                del left[number]
                yield number, answer


class _Crowd:
    """Jobs on a cluster: a few bundles for each worker at once, so that short jobs are not sent one by one."""

    def __init__(self, distributed: Any, client: Any, items: Sequence[str], seconds: float | None) -> None:
        self.client, self.items, self.seconds = client, items, seconds
        self.mark = uuid4().hex  # on a shared cluster, another study may have jobs of the same name
        self.futures = dict[Any, list[int]]()
        self.coming = distributed.as_completed()
        self.size, self.sent = 1, 0
        self.workers, self.counted = 1, -inf

    def room(self) -> int:
        """How many bundles may be sent now; workers come and go."""
        if time.monotonic() - self.counted > RECOUNT:
            self.workers, self.counted = max(1, len(self.client.nthreads())), time.monotonic()
        return AHEAD * self.workers - len(self.futures)

    def send(self, bundles: Sequence[list[int]]) -> None:
        """Send some bundles."""
        texts = [[self.items[n] for n in bundle] for bundle in bundles]
        orders = texts if self.seconds is None else [(text[0], self.seconds) for text in texts]
        names = [f"{self.mark}-{self.sent + n}" for n in range(len(bundles))]
        self.sent += len(bundles)
        function = done_in_turn if self.seconds is None else done_within
        futures = self.client.map(function, orders, key=names, pure=False)
        self.futures.update(zip(futures, bundles, strict=True))
        self.coming.update(futures)

    def fill(self, waiting: list[int]) -> None:
        """Send what there is room for; the last bundles are small, so that all workers end together."""
        room = self.room()
        most = 1 if self.seconds is not None else max(1, min(self.size, len(waiting) // (2 * self.workers)))
        bundles: list[list[int]] = []
        while waiting and len(bundles) < room:
            bundles.append([waiting.pop() for _ in range(min(most, len(waiting)))])
        if bundles:
            self.send(bundles)

    def heard(self, seconds: float, count: int) -> None:
        """Choose the size of the next bundles by how long the jobs of one took."""
        self.size = max(1, min(2 * self.size, MOST, int(BUNDLE_SECONDS * count / max(seconds, 1e-9))))


def done_in_turn(sent: Sequence[str]) -> tuple[list[str], float]:
    """Do jobs that were sent, and say how long they took."""
    began = time.perf_counter()
    return [done(one) for one in sent], time.perf_counter() - began


def _answers(
    distributed: Any, client: Any, items: Sequence[str], numbers: Sequence[int], seconds: float | None
) -> Generator[tuple[int, str | Failed]]:
    """Yield answers until all are there, or until the scheduler does not answer any more."""
    crowd, waiting = _Crowd(distributed, client, items, seconds), list(numbers)[::-1]
    suspects: list[int] = []  # their workers were killed, perhaps by another job that was there
    alone = False
    crowd.fill(waiting)
    while crowd.futures or suspects:
        if not crowd.futures:
            crowd.send([[suspects.pop()]])
            alone = True
        future = next(crowd.coming)
        bundle = crowd.futures.pop(future)
        try:
            answer = future.result()
        except (OSError, TimeoutError, CancelledError):
            return  # of the connection: what a job raises is in its answer
        except Exception as error:  # its workers were killed, again and again
            if len(bundle) > 1:  # by one of them
                crowd.send([[number] for number in bundle])
                continue
            if not alone:
                suspects += bundle
                crowd.fill(waiting)
                continue
            answer = Failed(reason_of(error))
        if isinstance(answer, tuple) and not isinstance(answer, Failed) and isinstance(answer[0], list):
            crowd.heard(answer[1], len(bundle))
            texts = answer[0]
        else:
            texts = [Failed(*answer) if isinstance(answer, tuple) else answer]
        crowd.fill(waiting)
        yield from zip(bundle, texts, strict=True)


def _import_distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise DistinguoError(
            'The engine dask needs dask.distributed; install it with pip install "distinguo[cluster]".'
        ) from None
    return distributed


def _again(distributed: Any, address: str | None) -> Any:
    """Connect to a scheduler that comes back."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return _client(distributed, 1, address)
        except DistinguoError:
            if time.monotonic() > until:
                raise
            time.sleep(1)


def _client(distributed: Any, count: int, address: str | None) -> Any:
    gc.collect()  # a client that could not connect is closed now: while the next one starts, that would wait for ever
    if address is None:
        free = "127.0.0.1:0"  # any free port, as there may be another cluster
        with without_ctrl_c():
            return distributed.Client(
                n_workers=count,
                threads_per_worker=1,
                processes=True,
                dashboard_address=free,
                host="127.0.0.1",
                silence_logs=logging.CRITICAL,  # failures are told by us; the rest is about workers that are stopped
            )
    try:
        return distributed.Client(address, timeout=CONNECT_SECONDS)
    except (OSError, TimeoutError, ValueError) as error:
        raise DistinguoError(
            f"No dask scheduler answers at {address} ({type(error).__name__}); check the address, or start one "
            "with dask scheduler."
        ) from None
