"""Trials of an environment in other processes, one for each core.

Each process makes the environment from its id and answers questions, a line of JSON each (worker.py). The answers
do not depend on the number of processes. A process that dies is started and asked again.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from distinguo.distillation.ledger import Ledger
from distinguo.distillation.trials import EnvironmentTrials, Followed, joined
from distinguo.errors import DistinguoError
from distinguo.processes import start_python
from distinguo.search.maps import PrototypeMap
from distinguo.search.races import Contender
from distinguo.tasks.amounts import laws_of
from distinguo.tasks.spec import TaskSpec

MODULE = "distinguo.distillation.worker"
PARTS = 4  #: into which followed trials are divided
TRIES = 3  #: how often a question is asked if the process dies of it


class WorkerTrials(EnvironmentTrials):
    """Runs maps in an environment that its id makes, in as many processes as there are cores; teachers run here."""

    def __init__(
        self, spec: TaskSpec, cap: int, workers: int | None = None, ledger: Ledger | None = None
    ) -> None:
        super().__init__(spec, cap, ledger)
        count = workers or os.cpu_count() or 1
        self._free: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        for _ in range(count):
            self._free.put(_Worker(spec, cap))
        self._pool = ThreadPoolExecutor(count)

    def knows_task(self) -> bool:
        """Whether other processes know the environment; an id that a script registers is only known there."""
        worker = self._free.get()
        try:
            return bool(worker.ask({"do": "know"})["known"])
        finally:
            self._free.put(worker)

    def _judge(self, contenders: Sequence[Contender]) -> list[np.ndarray]:
        answers = self._ask_all(
            [self._asked("judge", one.map, one.starts, one.present) for one in contenders]
        )
        return [np.array(answer["returns"]) for answer in answers]

    def _follow_map(self, map_: PrototypeMap, starts: Sequence[int], most: int) -> Followed:
        if most < self.cap:
            return super()._follow_map(map_, starts, most)
        parts = [part.tolist() for part in np.array_split(np.array(starts), min(PARTS, len(starts)))]
        answers = self._ask_all([self._asked("follow", map_, some) for some in parts])
        followed = joined([_followed(answer) for answer in answers])
        if laws_of(self.spec) is None:
            return followed
        return followed._replace(taken=np.unique(map_.actions[: map_.size])[followed.taken])

    def _asked(
        self, what: str, map_: PrototypeMap, starts: Sequence[int], present: np.ndarray | None = None
    ) -> dict[str, Any]:
        """A question on a map; of laws, only those that it takes are sent."""
        known, (used, actions) = laws_of(self.spec), np.unique(map_.actions[: map_.size], return_inverse=True)
        return {
            "do": what,
            "prototypes": map_.prototypes.tolist(),
            "actions": (map_.actions[: map_.size] if known is None else actions).tolist(),
            "scale": map_.scale.tolist(),
            "starts": list(starts),
            "present": None if present is None else present.tolist(),
            "laws": None if known is None else known.table[used].tolist(),
        }

    def _ask_all(self, questions: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        answers = list(self._pool.map(self._ask, questions))
        for answer in answers:
            self.ledger.spend(*answer["count"])
        return answers

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        worker = self._free.get()
        try:
            return worker.ask(question)
        finally:
            self._free.put(worker)

    def close(self) -> None:
        """End the processes."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        while not self._free.empty():
            self._free.get().end()


def _followed(answer: dict[str, Any]) -> Followed:
    returns, lengths, seen, taken = (np.array(answer[name]) for name in Followed._fields[:-1])
    return Followed(returns, lengths, seen, taken, np.zeros((len(taken), 0)))


class _Worker:
    """A process that runs trials."""

    def __init__(self, spec: TaskSpec, cap: int) -> None:
        self._task = {"task": spec.name, "parameters": dict(spec.parameters), "cap": cap}
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """Ask something, and wait for the answer."""
        with self._lock:
            for _ in range(TRIES):
                line = self._answer_to(json.dumps(question))
                if line:
                    break
            else:
                raise DistinguoError(
                    f"A process that ran trials of {self._task['task']} died {TRIES} times at the same question; "
                    "try it with the environment object itself, which is run in this process."
                )
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise DistinguoError(answer["error"])
        return answer

    def _answer_to(self, question: str) -> str:
        try:
            process = self._started()
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(question + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except (BrokenPipeError, ValueError):
            line = ""
        if not line:
            self.end()
        return line

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = start_python(
                MODULE,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C goes to the asking process only
            )
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(self._task) + "\n")
            self._process.stdin.flush()
        return self._process

    def end(self) -> None:
        """End the process, if it runs."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with contextlib.suppress(OSError):  # no process is left to read it
                        stream.close()
