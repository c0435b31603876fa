"""The systems of the comparison, each by the door that it enters by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

TASKS = ("puck", "MountainCar-v0", "CartPole-v1", "Acrobot-v1")
#: Doors: a learner makes its own map; a representation is given to the fresh learner of the separate tester.
LEARNER, REPRESENTATION = "learner", "representation"


class System(NamedTuple):
    """A system, and how it is asked for."""

    name: str
    door: str
    asked: str  #: the name of the learner, or of the representation
    source: str  #: whose it is, and where the paper speaks of it
    settings: Mapping[str, Any] = {}  #: by dotted name
    by_task: Mapping[str, str] = {}  #: what is asked for instead, by task

    def asked_on(self, task: str) -> str:
        """Return what is asked for on a task.

        >>> a_grid = System("a grid", REPRESENTATION, "grid:10x10", "", by_task={"CartPole-v1": "grid:3x3x6x3"})
        >>> a_grid.asked_on("puck"), a_grid.asked_on("CartPole-v1")
        ('grid:10x10', 'grid:3x3x6x3')
        """
        return self.by_task.get(task, self.asked)


SYSTEMS: tuple[System, ...] = (
    System("the paper's learner", LEARNER, "economy", "sections 3 and 4, our defaults"),
    System("on probation", LEARNER, "probation", "ours, the default of tasks judged by return"),
    System(
        "uniform grid",
        REPRESENTATION,
        "grid:10x10",
        "section 4.2.2",
        by_task={"CartPole-v1": "grid:3x3x6x3", "Acrobot-v1": "grid:3x3x3x3x4x4"},
    ),
    System(
        "finest near the start",
        REPRESENTATION,
        "near-start:3",
        "Hu and Fellman 1996, section 2.1",
        by_task={"CartPole-v1": "near-start:2", "Acrobot-v1": "near-start:1"},
    ),
    System("finest along paths", REPRESENTATION, "vrdp", "Moore 1991, sections 2.1 and 4.2.2"),
    System("finest where visits are most", REPRESENTATION, "most-visited:24", "Holdaway 1989, section 2.1"),
    System("vigilance", REPRESENTATION, "vigilance:0.9", "ART, section 5.2"),
)
