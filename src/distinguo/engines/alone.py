"""A job in a process of its own, so that it can be stopped when it takes too long."""

from __future__ import annotations

import subprocess
import sys

from distinguo.engines.jobs import done
from distinguo.processes import Failed, start_python


def done_within(order: tuple[str, float]) -> str | Failed:
    """Do a job that was sent, within some seconds; Python and the job's modules start anew for it."""
    sent, seconds = order
    with start_python("distinguo.engines.alone", stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            answer, _ = process.communicate(sent, timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            return Failed(f"it took longer than {seconds:g} seconds.")
    if process.returncode:
        return Failed(f"its process ended with exit code {process.returncode}.")
    return answer.splitlines()[-1]


if __name__ == "__main__":
    sys.stdout.write(done(sys.stdin.read()))
