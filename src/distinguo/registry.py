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

import functools
import importlib.util
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

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


class EntryPoint(NamedTuple):
    """What a package adds.

    >>> EntryPoint("x", "my_package.learner:MyLearner", "my-package").module
    'my_package.learner'
    """

    name: str
    value: str  #: "module:attribute"
    package: str

    @property
    def module(self) -> str:
        """The module that it is imported from."""
        return self.value.partition(":")[0].strip()

    @property
    def attr(self) -> str:
        """The name in that module."""
        return self.value.partition(":")[2].partition("[")[0].strip()


@functools.cache
def added(group: str) -> Mapping[str, EntryPoint]:
    """Return the entry points of a group by name, in alphabetical order; where two share a name, the first counts."""
    found: dict[str, EntryPoint] = {}
    for package, text in _texts():
        section = ""
        for line in map(str.strip, text.splitlines()):
            name, equals, value = (part.strip() for part in line.partition("="))
            if line.startswith("["):
                section = line.strip("[]").strip()
            elif section == group and equals and not line.startswith(("#", ";")):
                found.setdefault(name, EntryPoint(name, value, package))
    return dict(sorted(found.items()))


@functools.cache
def _texts() -> list[tuple[str, str]]:
    """The entry points that installed packages list for us, as text.

    ``importlib.metadata`` finds the same, but takes as long to import as the rest of the command line.
    """
    return [one for one in _listed() if "[distinguo." in one[1].replace(" ", "")]


def _listed() -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for place in sys.path:
        names = attempt(os.listdir, place or os.curdir, otherwise=[])
        for name in sorted(one for one in names if one.endswith((".dist-info", ".egg-info"))):
            package = name.rpartition(".")[0].partition("-")[0].replace("_", "-")
            path = os.path.join(place, name, "entry_points.txt")
            if package.lower() not in seen and os.path.isfile(path):
                yield package, attempt(Path(path).read_text, "utf-8", otherwise="")
            seen.add(package.lower())  # of two versions, only the first can be imported


def load_added(group: str, name: str) -> Any:
    """Import the object of an entry point; one sentence says why that fails."""
    entry = added(group)[name]
    try:
        return functools.reduce(getattr, entry.attr.split("."), importlib.import_module(entry.module))
    except (DistinguoError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise DistinguoError(
            f"The {GROUPS[group]} '{one_line(name)}' of the package {entry.package} cannot be imported from "
            f"{one_line(entry.value)} ({reason_of(error)}); reinstall or remove that package."
        ) from error


def docstring_of(entry: EntryPoint) -> str:
    """Return the docstring of a function that an entry point names, read from its source: importing may take long.

    >>> docstring_of(EntryPoint("x", "distinguo.registry:load_added", COMMANDS))
    'Import the object of an entry point; one sentence says why that fails.'
    >>> docstring_of(EntryPoint("x", "nowhere.to_be_found:x", COMMANDS))
    ''
    """
    return attempt(_docstrings, entry.module, otherwise={}).get(entry.attr, "")


@functools.cache
def _docstrings(module: str) -> Mapping[str, str]:
    """The docstrings of the functions of a module."""
    import ast  # here: it is rarely needed

    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        return {}
    body = ast.parse(Path(spec.origin).read_text(encoding="utf-8")).body
    return {node.name: ast.get_docstring(node) or "" for node in body if isinstance(node, ast.FunctionDef)}
