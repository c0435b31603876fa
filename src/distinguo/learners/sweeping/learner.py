"""The learner for exact categories as the stage sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from distinguo.controller import Controller, choose
from distinguo.errors import DistinguoError
from distinguo.learners.agent import NO_ACTION, NO_BUDGET, Agent
from distinguo.learners.driver import first_action, get_action, locate, pauses
from distinguo.learners.learner import Learner, Setup, register
from distinguo.learners.sweeping.consolidation import compatible_map, consolidate_plan, map_groups
from distinguo.learners.sweeping.memory import (
    SweepingMemory,
    SweepingSettings,
    check_sweeping,
    fresh_sweeping,
    with_spare_room,
)
from distinguo.learners.sweeping.model import fill_slots, learn_transition, queue_all_again, state_number
from distinguo.learners.sweeping.plan import make_plan_of_model, note_greatest_value, rests_on_experience
from distinguo.representations.growing import growing_categories, primary_rows, settled
from distinguo.seam import implements
from distinguo.tasks.extent import Extent
from distinguo.tasks.spec import Goal, MeanReturn
from distinguo.tasks.world import AFTER, BEFORE, look

FIRST_ROOM = 64  #: room for states at first
AGAIN = 2  #: the growth of experience after which an unchanged map counts as final


class Sweeping(Learner):
    """A model of the task swept by priority, explored by optimism, and consolidated into a small map.

    >>> from distinguo.runs.learn import learn
    >>> run = learn("CliffWalking-v1", seed=1, learner="sweeping", settings={"stage.steps": 5_000})
    >>> run.summary["score"], run.summary["states_seen"], run.summary["regions"]
    (-13.0, 38, 3)
    """

    name = "sweeping"
    about = "sweeps a model of all states, then makes a small map of it; for labels"
    settings = SweepingSettings
    suggested: Mapping[str, Any] = {  # it forgets nothing, so it never restarts
        "stage.restart": 0,
        "stage.prototypes": 10**6,
        "stage.steps": 200_000,
    }
    needs_extent = False

    def fresh(self, setup: Setup) -> SweepingMemory:
        """Begin with one region."""
        if not setup.categories:
            raise DistinguoError(
                "The learner 'sweeping' learns tasks whose observations are categories (Discrete, MultiDiscrete, "
                "MultiBinary), but this task observes numbers; take another learner, such as economy."
            )
        if setup.prototypes:
            raise DistinguoError(
                "The learner 'sweeping' finds its own prototypes and cannot begin from given ones; leave them out."
            )
        return fresh_sweeping(
            growing_categories([setup.seen], FIRST_ROOM), setup.actions, setup.settings.gamma
        )

    def advance(self, agent: Agent, cap: int, steps: int, left: int = NO_BUDGET) -> int:
        """Drive the trial, and note its cap as the horizon of plans."""
        agent.memory.counters["horizon"][0] = cap
        return super().advance(agent, cap, steps, left)

    def settle(self, agent: Agent, left: int = NO_BUDGET) -> None:
        """Make a new plan and draw its map, if there is enough new experience."""
        memory, settings = agent.memory, agent.settings
        counters = memory.counters[0]
        if counters["experience"] <= settings.plan_growth * counters["planned"]:
            return
        discount, groups = float(memory.amounts["gamma"][0]), memory.group.copy()
        make_plan_of_model(memory, settings)
        counters["settled"] = rests_on_experience(memory, settings)
        consolidate_plan(memory, settings, bool(counters["settled"]))
        map_groups(memory)
        if (memory.group != groups).any():
            counters["changed"] = counters["planned"]
        if note_greatest_value(memory) or memory.amounts["gamma"][0] != discount:
            queue_all_again(memory)

    def claims(self, agent: Agent, ended: int, goal: Goal) -> bool:
        """Claim success, once for a plan, if it rests on enough experience and cannot be far from the best.

        Either its mean return in the model reaches the threshold, or the map has not changed while experience
        doubled, so that little is left to learn.
        """
        counters, worth = agent.memory.counters[0], float(agent.memory.amounts["worth"][0])
        threshold = goal.threshold if isinstance(goal, MeanReturn) else None
        if not counters["settled"] or counters["claimed"] == counters["planned"]:
            return False
        same_since = max(counters["changed"], counters["claimed"])
        stable = counters["planned"] >= AGAIN * same_since
        if not stable and (threshold is None or worth < threshold):
            return False
        counters["claimed"] = counters["planned"]
        return True

    def controller(self, memory: SweepingMemory, settings: SweepingSettings) -> Controller:
        """Act by the consolidated map of the latest plan."""
        return Controller(settled(memory.partition), memory.q[primary_rows(memory.partition)])

    def prepared(self, agent: Agent, extent: Extent | None) -> Agent:
        """Make room for more states and edges."""
        memory = with_spare_room(agent.memory)
        if memory is not agent.memory:
            fill_slots(memory)
        return agent._replace(memory=memory)

    def values(self, memory: SweepingMemory) -> Mapping[str, np.ndarray]:
        """How often each action was tried in the state that stands for each region."""
        return {"updates": memory.tries[memory.mapped[primary_rows(memory.partition)]]}

    def figures(self, memory: SweepingMemory, settings: SweepingSettings) -> Mapping[str, Any]:
        """How many states were seen, how many of them matter to the controller, and the other map's size."""
        states = int(memory.counters["states"][0])
        return {
            "states_seen": states,
            "states_that_matter": int((memory.group[:states] >= 0).sum()),
            "expected_return": float(memory.amounts["worth"][0]),
            "chance": bool(memory.counters["chance"][0]),
        }

    def map_for_others(self, memory: SweepingMemory, settings: SweepingSettings) -> Any:
        """Return the map in which states are merged only if their values are compatible, too (Definition 9)."""
        return compatible_map(memory, settings)

    def checked(self, memory: SweepingMemory, fresh: SweepingMemory) -> SweepingMemory:
        """Check a memory from a file, which may have more room than a fresh one."""
        check_sweeping(memory, fresh.tries.shape[1], fresh.seen.shape[1])
        return memory


SWEEPING = Sweeping.name

register(Sweeping())


# Trials of the learner for categories: act by the highest upper value, record what follows, sweep.


@implements(locate, SweepingMemory)
def _number_of(memory: SweepingMemory, agent: Agent, s: np.ndarray) -> int:
    return state_number(memory, look(agent.world, s, BEFORE).seen)


@implements(first_action, SweepingMemory)
def _first_action(memory: SweepingMemory, agent: Agent, s: np.ndarray, j: int) -> int:
    memory.starts[j] += 1
    return choose(memory.hope[j], 0.0, agent.rng)


@implements(get_action, SweepingMemory)
def _sweep_and_act(
    memory: SweepingMemory,
    agent: Agent,
    s: np.ndarray,
    j: int,
    a: int,
    r: float,
    s_next: np.ndarray,
    terminal: bool,
) -> tuple[int, int]:
    k = state_number(memory, look(agent.world, s_next, AFTER).seen)
    learn_transition(memory, agent.settings, j, a, r, k, terminal)
    return (NO_ACTION if terminal else choose(memory.hope[k], 0.0, agent.rng)), k


@implements(pauses, SweepingMemory)
def is_full(memory: SweepingMemory, agent: Agent, length: int) -> bool:
    """Whether there is no room for another state or edge."""
    counters = memory.counters
    return counters["states"][0] >= len(memory.tries) or counters["edges"][0] >= len(memory.edge_to)
