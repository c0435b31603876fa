"""From words of the command line to values, and to code that a user names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from distinguo.controls import PAPER_SEEDS
from distinguo.engines.code import imported
from distinguo.errors import DistinguoError, counted, did_you_mean, one_line, reason_of

if TYPE_CHECKING:
    from distinguo.tasks.spec import TaskSpec


# From the words of the command line to values.


def changes(assignments: Sequence[str]) -> dict[str, Any]:
    """Read settings of the form ``table.name=value``.

    >>> changes(["learner.epsilon=0.1", "learner.discount_steps=true"])
    {'learner.epsilon': 0.1, 'learner.discount_steps': True}
    """
    result: dict[str, Any] = {}
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        if not equals or not key.strip():
            raise DistinguoError(
                f"--set takes TABLE.NAME=VALUE, such as learner.epsilon=0.1, got '{assignment}'."
            )
        if key.strip() in result:
            raise DistinguoError(f"--set gives {key.strip()} twice; give it once.")
        result[key.strip()] = _value(text.strip())
    return result


def named_task(word: str, parameters: dict[str, Any] | None = None, interpreted: bool = False) -> TaskSpec:
    """Return the task that a word names: one of ours, a Gymnasium id, or ``path/to/file.py:Class``.

    >>> named_task("puck", {"beta": 0.2}).task.beta
    0.2
    """
    from distinguo.tasks.catalog import spec_of, task_spec

    if not names_code(word):
        if word.endswith(".py"):
            raise DistinguoError(f"{word} is a file; name the task in it, as in {word}:Name.")
        return task_spec(word, parameters, interpreted)
    if interpreted:
        raise DistinguoError(f"--interpreted is for Gymnasium's own environments, and {word} is not one.")
    thing = load_named(word)
    if _is_environment_class(thing):
        return _made_spec(thing, dict(parameters or {}))
    return spec_of(thing, parameters)


def named_environment(word: str, parameters: dict[str, Any]) -> Any:
    """Return the Gymnasium environment that ``path/to/file.py:Class`` names, or None."""
    thing = load_named(word) if names_code(word) else None
    return _made(thing, parameters) if _is_environment_class(thing) else None


def task_name(word: str) -> str:
    """Return the name of a task for other commands and files; a task in a file is declared by this call.

    >>> task_name("CartPole-v1")
    'CartPole-v1'
    """
    return named_task(word).name if names_code(word) else word


def task_for_plan(word: str) -> str:
    """The name of a task for a plan, which other processes may run: not of an environment class in a file."""
    if names_code(word) and _is_environment_class(load_named(word)):
        raise DistinguoError(
            f"{word} is an environment class, which this command cannot make in other processes; register it with "
            "Gymnasium and name it as module:Id, or call distinguo.compare(..., task=env) from Python."
        )
    return task_name(word)


def chosen_run(run: Path | None) -> Path:
    """Return the run that a command is about: the named one or, if none is named, the latest in ``runs``."""
    if run is not None:
        return run
    from distinguo.cli.console import say
    from distinguo.runs.listing import latest_run

    latest = latest_run()
    say(f"No run was named; taking the latest: {latest}")
    return latest


def task_of_run(word: str | None, run: Path) -> Any:
    """Return the task given with a run folder; a task in a file is made with the parameters of the run."""
    from distinguo.runs.folder import SETTINGS, read_settings

    if word is None or not names_code(word):
        return word
    known = read_settings(run).spec.parameters if (run / SETTINGS).is_file() else {}
    return named_task(word, dict(known))


def _is_environment_class(thing: Any) -> bool:
    import gymnasium

    return isinstance(thing, type) and issubclass(thing, gymnasium.Env)


def _made_spec(kind: Any, parameters: dict[str, Any]) -> TaskSpec:
    """Make an environment with these arguments; some are for us and not for the environment."""
    from distinguo.tasks.catalog import spec_of
    from distinguo.tasks.gym.source import OF_OBJECTS

    ours = {name: value for name, value in parameters.items() if name in OF_OBJECTS}
    spec = spec_of(_made(kind, parameters), ours, partial(_made, kind, parameters))
    return spec._replace(parameters={**parameters, **spec.parameters})


def _made(kind: Any, parameters: dict[str, Any]) -> Any:
    from distinguo.tasks.gym.source import OF_OBJECTS, remedy

    arguments = {name: value for name, value in parameters.items() if name not in OF_OBJECTS}
    try:
        return kind(**arguments)
    except (DistinguoError, KeyboardInterrupt):
        raise
    except BaseException as error:
        with_these = f" with {arguments}" if arguments else ""
        advice = remedy(error, "check its arguments")
        raise DistinguoError(
            f"{kind.__name__} could not be made{with_these}: {reason_of(error)}; {advice}."
        ) from error


def _value(text: str) -> Any:
    from distinguo.reading.files import parse_toml

    try:
        return parse_toml(f"value = {text}", "--set")["value"]
    except DistinguoError:
        return text  # a bare word; checking the setting reports what is wrong


def prototypes(text: str, dimensions: Sequence[str]) -> Any:
    """Read the prototypes to start from: ``seeds``, points, a representation file or a run folder.

    >>> prototypes("0.5,1;-0.5,-1", ["x", "v"])
    [[0.5, 1.0], [-0.5, -1.0]]
    """
    if text == "seeds":
        return PAPER_SEEDS
    path = Path(text)
    if path.is_dir():
        from distinguo.runs.folder import map_file

        path = map_file(path)
    if path.exists() or text.endswith(".json"):
        return _from_file(path, dimensions)
    return [_point(point, text) for point in text.split(";") if point.strip()]


def _point(point: str, text: str) -> list[float]:
    try:
        return [float(number) for number in point.split(",")]
    except ValueError:
        raise DistinguoError(
            f"--from takes 'seeds', a representation file, a run folder or points like '0.27,0.62;-0.27,-0.62', "
            f"got '{text}'."
        ) from None


def state_numbers(text: str, run: Path, option: str = "--state", observed: bool = True) -> list[float]:
    """Read a state of the task of a run: numbers with commas between them.

    An ``observed`` one has a number for each coordinate of an observation; the state itself may have others.
    """
    from distinguo.runs.folder import SETTINGS, read_settings

    try:
        numbers = [float(number) for number in text.split(",")]
    except ValueError:
        numbers = []
    if not (run / SETTINGS).is_file():  # opening it says what is wrong
        return numbers
    spec = read_settings(run).spec
    is_count_right = len(numbers) == len(spec.dimensions) if observed else bool(numbers)
    if not is_count_right or not all(map(isfinite, numbers)):
        example = ",".join(f"{middle:zg}" for middle in _inside(spec))
        raise DistinguoError(
            f"{option} takes {counted(len(spec.dimensions), 'number')} with commas between them, "
            f"{', '.join(spec.axes)}, as in {option}={example}; got '{one_line(text, 60)}'."
        )
    return numbers


def _inside(spec: TaskSpec) -> list[float]:
    """Return a state within the box of a task, for an example."""
    if spec.kind == "categories":
        return list(spec.low)
    return [
        round((low + 3 * high) / 4, 2) if isfinite(high - low) else 0.5
        for low, high in zip(spec.low, spec.high, strict=True)
    ]


def _from_file(path: Path, dimensions: Sequence[str]) -> list[list[float]]:
    from distinguo.representations.file import load
    from distinguo.representations.partition import prototypes_of

    representation = load(path)
    prototypes = prototypes_of(representation.partition)
    if prototypes is None:
        raise DistinguoError(f"{path} has no prototypes, but learning starts from prototypes.")
    if len(representation.dimensions) != len(dimensions):
        raise DistinguoError(
            f"{path} has {len(representation.dimensions)} dimensions ({', '.join(representation.dimensions)}), "
            f"but the task has {len(dimensions)} ({', '.join(dimensions)})."
        )
    return prototypes.points.tolist()


def shard(text: str) -> tuple[int, int]:
    """Read ``I/N`` as the I-th of N parts.

    >>> shard("2/5")
    (2, 5)
    """
    match = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text.strip())
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise DistinguoError(f"--shard takes I/N with I from 1 to N, such as 2/5, got '{text}'.")
    return int(match[1]), int(match[2])


# Code that a user names on the command line: ``path/to/file.py:name``.
#
# Only words of the command line are read here. No file that is opened may ever name code to import.


def names_code(text: str) -> bool:
    """Whether a word names something in a Python file.

    >>> names_code("tasks/cart.py:Cart"), names_code("CartPole-v1"), names_code("module:Env-v0")
    (True, False, False)
    """
    path, colon, name = text.rpartition(":")
    return bool(colon and name) and path.endswith(".py")


def code_or_word(text: str) -> Any:
    """Return the object of a word like ``path/to/file.py:name``, otherwise the word itself.

    >>> code_or_word("diagonal")
    'diagonal'
    """
    return load_named(text) if names_code(text) else text


def load_named(text: str) -> Any:
    """Run the file of ``path/to/file.py:name`` and return the object of that name."""
    path, _, name = text.rpartition(":")
    module = imported(Path(path))
    if not hasattr(module, name):
        known = [word for word in vars(module) if not word.startswith("_")]
        raise DistinguoError(f"{path} has no '{name}'; {did_you_mean(name, known)}")
    return getattr(module, name)
