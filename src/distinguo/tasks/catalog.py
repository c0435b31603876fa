"""Tasks by name: our own, compiled ports of Gymnasium's classic control, declared tasks, and any Gymnasium id."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import re
import shlex
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from distinguo.errors import DistinguoError, did_you_mean, one_line
from distinguo.reading.files import MEBIBYTE, read_bytes
from distinguo.seam import implements_interpreted
from distinguo.tasks.acrobot import Acrobot
from distinguo.tasks.cart_pole import CartPole
from distinguo.tasks.check import check_first_steps
from distinguo.tasks.declare import declared_by_name, declared_spec, is_declared, parameters_of
from distinguo.tasks.gym.registration import PUCK_ID
from distinguo.tasks.maze import Maze
from distinguo.tasks.mountain_car import MountainCar
from distinguo.tasks.pendulum import (
    Pendulum,
    PendulumOfAmounts,
    PendulumOfTorques,
    check_torques,
    pendulum_kind,
)
from distinguo.tasks.puck.noisy import NoisyPuck, puck_spec
from distinguo.tasks.puck.puck import ContinuingPuck, Puck
from distinguo.tasks.spec import Parameters, TaskSpec
from distinguo.tasks.task import actions, observe, start, transition, unpack


def _port_spec(kind: type, parameters: Parameters) -> TaskSpec:
    spec = declared_spec(kind, parameters)
    note = f"{spec.name} runs as a compiled port with the same numbers; --interpreted runs Gymnasium's own."
    return spec._replace(note=note, portable=True)


def _own_spec(kind: type, parameters: Parameters) -> TaskSpec:
    return declared_spec(kind, parameters)._replace(portable=True)


def _puck_spec(parameters: Parameters) -> TaskSpec:
    return puck_spec(parameters)._replace(portable=True)


def _maze_spec(parameters: Parameters) -> TaskSpec:
    return declared_spec(Maze, parameters)._replace(portable=True)


def _pendulum_spec(parameters: Parameters) -> TaskSpec:
    spec = _port_spec(pendulum_kind(parameters), parameters)
    check_torques(spec.parameters)
    return spec


MAZE = "maze"
#: The function that makes each of our own tasks from its parameters.
SPECS: dict[str, Callable[[Parameters], TaskSpec]] = {
    "puck": _puck_spec,
    "puck-continuing": partial(_own_spec, ContinuingPuck),
    MAZE: _maze_spec,
    "CartPole-v1": partial(_port_spec, CartPole),
    "MountainCar-v0": partial(_port_spec, MountainCar),
    "Acrobot-v1": partial(_port_spec, Acrobot),
    "Pendulum-v1": _pendulum_spec,
}
ALIASES = {PUCK_ID: "puck"}
UNITS = "units"  #: files of earlier versions do not have them
PENDULUMS = (Pendulum, PendulumOfTorques, PendulumOfAmounts)
OWN = (Puck, NoisyPuck, ContinuingPuck, Maze, CartPole, MountainCar, Acrobot, *PENDULUMS)


def task_spec(
    name: str, parameters: Parameters | None = None, interpreted: bool = False, *, probing: bool = True
) -> TaskSpec:
    """Return the task of that name, with some of its parameters changed.

    It is compiled if we have a port of it, unless ``interpreted`` asks for Gymnasium's own environment. Without
    ``probing`` no step is taken in an environment to find out what it allows.

    >>> task_spec("CartPole-v1").limit
    500
    """
    name = ALIASES.get(name, name)
    if name in SPECS and not interpreted:
        if "probe" in (parameters or {}):
            raise DistinguoError(f"{name} is compiled and never probed; leave --no-probe (task.probe) out.")
        return SPECS[name](parameters or {})
    kind = Maze if name == MAZE else None if name in SPECS else declared_by_name(name)
    if kind is not None:
        if interpreted:
            raise DistinguoError(
                f"{name} is not Gymnasium's; to run it as plain Python, declare it with compiled=False."
            )
        return _declared(kind, parameters or {})
    from distinguo.tasks.gym.task import gym_spec

    _check_name(name)
    return gym_spec(name, parameters or {}, SPECS.get(name), probing=probing)


def _check_name(name: str) -> None:
    """Reject an unknown name; suggest the nearest of ours and of Gymnasium's."""
    from gymnasium import registry

    if ".py:" in name:
        raise DistinguoError(
            f"'{name}' names code, which only the command line takes; in Python, import it and give the class."
        )
    if name in SPECS or name in registry or ":" in name:
        return
    near = did_you_mean(name, [*SPECS, *registry])
    hint = near if near.startswith("did") else "take puck, or any Gymnasium id such as CartPole-v1."
    if not near.startswith("did") and re.search(r"-v[0-9]+$", name):
        hint = _by_module(name)
    raise DistinguoError(f"Unknown task '{one_line(name)}'; {hint}")


