"""Write the controller of a run to a file, in one of several formats."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from distinguo import __version__
from distinguo.errors import DistinguoError, checks_names, did_you_mean, path_from
from distinguo.exports.graph import to_graph
from distinguo.exports.header import PREFIX, check_name, to_header
from distinguo.exports.tables import LabelledController, arrays_of, labelled, open_controller
from distinguo.proof.verify import Cited
from distinguo.representations import file as representation_file
from distinguo.runs.run import Run
from distinguo.writing import pack_arrays, write_atomically

FORMAT = "distinguo-controller"
VERSION = 1


def to_document(named: LabelledController) -> str:
    """Return the representation, and the action and the values of each region, as JSON text.

    >>> import numpy as np
    >>> from distinguo.controller import Controller
    >>> from distinguo.representations.voronoi import voronoi
    >>> two = Controller(voronoi([[1.0], [-1.0]], [1.0]), np.array([[0.0, -1.0], [-1.0, 0.0]]))
    >>> json.loads(to_document(LabelledController(two, ("x",), ("left", "right"))))["regions"][1]
    {'region': 1, 'action': 1, 'values': [-1.0, 0.0]}
    """
    head: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "distinguo": __version__,
        "task": named.task,
        "actions": list(named.actions),
    }
    if named.laws is not None:
        head["laws"] = {name: array.tolist() for name, array in named.laws._asdict().items()}
    if named.certificates.certificate is not None:
        head["certificate"] = named.certificates.certificate._asdict()
    lines = [f"  {json.dumps(key)}: {json.dumps(value, allow_nan=False)}" for key, value in head.items()]
    regions = ",\n".join("    " + json.dumps(row, allow_nan=False) for row in _regions(named))
    lines.append(f'  "regions": [\n{regions}\n  ]')
    inner = representation_file.dumps(named.representation).strip().replace("\n", "\n  ")
    lines.append(f'  "representation": {inner}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _regions(named: LabelledController) -> list[dict[str, Any]]:
    greedy, q = named.controller.greedy, named.controller.q
    return [{"region": j, "action": int(greedy[j]), "values": q[j].tolist()} for j in range(len(q))]


class Format(NamedTuple):
    """A format: the name of the file that it makes in a run folder, and the function that makes its content."""

    file: str
    render: Callable[[LabelledController, str], str | bytes]


def to_arrays(named: LabelledController) -> bytes:
    """Return an ``.npz`` file of the partition's arrays, the values ``q`` and the ``actions`` of their rows."""
    learned = {"q": named.controller.q, "actions": named.controller.greedy}
    if named.laws is not None:
        learned |= {f"laws_{name}": array for name, array in named.laws._asdict().items()}
    return pack_arrays({**arrays_of(named.controller.partition), **learned})


FORMATS = {
    "c": Format("controller.h", to_header),
    "json": Format("controller.json", lambda named, name: to_document(named)),
    "dot": Format("controller.dot", to_graph),
    "npz": Format("controller.npz", lambda named, name: to_arrays(named)),
}
_BY_SUFFIX = {Path(known.file).suffix: name for name, known in FORMATS.items()}


@checks_names()
def export(
    run: Run | str | Path,
    to: str | Path,
    out: str | Path | None = None,
    name: str = PREFIX,
    force: bool = False,
) -> Path:
    """Write the controller of a run, or of the run in a folder, and return the path of the file.

    ``to`` is a file whose suffix is that of a format, such as ``controller.h``, or one of the formats ``c``,
    ``json``, ``dot`` and ``npz``, which are written to ``out`` or into the run folder. ``name`` is the prefix of the
    names in C.

    >>> export("runs/nowhere", "dto")
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Unknown format 'dto'; did you mean 'dot'?
    """
    return write_controller(run, to, out, name, force).path


class Exported(NamedTuple):
    """The file that a controller was written to, and the checked certificates of the run."""

    path: Path
    certificates: Cited


def write_controller(
    run: Run | str | Path, to: str | Path, out: str | Path | None, name: str, force: bool
) -> Exported:
    """Do what :func:`export` does, and return the checked certificates, too."""
    file_format, path = _target(run, to, out)
    check_name(name)
    named = labelled(run) if isinstance(run, Run) else open_controller(path_from(run))
    _check_place(path, force)
    write_atomically(path, render(named, file_format, name))
    return Exported(path, named.certificates)


def render(named: LabelledController, file_format: str, name: str = PREFIX) -> str | bytes:
    """Return the content of the file that :func:`export` writes."""
    return FORMATS[file_format].render(named, name)


def _target(run: Run | str | Path, to: str | Path, out: str | Path | None) -> tuple[str, Path]:
    """Return the requested format and file."""
    if to in FORMATS:
        folder = run.path if isinstance(run, Run) else path_from(run)
        if out is None and folder is None:
            raise DistinguoError(
                f"This run has no folder to write into; give a file, such as {FORMATS[str(to)].file}."
            )
        return str(to), path_from(out) if out is not None else Path(folder or ".") / FORMATS[str(to)].file
    suffix = path_from(to).suffix
    if suffix not in _BY_SUFFIX or out is not None:
        raise DistinguoError(
            f"Unknown format '{to}'; {did_you_mean(suffix or str(to), [*FORMATS, *_BY_SUFFIX])}"
        )
    return _BY_SUFFIX[suffix], Path(to)


def _check_place(path: Path, force: bool) -> None:
    if path.is_dir():
        raise DistinguoError(f"{path} is a folder; give --out the name of a file.")
    if path.exists() and not force:
        raise DistinguoError(f"{path} exists already; choose another --out, or overwrite it with --force.")
    if not path.parent.is_dir():
        raise DistinguoError(f"There is no folder {path.parent}; make it first, or choose another --out.")
