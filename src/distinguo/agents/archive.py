"""An agent's file: a run folder in a zip, with a word on the agent beside it. Reading it runs no code.

Unpacked, it is a run folder that every command of distinguo reads; a run folder can be loaded as it is.
"""

from __future__ import annotations

import io
import os
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from distinguo.errors import DistinguoError
from distinguo.reading.arrays import read_zip
from distinguo.reading.documents import parse_json
from distinguo.reading.files import read_bytes
from distinguo.runs import folder
from distinguo.writing.atomic import write_atomically

AGENT = "agent.json"
VERSION = 1
LARGEST = 2**30  #: bytes that the files of one agent may unpack to
#: The files that are read and written; others are left alone.
NAMES = (
    *(folder.SETTINGS, folder.REPRESENTATION, folder.VALUES, *folder.GROWING),
    *(folder.RESULT, folder.CHECKPOINT, AGENT),
)
Files = dict[str, bytes]
_Count = Annotated[int, Field(ge=0)]


class Word(BaseModel):
    """What a run folder does not say about an agent."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
    version: Annotated[int, Field(ge=1)] = VERSION
    num_timesteps: _Count = 0
    shape: Annotated[list[_Count], Field(max_length=32)] | None = None  # of one observation
    first_action: Annotated[int, Field(ge=-(2**53), le=2**53)] = 0  # what a space may hold
    summary: dict[str, Any] = {}


def read(path: str | os.PathLike[str]) -> tuple[Files, str]:
    """Return the files of an agent by name, and its path; as for saving, ``.zip`` may be left out."""
    place = Path(path)
    if not place.exists() and named(place).exists():
        place = named(place)
    return (_from_folder(place) if place.is_dir() else read_zip(place, NAMES, LARGEST)), str(place)


def named(path: str | os.PathLike[str]) -> Path:
    """Return the path with ``.zip`` where it has no ending, as Stable-Baselines3 does.

    >>> named("best_model").name, named("agent.zip").name
    ('best_model.zip', 'agent.zip')
    """
    place = Path(path)
    return place if place.suffix else place.with_name(f"{place.name}.zip")


def _from_folder(place: Path) -> Files:
    found = [place / name for name in NAMES if (place / name).is_file()]
    size = sum(path.stat().st_size for path in found)
    if size > LARGEST:
        raise DistinguoError(f"{place} holds {size} bytes, more than {LARGEST}; not read.")
    return {path.name: read_bytes(path, LARGEST) for path in found}


def write(path: str | os.PathLike[str], files: Files) -> None:
    """Write an agent's files as one, whole or not at all."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    place = named(path)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(place, buffer.getvalue())
    except OSError as error:
        raise DistinguoError(f"Cannot write {place}: {error.strerror or error}.") from None


@contextmanager
def unpacked(files: Files, source: str) -> Iterator[Path]:
    """Lend a folder with these files; complaints about it name their source."""
    with tempfile.TemporaryDirectory(prefix="distinguo-") as name:
        place = Path(name)
        for file, content in files.items():
            (place / file).write_bytes(content)
        try:
            yield place
        except DistinguoError as error:
            raise DistinguoError(str(error).replace(name, source)) from None


def gathered(place: Path) -> Files:
    """Return the files of a lent folder."""
    return _from_folder(place)


def read_word(files: Files, source: str) -> Word | None:
    """Return the word on the agent, if there is one: a run folder has none."""
    if AGENT not in files:
        return None
    try:
        content = parse_json(files[AGENT], AGENT)
        newer = content["version"] > VERSION
        word = Word.model_validate(content)
    except (ValueError, TypeError, LookupError):
        raise DistinguoError(f"{source}/{AGENT} is damaged; take a whole copy.") from None
    if newer:
        raise DistinguoError(f"{source} was written by a newer distinguo; upgrade to load it.")
    return word
