"""Commands that are cut off at any moment, and started again: they end with the same files as one never cut off.

``python tests/cuts.py --cuts 200`` sends SIGKILL, SIGTERM and SIGINT at random moments to every kind of command;
``python tests/cuts.py --crashes 500`` ends processes just before they touch a file of their folder, the first, the
second, and so on, births included. ``.ci/nightly`` runs both, the tests a small part.

Compiled code is loaded once; every command then runs in a child of this process.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import itertools
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from distinguo.cli import main
from distinguo.errors import DistinguoError
from distinguo.runs import learn, stage
from distinguo.runs.folder import open_run
from distinguo_lab.paper import reproduce
from distinguo_lab.paper import stages as readings

CRASHED = 99  #: exit code of a process that ended itself before it touched a file
SMALL = ("--set", "stage.cap=2000", "--set", "stage.hold=2000")
OWN = str(Path(__file__).parents[1] / "examples" / "own_learner.py") + ":GridLearner"
SWING = str(Path(__file__).parent / "distillation" / "policies.py") + ":swing"
HILL = str(Path(__file__).parent / "golden" / "formats" / "runs" / "hill-6")
DISTIL = ("distil", SWING, "--task", "MountainCar-v0", "--keep=-120", "--set", "learner.most=3",
          "--set", "learner.starts=8", "--set", "learner.rounds=1", "--set", "learner.restarts=2",
          "--set", "learner.states=500", "--set", "learner.trials=5")  # fmt: skip
PLAN = str(Path(__file__).parent / "studies" / "plan.toml")
WORKERS = (1, 2)


class Case(NamedTuple):
    """A command, without its folder."""

    name: str
    words: tuple[str, ...]
    chunk: int = 300  #: steps of a piece of work
    workers: bool = False  #: whether it can be told how many to work with


CASES = (
    Case("puck", ("learn", "puck", "--seed", "1", *SMALL)),
    Case("long", ("learn", "puck", "--set", "stage.cap=10000000", "--set", "stage.hold=10000000"), 50_000),
    Case("paper", ("learn", "puck", "--preset", "paper", "--from", "seeds", "--set", "stage.hold=20000"), 5000),
    Case("passive", ("learn", "CartPole-v1", "--learner", "economy", "--set", "learner.active=false",
                     "--set", "stage.trials=40"), 50),
    Case("noise", ("learn", "puck", "--set", "task.noise=0.1", "--set", "stage.trials=40"), 2000),
    Case("many", ("learn", "puck", "--seeds", "1-4", *SMALL)),
    Case("CartPole", ("learn", "CartPole-v1"), 2000),
    Case("MountainCar", ("learn", "MountainCar-v0"), 2000),
    Case("Acrobot", ("learn", "Acrobot-v1", "--set", "stage.steps=150000"), 2000),
    Case("FrozenLake", ("learn", "FrozenLake-v1"), 2000),
    Case("interpreted", ("learn", "CartPole-v1", "--interpreted", "--set", "stage.steps=3000"), 100),
    Case("own", ("learn", "puck", "--learner", OWN, "--set", "stage.trials=30"), 2000),
    Case("test", ("test", "diagonal", "grid:4x4", "--runs", "3", "--steps", "4000", "--cap", "20000"),
         workers=True),
    Case("study", ("study", PLAN), workers=True),
    Case("reproduce", ("reproduce", "--quick")),
    Case("distil", (*DISTIL, "--set", "learner.patience=16", "--set", "learner.steps=1000000")),
    Case("levels", ("distil", SWING.replace("swing", "push"), "--task", "MountainCarContinuous-v0", "--keep=50",
                    *DISTIL[5:], "--set", "learner.patience=16", "--set", "learner.steps=400000")),
    Case("budget", (*DISTIL, "--set", "learner.patience=64", "--set", "learner.steps=250000")),
    Case("condense", ("condense", HILL)),
)  # fmt: skip


def case_named(name: str) -> Case:
    """Return a command by its name."""
    return next(case for case in CASES if case.name == name)


def prepare_commands() -> None:
    """Make commands write often, and the reproduction small."""
    learn.CHECKPOINT_SECONDS = 0.0
    reproduce.QUICK = reproduce.Scope(runs=1, cap=2000, seeds=3, last_trial=2000, quick=True)
    reproduce.READINGS = (
        readings.PAPER._replace(controllability="controllability:1e-3"),
        readings.DEFAULT,
    )


def run_command(case: Case, out: Path, extra: tuple[str, ...] = ()) -> int:
    """Run a command in this process and return its exit code."""
    stage.CHUNK = stage.SLOW_CHUNK = stage.Stage.slow_chunk = case.chunk
    sys.argv = ["distinguo", *case.words, "--out", str(out), *extra]
    try:
        with contextlib.redirect_stdout(sys.stderr):  # standard output is for what we find
            main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def child(work: Callable[[], int]) -> int:
    """Do something in a child of this process, in silence; return its number."""
    number = os.fork()
    if number:
        return number
    code = 1
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        code = work()
    except KeyboardInterrupt:  # before the command had begun
        code = 130
    finally:
        os._exit(code)


def ended(number: int) -> int:
    """Wait for a child and return its exit code, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])


