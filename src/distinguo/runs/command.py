"""The command that learns a run again, or goes on with it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from distinguo.errors import DistinguoError
from distinguo.presets import DEFAULT
from distinguo.runs.configuration import Configuration, configure, flat
from distinguo.tasks.catalog import task_spec


def learn_command(configuration: Configuration, out: Path) -> str:
    """Return the command that learns as configured, in that folder.

    >>> learn_command(configure("puck", seed=3, changes={"learner.epsilon": 0.05, "task.beta": 0.2}), Path("runs/a"))
    'distinguo learn puck --seed 3 --set task.beta=0.2 --set learner.epsilon=0.05 --out runs/a'
    """
    spec = configuration.spec
    plain = _plain(configuration)
    words = ["distinguo", "learn", spec.name, "--seed", str(configuration.seed)]
    words += [] if configuration.preset == DEFAULT else ["--preset", configuration.preset]
    words += ["--interpreted"] if spec.interpreted and spec.portable else []
    if plain.learner_name != configuration.learner_name:
        words += ["--learner", configuration.learner_name]
        plain = _plain(configuration, configuration.learner_name)
    if configuration.prototypes is not None:
        words += ["--from", ";".join(",".join(map(repr, row)) for row in configuration.prototypes)]
    asked, usual = flat(configuration), flat(plain)
    for name, value in asked.items():
        if "." in name and usual.get(name) != value:
            words += ["--set", f"{name}={_written(value)}"]
    return shlex.join([*words, "--out", str(out)])


def _plain(configuration: Configuration, learner: str | None = None) -> Configuration:
    """Return the configuration that would be made without any settings."""
    try:
        spec = task_spec(configuration.spec.name, None, configuration.spec.interpreted)
    except DistinguoError:  # a task that only somebody's code can make
        spec = configuration.spec
    return configure(
        spec, preset_name=configuration.preset, prototypes=configuration.prototypes, learner=learner
    )


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
