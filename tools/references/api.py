"""The page of public names: mkdocstrings fills it in from the docstrings when the site is built."""

from __future__ import annotations

from typing import Any

import distinguo
from distinguo.registry import NAMES, added
from tools.references.markdown import page, table

#: What a reader looks for, and the public names that belong to it; a test finds a name that is in no group.
GROUPS: dict[str, tuple[str, ...]] = {
    "Learn": (
        "learn",
        "record",
        "load_log",
        "distil",
        "teach",
        "Policy",
        "table_teacher",
        "condense",
        "open_run",
        "Run",
        "Economy",
        "Agent",
    ),
    "Tables": ("PrototypeClassifier", "PrototypeRegressor"),
    "See and ask": (
        "show",
        "view",
        "explain",
        "distinctions",
        "family",
        "rollout",
        "ask_model",
        "play",
        "report",
    ),
    "Judge": (
        *("compare", "make_plan", "audit", "audit_controller", "trained_controller", "learning_curve"),
        *("study", "read_study", "Evaluation", "reproduce"),
    ),
    "Prove and use": ("verify", "Shield", "export", "Controller"),
    "With Gymnasium and Stable-Baselines3": (
        *("snapshot", "restore", "Restorable", "RegionObservation", "VectorRegionObservation"),
        *("stop_when_solved", "log_to", "read_monitor", "load_policy"),
    ),
    "Features": ("tiles", "radial_bases", "perceptron", "FunctionFeatures", "FeatureController"),
    "Planning": ("sparse_sampling", "sparse_trials", "sparse_bound"),
    "Maps": (
        "Representation",
        "load",
        "voronoi",
        "grid",
        "region",
        "FunctionPartition",
        "variable_resolution",
    ),
    "Your own": (
        *("task", "check_task", "partition", "check_partition", "representation", "learner"),
        *("part", "choose", "state_value", "amounts", "levels", "DiscreteActions", "NoisyActions"),
    ),
    "The paper's definitions": ("criteria", "ranges"),
    "Errors": ("DistinguoError",),
}
_OTHERS = "Others"
#: Pictures of what the names of a group make: what is shown, its file, and a line that makes it.
PICTURES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "Learn": (("the length of trials and the size of the map", "trials", 'learn("puck").plot("trials")'),),
    "See and ask": (
        ("the regions of a map", "map", "show(run)"),
        ("where the policy leads", "phase", 'show(run, view="phase")'),
        ("the family of regions", "family", 'show(run, view="family")'),
    ),
    "Judge": (("learning curves", "curves-best", "show(compare([…]))"),),
    "Prove and use": (
        ("what is proven", "proof", "show(verify(run))"),
        ("a header in C", "c", 'export(run, "c")'),
    ),
}


def home(name: str) -> str:
    """Return the dotted path at which a public name is defined."""
    found: Any = getattr(distinguo, name)
    if name in distinguo._MODULES:
        return str(found.__name__)
    module, _, own = (distinguo._HOMES.get(name) or added(NAMES)[name].value).partition(":")
    return f"{module}.{own or name}"


def grouped() -> dict[str, list[str]]:
    """Return all public names in their groups; those that have none stand at the end."""
    placed = {name for names in GROUPS.values() for name in names}
    groups = {title: [n for n in names if n in distinguo.__all__] for title, names in GROUPS.items()}
    others = [name for name in distinguo.__all__ if name not in placed]
    return {**groups, _OTHERS: others} if others else groups


def api_page() -> str:
    """Return the page; each ``:::`` line stands for the documentation of a name."""
    parts = ["`import distinguo as dg`; every name below is `dg.NAME`."]
    for title, names in grouped().items():
        parts += [f"## {title}", table(["name", "what it is"], [[_link(n), _summary(n)] for n in names])]
        parts += [
            f"![{words}](../images/{file}.png){{ .half }} `dg.{line}`"
            for words, file, line in PICTURES.get(title, ())
        ]
        parts += [f"::: {home(name)}" for name in names]
    return page("Python", *parts)


def _link(name: str) -> str:
    return f"[`{name}`](#{home(name)})"


def _summary(name: str) -> str:
    text = getattr(distinguo, name).__doc__ or ""
    return text.split("\n\n")[0].replace("``", "`")
