"""What can be compared: run folders, representation files, NumPy files of prototypes, controls, and values."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from distinguo.controls.catalog import control
from distinguo.errors import DistinguoError
from distinguo.representation.file import Representation, load
from distinguo.representation.voronoi import voronoi
from distinguo.runs.configuration import check_prototypes
from distinguo.runs.files import LARGEST_ARRAYS
from distinguo.runs.folder import REPRESENTATION
from distinguo.runs.run import Run
from distinguo.tasks.extent import extent_of
from distinguo.tasks.spec import TaskSpec


def representation_named(what: Any, spec: TaskSpec, seed: int) -> Representation:
    """Return the representation that is meant, checked against the task.

    >>> from distinguo.tasks.catalog import task_spec
    >>> representation_named("grid:2x3", task_spec("puck"), seed=0).regions
    6
    """
    if not spec.bounded:
        extent = extent_of(spec, seed)
        spec = spec._replace(low=extent.low, high=extent.high)
    if not isinstance(what, str | os.PathLike):
        return _by_value(what, spec)
    path = Path(what)
    if path.is_dir():
        found = load(path / REPRESENTATION)
    elif path.suffix == ".npy":
        found = _prototypes(path, spec)
    elif path.exists() or path.suffix == ".json":
        found = load(path)
    else:
        found = control(str(what), spec, seed)
    if len(found.dimensions) != len(spec.dimensions):
        raise DistinguoError(
            f"{what} has {len(found.dimensions)} dimensions ({', '.join(found.dimensions)}), but the task "
            f"{spec.name} has {len(spec.dimensions)} ({', '.join(spec.dimensions)})."
        )
    return found


def name_of(what: Any) -> str:
    """Return what to call a representation in tables and file names."""
    if isinstance(what, str | os.PathLike):
        return str(what)
    if isinstance(what, Run):
        seed = what.configuration.seed
        return f"{what.configuration.spec.name}-seed{seed}" if what.path is None else str(what.path)
    return type(what).__name__


def _by_value(what: Any, spec: TaskSpec) -> Representation:
    if isinstance(what, Run):
        return what.representation
    return what if isinstance(what, Representation) else Representation(what, spec.dimensions)


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
