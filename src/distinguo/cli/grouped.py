"""The help of the commands in groups, and the commands of installed packages."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from distinguo.cli.console import USUAL_WIDTH, width_of
from distinguo.errors import DistinguoError, visible
from distinguo.registry import COMMANDS, added, docstring_of, load_added
from distinguo.views.terminal import fitted_lines, listed

# The help of the commands: options in groups by purpose, no broken words, examples line by line.


WHAT, HOW, WHERE, WHO = "What", "How", "Where to", "Who works"  #: groups of options
OPTIONS, ARGUMENTS = "Options", "Arguments"
OTHERS = "Others"  #: the options without a group, listed last
MORE = "More commands"  #: of installed packages
WIDEST = 100  #: longer lines are hard to read
INDENT = "  "

Records = list[Sequence[str]]


def help_width() -> int:
    """Return the width of the help."""
    return min(width_of(sys.stdout) or USUAL_WIDTH, WIDEST)


def help_text(text: str, width: int) -> str:
    r"""Return the text of a command: paragraphs filled to the width, indented lines (examples) as they are.

    >>> print(help_text("Learn it,\nall of it.\n\nExamples:\n  distinguo learn puck\n\n  distinguo tasks", 40))
      Learn it, all of it.
    <BLANKLINE>
      Examples:
        distinguo learn puck
        distinguo tasks
    """
    blocks: list[str] = []
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        lines = paragraph.split("\n")
        prose = [line for line in lines if not line.startswith(" ")]
        if prose:
            blocks += ["", fitted_lines(INDENT + " ".join(prose), width, hanging=0)]
        blocks += [fitted_lines(INDENT + line, width, hanging=4) for line in lines if line.startswith(" ")]
    return "\n".join(blocks[1:])


def _write(formatter: Any, sections: Iterable[tuple[str, Records]]) -> None:
    width = help_width()
    for title, records in sections:
        lines = listed([[INDENT + name, text] for name, text in records], width)
        formatter.write(visible("\n".join(["", f"{title}:", *lines, ""])))


def _grouped(command: Any, ctx: Any) -> dict[str, Records]:
    """Return the arguments and the groups of options of a command."""
    groups: dict[str, Records] = {ARGUMENTS: []}
    for parameter in command.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if record is not None:
            is_argument = parameter.param_type_name == "argument"
            group = getattr(parameter, "rich_help_panel", None) or OTHERS
            groups.setdefault(ARGUMENTS if is_argument else group, []).append(record)
    others = groups.pop(OTHERS, [])
    named = [name for name in groups if name != ARGUMENTS]
    return {**groups, OTHERS if named else OPTIONS: others}


class GroupedCommand(TyperCommand):
    """A command whose options are listed under the names of their groups (``rich_help_panel``)."""

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """Write the description and the examples."""
        formatter.write("\n" + visible(help_text(self.help or "", help_width())) + "\n")

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, those without a group last."""
        _write(formatter, [(title, rows) for title, rows in _grouped(self, ctx).items() if rows])


class GroupedCommands(TyperGroup):
    """All commands, listed in groups by purpose, each with its first sentence."""

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """Write what the program does."""
        formatter.write("\n" + visible(help_text(self.help or "", help_width())) + "\n")

    def make_context(self, *arguments: Any, **named: Any) -> Any:
        """Read the words before the name of a command."""
        with _clean_errors():
            return super().make_context(*arguments, **named)

    def invoke(self, ctx: Any) -> Any:
        """Read the words of a command, and run it."""
        with _clean_errors():
            return super().invoke(ctx)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of our commands, then those of installed packages."""
        return list(dict.fromkeys([*super().list_commands(ctx), *added(COMMANDS)]))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command of ours, or import one of an installed package."""
        own = super().get_command(ctx, cmd_name)
        if own is not None or cmd_name not in added(COMMANDS):
            return own
        return added_command(cmd_name)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, then the options, without importing any package."""
        commands: dict[str, Records] = {}
        for name in self.list_commands(ctx):
            own: Any = self.commands.get(name)
            text = docstring_of(added(COMMANDS)[name]) if own is None else own.help
            first, _, _ = inspect.cleandoc(text or "").partition("\n\n")
            group = MORE if own is None else own.rich_help_panel or OTHERS
            commands.setdefault(group, []).append((name, " ".join(first.split())))
        _write(formatter, [*commands.items(), (OPTIONS, _grouped(self, ctx)[OPTIONS])])


@contextmanager
def _clean_errors() -> Iterator[None]:
    """Errors of the parser quote the words that were given, which a shell may have taken from names of files."""
    try:
        yield
    except Exception as error:
        if isinstance(message := getattr(error, "message", None), str):
            error.message = visible(message)  # type: ignore[attr-defined]
        raise


# Commands of installed packages, found by the entry points ``distinguo.commands`` and imported when they are run.


def added_command(name: str) -> Any:
    """Return the command of a package; if it cannot be imported, it says so when it is run."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    try:
        function = load_added(COMMANDS, name)
        app.command(name, cls=GroupedCommand, rich_help_panel=MORE)(function)
        return typer.main.get_command(app)
    except DistinguoError as error:
        return typer.core.TyperCommand(
            name, callback=functools.partial(_refuse, error), add_help_option=False
        )


def _refuse(error: DistinguoError) -> None:
    raise error
