"""The learner on a kd-tree as the stage sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.learners.agent import NO_BUDGET, RUNNING, TERMINAL, Agent
from distinguo.learners.learner import Learner, Setup, register
from distinguo.seam import at_speed
from distinguo.tasks.extent import Extent
from distinguo_lab.growing_boxes import finished, growing_boxes, halve_evenly
from distinguo_lab.learners.kdtree.memory import (
    KdTreeMemory,
    KdTreeSettings,
    check_kd_tree,
    fresh_kd_tree,
    with_leaves_to_spare,
)
from distinguo_lab.learners.kdtree.trials import halve_marked, is_look_due, learn_so_far, mark_boundaries

FIRST_ROOM = 64  #: least room for leaves at the start


class KdTree(Learner):
    """Q-learning on the leaves of a kd-tree that are halved where neighbours disagree (Reynolds 2000).

    >>> from distinguo.runs.learn import learn
    >>> run = learn("puck", seed=1, learner="kd-tree", settings={"stage.steps": 3_000})
    >>> run.summary["regions"] >= 64
    True
    """

    name = "kd-tree"
    about = "halves boxes where neighbours prefer different actions (Reynolds 2000)"
    settings = KdTreeSettings
    #: Leaves are limited by a setting of its own, and it begins from scratch once.
    suggested: Mapping[str, Any] = {"stage.restart": 0, "stage.prototypes": 10**6, "stage.trials": 10**6} | {
        "stage.steps": 1_000_000
    }
    #: Before a far goal is found, only returns over many steps and random actions lead on (docs/readings.md).
    suggested_by_return: Mapping[str, Any] = {
        "learner.gamma": 0.98,
        "learner.alpha": 0.02,
        "learner.lambda_": 0.9,
        "learner.explore": 0.02,
        "learner.epsilon": 0.05,
        "learner.enough": 200,
        "learner.first_leaves": 256,
    }

    def fresh(self, setup: Setup) -> KdTreeMemory:
        """Begin with an even tree."""
        if setup.categories:
            raise DistinguoError(
                "The learner 'kd-tree' halves intervals of numbers, and this task observes categories; take another "
                "learner, such as sweeping."
            )
        if setup.prototypes:
            raise DistinguoError(
                "The learner 'kd-tree' divides its space into boxes and cannot begin from given prototypes; leave "
                "them out."
            )
        low, high = np.array(setup.low), np.array(setup.low) + np.array(setup.extent.widths)
        first = min(setup.settings.first_leaves, setup.settings.leaves)
        tree = growing_boxes(low.tolist(), high.tolist(), max(FIRST_ROOM, 2 * first))
        halve_evenly(tree, first)
        return fresh_kd_tree(tree, setup.actions, setup.settings.stack)

    def advance(self, agent: Agent, cap: int, steps: int, left: int = NO_BUDGET) -> int:
        """Act until it is time to check the boundaries, and learn from the stacked steps."""
        ended = super().advance(agent, cap, steps, left)
        if ended != RUNNING:
            at_speed(learn_so_far, agent.world)(*agent, ended == TERMINAL)
        return ended

    def prepared(self, agent: Agent, extent: Extent | None) -> Agent:
        """Halve leaves at decision boundaries if it is time."""
        if not is_look_due(agent.memory, agent.settings):
            return agent
        memory = with_leaves_to_spare(agent.memory)
        mark_boundaries(memory, agent.settings)
        halve_marked(memory, agent.settings)
        return agent._replace(memory=memory)

    def controller(self, memory: KdTreeMemory, settings: KdTreeSettings) -> Controller:
        """Act by the values of the leaves."""
        return Controller(finished(memory.tree), memory.q[: int(memory.tree.size[0])].copy())

    def values(self, memory: KdTreeMemory) -> Mapping[str, np.ndarray]:
        """How often each action value was learned since its leaf was made."""
        return {"updates": memory.lessons}

    def figures(self, memory: KdTreeMemory, settings: KdTreeSettings) -> Mapping[str, Any]:
        """How often all boundaries were checked, and how many leaves were halved."""
        return {name: int(memory.counters[name][0]) for name in ("looks", "halved")}

    def checked(self, memory: KdTreeMemory, fresh: KdTreeMemory) -> KdTreeMemory:
        """Check a memory from a file, which may have more room than a fresh one."""
        check_kd_tree(memory, fresh.q.shape[1], len(fresh.leaf), fresh.tree.least.shape[1])
        return memory


KD_TREE = KdTree.name

register(KdTree())
