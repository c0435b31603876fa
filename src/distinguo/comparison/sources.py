"""What can be compared: run folders, representation files, NumPy files of prototypes, names, and values."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from distinguo.controls import as_representation, build_representation
from distinguo.errors import DistinguoError, call_user_code
from distinguo.reading.arrays import read_array
from distinguo.representations.file import Representation, load
from distinguo.representations.partition import region
from distinguo.representations.voronoi import voronoi
from distinguo.runs.configuration import check_prototypes
from distinguo.runs.folder import map_file
from distinguo.runs.listing import no_run
from distinguo.runs.run import Run
from distinguo.seam import has_own
from distinguo.tasks.extent import task_extent
from distinguo.tasks.spec import TaskSpec


def representation_named(what: Any, spec: TaskSpec, seed: int) -> Representation:
    """Return a representation, checked against the task.

    ``what`` is a path (a run folder, a representation file, a ``.npy`` file of prototypes), the name of a
    representation, a representation or a run itself, a partition, a class of partitions, or a function of the task
    and the seed that builds one of these.

    >>> from distinguo.tasks.catalog import task_spec
    >>> representation_named("grid:2x3", task_spec("puck"), seed=0).regions
    6
    """
    if not spec.bounded:
        extent = task_extent(spec, seed)
        spec = spec._replace(low=extent.low, high=extent.high)
    named = isinstance(what, str | os.PathLike)
    known = _by_name(str(what), spec, seed) if named else _by_value(what, spec, seed)
    if len(known.dimensions) != len(spec.dimensions):
        raise DistinguoError(
            f"{name_of(what)} has {len(known.dimensions)} dimensions ({', '.join(known.dimensions)}), but the task "
            f"{spec.name} has {len(spec.dimensions)} ({', '.join(spec.dimensions)})."
        )
    return known


def name_of(what: Any) -> str:
    """Return the name of a representation for tables and files.

    >>> from distinguo.representations.declare import FunctionPartition
    >>> name_of("grid:2x3"), name_of(FunctionPartition(int, 2))
    ('grid:2x3', 'FunctionPartition')
    """
    if isinstance(what, str | os.PathLike):
        return str(what)
    if isinstance(what, Run):
        seed = what.configuration.seed
        return f"{what.configuration.spec.name}-seed{seed}" if what.path is None else str(what.path)
    return str(getattr(what, "__name__", type(what).__name__))


def _by_name(word: str, spec: TaskSpec, seed: int) -> Representation:
    path = Path(word)
    if path.is_dir():
        return load(map_file(path))
    if path.suffix == ".npy":
        return _prototypes(path, spec)
    if path.exists() or path.suffix == ".json":
        return load(path)
    if os.sep in word and path.parent.exists():
        raise no_run(path)
    return build_representation(word, spec, seed)


def _by_value(what: Any, spec: TaskSpec, seed: int) -> Representation:
    name = name_of(what)
    if isinstance(what, type):
        what = call_user_code(f"The partition {name}", what)  # a class, whose fields have defaults
    elif callable(what) and not has_own(region, what):
        what = call_user_code(f"The representation {name}", what, spec, seed)
    if not has_own(region, what):
        what = getattr(what, "carried", None) or getattr(what, "representation", what)
    return as_representation(what, spec, name)


def _prototypes(path: Path, spec: TaskSpec) -> Representation:
    partition = voronoi(check_prototypes(read_array(path), spec), spec.scale)
    return Representation(partition, spec.dimensions, {"prototypes": path.name})
