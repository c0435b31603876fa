"""The systems of the comparison, each by the door that it enters by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

TASKS = ("puck", "MountainCar-v0", "CartPole-v1", "Acrobot-v1")
#: Doors: a learner makes its own map; a representation is given to the fresh learner of the separate tester; a
#: planner has no map and looks ahead at every step.
LEARNER, REPRESENTATION, PLANNER = "learner", "representation", "planner"


class System(NamedTuple):
    """A system, and how it is asked for."""

    name: str
    door: str
    asked: str  #: the name of the learner, or of the representation, or the depth of the planner
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
    System("by surprise", LEARNER, "surprise", "section 5.4, without mini-trials"),
    System("by a learned model", LEARNER, "model", "section 5.4, investigations ask a model"),
    System("on probation", LEARNER, "probation", "ours, the default of tasks judged by return"),
    System("decision boundaries", LEARNER, "kd-tree", "Reynolds 2000, section 5.5"),
    System("parti-game", LEARNER, "parti-game", "Moore and Atkeson 1995, section 5.2"),
    System(
        "variable resolution",
        REPRESENTATION,
        "variable-resolution:influence,200",
        "Munos and Moore 2002, section 5.5",
    ),
    System("finest along paths", REPRESENTATION, "vrdp", "Moore 1991, sections 2.1 and 4.2.2"),
    System(
        "finest near the start",
        REPRESENTATION,
        "near-start:3",
        "Hu and Fellman 1996, section 2.1",
        by_task={"CartPole-v1": "near-start:2", "Acrobot-v1": "near-start:1"},
    ),
    System("finest where visited most", REPRESENTATION, "most-visited:24", "Holdaway 1989, section 2.1"),
    System("vigilance", REPRESENTATION, "vigilance:0.9", "ART, section 5.2"),
    System(
        "uniform grid",
        REPRESENTATION,
        "grid:10x10",
        "section 4.2.2",
        by_task={"CartPole-v1": "grid:3x3x6x3", "Acrobot-v1": "grid:3x3x3x3x4x4"},
    ),
    System(
        "tile coding",
        REPRESENTATION,
        "tiles:8x10x10",
        "CMAC, section 1",
        by_task={"CartPole-v1": "tiles:8x6x6x6x6", "Acrobot-v1": "tiles:8x4x4x4x4x4x4"},
    ),
    System(
        "radial basis functions",
        REPRESENTATION,
        "rbf:10x10",
        "section 1",
        by_task={"CartPole-v1": "rbf:4x4x4x4", "Acrobot-v1": "rbf:3x3x3x3x3x3"},
    ),
    System("perceptron", REPRESENTATION, "perceptron", "section 1"),
    System("sparse sampling", PLANNER, "8", "Kearns, Mansour and Ng 2002, section 5.3"),
)
