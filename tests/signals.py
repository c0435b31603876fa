"""Signals while a command compiles, with an empty cache: it ends with its exit code and one sentence, never a fault.

``python -m tests.signals --count 100`` sends Ctrl-C and SIGTERM, one or two, at random moments from the start of the
interpreter to the end of compiling, to every kind of command. After each it checks the exit code, what was said,
and that every file of the cache can be read. After every tenth the same command runs to its end with the same cache,
and what it leaves and prints is compared with that of a command that nothing has stopped. ``.ci/nightly`` runs it.
"""

from __future__ import annotations

import argparse
import os
import pickle
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from tests.cuts import files_of, without_times

SMALL = ("--set", "stage.cap=2000", "--set", "stage.hold=2000")
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
AGAIN = 10  #: every so many, the command is run to its end with the same cache
START, COMPILING = 1.5, 8.0  #: seconds from the start, or from the first kernel, in which a signal is sent
PATIENCE = 600.0  #: seconds for a command to end by itself
PROMPT = 20.0  #: seconds in which a stopped one has ended, on a busy machine
TRACES = re.compile(r"Traceback|Error\b|Exception ignored|Fatal|Segmentation|core dumped")
POLICY = "def swing(seen):\n    return 2 if seen[1] > 0 else 0\n"
CAUGHT = """
import distinguo as dg
try:
    dg.learn("puck", learner={learner!r}, settings={{"stage.cap": 2000, "stage.hold": 2000}}, out={out!r})
except KeyboardInterrupt:
    print("caught")
    raise SystemExit(130)
"""


class Case(NamedTuple):
    """A command, without its folder; RUN stands for a run that exists, OUT for a folder that does not."""

    name: str
    words: tuple[str, ...]
    ends: tuple[int, ...] = (0, 3)  #: exit codes of the command if nothing stops it


def learning(learner: str, task: str = "puck", *more: str) -> Case:
    """Learn with a learner."""
    return Case(f"learn {learner}", ("learn", task, "--learner", learner, "--out", "OUT", *SMALL, *more))


CASES = (
    learning("model"),
    learning("economy"),
    learning("probation", "puck", "--set", "stage.steps=2000"),
    learning("sweeping", "FrozenLake-v1", "--set", "stage.steps=2000"),
    learning("surprise"),
    Case("seeds", ("learn", "puck", "--seeds", "1-2", "--out", "OUT", *SMALL)),
    Case("test", ("test", "diagonal", "grid:3x3", "--runs", "1", "--steps", "2000", "--cap", "2000",
                  "--out", "OUT")),
    Case("processes", ("test", "diagonal", "grid:3x3", "--runs", "1", "--steps", "2000", "--cap", "2000",
                       "--engine", "processes", "--workers", "2", "--out", "OUT")),
    Case("dask", ("test", "diagonal", "grid:3x3", "--runs", "1", "--steps", "2000", "--cap", "2000",
                  "--engine", "dask", "--workers", "2", "--out", "OUT")),
    Case("distil", ("distil", "POLICY:swing", "--task", "MountainCar-v0", "--out", "OUT",
                    "--set", "learner.patience=2", "--set", "learner.most=2")),
    Case("verify", ("verify", "RUN")),
    Case("show", ("show", "RUN")),
    Case("explain", ("explain", "RUN", "--state=0,0", "--and=-0.3288,-1.633")),
    Case("audit", ("audit", "RUN")),
    Case("condense", ("condense", "RUN", "--out", "OUT")),
    Case("studio", ("studio", "--no-browser", "--port", "0", "RUN"), ()),
    Case("reproduce", ("reproduce", "--quick", "--out", "OUT")),
    Case("python model", ("-c", "model")),
    Case("python probation", ("-c", "probation")),
)  # fmt: skip


