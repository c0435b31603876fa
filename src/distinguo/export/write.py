"""Write the controller of a run to a file, in one of several formats."""

from __future__ import annotations

from pathlib import Path

from distinguo.errors import DistinguoError, did_you_mean
from distinguo.export.controller import Controller, controller_of
from distinguo.export.document import to_document
from distinguo.export.graph import to_graph
from distinguo.export.header import PREFIX, check_name, to_header
from distinguo.representation.boxes import Boxes
from distinguo.representation.voronoi import Voronoi
from distinguo.runs.files import pack_arrays, write_atomically

#: The formats, and the name of the file that each makes in the run folder.
FORMATS = {"c": "controller.h", "json": "controller.json", "dot": "controller.dot", "npz": "controller.npz"}


def export(
    run: str | Path, to: str, out: str | Path | None = None, name: str = PREFIX, force: bool = False
) -> Path:
    """Write the controller of a run folder as ``c``, ``json``, ``dot`` or ``npz`` and return the file's path.

    >>> export("runs/nowhere", "dto")
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Unknown format 'dto'; did you mean 'dot'?
    """
    if to not in FORMATS:
        raise DistinguoError(f"Unknown format '{to}'; {did_you_mean(to, FORMATS)}")
    check_name(name)
    controller = controller_of(Path(run))
    path = Path(run) / FORMATS[to] if out is None else Path(out)
    _check_place(path, force)
    try:
        write_atomically(path, render(controller, to, name))
    except OSError as error:
        raise DistinguoError(f"Cannot write {path}: {error.strerror}.") from None
    return path


def render(controller: Controller, to: str, name: str = PREFIX) -> str | bytes:
    """Return the content of the file that :func:`export` writes."""
    if to == "c":
        return to_header(controller, name)
    if to == "json":
        return to_document(controller)
    if to == "dot":
        return to_graph(controller, name)
    return to_arrays(controller)


def to_arrays(controller: Controller) -> bytes:
    """Return an ``.npz`` file of the partition's arrays, the values ``q`` and the ``actions`` of their rows.

    A Voronoi partition is ``prototypes``, ``primary`` and ``scale``, one of categories the first two of these; one
    of boxes is the columns of its tree.
    """
    partition = controller.representation.partition
    learned = {"q": controller.q, "actions": controller.greedy}
    if isinstance(partition, Boxes):
        return pack_arrays({**partition._asdict(), **learned})
    size = partition.size[0]
    arrays = {"prototypes": partition.prototypes[:size], "primary": partition.primary[:size]}
    scale = {"scale": partition.scale} if isinstance(partition, Voronoi) else {}
    return pack_arrays({**arrays, **scale, **learned})


def _check_place(path: Path, force: bool) -> None:
    if path.is_dir():
        raise DistinguoError(f"{path} is a folder; give --out the name of a file.")
    if path.exists() and not force:
        raise DistinguoError(f"{path} exists already; choose another --out, or overwrite it with --force.")
    if not path.parent.is_dir():
        raise DistinguoError(f"There is no folder {path.parent}; make it first, or choose another --out.")
