"""The learner by surprise as the stage sees it: the trials of the paper's learner, and no mini-trials."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from distinguo.learners.agent import NO_BUDGET, Agent
from distinguo.learners.economy.learner import Economy
from distinguo.learners.economy.memory import Memory
from distinguo.learners.economy.values import current_epsilon
from distinguo.learners.learner import Setup, register
from distinguo.learners.surprise.settings import SurpriseSettings
from distinguo.presets import BY_NOISE, SURPRISE_BY_RETURN
from distinguo.tasks.spec import TaskSpec


class Surprise(Economy):
    """A surprising state of a reliable region becomes a region at once; no state is ever come back to.

    Memory and kernels are those of the paper's learner with ``active=false`` (learners/economy/passive.py), so the
    same settings give the same bits there and here.

    >>> from distinguo.runs.learn import learn
    >>> run = learn("puck", seed=1, learner="surprise", settings={"stage.cap": 10_000, "stage.hold": 10_000})
    >>> run.solved, run.summary["regions"], run.summary["investigation_steps"]
    (True, 3, 0)
    """

    name = "surprise"
    about = "the paper's learner without mini-trials: a surprising state becomes a region at once"
    settings = SurpriseSettings
    suggested_by_return = SURPRISE_BY_RETURN

    def suggested_for(self, spec: TaskSpec) -> Mapping[str, Any]:
        """Return what suits it; there are no mini-trials to repeat against strong noise."""
        confidence = BY_NOISE[spec.stochastic].get("learner.confidence")
        return {**super().suggested_for(spec), **({"learner.confidence": confidence} if confidence else {})}

    def fresh(self, setup: Setup) -> Memory:
        """Begin from scratch, or from the prototypes that were given."""
        return super().fresh(setup._replace(settings=setup.settings.in_full))

    def begin(self, agent: Agent) -> None:
        """Begin a trial."""
        super().begin(_in_full(agent))

    def advance(self, agent: Agent, cap: int, steps: int, left: int = NO_BUDGET) -> int:
        """Act, learn, and split where a transition surprises."""
        return super().advance(_in_full(agent), cap, steps, left)

    def settle(self, agent: Agent, left: int = NO_BUDGET) -> None:
        """Consolidate, if it is time: merge regions whose values are compatible."""
        super().settle(_in_full(agent), left)

    def figures(self, memory: Memory, settings: Any) -> Mapping[str, Any]:
        """Return the epsilon in force: as given, or the present share of what was found."""
        return {"epsilon": float(current_epsilon(memory, settings.in_full))}

    def states_needed(self, memory: Memory) -> np.ndarray | None:
        """Return none: nobody comes back to a state."""
        return None


def _in_full(agent: Agent) -> Agent:
    return agent._replace(settings=agent.settings.in_full)


SURPRISE = Surprise.name

register(Surprise())
