"""Engines: who works through the cells. The results do not depend on it.

``threads`` suit compiled tasks, whose kernels release the interpreter lock; ``processes`` suit interpreted ones;
``dask`` sends the cells to a cluster and survives the loss of workers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import parent_process
from multiprocessing.connection import wait
from threading import Thread
from typing import Any
from uuid import uuid4

from distinguo.errors import DistinguoError, did_you_mean
from distinguo.evaluation.tester import Evaluation, learning_curve
from distinguo.representations.file import Representation, loads
from distinguo.settings import TesterSettings, checked
from distinguo.study.plan import Plan, PlanCell
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.extent import Extent
from distinguo.tasks.spec import TaskSpec

Payload = dict[str, Any]


def payload_of(plan: Plan, cell: PlanCell, representation: str | Representation, extent: Extent) -> Payload:
    """Put everything that decides the result of a cell together; a representation comes as the text of its file."""
    return {
        "key": cell.key,
        "task": plan.spec if plan.in_memory else plan.task_by_name,
        "representation": representation,
        "tester": plan.variants[cell.variant]._asdict(),
        "extent": [list(extent.low), list(extent.high)],
        "seed": plan.head.seed,
        "run": cell.run,
    }


def run_cell(payload: Payload) -> dict[str, Any]:
    """Run a cell."""
    task, representation = payload["task"], payload["representation"]
    if isinstance(representation, str):
        representation = loads(representation, payload["key"])
    evaluation = Evaluation(
        task if isinstance(task, TaskSpec) else task_spec(**task),
        representation.partition,
        representation.regions,
        checked(TesterSettings, payload["tester"], "tester"),
        Extent(*(tuple(side) for side in payload["extent"])),
    )
    curve = learning_curve(evaluation, payload["seed"], payload["run"])
    return {"key": payload["key"], "run": payload["run"], **curve._asdict()}


Result = tuple[str, dict[str, Any] | BaseException]  #: the key of a cell, and its result or what went wrong
ENGINES = ("threads", "processes", "dask")
ATTEMPTS = 3  #: how often a cell is tried when its worker dies
CONNECT_SECONDS = 10


def run_all(
    payloads: Sequence[Payload], engine: str, workers: int | None = None, address: str | None = None
) -> Iterator[Result]:
    """Work through the cells and yield each as it is finished."""
    if engine not in ENGINES:
        raise DistinguoError(f"Unknown engine '{engine}'; {did_you_mean(engine, ENGINES)}")
    if address is not None and engine != "dask":
        raise DistinguoError(f"An --address goes with --engine dask, got --engine {engine}.")
    count = workers or os.cpu_count() or 1
    if engine == "threads":
        return _pooled(ThreadPoolExecutor(count), payloads)
    if engine == "processes":
        return _in_processes(payloads, count)
    return _on_cluster(payloads, count, address)


def _pooled(pool: ThreadPoolExecutor | ProcessPoolExecutor, payloads: Sequence[Payload]) -> Iterator[Result]:
    try:
        futures = {pool.submit(run_cell, payload): payload["key"] for payload in payloads}
        for future in as_completed(futures):
            yield futures[future], _outcome(future)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _outcome(future: Future[dict[str, Any]]) -> dict[str, Any] | BaseException:
    error = future.exception()
    return future.result() if error is None else error


def _end_with_parent() -> None:
    """Let a worker end when the process that started it does, however that ended."""
    parent = parent_process()
    if parent is not None:
        Thread(target=lambda: (wait([parent.sentinel]), os._exit(1)), daemon=True).start()


def _processes(count: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(count, initializer=_end_with_parent)


def _in_processes(payloads: Sequence[Payload], count: int) -> Iterator[Result]:
    """Use a pool of processes, and a new one for what remains when a worker of the old one was killed.

    In the end every cell gets a process of its own, so that one which always kills it takes no other with it.
    """
    remaining = {payload["key"]: payload for payload in payloads}
    for _ in range(ATTEMPTS - 1):
        for key, outcome in _pooled(_processes(count), list(remaining.values())):
            if not isinstance(outcome, BrokenProcessPool):
                del remaining[key]
                yield key, outcome
        if not remaining:
            return
    for payload in remaining.values():
        yield from _pooled(_processes(1), [payload])


def _on_cluster(payloads: Sequence[Payload], count: int, address: str | None) -> Iterator[Result]:
    """Use a dask.distributed cluster: the one at that address, or one of our own on this machine."""
    distributed = _import_distributed()
    with _client(distributed, count, address) as client:
        mark = uuid4().hex  # on a shared cluster, another plan may have cells of the same name
        futures = {
            client.submit(run_cell, p, key=f"{p['key']}-{mark}", pure=False, retries=ATTEMPTS): p["key"]
            for p in payloads
        }
        for future in distributed.as_completed(list(futures)):
            error = future.exception()
            yield futures[future], future.result() if error is None else error


def _import_distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise DistinguoError(
            'The engine dask needs dask.distributed; install it with pip install "distinguo[cluster]".'
        ) from None
    return distributed


def _client(distributed: Any, count: int, address: str | None) -> Any:
    if address is None:
        free = "127.0.0.1:0"  # any free port: there may be another cluster on this machine
        return distributed.Client(
            n_workers=count, threads_per_worker=1, processes=True, dashboard_address=free, host="127.0.0.1"
        )
    try:
        return distributed.Client(address, timeout=CONNECT_SECONDS)
    except (OSError, TimeoutError, ValueError) as error:
        raise DistinguoError(
            f"No dask scheduler answers at {address} ({type(error).__name__}); check the address, or start one "
            "with dask scheduler."
        ) from None