def _by_module(name: str) -> str:
    """How to name an id that a package registers only when it is imported."""
    module = re.split(r"[-/]", name)[0].lower()
    if module.isidentifier() and importlib.util.find_spec(module) is not None:
        return f"did you mean '{module}:{one_line(name)}', with the module that registers it?"
    return (
        "Gymnasium does not know it before its package is imported: install that, and put the module before the id, "
        f"as in module:{one_line(name)}."
    )


def check_own(name: str, source: str) -> None:
    """Reject a name that a file gives without a description, unless it is one of our own tasks."""
    if ALIASES.get(name, name) not in SPECS:
        raise DistinguoError(
            f"{source} names the unknown task '{one_line(name)}'; {did_you_mean(name, SPECS)}"
        )


def own_parameters(name: str) -> tuple[str, ...]:
    """Return the parameters that one of our own tasks always has; none for others.

    >>> own_parameters("puck")[:2]
    ('beta', 'gravity')
    """
    name = ALIASES.get(name, name)
    return tuple(SPECS[name]({}).parameters) if name in SPECS else ()


def check_imported(name: str, source: str) -> None:
    """Reject a name with a module to import, as in ``package:Name-v0``, if only a file gives it."""
    module = name.rpartition(":")[0]
    if module and module not in sys.modules:
        raise DistinguoError(
            f"{source} names code, '{one_line(name)}', and distinguo imports no code that a file names; name "
            f"the task yourself: --task {one_line(name)}."
        )


def spec_of(
    thing: Any, parameters: Parameters | None = None, maker: Callable[[], Any] | None = None
) -> TaskSpec:
    """Return the description of an object: a declared class, one of its tasks, or a Gymnasium environment.

    Of a vector of environments, one is described. ``maker`` makes another environment like it.

    >>> spec_of(Puck(beta=0.2)).parameters["beta"]
    0.2
    """
    kind = thing if isinstance(thing, type) else type(thing)
    if isinstance(thing, TaskSpec):
        return thing
    if is_declared(kind):
        return _declared(kind, (parameters or {}) if thing is kind else parameters_of(thing))
    from distinguo.tasks.gym.source import one_of_vector
    from distinguo.tasks.gym.task import gym_spec

    one = one_of_vector(thing)
    if isinstance(one, str) and one is not thing:
        return task_spec(one, parameters)
    return gym_spec(one, parameters or {}, maker=maker)


def _declared(kind: type, parameters: Parameters) -> TaskSpec:
    """Return a task of a declared class; one that is not ours is checked first."""
    spec = declared_spec(kind, parameters)
    if kind in OWN:
        return SPECS[spec.name](parameters)
    if spec.name in SPECS:
        raise DistinguoError(f"{kind.__name__} is named '{spec.name}', as one of our own tasks; rename it.")
    check_first_steps(spec)
    return spec


