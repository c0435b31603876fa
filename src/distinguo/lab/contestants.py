"""What can be put on trial: a run folder, a representation file, a NumPy file of prototypes, or a control."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from distinguo.controls.catalog import control
from distinguo.errors import DistinguoError
from distinguo.lab.configuration import check_prototypes
from distinguo.lab.files import LARGEST_ARRAYS
from distinguo.lab.folder import REPRESENTATION
from distinguo.representation.file import Representation, load
from distinguo.representation.voronoi import voronoi
from distinguo.tasks.world import World
from distinguo.testing.extent import extent_of


def contestant(what: str, world: World, seed: int) -> Representation:
    """Return the representation that a word of the command line means, checked against the task.

    >>> from distinguo.tasks.catalog import world
    >>> contestant("grid:2x3", world("puck"), seed=0).regions
    6
    """
    if not world.bounded:
        extent = extent_of(world, seed)
        world = world._replace(low=extent.low, high=extent.high)
    path = Path(what)
    if path.is_dir():
        found = load(path / REPRESENTATION)
    elif path.suffix == ".npy":
        found = _prototypes(path, world)
    elif path.exists() or path.suffix == ".json":
        found = load(path)
    else:
        found = control(what, world, seed)
    if len(found.dimensions) != len(world.dimensions):
        raise DistinguoError(
            f"{what} has {len(found.dimensions)} dimensions ({', '.join(found.dimensions)}), but the task "
            f"{world.name} has {len(world.dimensions)} ({', '.join(world.dimensions)})."
        )
    return found


def _prototypes(path: Path, world: World) -> Representation:
    partition = voronoi(check_prototypes(_rows(path), world), world.scale)
    return Representation(partition, world.dimensions, {"prototypes": path.name})


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
