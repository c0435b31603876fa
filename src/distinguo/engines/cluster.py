"""Jobs on a dask cluster: the one at an address, or one of our own on this machine."""

from __future__ import annotations

import gc
import logging
import time
from collections.abc import Generator, Sequence
from concurrent.futures import CancelledError
from typing import Any
from uuid import uuid4

from distinguo.engines.alone import done_within
from distinguo.engines.jobs import done
from distinguo.errors import DistinguoError, reason_of
from distinguo.processes import Failed, without_ctrl_c

CONNECT_SECONDS = 10
PATIENCE = 120.0  #: seconds that a scheduler may be gone
AHEAD = 1000  #: jobs on the cluster at once


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


def _answers(
    distributed: Any, client: Any, items: Sequence[str], numbers: Sequence[int], seconds: float | None
) -> Generator[tuple[int, str | Failed]]:
    """Yield answers until all are there, or until the scheduler does not answer any more."""
    mark = uuid4().hex  # on a shared cluster, another study may have jobs of the same name
    waiting, futures = list(numbers)[::-1], dict[Any, int]()
    coming = distributed.as_completed()

    def fill() -> None:
        some = [waiting.pop() for _ in range(min(len(waiting), AHEAD - len(futures)))]
        if some:
            words = (items[n] for n in some) if seconds is None else ((items[n], seconds) for n in some)
            function = done if seconds is None else done_within
            sent = client.map(function, list(words), key=[f"{mark}-{n}" for n in some], pure=False)
            futures.update(zip(sent, some, strict=True))
            coming.update(sent)

    fill()
    while futures:
        future = next(coming)
        number = futures.pop(future)
        try:
            answer = future.result()
        except (
            OSError,
            TimeoutError,
            CancelledError,
        ):  # of the connection: what a job raises is in its answer
            return
        except Exception as error:  # its workers were killed, again and again
            answer = Failed(reason_of(error))
        if len(futures) <= AHEAD // 2:
            fill()
        yield number, Failed(*answer) if isinstance(answer, tuple) else answer


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