def in_amounts(spec: TaskSpec) -> TaskSpec | None:
    """Return a task whose actions are levels that nobody chose with the amounts themselves; None for any other task.

    >>> spec = in_amounts(task_spec("Pendulum-v1"))
    >>> spec and spec.amounts
    Amounts(low=(-2.0,), high=(2.0,), names=('torque',), single=True)
    """
    if isinstance(spec.task, Pendulum):
        usual = {k: v for k, v in spec.parameters.items() if k in PendulumOfAmounts._fields and k != "levels"}
        if spec.parameters["max_torque"] != Pendulum._field_defaults["max_torque"]:
            return None  # the box of its amounts is fixed
        return SPECS[spec.name]({**usual, "levels": 0})
    if not spec.interpreted:
        return None
    from distinguo.tasks.gym.task import environment_in_amounts

    return environment_in_amounts(spec)


class AbsentTask(NamedTuple):
    """A task that a run was learned on, in a process where it is not declared."""

    name: str
    origin: str = ""  #: the file and the class that it was learned from, such as ``plant.py:Brick``


def _absence(task: AbsentTask) -> DistinguoError:
    file = (
        f"--task {shlex.quote(task.origin)} (the file it was learned from)"
        if task.origin
        else f"--task path/to/file.py:{task.name}"
    )
    return DistinguoError(
        f"The task {task.name} of this run is not declared in this process, or is declared differently; name the "
        f"file that declares it: {file}, or import it first."
    )


def origin_of(spec: TaskSpec) -> dict[str, str]:
    """The file and the class of a task of your own, and the SHA-256 of that file; empty if there is no such file.

    >>> origin_of(task_spec("puck"))
    {}
    """
    if spec.portable or spec.interpreted or isinstance(spec.task, AbsentTask):
        return {}
    kind = type(spec.task)
    if kind.__module__.partition(".")[0] == "distinguo":  # made of logged steps
        return {}
    try:
        path = Path(inspect.getsourcefile(kind) or "")
        digest = hashlib.sha256(read_bytes(path, MEBIBYTE)).hexdigest()
    except (DistinguoError, OSError, TypeError):
        return {}
    return {"task_file": f"{path.name}:{kind.__qualname__}", "task_sha256": digest}


@implements_interpreted(transition, AbsentTask)
@implements_interpreted(start, AbsentTask)
@implements_interpreted(actions, AbsentTask)
@implements_interpreted(unpack, AbsentTask)
@implements_interpreted(observe, AbsentTask)
def _absent(task: AbsentTask, *_: Any) -> Any:
    raise _absence(task)


def is_absent(spec: TaskSpec) -> bool:
    """Whether a task has to be declared or handed in before it can take steps."""
    if isinstance(spec.task, AbsentTask):
        return True
    return spec.interpreted and bool(spec.task.driver.source.is_lost)


def check_present(spec: TaskSpec, source: str) -> None:
    """Reject a task that a file names but that cannot be run here."""
    if isinstance(spec.task, AbsentTask):
        raise _absence(spec.task)
    if is_absent(spec):
        from distinguo.tasks.gym.source import absence

        raise absence(spec.name)
    check_imported(spec.name, source)


def written_spec(
    name: str,
    words: Parameters,
    parameters: Parameters,
    interpreted: bool = False,
    was_given: bool = False,
) -> TaskSpec:
    """Return the task that a run folder describes; no code is imported, whatever the folder says.

    If that task is not declared in this process, or was an environment object, only the description is known, and a
    step raises an error.
    """
    if interpreted:
        from distinguo.tasks.gym.task import absent_gym_spec

        return absent_gym_spec(name, words, parameters, was_given)
    absent = TaskSpec(name, AbsentTask(name), parameters=dict(parameters), portable=False, **words)
    kind = declared_by_name(name)
    try:
        spec = absent if kind is None else _declared(kind, parameters)
    except DistinguoError:  # it has changed since
        return absent
    same = all(getattr(spec, word) == getattr(absent, word) for word in words if word != UNITS)
    return spec if same else absent
