"""``distinguo tasks``: what can be learned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from distinguo.cli.completion import complete_task
from distinguo.cli.listing.words import matching, nothing_found

if TYPE_CHECKING:
    from distinguo.tasks.spec import TaskSpec

#: What the tasks are about; those of Gymnasium that are nowhere described here are listed by name alone.
ABOUT = {
    "puck": "keep a puck on top of a round hill by pushing it left and right; the paper's task",
    "puck-continuing": "the same without ends: after a fall the puck is put back, and only the reward tells",
    "maze": "walk around three walls to a goal in the plane",
    "CartPole-v1": "keep a pole upright on a cart",
    "MountainCar-v0": "swing a weak car up to the flag on the hill",
    "Acrobot-v1": "swing the tip of two links above a line",
    "Pendulum-v1": "swing a pendulum up and hold it, with little effort",
    "MountainCarContinuous-v0": "the car again, with a force of any strength; needs --set task.levels=3",
    "FrozenLake-v1": "walk over slippery ice to the goal, not into a hole",
    "FrozenLake8x8-v1": "the same on a larger lake",
    "CliffWalking-v1": "walk along a cliff to the goal",
    "CliffWalkingSlippery-v1": "the same on slippery ground",
    "Taxi-v4": "fetch a passenger and take them where they want to go",
    "Blackjack-v1": "take cards up to 21 and beat the dealer",
}
LEVELS = {"MountainCarContinuous-v0": 3}  #: of actions, where an environment has a continuous one
MOST_NAMED = 3  #: dimensions that are all named in a line


class TaskLine(NamedTuple):
    """A task in a line."""

    name: str
    dimensions: tuple[str, ...]
    actions: int
    goal: str
    compiled: bool
    limit: int | None
    about: str


def tasks_command(
    word: Annotated[
        str | None,
        typer.Argument(help="Only those with this in their name or line.", autocompletion=complete_task),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """List the tasks: what is observed, the actions, the goal, and whether they run as compiled code.

    Any other environment of Gymnasium with a finite number of actions can be learned, too, and tasks of your own.

    Examples:
      distinguo tasks

      distinguo tasks lake --json
    """
    from distinguo.cli.console import answer, output_for
    from distinguo.views.terminal.layout import listed
    from distinguo.views.terminal.paint import ASIDE

    lines = matching(word, task_lines(), lambda line: line.name, lambda line: line.about)
    more = _others(word)
    if not lines and not more:
        raise nothing_found("task", word or "", [*ABOUT, *_others("")])
    output = output_for(as_json)
    rows = [[line.name, _facts(line)] for line in lines]
    for text in listed(rows, output.width):
        output.tell(text)
    if more:
        output.tell(f"{len(more)} more ids of Gymnasium: {', '.join(more)}.", ASIDE)
    if word is None:
        output.tell("Your own: distinguo learn path/to/file.py:Class. Learn one with: distinguo learn NAME")
    answer({"tasks": [line._asdict() for line in lines], "others": more}, as_json)


def task_lines() -> Iterator[TaskLine]:
    """Yield our own tasks, and those of Gymnasium that need nothing else to be installed."""
    from gymnasium import registry

    from distinguo.tasks.catalog import SPECS

    for name, made in SPECS.items():
        spec = made({})
        yield TaskLine(name, spec.dimensions, len(spec.actions), goal_of(spec), True, spec.limit, ABOUT[name])
    for name in [known for known in ABOUT if known not in SPECS and known in registry]:
        yield _of_gymnasium(name)


def goal_of(spec: TaskSpec) -> str:
    """Say what a task asks for, in a few words.

    >>> from distinguo.tasks.catalog import task_spec
    >>> goal_of(task_spec("puck")), goal_of(task_spec("CartPole-v1")), goal_of(task_spec("Pendulum-v1"))
    ('trials that never end', 'mean return 475', 'mean return, none known to solve it')
    """
    from distinguo.tasks.spec import Hold

    return "trials that never end" if isinstance(spec.goal, Hold) else _by_return(spec.threshold)


def _by_return(threshold: float | None) -> str:
    return "mean return, none known to solve it" if threshold is None else f"mean return {threshold:g}"


def _of_gymnasium(name: str) -> TaskLine:
    """Describe an environment by its spaces; it is made, but not tried."""
    from distinguo.tasks.gym.task import make_task

    arguments = {"levels": LEVELS[name]} if name in LEVELS else {}
    driver = make_task(name, arguments).driver
    checked, source = driver.checked_env, driver.source
    goal = _by_return(source.threshold)
    return TaskLine(name, checked.view.names, checked.choices.number, goal, False, source.limit, ABOUT[name])


def _facts(line: TaskLine) -> str:
    seen = line.dimensions
    names = f" ({', '.join(seen)})" if len(seen) <= MOST_NAMED else ""
    speed = "compiled" if line.compiled else "plain Python"
    dimensions = "1 dimension" if len(seen) == 1 else f"{len(seen)} dimensions"
    return f"{line.about}: {dimensions}{names}, {line.actions} actions, {line.goal}, {speed}"


def _others(word: str | None) -> list[str]:
    """Return the ids of Gymnasium that are listed by name alone; only if a word asks for them."""
    from gymnasium import registry

    if word is None:
        return []
    names = [name for name, spec in registry.items() if name not in ABOUT and _is_usable(spec)]
    return sorted(matching(word, names, str))


def _is_usable(spec: Any) -> bool:
    """Tell whether an id stands for an environment, not for a function that refuses old names, or for ours."""
    from distinguo.tasks.gym.registration import PUCK_ID

    return isinstance(spec.entry_point, str) and spec.id != PUCK_ID
