"""Runs of the command line that tests interrupt: many small chunks of work, a checkpoint after each of them.

``python driver.py kills OUT ARGUMENTS…`` ends child processes at random moments and starts them again until the
run is finished; it prints how often it did. ``python driver.py waits HERE GO ARGUMENTS…`` stops in the middle of
a chunk: it makes the file HERE and waits for the file GO.
"""

from __future__ import annotations

import itertools
import os
import random
import signal
import sys
import time
from pathlib import Path

from distinguo.cli import main
from distinguo.runs import learn, stage
from distinguo.runs.configuration import configure
from distinguo.runs.learn import warm


def command_line(arguments: list[str]) -> None:
    sys.argv = ["distinguo", *arguments]
    main()


def kills(out: Path, arguments: list[str]) -> None:
    learn.CHECKPOINT_SECONDS = 0.0
    warm(configure("puck"))
    chunk = stage.Stage._chunk
    stage.Stage._chunk = lambda self: (time.sleep(0.003), chunk(self))
    draw = random.Random(1)
    ended = {signal.SIGKILL: 0, signal.SIGINT: 0}
    longest, reached = 0.2, b""
    for how in itertools.cycle([signal.SIGKILL, signal.SIGINT]):
        if (out / "result.json").exists():
            break
        ended[how] += end_after(draw.uniform(0.0, longest), how, arguments)
        before, reached = reached, content(out / "checkpoint.npz")
        if reached == before:  # so busy a machine takes longer to get anywhere
            longest *= 1.2
    sys.stdout.write(f"{ended[signal.SIGKILL]} {ended[signal.SIGINT]}\n")


def content(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def end_after(seconds: float, how: signal.Signals, arguments: list[str]) -> bool:
    """Start the command in a child, send it a signal, and tell whether that ended it."""
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        command_line(arguments)
        os._exit(0)
    time.sleep(seconds)
    os.kill(child, how)
    status = os.waitpid(child, 0)[1]
    return os.WIFSIGNALED(status) or os.WEXITSTATUS(status) != 0


def waits(here: Path, go: Path, arguments: list[str]) -> None:
    follow = stage.follow_in

    def slow_follow(*values: object) -> object:
        result = follow(*values)
        if values[-1] != 1:  # not only to have it compiled
            here.touch()
            while not go.exists():
                time.sleep(0.005)
        return result

    stage.follow_in = slow_follow
    command_line(arguments)


if __name__ == "__main__":  # a mere import must change nothing: pytest collects examples here, too
    stage.CHUNK = 100
    if sys.argv[1] == "kills":
        kills(Path(sys.argv[2]), sys.argv[3:])
    else:
        waits(Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:])
