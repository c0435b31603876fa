"""Write the controller of a run to a file, in one of several formats."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from distinguo import __version__
from distinguo.errors import DistinguoError, checks_names, did_you_mean, path_from
from distinguo.exports.agreement import Written, decided
from distinguo.exports.arduino import to_arduino
from distinguo.exports.decision import ARITHMETICS, Decision, decision_of
from distinguo.exports.fmu import to_fmu
from distinguo.exports.graph import to_graph
from distinguo.exports.header import PREFIX, check_name, header_of, source_and_header
from distinguo.exports.markdown import to_markdown
from distinguo.exports.modules import to_javascript, to_python
from distinguo.exports.onnx import to_onnx
from distinguo.exports.structured_text import to_structured_text
from distinguo.exports.tables import LabelledController, arrays_of, labelled, open_controller
from distinguo.proof.verify import Cited
from distinguo.representations import file as representation_file
from distinguo.representations.partition import lacking
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


def to_arrays(named: LabelledController) -> bytes:
    """Return an ``.npz`` file of the partition's arrays, the values ``q`` and the ``actions`` of their rows."""
    learned = {"q": named.controller.q, "actions": named.controller.greedy}
    if named.laws is not None:
        learned |= {f"laws_{name}": array for name, array in named.laws._asdict().items()}
    return pack_arrays({**arrays_of(named.controller.partition), **learned})


DOUBLE = ("double",)
Content = str | bytes | dict[str, str]  #: of one file, or of several by their suffixes


class Format(NamedTuple):
    """A format: the name of the file that it makes in a run folder, and the function that makes its content.

    A program is made from a decision, in one of ``arithmetics``, the first by default; data from a controller. The
    function is also given the prefix of names and the name of the file without its suffix.
    """

    file: str
    render: Callable[[Any, str, str], Content | Written]
    arithmetics: tuple[str, ...] = ()
    prefixed: bool = True  #: whether its names begin with a prefix, or it has a name
    in_c: bool = False  #: whether a partition of one's own may say what it is
    measured: bool = False  #: whether it is run itself to tell how often its action is Python's


FORMATS = {
    "c": Format(
        "controller.h", lambda decision, name, stem: header_of(decision, name), ARITHMETICS, in_c=True
    ),
    "c-source": Format("controller.c", source_and_header, ARITHMETICS, in_c=True),
    "arduino": Format(
        "controller.zip",
        lambda decision, name, stem: to_arduino(decision, name),
        ("float", "double", "fixed"),
        in_c=True,
    ),
    "python": Format(
        "controller.py", lambda decision, name, stem: to_python(decision), DOUBLE, prefixed=False
    ),
    "javascript": Format(
        "controller.mjs", lambda decision, name, stem: to_javascript(decision), DOUBLE, prefixed=False
    ),
    "structured-text": Format(
        "controller.st", lambda decision, name, stem: to_structured_text(decision, name), ARITHMETICS
    ),
    "onnx": Format(
        "controller.onnx",
        lambda decision, name, stem: to_onnx(decision, name),
        ("double", "float"),
        measured=True,
    ),
    "fmu": Format("controller.fmu", lambda decision, name, stem: to_fmu(decision, name), DOUBLE),
    "markdown": Format(
        "controller.md",
        lambda decision, name, stem: to_markdown(decision),
        DOUBLE,
        prefixed=False,
        measured=True,
    ),
    "json": Format("controller.json", lambda named, name, stem: to_document(named), prefixed=False),
    "dot": Format("controller.dot", lambda named, name, stem: to_graph(named, name)),
    "npz": Format("controller.npz", lambda named, name, stem: to_arrays(named), prefixed=False),
}
_BY_SUFFIX = {Path(known.file).suffix: name for name, known in FORMATS.items()}


