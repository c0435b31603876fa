"""The command line: a thin skin that parses, calls the library and prints. Heavy imports wait for a command."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Callable

import typer

from distinguo.cli.added import stopped_well
from distinguo.cli.console import say
from distinguo.cli.grouped import OTHERS, GroupedCommand, GroupedCommands
from distinguo.cli.learning.condense import condense_command
from distinguo.cli.learning.distil import distil_command
from distinguo.cli.learning.learn import learn
from distinguo.cli.learning.test import compare_command
from distinguo.cli.listing.settings import settings_command
from distinguo.cli.listing.tasks import tasks_command
from distinguo.cli.seeing.audit import audit_command
from distinguo.cli.seeing.explain import explain_command
from distinguo.cli.seeing.export import export_command
from distinguo.cli.seeing.play import play_command
from distinguo.cli.seeing.report import report_command
from distinguo.cli.seeing.show import show_command
from distinguo.cli.seeing.studio import studio_command
from distinguo.cli.seeing.verify import verify_command
from distinguo.errors import DistinguoError

app = typer.Typer(
    name="distinguo",
    cls=GroupedCommands,
    help="Learn which differences between states matter.\n\n"
    "Start with: distinguo learn puck\n\n"
    "Every command takes --json (one JSON object as the last line of standard output) and exits with 2 and one "
    "sentence on bad input; learn exits with 3 if the task was not solved, distil if the return was not kept, "
    "verify if it was not proven.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
COMMANDS: dict[str, Callable[..., None]] = {
    "learn": learn,
    "distil": distil_command,
    "test": compare_command,
    "show": show_command,
    "explain": explain_command,
    "studio": studio_command,
    "play": play_command,
    "report": report_command,
    "audit": audit_command,
    "verify": verify_command,
    "condense": condense_command,
    "export": export_command,
    "tasks": tasks_command,
    "settings": settings_command,
}
GROUPS = {"learning": "Learn and measure", "seeing": "Look at what was learned", "listing": "What there is"}


def _group(command: Callable[..., None]) -> str:
    """Return what a command is for, by the room that it lives in."""
    return next((title for room, title in GROUPS.items() if f".{room}." in command.__module__), OTHERS)


for name, command in COMMANDS.items():
    app.command(name, cls=GroupedCommand, rich_help_panel=_group(command))(stopped_well(command))


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
    warnings.showwarning = lambda message, *_: say(f"distinguo: {message}")
    _print_anything()
    try:
        app()
    except DistinguoError as error:
        say(f"distinguo: {error}")
        sys.exit(2)
    except OSError as error:  # a full disk, a folder that may not be written
        place = f" {error.filename}" if error.filename else ""
        say(f"distinguo: Cannot use{place}: {error.strerror or error}.")
        sys.exit(2)


def _print_anything() -> None:
    """Let standard output write what it has no letters for as standard error does: by number."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
