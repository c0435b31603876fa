"""The shell commands of a document, in the order in which a reader meets them.

A command is a line of a code block that begins with ``distinguo`` (after ``$`` where its output follows). Its
comment may say why it is not tried or how it ends:

    distinguo reproduce                      # takes four minutes
    distinguo test --plan plan.toml …        # needs a cluster
    distinguo learn puck --set …             # exits with 3
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
#: Written by the generator from the help of the commands, whose examples have a test of their own.
GENERATED = ROOT / "docs" / "reference"
DOCUMENTS = sorted(
    path for path in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")] if GENERATED not in path.parents
)
_FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"(?:^|\n\n)((?:    [^\n]*\n|\n(?=    ))+)")
#: Commands that go on until they are stopped.
SERVING = {"studio": "needs a browser: tests/browser opens it"}
_SHELL = ("", "sh", "console")


class Shell(NamedTuple):
    """A command as it stands in a document."""

    document: str
    line: str
    words: tuple[str, ...]  #: without ``distinguo``
    skipped: str  #: why it is not tried; empty for one that is
    exit_code: int
    expected: str | None  #: the output, where the document shows it


def code_blocks(text: str) -> list[tuple[str, str]]:
    """Return the blocks of a document as pairs of language and content, in order.

    >>> code_blocks("Do:\\n\\n    distinguo learn puck\\n\\n```toml\\na = 1\\n```\\n")
    [('', 'distinguo learn puck\\n'), ('toml', 'a = 1\\n')]
    """
    found = [(match.start(), match[2], _without_margin(match[3])) for match in _FENCE.finditer(text)]
    rest = _FENCE.sub(lambda match: "\n" * len(match[0]), text)  # keeps all positions
    found += [(match.start(1), "", _without_margin(match[1])) for match in _INDENTED.finditer(rest)]
    return [(language, content) for _, language, content in sorted(found)]


def _without_margin(text: str) -> str:
    lines = text.splitlines()
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "".join(line[margin:] + "\n" for line in lines)


def shell_commands(path: Path) -> list[Shell]:
    """Return the commands of a document that call distinguo."""
    found = []
    for language, block in code_blocks(path.read_text(encoding="utf-8")):
        if language in _SHELL:
            found += _console(path, block) if "$ " in block else _plain(path, block)
    return found


def _plain(path: Path, block: str) -> list[Shell]:
    lines = re.sub(r"\\\n\s*", " ", block).splitlines()
    parts = [part.strip() for line in lines for part in line.split("&&")]
    return [_shell(path, part, None) for part in parts if part.startswith("distinguo ")]


def _console(path: Path, block: str) -> list[Shell]:
    pieces = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    pairs = [piece.partition("\n") for piece in pieces]
    return [_shell(path, line, output) for line, _, output in pairs if line.startswith("distinguo ")]


def _shell(path: Path, line: str, expected: str | None) -> Shell:
    comment = line.partition(" # ")[2].strip()
    words = tuple(shlex.split(line, comments=True)[1:])
    if words[0] in SERVING:
        comment = SERVING[words[0]]
    code = re.fullmatch(r"exits with (\d+)", comment)
    return Shell(
        path.relative_to(ROOT).as_posix(),
        line,
        words,
        comment if comment.startswith(("takes ", "needs ")) else "",
        int(code[1]) if code else 0,
        expected,
    )
