"""The command line: it parses, calls the library and prints. Commands do the heavy imports themselves."""

from __future__ import annotations

import io
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import typer

from distinguo.cli.console import forget_odd_sizes, say
from distinguo.cli.distil import condense_command, distil_command
from distinguo.cli.grouped import GroupedCommand, GroupedCommands
from distinguo.cli.learn import learn
from distinguo.cli.listing import runs_command, settings_command, tasks_command
from distinguo.cli.record import record_command
from distinguo.cli.seeing import (
    audit_command,
    explain_command,
    export_command,
    play_command,
    report_command,
    show_command,
    studio_command,
    verify_command,
)
from distinguo.cli.study import study_command
from distinguo.cli.test import compare_command
from distinguo.errors import DistinguoError

app = typer.Typer(
    name="distinguo",
    cls=GroupedCommands,
    help="Learn which differences between states matter.\n\n"
    "Start with: distinguo learn puck\n\n"
    "Then look: distinguo show\n\n"
    "And ask why: distinguo explain --state 0.5,1 --and=-0.5,-1\n\n"
    "Commands that take a RUN take the latest in ./runs if none is named.\n\n"
    "Every command takes --json (one JSON object as the last line of standard output) and exits with 2 and one "
    "sentence on bad input; learn exits with 3 if the task was not solved, distil and condense if the return was not "
    "kept, verify with 3, 4 or 5 if it was not proven, refuted, or cannot be proven.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
COMMANDS: dict[str, Callable[..., None]] = {
    "learn": learn,
    "record": record_command,
    "distil": distil_command,
    "test": compare_command,
    "study": study_command,
    "show": show_command,
    "explain": explain_command,
    "studio": studio_command,
    "play": play_command,
    "report": report_command,
    "audit": audit_command,
    "verify": verify_command,
    "condense": condense_command,
    "export": export_command,
    "runs": runs_command,
    "tasks": tasks_command,
    "settings": settings_command,
}
GROUPS = {"seeing": "Look at what was learned", "listing": "What there is"}  #: by the module of the command
LEARNING = "Learn and measure"


def _group(command: Callable[..., None]) -> str:
    """Return the group of a command in the help, by its module."""
    return GROUPS.get(command.__module__.rpartition(".")[2], LEARNING)


for name, command in COMMANDS.items():
    app.command(name, cls=GroupedCommand, rich_help_panel=_group(command))(command)


@app.callback(invoke_without_command=True)
def _version(
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    if version:
        from distinguo import __version__

        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command line."""
    warnings.showwarning = lambda message, _, file, *__: say(warning_line(str(message), file))
    _print_anything()
    forget_odd_sizes()
    try:
        app()
    except DistinguoError as error:
        say(f"distinguo: {error}")
        sys.exit(2)
    except OSError as error:  # a full disk, a folder without permission
        place = f" {error.filename}" if error.filename else ""
        say(f"distinguo: Cannot use{place}: {error.strerror or error}.")
        sys.exit(2)


_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def warning_line(message: str, file: str) -> str:
    r"""A warning with the package that it comes from, and without its colours.

    >>> warning_line("\x1b[33mWARN: lowered\x1b[0m", "/venv/lib/site-packages/gymnasium/logger.py")
    'gymnasium: WARN: lowered'
    """
    parts = Path(file).parts
    places = [n for n, part in enumerate(parts[:-1]) if part in ("site-packages", "dist-packages")]
    package = Path(parts[places[-1] + 1]).stem if places else "distinguo"
    return f"{package}: {_COLOUR.sub('', message)}"


def _print_anything() -> None:
    """Let standard output escape characters that its encoding lacks, as standard error does."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
