"""What was asked of a command that writes a run folder at its end: the mark of a folder that is not finished.

``request.json`` is the first file that such a command writes into its folder, and the first that it removes when all
others are there. It says what was asked, so that the same command can complete the folder and no other one can.
"""

from __future__ import annotations

import json
import shlex
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from distinguo.errors import DistinguoError, shown
from distinguo.reading.files import MEBIBYTE, parse_json, read_text
from distinguo.versions import changed, software

REQUEST = "request.json"
LARGEST_REQUEST = MEBIBYTE  #: bytes
COMMANDS = ("distil", "condense", "learn")


class RunRequest(NamedTuple):
    """What was asked, by name, and the words of the command without its folder."""

    asked: Mapping[str, Any]
    words: Sequence[str]
    versions: Mapping[str, str] = {}  #: of the software that began it

    def text(self) -> str:
        """The content of its file."""
        content = {"version": 1, "asked": self.asked, "words": list(self.words), "versions": software()}
        return json.dumps(content, indent=2, default=shown) + "\n"

    def command(self, path: Path) -> str:
        """The command that completes the folder."""
        return shlex.join(["distinguo", *self.words, "--out", str(path)])

    def differences(self, other: Mapping[str, Any]) -> str:
        """What is asked otherwise than before, for a message; empty if nothing is."""
        mine, before = as_asked(self.asked), as_asked(other)
        return ", ".join(
            f"{name} {json.dumps(mine.get(name))} instead of {json.dumps(before.get(name))}"
            for name in mine | before
            if mine.get(name) != before.get(name)
        )


def as_asked(asked: Mapping[str, Any]) -> dict[str, Any]:
    """What was asked as its file would say it."""
    read: dict[str, Any] = json.loads(json.dumps(dict(asked), default=shown))
    return read


def read_request(path: Path) -> RunRequest | None:
    """Read what was asked in a folder that is not finished; None if there is no such file."""
    file = path / REQUEST
    return request_in(file) if file.exists() else None


def request_in(file: Path) -> RunRequest:
    """Read the file of what was asked."""
    content = parse_json(read_text(file, LARGEST_REQUEST), str(file))
    try:
        asked, words, versions = content["asked"], content["words"], content["versions"]
        if content["version"] != 1:
            raise DistinguoError(f"{file} was written by another distinguo; upgrade to complete it.")
        texts = [*words, *asked, *versions, *versions.values()]
        if not all(isinstance(one, str) for one in texts) or words[0] not in COMMANDS:
            raise ValueError
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, DistinguoError):
            raise
        raise DistinguoError(f"{file} is damaged; delete the folder to begin anew.") from None
    return RunRequest(asked, words, versions)


def interruption(path: Path) -> str:
    """A sentence on a folder that is not finished, with the command that completes it; empty if there is none."""
    request = read_request(path)
    if request is None:
        return ""
    return (
        f"{path} is not finished: distinguo {request.words[0]} was interrupted; complete it with: "
        f"{request.command(path)}"
    )


def say_if_changed(path: Path, versions: Mapping[str, str]) -> None:
    """Warn if a folder was begun with other software."""
    if words := changed(dict(versions)):
        warnings.warn(
            f"{path} was begun with other software: now {words}; the result may differ from one that was never "
            "stopped.",
            stacklevel=3,
        )