@checks_names()
def export(
    run: Run | str | Path,
    to: str | Path,
    out: str | Path | None = None,
    name: str | None = None,
    force: bool = False,
    arithmetic: str | None = None,
    safe: str | None = None,
) -> Path:
    """Write the controller of a run, or of the run in a folder, and return the path of the file.

    ``to`` is a format, which is written to ``out`` or into the run folder, or a file with the suffix of one, such as
    ``controller.h``. The formats are ``c``, ``c-source``, ``arduino``, ``python``, ``javascript``,
    ``structured-text``, ``onnx``, ``fmu``, ``markdown``, ``json``, ``dot`` and ``npz`` (docs/exports.md). ``name`` is
    the prefix of the names in C and structured text, and the name of a model or graph, by default ``distinguo``. A
    program takes the ``safe`` action where an observation is not finite or huge, by default the first one of the
    task; ``arithmetic`` is ``"double"``, ``"float"`` or ``"fixed"``.

    >>> export("runs/nowhere", "dto")
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Unknown format 'dto'; did you mean 'dot'?
    """
    return write_controller(run, to, out, name, force, arithmetic, safe).path


class Exported(NamedTuple):
    """The file that a controller was written to, what was written, and the checked certificates of the run."""

    path: Path
    certificates: Cited
    decision: Decision | None  #: if it is a program


def write_controller(
    run: Run | str | Path,
    to: str | Path,
    out: str | Path | None,
    name: str | None,
    force: bool,
    arithmetic: str | None = None,
    safe: str | None = None,
) -> Exported:
    """Do what :func:`export` does, and return what was written, too."""
    file_format, path = _target(run, to, out)
    _check_options(file_format, name, arithmetic, safe)
    named = labelled(run) if isinstance(run, Run) else open_controller(path_from(run))
    decision = _decision(named, file_format, arithmetic, safe)
    several = (".c", ".h") if file_format == "c-source" else ()
    path = path.with_suffix(several[0]) if several else path
    places = {suffix: path.with_suffix(suffix) for suffix in several} or {"": path}
    for place in places.values():
        _check_place(place, force)
    content, decision = _rendered(named, decision, file_format, name, path.stem)
    for suffix, place in places.items():
        write_atomically(place, content[suffix] if isinstance(content, dict) else content)
    return Exported(path, named.certificates, decision)


def render(
    named: LabelledController,
    file_format: str,
    name: str | None = None,
    arithmetic: str | None = None,
    safe: str | None = None,
) -> Content:
    """Return the content of the file that :func:`export` writes."""
    _check_options(file_format, name, arithmetic, safe)
    decision = _decision(named, file_format, arithmetic, safe)
    return _rendered(named, decision, file_format, name, "controller")[0]


def _rendered(
    named: LabelledController, decision: Decision | None, file_format: str, name: str | None, stem: str
) -> tuple[Content, Decision | None]:
    """The content of a file, and the decision with what was measured of it."""
    content = FORMATS[file_format].render(decision or named, name or PREFIX, stem)
    return content if isinstance(content, Written) else (content, decision)


def _decision(
    named: LabelledController, file_format: str, arithmetic: str | None, safe: str | None
) -> Decision | None:
    """What is decided, if the format is a program."""
    known = FORMATS[file_format]
    if not known.arithmetics:
        return None
    decide = decision_of if known.measured else decided
    decision = decide(named, arithmetic or known.arithmetics[0], safe)
    if decision.own and not known.in_c:
        remedy = "take c, for which a partition may have a method in_c(self, name)"
        raise lacking(named.controller.partition, f"cannot be written as {file_format}", remedy)
    return decision


def _check_options(file_format: str, name: str | None, arithmetic: str | None, safe: str | None) -> None:
    """Reject options that a format does not have."""
    known = FORMATS[file_format].arithmetics
    if name is not None:
        check_name(name)
        if not FORMATS[file_format].prefixed:
            raise DistinguoError(f"The format {file_format} has no names with a prefix; leave --name out.")
    if not known and (arithmetic or safe):
        programs = ", ".join(name for name, one in FORMATS.items() if one.arithmetics)
        raise DistinguoError(
            f"The format {file_format} is data, which has no arithmetic and no safe action; leave them out, or take "
            f"one of {programs}."
        )
    if arithmetic and arithmetic not in known:
        raise DistinguoError(
            f"The format {file_format} has no arithmetic '{arithmetic}'; {did_you_mean(arithmetic, known)}"
        )


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
