"""Small tasks that run as plain Python, maps to run on them, and trials from scratch by nothing but the task."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from hypothesis import Phase
from hypothesis import strategies as st

import distinguo as dg
from distinguo.learners.agent import Agent
from distinguo.learners.probation.memory import fresh_map
from distinguo.runs.configuration import configure
from distinguo.runs.stage import Stage
from distinguo.search.maps import PrototypeMap
from distinguo.tasks.catalog import spec_of
from distinguo.tasks.world import python_world

CAP = 12
#: A smaller example is looked for for minutes, and says no more than the first.
WITHOUT_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)
ACTIONS = ("left", "stay", "right")
BOX: dict[str, Any] = {
    "states": ("x", "v"),
    "actions": ACTIONS,
    "low": (-9, -4),
    "high": (9, 4),
    "limit": CAP,
}


def slid(s: tuple[float, ...], a: int) -> tuple[float, float]:
    """Return where a push leads that changes the velocity, on ice that is rough on the left."""
    v = 0.75 * s[1] + (a - 1) * (0.5 if s[0] < 0.0 else 1.0)
    return s[0] + v, v


@dg.task(**BOX, threshold=0.0, compiled=False)
class Costly(NamedTuple):
    """Every step costs one until the right end is reached."""

    goal: float = 3.0

    def transition(self, s: Any, a: int) -> Any:
        x, v = slid(s, a)
        return (x, v), -1.0, x >= self.goal

    def start(self, rng: np.random.Generator) -> Any:
        return (int(rng.random() * 8) / 2 - 3.0, 0.0)


@dg.task(**BOX, threshold=100.0, compiled=False)
class Paying(NamedTuple):
    """Every step pays one, until either end is reached."""

    end: float = 3.0

    def transition(self, s: Any, a: int) -> Any:
        x, v = slid(s, a)
        return (x, v), 1.0, abs(x) >= self.end

    def start(self, rng: np.random.Generator) -> Any:
        return (int(rng.random() * 8) / 4 - 1.0, 1.0)


TOYS = (Costly, Paying)


class Trial(NamedTuple):
    """A trial from scratch: its actions, and the return after each number of steps."""

    actions: tuple[int, ...]
    gained: tuple[float, ...]


def agent_for(toy: Any, *, returns: bool, **learner: Any) -> Agent:
    """Return an agent before its first trial; ``returns`` says whether it may go on from any node."""
    changes = {f"learner.{name}": value for name, value in learner.items()}
    task = toy()
    agent = Stage(configure(spec_of(task), seed=3, changes=changes, learner="probation")).agent
    agent.memory.facts["returns"] = returns
    world = agent.world  # parts that are called from here need one that is interpreted
    return agent._replace(world=python_world(task, world.spare.shape[1], world.sights.shape[1]))


points = st.tuples(st.integers(-12, 12).map(lambda n: n / 4), st.integers(-8, 8).map(lambda n: n / 4))
places = st.lists(st.tuples(points, st.integers(0, 2)), min_size=1, max_size=4)


@st.composite
def maps(draw: Any) -> PrototypeMap:
    """Draw a map of up to four prototypes."""
    drawn = draw(places)
    made = fresh_map(2)
    made.partition.size[0] = len(drawn)
    for p, (point, action) in enumerate(drawn):
        made.partition.prototypes[p], made.actions[p] = point, action
    made.partition.weight[:] = draw(st.sampled_from([(1.0, 1.0), (1.0, 0.25), (0.5, 2.0)]))
    made.partition.scale[:] = 1.0 / made.partition.weight
    return made


def choice(given: PrototypeMap, seen: Any) -> int:
    """Return the action of the nearest prototype, the first of equals."""
    size = int(given.partition.size[0])
    offsets = (given.partition.prototypes[:size] - np.array(seen)) * given.partition.weight
    return int(given.actions[int(np.argmin([row[0] * row[0] + row[1] * row[1] for row in offsets]))])


def from_scratch(toy: Any, given: PrototypeMap, s: Any, cap: int = CAP) -> Trial:
    """Run a trial of a map, knowing nothing of trees."""
    actions: list[int] = []
    gained = [0.0]
    over = False
    while not over and len(actions) < cap:
        a = choice(given, s)
        s, r, over = toy().transition(s, a)
        actions.append(a)
        gained.append(gained[-1] + r)
    return Trial(tuple(actions), tuple(gained))
