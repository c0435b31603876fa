"""What can be put on trial: a run folder, a representation file, a NumPy file of prototypes, or a control."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from distinguo.controls.catalog import control
from distinguo.errors import DistinguoError
from distinguo.representation.file import Representation, load
from distinguo.representation.voronoi import voronoi
from distinguo.runs.configuration import check_prototypes
from distinguo.runs.files import LARGEST_ARRAYS
from distinguo.runs.folder import REPRESENTATION
from distinguo.tasks.extent import task_extent
from distinguo.tasks.spec import TaskSpec


def contestant(what: str, spec: TaskSpec, seed: int) -> Representation:
    """Return the representation that a word of the command line means, checked against the task.

    >>> from distinguo.tasks.catalog import task_spec
    >>> contestant("grid:2x3", task_spec("puck"), seed=0).regions
    6
    """
    if not spec.bounded:
        extent = task_extent(spec, seed)
        spec = spec._replace(low=extent.low, high=extent.high)
    path = Path(what)
    if path.is_dir():
        found = load(path / REPRESENTATION)
    elif path.suffix == ".npy":
        found = _prototypes(path, spec)
    elif path.exists() or path.suffix == ".json":
        found = load(path)
    else:
        found = control(what, spec, seed)
    if len(found.dimensions) != len(spec.dimensions):
        raise DistinguoError(
            f"{what} has {len(found.dimensions)} dimensions ({', '.join(found.dimensions)}), but the task "
            f"{spec.name} has {len(spec.dimensions)} ({', '.join(spec.dimensions)})."
        )
    return found


def _prototypes(path: Path, spec: TaskSpec) -> Representation:
    partition = voronoi(check_prototypes(_rows(path), spec), spec.scale)
    return Representation(partition, spec.dimensions, {"prototypes": path.name})


def _rows(path: Path) -> np.ndarray:
    """Read an array of numbers; mapping it into memory first checks that the file is as large as it says."""
    try:
        rows = np.lib.format.open_memmap(path, mode="r")
    except OSError as error:
        raise DistinguoError(f"Cannot read {path}: {error.strerror}.") from None
    except ValueError:
        rows = None
    if rows is None or rows.dtype.kind not in "iuf":
        raise DistinguoError(f"{path} is not a whole .npy file of numbers; write one with numpy.save.")
    if rows.nbytes > LARGEST_ARRAYS:
        raise DistinguoError(f"{path} holds more than {LARGEST_ARRAYS} bytes; it was not read.")
    return np.array(rows)
