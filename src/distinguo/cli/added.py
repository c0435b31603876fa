"""Commands of installed packages, found by the entry points ``distinguo.commands`` and imported when they are run."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import typer

from distinguo.cli.console import stoppable
from distinguo.cli.grouped import MORE, GroupedCommand
from distinguo.errors import DistinguoError
from distinguo.registry import COMMANDS, load_added


def stopped_well(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command end at once and with the usual exit code where it has nothing to save."""

    @functools.wraps(command)
    def run(*arguments: Any, **named: Any) -> None:
        with stoppable("Stopped."):
            command(*arguments, **named)

    return run


def added_command(name: str) -> Any:
    """Return the command that a package adds; one that cannot be imported says so when it is run."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    try:
        function = load_added(COMMANDS, name)
        app.command(name, cls=GroupedCommand, rich_help_panel=MORE)(stopped_well(function))
        return typer.main.get_command(app)
    except DistinguoError as error:
        return typer.core.TyperCommand(
            name, callback=functools.partial(_refuse, error), add_help_option=False
        )


def _refuse(error: DistinguoError) -> None:
    raise error
