"""The page of settings: every table, its names, ranges and sources, and what presets and tasks change in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from numpy.random import Generator

from distinguo.learners.learner import all_learners
from distinguo.presets import BY_NOISE, BY_RETURN, NON_ACTIVE, PRESETS, SURPRISE_BY_RETURN, TESTER_PRESETS
from distinguo.settings import (
    TESTER_BY_RETURN,
    TESTER_OF_CATEGORIES,
    StageSettings,
    TesterSettings,
)
from distinguo.tasks.catalog import SPECS, task_spec
from distinguo.tasks.pendulum import PendulumOfTorques
from distinguo.tasks.puck.noisy import NoisyPuck
from tools.references.markdown import page, table

_SIGNS = {"gt": ">", "ge": "≥", "lt": "<", "le": "≤"}

_INTRODUCTION = """\
A setting has a table and a name. On the command line: `--set learner.epsilon=0.05`; in Python:
`learn("puck", settings={"learner.epsilon": 0.05})`; in the folder of a run: `settings.toml`. An unknown name
and a value outside of its range are refused with one sentence. "Ours" means that the paper is silent:
[readings.md](../readings.md) says why, and what other values do."""


def settings_page() -> str:
    """Return the page."""
    return page(
        "Settings",
        _INTRODUCTION,
        *(_section(_title(learner.name), learner.settings) for learner in all_learners()),
        _section("`stage`: when learning ends", StageSettings),
        _section("`tester`: the testing stage", TesterSettings),
        _presets(),
        _suited(),
        "## `task`: the parameters of our own tasks",
        "Parameters of a Gymnasium environment are those of its constructor: `--set task.is_slippery=false`.",
        *(_section(name, kind, level=3) for name, kind in _tasks().items()),
    )


def _title(learner: str) -> str:
    words = {
        "economy": "the paper's learner (`economy`)",
        "distilled": "a distilled run (`distinguo distil`)",
    }
    return f"`learner`, of {words.get(learner, f'`{learner}`')}"


def _tasks() -> dict[str, type]:
    """Return the class of every task of our own by the name that a user gives."""
    return {
        **{name: type(task_spec(name).task) for name in SPECS},
        "puck, with `--set task.noise=…`": NoisyPuck,
        "Pendulum-v1, with a list of torques: `--set task.levels=[-2,0,2]`": PendulumOfTorques,
    }


def _section(title: str, kind: Any, level: int = 2) -> str:
    rows = []
    for name, hint in get_type_hints(kind, include_extras=True).items():
        described = get_origin(hint) is Annotated
        field = hint.__metadata__[0] if described else None
        plain = get_args(hint)[0] if described else hint
        if plain is Generator:  # carried by a task, not set by anybody
            continue
        default = kind._field_defaults.get(name, "")
        words = field.description or "" if field is not None else ""
        rows.append([f"`{name}`", words, f"`{_shown(default)}`", _allowed(plain, field)])
    summary = (kind.__doc__ or "").split("\n\n")[0].replace("\n", " ").replace("``", "`")
    return "\n\n".join(
        ["#" * level + f" {title}", summary, table(["name", "meaning; source", "default", "allowed"], rows)]
    )


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _allowed(kind: type, field: Any) -> str:
    if get_origin(kind) is Literal:
        return ", ".join(f"`{word}`" for word in get_args(kind))
    limits = {}
    for limit in getattr(field, "metadata", []):
        limits.update({name: getattr(limit, name) for name in _SIGNS if hasattr(limit, name)})
    bounds = [f"{_SIGNS[name]} {_shown(value)}" for name, value in limits.items()]
    words = {"float": "number", "int": "whole number", "bool": "true, false"}
    return ", ".join([words.get(kind.__name__, kind.__name__), *bounds])


def _presets() -> str:
    changes = {
        name: {**PRESETS[name], **{f"tester.{key}": value for key, value in TESTER_PRESETS[name].items()}}
        for name in PRESETS
    }
    names = sorted({key for changed in changes.values() for key in changed})
    rows = [[f"`{name}`", *(_shown(changed.get(name, "")) for changed in changes.values())] for name in names]
    words = "`--preset NAME`. An empty cell leaves the default of the table above."
    return "\n\n".join(["## Presets", words, table(["setting", *(f"`{name}`" for name in changes)], rows)])


def _suited() -> str:
    """Return what is changed by itself, because a task asks for it."""
    cases: dict[str, Mapping[str, Any]] = {
        "trials are judged by their return": BY_RETURN,
        **{f"chance is at work: {much}": changed for much, changed in BY_NOISE.items() if changed},
        "trials are judged by their return, of `surprise`": SURPRISE_BY_RETURN,
        "states cannot be restored": NON_ACTIVE,
        "tester, trials judged by their return": {f"tester.{k}": v for k, v in TESTER_BY_RETURN.items()},
        "tester, observations are labels": {f"tester.{k}": v for k, v in TESTER_OF_CATEGORIES.items()},
    }
    rows = [
        [case, ", ".join(f"`{name}` = {_shown(value)}" for name, value in changed.items())]
        for case, changed in cases.items()
    ]
    words = "The preset `default` changes these where a task asks for it; what you set yourself stays."
    return "\n\n".join(["## What suits a task", words, table(["where", "changed"], rows)])
