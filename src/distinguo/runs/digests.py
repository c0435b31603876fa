"""``digests.json``: which files of a run folder belong together.

A map with the values of another run is not what was learned. So the files that are written together are bound by
their SHA-256. Folders of earlier versions have no such file, and open without the check. ``settings.toml`` is not
bound, and a representation can be copied and read on its own.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import cast

from distinguo.errors import DistinguoError
from distinguo.reading.arrays import LARGEST_TABLE
from distinguo.reading.files import read_json, regular_file

DIGESTS = "digests.json"
VERSION = 1
LARGEST_DIGESTS = 2**16  #: bytes


def digests_text(files: Mapping[str, str | bytes], there: Iterable[Path] = ()) -> str:
    """Return the content of the file that binds these files, and those that are ``there`` already."""
    sums = {path.name: digest_of(path) for path in there}
    for name, content in files.items():
        sums[name] = hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()
    return json.dumps({"version": VERSION, "sha256": sums}, indent=2) + "\n"


def check_digests(
    folder: Path, together: Collection[str], unread: Collection[str] = (), missing: Collection[str] = ()
) -> None:
    """Raise an error if a file of a folder is not the one that was saved with the others.

    Files that are only written ``together`` with others are foreign if they are not bound. ``unread`` files are left
    out, and those that may be ``missing`` need not be there.
    """
    path = folder / DIGESTS
    if not path.exists() and not path.is_symlink():
        return
    sums = read_digests(path)
    for name, expected in sums.items():
        if name in unread or (name in missing and not (folder / name).exists()):
            continue
        if not (folder / name).exists():
            raise DistinguoError(f"{folder / name} is missing, but {DIGESTS} lists it; take a whole copy.")
        if digest_of(folder / name) != expected:
            raise _foreign(folder, name)
    for name in together:
        if name not in sums and name not in unread and (folder / name).exists():
            raise _foreign(folder, name)


def _foreign(folder: Path, name: str) -> DistinguoError:
    return DistinguoError(
        f"{folder / name} was not saved with the other files of its folder, so they may not belong together; take a "
        f"whole copy, or delete {DIGESTS} to open it as it is."
    )


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with regular_file(path, LARGEST_TABLE) as file:
        return hashlib.file_digest(cast("io.BufferedReader", file), "sha256").hexdigest()


def read_digests(path: Path) -> dict[str, str]:
    """Read the digests of files, by name."""
    content = read_json(path, LARGEST_DIGESTS)
    sums = content.get("sha256") if isinstance(content, dict) else None
    if not isinstance(sums, dict) or type(version := content.get("version")) is not int:
        raise DistinguoError(f"{path} is damaged; take a whole copy.")
    if version > VERSION:
        raise DistinguoError(f"{path} was written by a newer distinguo; upgrade to open its folder.")
    if not all(isinstance(one, str) and Path(name).name == name for name, one in sums.items()):
        raise DistinguoError(f"{path} is damaged; take a whole copy.")
    return sums
