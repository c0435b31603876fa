"""The two points that the paper's second experiment was seeded with (section 4.2.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distinguo.representations.file import Representation
    from distinguo.tasks.spec import TaskSpec

#: "the two (x, v)-space points (0.2680, 0.6200) and (-0.2680, -0.6200)" (paper, section 4.2.1).
PAPER_SEEDS = ((0.2680, 0.6200), (-0.2680, -0.6200))


def seed_points(spec: TaskSpec) -> Representation:
    """Return the seed representation of the paper's second experiment, before anything is learned.

    >>> from distinguo.tasks.catalog import task_spec
    >>> seed_points(task_spec("puck")).regions
    2
    """
    # heavy, and the command line needs the points alone
    from distinguo.controls.making import need_plane, with_provenance
    from distinguo.representations.voronoi import voronoi

    need_plane(spec, "seeds")
    return with_provenance(spec, voronoi(PAPER_SEEDS, spec.scale), "seeds")