class Outcome(NamedTuple):
    """What became of a command that got a signal."""

    case: str
    sent: str
    code: int
    said: str
    faults: tuple[str, ...]  #: what is wrong; nothing if it ended as it should
    late: bool  #: whether it had ended before the signal came
    early: bool  #: whether Python itself was still starting


class Campaign:
    """Commands in folders of their own below one folder."""

    def __init__(self, base: Path, seed: int, cases: Sequence[Case]) -> None:
        self.base, self.seed, self.cases = base, seed, cases
        self.policy = base / "policy.py"
        self.policy.write_text(POLICY)
        self.run = base / "run"

    def prepare(self) -> None:
        """Learn the run that others look at."""
        words = ("learn", "puck", "--out", str(self.run), *SMALL)
        done = subprocess.run(self._program(words), env=self._environment(self.base / "first"), check=False)
        assert done.returncode == 0

    def one(self, number: int) -> Outcome:
        """Send a signal or two to a command, and look at what is left."""
        draw = random.Random(f"{self.seed} {number}")
        case = self.cases[number % len(self.cases)]
        place = self.base / str(number)
        place.mkdir()
        cache = place / "cache"
        words = self._words(case, place)
        first = draw.choice([signal.SIGINT, signal.SIGTERM])
        if case.words[0] == "-c":
            first = signal.SIGINT  # scripts leave SIGTERM to the system
        twice, to_all = draw.random() < 0.3, draw.random() < 0.5
        with subprocess.Popen(
            self._program(words),
            env=self._environment(cache),
            cwd=place,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                moment = self._wait(process, cache, case, draw)
                late = process.poll() is not None
                began = time.monotonic()
                _send(process, first, to_all)
                if twice:
                    time.sleep(draw.choice([0.0, 0.001, 0.05, 0.3]))
                    _send(process, first, to_all)
                said, _ = process.communicate(timeout=PATIENCE)
                took = time.monotonic() - began
            except subprocess.TimeoutExpired:
                process.kill()
                said, took = process.communicate()[0] + "\nnever ended", PATIENCE
            code = process.returncode
        sent = f"{first.name}{' twice' if twice else ''}{' to all' if to_all else ''} {moment}"
        late = late or (code in (0, *case.ends) and "Stopped" not in said)
        early = not late and _is_early(first, code, said)
        faults = [] if late or early else list(_faults(case, first, code, said, took))
        faults += _torn(cache)
        if number % AGAIN == 0 and case.ends and case.words[0] != "-c":
            faults += self._differs(case, place)
        shutil.rmtree(place)
        return Outcome(case.name, sent, code, said, tuple(faults), late, early)

    def _differs(self, case: Case, place: Path) -> list[str]:
        """What is other than usual if a command that was stopped is run again."""
        if case.name in ("distil", "condense"):  # they want a new folder
            shutil.rmtree(place / "out", ignore_errors=True)
        whole = self.base / f"whole {case.name}"
        whole.mkdir(exist_ok=True)
        found = self._result(case, place, place / "cache")
        usual = self._result(case, whole, self.base / "first")
        odd = sorted(name for name in found.keys() | usual.keys() if found.get(name) != usual.get(name))
        return [f"the next one differs in {', '.join(odd)}: {found['said']}"] if odd else []

    def _result(self, case: Case, place: Path, cache: Path) -> dict[str, Any]:
        """Run a command to its end and return its files, what it printed and its exit code."""
        done = subprocess.run(
            self._program(self._words(case, place)), env=self._environment(cache), cwd=place, timeout=PATIENCE,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        said = re.sub(r"[\d.]+ (s|seconds)\b", "TIME", done.stdout.replace(str(place), "PLACE"))
        ended = (
            done.returncode if done.returncode in case.ends else f"{done.returncode}: {done.stderr[-500:]}"
        )
        return {**without_times(files_of(place / "out")), "said": said, "ended": ended}

    def _words(self, case: Case, place: Path) -> tuple[str, ...]:
        if case.words[0] == "-c":
            return "-c", CAUGHT.format(learner=case.words[1], out=str(place / "out") if place else None)
        names = {"RUN": str(self.run), "OUT": str(place / "out"), "POLICY:swing": f"{self.policy}:swing"}
        return tuple(names.get(word, word) for word in case.words)

    @staticmethod
    def _program(words: tuple[str, ...]) -> list[str]:
        return [sys.executable, *words] if words[0] == "-c" else [sys.executable, "-m", "distinguo", *words]

    @staticmethod
    def _environment(cache: Path) -> dict[str, str]:
        return {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONFAULTHANDLER": "1"}

    @staticmethod
    def _wait(process: subprocess.Popen[str], cache: Path, case: Case, draw: random.Random) -> str:
        """Wait for a random moment: soon after the start, or while kernels are compiled."""
        if draw.random() < 0.25 and case.words[0] != "-c":
            seconds = draw.uniform(0.1, START)
            time.sleep(seconds)
            return f"{seconds:.2f} s after the start"
        until = time.monotonic() + PATIENCE
        while process.poll() is None and not cache.exists() and time.monotonic() < until:
            time.sleep(0.01)
            if not case.ends and time.monotonic() > until - PATIENCE + 2 * START:
                break  # it waits for somebody
        seconds = draw.uniform(0.0, COMPILING)
        began = time.monotonic()
        while process.poll() is None and time.monotonic() - began < seconds:
            time.sleep(0.01)
        return f"{seconds:.2f} s after the first kernel"


def _send(process: subprocess.Popen[str], number: signal.Signals, to_all: bool) -> None:
    """Send a signal to a process, or to all that it has started, too, as a terminal does."""
    if process.poll() is None:
        (os.killpg if to_all else os.kill)(process.pid, number)


def _is_early(number: signal.Signals, code: int, said: str) -> bool:
    """Whether a signal came before the first line of ours, so that Python ended as it always does."""
    return (code == -number and not said) or ("Traceback" in said and "distinguo" not in said)


def _faults(case: Case, number: signal.Signals, code: int, said: str, took: float) -> list[str]:
    faults = []
    if code != CODES[number]:
        faults.append(f"exit code {code}")
    if TRACES.search(said):
        faults.append("more than a sentence")
    elif case.words[0] != "-c" and not 1 <= said.count("Stopp") <= 2:
        faults.append("no sentence")
    if (
        took > PROMPT and case.words[0] != "-c"
    ):  # a script waits for the kernel, as Python cannot end without it
        faults.append(f"ended after {took:.0f} s")
    return faults


def _torn(cache: Path) -> list[str]:
    """The files of a cache that cannot be read."""
    torn = []
    for path in cache.rglob("*.nb[ic]"):
        data = path.read_bytes()
        try:
            pickle.loads(data)
        except Exception as error:
            torn.append(f"{path.name}: {error}")
    return torn


def say(text: str) -> None:
    """Print a line."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> None:
    """Run the campaign; the exit code is 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="signals that come in time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="only cases whose name has this in it")
    asked = parser.parse_args()
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a shell may have switched it off, for children too
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as base:
        campaign = Campaign(Path(base), asked.seed, [case for case in CASES if asked.only in case.name])
        campaign.prepare()
        counted = wrong = late = early = number = 0
        with ThreadPoolExecutor(asked.jobs) as pool:
            while counted < asked.count:
                wanted = range(number, number + min(asked.count - counted, 20))
                number = wanted.stop
                for one in pool.map(campaign.one, wanted):
                    late += one.late
                    early += one.early
                    counted += not (one.late or one.early)
                    wrong += bool(one.faults)
                    if one.faults:
                        say(f"{one.case}, {one.sent}: {'; '.join(one.faults)}\n{one.said}")
        say(
            f"{counted} signals, {wrong} wrong (and {late} after the command had ended, {early} while Python started)"
        )
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
