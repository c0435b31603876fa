"""The environment, or the task of one's own, that a run was learned from, handed in again.

A run folder describes its task, but holds no code: an object that somebody made has to be handed in to be stepped.
"""

from __future__ import annotations

from typing import Any

from distinguo.errors import DistinguoError, shown
from distinguo.runs.configuration import Configuration
from distinguo.tasks.catalog import is_absent, spec_of, task_spec
from distinguo.tasks.spec import TaskSpec

LEVELS = "levels"  #: a parameter that an environment object takes, too


def with_task(configuration: Configuration, given: Any) -> Configuration:
    """Return a configuration whose task can be stepped; None leaves it as it is."""
    return (
        configuration if given is None else configuration._replace(spec=handed_in(configuration.spec, given))
    )


def handed_in(spec: TaskSpec, given: Any) -> TaskSpec:
    """Return the description of a task with what was handed in in its place, if that is like it.

    Names, units and the threshold stay those of the run; only what is stepped is new.

    >>> import gymnasium
    >>> lake = task_spec("FrozenLake-v1", {"is_slippery": False})
    >>> handed_in(lake, gymnasium.make("CliffWalking-v1"))
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: CliffWalking-v1 does not fit a run of FrozenLake-v1: its bounds are...
    """
    if spec.portable and not spec.interpreted and not is_absent(spec):
        if given == spec.name or (isinstance(given, TaskSpec) and given.name == spec.name):
            return spec
        raise DistinguoError(f"{spec.name} is one of our own tasks and needs none handed in; leave task out.")
    theirs = _described(spec, given)
    if misfit := _misfit(spec, theirs):
        raise DistinguoError(
            f"{theirs.name} does not fit a run of {spec.name}: its {misfit}; hand in one like it."
        )
    if not theirs.interpreted:
        return theirs
    facts = {name: getattr(theirs, name) for name in ("task", "stochastic", "restorable", "note")}
    return spec._replace(**facts, portable=isinstance(given, str))


def _described(spec: TaskSpec, given: Any) -> TaskSpec:
    if isinstance(given, str):
        return task_spec(given, spec.parameters, spec.interpreted)
    own = spec.parameters
    if spec.interpreted:
        own = {LEVELS: own[LEVELS]} if LEVELS in own else {}
    return spec_of(given, own)


def _misfit(spec: TaskSpec, theirs: TaskSpec) -> str:
    """Say what of a task is otherwise than it was; empty if nothing is."""
    if spec.interpreted != theirs.interpreted:
        return "kind is another: " + ("the run's is Gymnasium's" if spec.interpreted else "it is Gymnasium's")
    ours, other = _fit(spec), _fit(theirs)
    for name, value in ours.items():
        if other[name] != value:
            return f"{name} are {shown(other[name])} instead of {shown(value)}"
    return ""


def _fit(spec: TaskSpec) -> dict[str, Any]:
    """Return what must be the same; an environment has no names of its own to compare."""
    named = not spec.interpreted
    return {
        "coordinates": spec.dimensions if named else len(spec.dimensions),
        "actions": spec.actions if named else len(spec.actions),
        "observations": spec.kind,
        "bounds": (spec.low, spec.high),
        "parameters": dict(spec.parameters) if named else None,
    }
