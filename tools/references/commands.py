"""The page of commands: what ``--help`` says of each, as tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.references.markdown import page, table

_INTRODUCTION = """\
`distinguo COMMAND --help` says the same. Every command takes `--json`: one JSON object as the last line of standard
output. Each command is a function in [Python](api.md), too.

| exit code | meaning |
|---|---|
| 0 | done; for `learn`: solved, for `distil` and `condense`: the return is kept, for `verify`: proven |
| 1 | some cells of `test` failed; the same command runs only those again |
| 2 | bad input, or a file that cannot be used, with one sentence |
| 3 | done without success: `learn` did not solve the task (with `--seeds`: for some seed), `distil` or `condense` \
did not keep the return, `verify` found no proof, `reproduce` found a claim that differs under the paper's constants |
| 4 | `verify`: refuted by a trial |
| 5 | `verify`: not provable, as this task or this kind of map has no proofs; the trials do not refute it |
| 6 | `learn --prove`: solved, but not proven |
| 130, 143 | stopped by Ctrl-C or SIGTERM |"""


def commands() -> dict[str, Any]:
    """Return every command by its name."""
    import typer

    from distinguo.cli import app

    group: Any = typer.main.get_command(app)
    return {name: group.get_command(None, name) for name in group.list_commands(None)}


def examples_of(command: Any) -> list[str]:
    """Return the examples of the help of a command."""
    lines = (line.strip().removeprefix("Example: ") for line in (command.help or "").splitlines())
    return [line for line in lines if line.startswith("distinguo ")]


def commands_page() -> str:
    """Return the page."""
    listed = commands()
    overview = table(
        ["command", "does"], [[f"[`{name}`](#{name})", _words(one)[0]] for name, one in listed.items()]
    )
    return page(
        "Command line", _INTRODUCTION, overview, *(_section(name, one) for name, one in listed.items())
    )


def _words(command: Any) -> list[str]:
    """Return the paragraphs of a help, without its examples."""
    text = (command.help or "").partition("\n\nExample")[0]
    return [" ".join(part.split()) for part in text.split("\n\n")]


def _section(name: str, command: Any) -> str:
    arguments = " ".join(_metavar(p) for p in command.params if not _is_option(p))
    usage = f"`distinguo {name} {arguments} [OPTIONS]`".replace("  ", " ")
    examples = "\n".join(f"    {line}" for line in examples_of(command))
    options = table(["option", "meaning", "default"], _options(command))
    return "\n\n".join(part for part in [f"## {name}", usage, *_words(command), options, examples] if part)


def _options(command: Any) -> Iterator[list[str]]:
    for parameter in command.params:
        if getattr(parameter, "hidden", False):
            continue
        spelt = _metavar(parameter)
        if _is_option(parameter):
            value = "" if getattr(parameter, "is_flag", False) else f" {_metavar(parameter)}"
            spelt = " / ".join([*parameter.opts, *parameter.secondary_opts]) + value
        several = " May be given more than once." if parameter.multiple else ""
        default = parameter.default
        shown = "" if default is None or callable(default) or default is False else f"`{default}`"
        yield [f"`{spelt}`", f"{parameter.help or ''}{several}", shown]


def _is_option(parameter: Any) -> bool:
    return parameter.opts[0].startswith("-")


def _metavar(parameter: Any) -> str:
    word = str(parameter.metavar or parameter.name.upper())
    return f"{word}…" if not _is_option(parameter) and parameter.nargs == -1 else word
