"""The command that learns a run again, or goes on with it."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

from distinguo.errors import DistinguoError
from distinguo.learners.catalog import DISTILLED, learner_names
from distinguo.learners.learner import AbsentLearner, learner_named, learner_or_absent
from distinguo.presets import DEFAULT
from distinguo.runs.configuration import Configuration, configure, flat
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.spec import TaskSpec


def learn_command(configuration: Configuration, out: Path) -> str:
    """Return the command that learns as configured, in that folder.

    >>> learn_command(configure("puck", seed=3, changes={"learner.epsilon": 0.05, "task.beta": 0.2}), Path("runs/a"))
    'distinguo learn puck --seed 3 --set task.beta=0.2 --set learner.epsilon=0.05 --out runs/a'
    """
    spec = configuration.spec
    if configuration.learner_name == DISTILLED:
        return _distil_command(configuration, out)
    if spec.interpreted and not spec.portable:
        return _call(configuration, out)
    plain = _plain(configuration)
    words = ["distinguo", "learn", _task_word(spec), "--seed", str(configuration.seed)]
    words += [] if configuration.preset == DEFAULT else ["--preset", configuration.preset]
    words += ["--interpreted"] if spec.interpreted and spec.portable else []
    if plain.learner_name != configuration.learner_name:
        words += ["--learner", _learner_word(configuration.learner_name)]
        plain = _plain(configuration, configuration.learner_name)
    if configuration.prototypes is not None:
        words += ["--from", ";".join(",".join(map(repr, row)) for row in configuration.prototypes)]
    if spec.interpreted and spec.threshold != plain.spec.threshold:
        words += ["--threshold", repr(spec.threshold)]
    asked, usual = flat(configuration), flat(plain)
    for name, value in asked.items():
        if "." in name and usual.get(name) != value:
            words += ["--set", f"{name}={_written(value)}"]
    return shlex.join([*words, "--out", str(out)])


def _distil_command(configuration: Configuration, out: Path) -> str:
    """Return the command that distils the same teacher again; the levels of its actions are found anew."""
    learner, usual = configuration.learner, type(configuration.learner)()
    suited = learner_named(DISTILLED).suggested_for(configuration.spec)
    words = ["distinguo", "distil", learner.teacher, "--task", _task_word(configuration.spec)]
    words += ["--seed", str(configuration.seed)]
    for name, value in learner._asdict().items():
        if name != "teacher" and value != suited.get(f"learner.{name}", getattr(usual, name)):
            words += ["--set", f"learner.{name}={_written(value)}"]
    return shlex.join([*words, "--out", str(out)])


def _call(configuration: Configuration, out: Path) -> str:
    """Return what is called in Python, where only that can make the environment."""
    words = [f"seed={configuration.seed}", f"preset={configuration.preset!r}"]
    words += [f"learner={configuration.learner_name!r}", "…"]  # settings and names, as settings.toml has them
    return f"distinguo.learn({configuration.spec.name}(…), {', '.join(words)}, out={str(out)!r})"


def _task_word(spec: TaskSpec) -> str:
    return spec.name if spec.portable else _code_word(type(spec.task), spec.name)


def _learner_word(name: str) -> str:
    known = learner_or_absent(name, {})
    if name in learner_names() or (known.declared is None and not isinstance(known, AbsentLearner)):
        return name
    return _code_word(known.declared, name)


def _code_word(kind: Any, name: str) -> str:
    """Return the file and the name of a class that somebody declared; a word for the file if it is not at hand."""
    module = sys.modules.get(getattr(kind, "__module__", ""))
    source = getattr(module, "__file__", None)
    if source is None or kind.__module__.partition(".")[0] == "distinguo":
        return f"path/to/file.py:{name}"
    return f"{source}:{kind.__name__}"


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
