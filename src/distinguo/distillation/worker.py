"""A process that runs trials of one environment: ``python -m distinguo.distillation.worker``.

The first line on standard input names the environment. Every other line asks for trials of a map, and the answer is
a line of JSON on standard output. What the environment prints goes to standard error. The process ends with its
input.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, TextIO

import numpy as np

from distinguo.distillation.trials import EnvironmentTrials
from distinguo.errors import DistinguoError
from distinguo.search.maps import prototype_map
from distinguo.search.races import Contender
from distinguo.tasks.catalog import task_spec


def main() -> None:
    """Answer questions until there are no more."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        answer_all(sys.stdin, out)
    except BrokenPipeError:  # the asking process has ended
        os._exit(0)


def answer_all(questions: TextIO, out: TextIO) -> None:
    """Answer the lines of a stream on another."""
    asked = json.loads(questions.readline())
    trials: EnvironmentTrials | None = None
    for line in questions:
        question = json.loads(line)
        try:
            if trials is None:
                spec = task_spec(asked["task"], asked["parameters"], interpreted=True, probing=False)
                trials = EnvironmentTrials(spec, asked["cap"])
            content = {"known": True} if question["do"] == "know" else answer_to(question, trials)
        except DistinguoError as error:
            content = {"known": False} if question["do"] == "know" else {"error": str(error)}
        out.write(json.dumps(content) + "\n")
        out.flush()


def answer_to(question: dict[str, Any], trials: EnvironmentTrials) -> dict[str, Any]:
    """Run the trials that are asked for."""
    before = trials.count
    if question["laws"] is not None:
        trials.use_laws(np.array(question["laws"]))
    map_ = prototype_map(question["prototypes"], question["actions"], question["scale"])
    if question["do"] == "judge":
        known = question["present"]
        contender = Contender(map_, question["starts"], None if known is None else np.array(known))
        answer: dict[str, Any] = {"returns": trials.judge([contender])[0].tolist()}
    else:
        followed = trials.follow(map_, question["starts"])
        answer = {name: column.tolist() for name, column in followed._asdict().items()}
    after = trials.count
    return {**answer, "count": [after.trials - before.trials, after.steps - before.steps]}


if __name__ == "__main__":
    main()
