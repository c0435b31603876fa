"""What installed packages add to distinguo by entry points: learners, schedulers, representations, commands, names.

A package lists what it adds in its ``pyproject.toml``; nothing is imported before it is used:

    [project.entry-points."distinguo.learners"]
    my-learner = "my_package.learner:MyLearner"

An entry that cannot be imported affects nothing else.

A scheduler decides in which order the learner ``model`` investigates. It is a function of the memory of the paper's
learner, its own name and ``learner.investigations``. It returns a larger memory of a class of its own. For that
class it implements the generics of the driver (learners/driver.py) and ``learn_step``, ``with_room``,
``checked_memory`` and ``forget_stack`` (learners/economy).
"""

from __future__ import annotations

import ast
import functools
import importlib.util
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from distinguo.errors import DistinguoError, attempt, one_line, reason_of

LEARNERS = "distinguo.learners"
SCHEDULERS = "distinguo.schedulers"
REPRESENTATIONS = "distinguo.representations"
COMMANDS = "distinguo.commands"
NAMES = "distinguo.names"
#: The groups, and the word for an entry of each in a sentence.
GROUPS = {
    LEARNERS: "learner",
    SCHEDULERS: "scheduler",
    REPRESENTATIONS: "representation",
    COMMANDS: "command",
    NAMES: "name",
}


@functools.cache
def added(group: str) -> Mapping[str, EntryPoint]:
    """Return the entry points of a group by name, in alphabetical order; where two share a name, the first counts."""
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=group):
        found.setdefault(entry.name, entry)
    return dict(sorted(found.items()))


def load_added(group: str, name: str) -> Any:
    """Import the object of an entry point; one sentence says why that fails."""
    entry = added(group)[name]
    try:
        return entry.load()
    except (DistinguoError, KeyboardInterrupt):
        raise
    except BaseException as error:
        package = entry.dist.name if entry.dist is not None else entry.module
        raise DistinguoError(
            f"The {GROUPS[group]} '{one_line(name)}' of the package {package} cannot be imported from "
            f"{one_line(entry.value)} ({reason_of(error)}); reinstall or remove that package."
        ) from error


def docstring_of(entry: EntryPoint) -> str:
    """Return the docstring of a function that an entry point names, read from its source: importing may take long.

    >>> docstring_of(EntryPoint("x", "distinguo.registry:load_added", COMMANDS))
    'Import the object of an entry point; one sentence says why that fails.'
    >>> docstring_of(EntryPoint("x", "nowhere.to_be_found:x", COMMANDS))
    ''
    """
    return str(attempt(_docstring, entry.module, entry.attr, otherwise=""))


def _docstring(module: str, function: str) -> str:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        return ""
    for node in ast.parse(Path(spec.origin).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            return ast.get_docstring(node) or ""
    return ""