def files_of(out: Path) -> dict[str, Any]:
    """Return all that a finished command left, but for times and what was only there to go on with."""
    kept = {}
    for path in sorted(out.rglob("*")):
        name = str(path.relative_to(out))
        if path.is_dir() or path.name == "checkpoint.npz":
            continue
        if path.name == "result.json":
            kept[name] = {k: v for k, v in json.loads(path.read_text()).items() if k != "seconds"}
        elif path.name == "digests.json":  # that of the result depends on the seconds
            sums = json.loads(path.read_text())["sha256"]
            kept[name] = {k: v for k, v in sums.items() if k != "result.json"}
        elif path.name.startswith("results-"):  # in the order in which they were done
            lines = sorted((json.loads(line) for line in path.open()), key=lambda line: line["key"])
            kept[name] = [{**line, "answer": {**line["answer"], "seconds": 0}} for line in lines]
        elif path.name == "runs.csv":
            kept[name] = [{**row, "seconds": 0} for row in csv.DictReader(path.open())]
        else:
            kept[name] = path.read_bytes().replace(str(out).encode(), b"OUT")
    return kept


def without_times(files: dict[str, Any]) -> dict[str, Any]:
    """Leave out what tells how long things took."""
    return {
        name: content for name, content in files.items() if not name.endswith(("generated.json", ".html"))
    }


def is_finished(case: Case, out: Path) -> bool:
    """Tell whether the last file of a command is there."""
    last = {"test": "results.md", "reproduce": "claims.md", "study": "study.png"}.get(
        case.name, "result.json"
    )
    if (out / "request.json").exists():  # its result may be that of a stop
        return False
    return (
        (out / last).exists()
        if case.name != "many"
        else all((out / f"seed-{n}" / last).exists() for n in range(1, 5))
    )


def torn(out: Path) -> str | None:
    """Return why what was learned in a folder cannot be opened, if it should be."""
    for path in out.rglob("representation.json") if out.exists() else []:
        if (path.parent / "settings.toml").exists():
            try:
                open_run(path.parent)
            except DistinguoError as error:
                return str(error)
    return None


class Tally:
    """What came of the cuts; ``wrong`` says what did not come out as it should."""

    def __init__(self) -> None:
        self.cuts = self.early = 0
        self.wrong: list[str] = []

    def add(self, what: str) -> None:
        """Note what is wrong, and say so at once."""
        self.wrong.append(what)
        sys.stdout.write(f"{what}\n")
        sys.stdout.flush()

    def check(self, case: Case, out: Path, whole: dict[str, Any], how: str) -> None:
        """Compare a finished folder with one that was never cut off."""
        found = without_times(files_of(out))
        odd = sorted(name for name in found.keys() | whole.keys() if found.get(name) != whole.get(name))
        if odd:
            self.add(f"{case.name}, {how}: {', '.join(odd)}")

    def __str__(self) -> str:
        return f"{self.cuts} cuts, {self.early} of them before the result was there, {len(self.wrong)} wrong"


def whole_of(case: Case, place: Path) -> tuple[dict[str, Any], float]:
    """Return what a command leaves that is never cut off, and the seconds until its result is there.

    What it needs is compiled before.
    """
    run_command(case, place / "first")
    began = time.monotonic()
    number = child(lambda: run_command(case, place / "whole"))
    while not is_finished(case, place / "whole"):
        time.sleep(0.002)
    took = time.monotonic() - began
    ended(number)
    return without_times(files_of(place / "whole")), took


def cut_at_random(case: Case, place: Path, draw: random.Random, tally: Tally, cuts: int) -> None:
    """Cut a command off at random moments until so many cuts are done, and go on to the end each time."""
    whole, took = whole_of(case, place)
    for number in itertools.count():
        if cuts <= 0:
            return
        out, how = place / f"cut-{number}", []
        while not is_finished(case, out) and cuts > 0:
            cuts -= 1
            how.append(_cut(case, out, took, draw, tally))
            if why := torn(out):
                tally.add(f"{case.name}, {how}: {why}")
        code = ended(child(lambda out=out: run_command(case, out)))
        if code not in (0, 3):
            tally.add(f"{case.name}, {how}: exit code {code} at the end")
        tally.check(case, out, whole, str(how))
        shutil.rmtree(out, ignore_errors=True)


def _cut(case: Case, out: Path, took: float, draw: random.Random, tally: Tally) -> str:
    sent = draw.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
    extra = ("--workers", str(draw.choice(WORKERS))) if case.workers else ()
    number = child(lambda: run_command(case, out, extra))
    after = draw.uniform(0.0, took)
    time.sleep(after)
    os.kill(number, sent)
    code = ended(number)
    tally.cuts += 1
    tally.early += not is_finished(case, out)
    if code not in (0, 3, 130, 143, -sent):
        tally.add(f"{case.name}: exit code {code} after {sent.name}")
    return f"{sent.name} after {after:.2f} s"


#: What a process is about to do with a file when it ends itself; the first argument is the path.
TOUCHES = ("open", "os.rename", "os.remove", "os.mkdir", "os.truncate", "tempfile.mkstemp", "fcntl.flock")


def crash_before(count: int, out: Path) -> None:
    """Let this process end itself just before it touches a file of the folder for the n-th time."""
    left = [count]

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in TOUCHES and (event == "fcntl.flock" or str(out) in str(arguments[0])):
            left[0] -= 1
            if left[0] == 0:
                os._exit(CRASHED)

    sys.addaudithook(hook)


def crashes(case: Case, place: Path, every: int, tally: Tally, most: int) -> None:
    """End a command before its n-th touch of a file, for every n or some, and go on to the end each time."""
    whole, _ = whole_of(case, place)
    for n in range(1, most * every, every):
        out = place / f"crash-{n}"
        if ended(child(lambda n=n, out=out: (crash_before(n, out), run_command(case, out))[1])) != CRASHED:
            return
        tally.cuts += 1
        tally.early += not is_finished(case, out)
        if why := torn(out):
            tally.add(f"{case.name}, touch {n}: {why}")
        code = ended(child(lambda out=out: run_command(case, out)))
        if code not in (0, 3):
            tally.add(f"{case.name}, touch {n}: exit code {code} at the end")
        tally.check(case, out, whole, f"touch {n}")
        shutil.rmtree(out, ignore_errors=True)


def _shares(total: int, parts: int) -> Iterator[int]:
    for n in range(parts):
        yield total * (n + 1) // parts - total * n // parts


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cuts", type=int, default=0, help="signals at random moments")
    parser.add_argument("--crashes", type=int, default=0, help="ends just before a file is touched")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", help="names of commands")
    return parser.parse_args()


def run() -> int:
    """Run what is asked for and say what came of it."""
    asked = _arguments()
    prepare_commands()
    cases = [case for case in CASES if not asked.only or case.name in asked.only]
    draw, tally = random.Random(asked.seed), Tally()
    with tempfile.TemporaryDirectory() as place:
        for case, cuts, ends in zip(
            cases, _shares(asked.cuts, len(cases)), _shares(asked.crashes, len(cases)), strict=True
        ):
            if cuts:
                cut_at_random(case, Path(place) / f"{case.name}-cuts", draw, tally, cuts)
            if ends:
                crashes(case, Path(place) / f"{case.name}-crashes", 1, tally, ends)
            sys.stdout.write(f"{case.name}: {tally}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{tally}\n")
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(run())
