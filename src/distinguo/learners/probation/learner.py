"""The learner ``probation`` as the stage sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.learners.agent import NO_BUDGET, Agent, Progress, begin_counting
from distinguo.learners.learner import Learner, Setup, register
from distinguo.learners.probation.memory import (
    WIDEN,
    ProbationSettings,
    RaceMemory,
    checked_race_memory,
    fresh_race_memory,
    new_root,
    run_trial,
    with_nodes,
)
from distinguo.learners.probation.proposals import RaceLog, drain_race, fresh_race_log
from distinguo.learners.probation.race import drive, is_claimable
from distinguo.references import by_reference
from distinguo.seam import at_speed, is_compiled, kernel
from distinguo.search.maps import PrototypeMap, controller_of
from distinguo.tasks.extent import HARDLY, Extent
from distinguo.tasks.spec import LARGEST, Goal, Hold


class CounterexampleTests:
    """The trials of a confirmation as candidates for the race: those that fail join it as counterexamples."""

    def begin(self, agent: Agent) -> None:
        """Forget the trials of the last confirmation."""
        agent.memory.status["tests"] = 0

    def are_run(self, memory: RaceMemory) -> bool:
        """Trials that are judged by return are remembered: a failure is a counterexample."""
        return not memory.facts["hold"][0]

    def run(self, agent: Agent, cap: int) -> tuple[int, float]:
        """Run a trial from a new start, and remember it."""
        most = min(cap, len(agent.memory.scratch.path) - 1)
        steps, gained = at_speed(run_from_new_start, agent.world)(*agent, _chosen(agent.memory), most)
        return int(steps), float(gained)

    def refuted(self, agent: Agent, returns: Sequence[float]) -> None:
        """Let the worst starts of a failed confirmation, and a median one, join the race."""
        memory, settings = agent.memory, agent.settings
        if memory.facts["hold"][0] and memory.status["starts"][0] < settings.most_starts:
            memory.status["widened"], memory.status["phase"] = 1, WIDEN
        ranked = np.argsort(returns[: int(memory.status["tests"][0])], kind="stable")
        count = min(settings.counterexamples, len(ranked))
        chosen = list(ranked[:count])
        if count > 1:
            chosen[-1] = ranked[max(len(ranked) // 2, count - 1)]
        for place in chosen:
            self._join(memory, settings, int(memory.starts.tests[place]), float(returns[place]))
        memory.status["stalled"], memory.status["shrink"] = 0.0, 0

    @staticmethod
    def _join(memory: RaceMemory, settings: ProbationSettings, root: int, gained: float) -> None:
        starts, count = memory.starts, int(memory.status["starts"][0])
        slot = count if count < settings.most_starts else int(np.argmax(starts.returns[:count]))
        memory.status["starts"] = max(count, slot + 1)
        starts.roots[slot], starts.returns[slot] = root, gained


class Probation(Learner):
    """Distinctions on probation: propose a change of the map, try it where it changes a decision, and keep it if it
    pays.

    The map is a *controller*: prototypes, an action for each, and the weights of the metric, all of them learned.
    """

    name = "probation"
    about = "tries changes of a small map and keeps those that pay"
    settings = ProbationSettings
    suggested: Mapping[str, Any] = {  # it restarts by itself, and most proposals take few steps
        "stage.restart": 0,
        "stage.trials": 10**6,
        "stage.steps": 200_000,
    }
    only_controls = True
    needs_extent = False
    ends_with_long_trial = False
    own_tests = CounterexampleTests()

    def fresh(self, setup: Setup) -> RaceMemory:
        """Begin with nothing."""
        if setup.categories:
            raise DistinguoError(
                "The learner 'probation' needs observations that are numbers, but these are labels; "
                "use --learner sweeping."
            )
        if setup.prototypes:
            raise DistinguoError(
                "The learner 'probation' finds its own prototypes and cannot begin from given ones; leave them "
                "out, or use --learner economy."
            )
        settings = setup.settings
        cap = settings.horizon if setup.limit is None else setup.limit
        memory = fresh_race_memory(len(setup.first), len(setup.seen), setup.actions, settings.model, cap)
        memory.facts["hold"] = isinstance(setup.goal, Hold)
        memory.facts["returns"] = is_compiled(setup.task)
        memory.facts["repeats"] = setup.stochastic == "no" and setup.restorable
        memory.facts["threshold"] = _threshold(setup.goal, cap)
        memory.incumbent.partition.prototypes[0] = setup.seen
        memory.scratch.share[list(setup.left_out)] = HARDLY
        return memory

    def begin(self, agent: Agent) -> None:
        """Begin to try the next proposal."""
        agent.memory.status["claimed"] = 0
        begin_counting(agent.progress)

    def advance(self, agent: Agent, cap: int, steps: int, left: int = NO_BUDGET) -> int:
        """Try it."""
        most = min(cap, len(agent.memory.scratch.path) - 1)
        ended: int = at_speed(advance_race, agent.world)(*agent, most, (steps, left))
        return ended

    def settle(self, agent: Agent, left: int = NO_BUDGET) -> None:
        """Do nothing: a proposal was concluded when its last trial ended."""

    def controller(self, memory: RaceMemory, settings: ProbationSettings) -> Controller:
        """Act by the present map, or by the map of the best attempt if it gained more."""
        return controller_of(_chosen(memory).distinct(), memory.tree.child.shape[1])

    def prepared(self, agent: Agent, extent: Extent | None) -> Agent:
        """Make room for a few trials."""
        cap = len(agent.memory.scratch.path)
        return agent._replace(memory=with_nodes(agent.memory, 8 * cap + 8))

    def fresh_log(self, memory: RaceMemory) -> RaceLog:
        """Return an empty log."""
        return fresh_race_log(memory.tree.seen.shape[1])

    def reasons(self, agent: Agent) -> list[dict[str, Any]]:
        """The changes that were kept, and their gains."""
        return drain_race(agent.log)

    def figures(self, memory: RaceMemory, settings: ProbationSettings) -> Mapping[str, Any]:
        """How many proposals were tried and kept, and the mean return of the map on the starts of its race."""
        status = memory.status[0]
        own, is_judged = max(_mean(memory), float(status["best"])), not memory.facts["hold"][0]
        found = (
            {"starts": int(status["starts"]), "starts_return": own} if is_judged and own > -LARGEST else {}
        )
        return {"proposals": int(status["proposals"]), "kept": int(status["kept"]), **found}

    def states_needed(self, memory: RaceMemory) -> np.ndarray:
        """Return the starts that trials may begin from again."""
        status = memory.status[0]
        roots = [int(status["root"])] if status["root"] >= 0 else []
        roots += memory.starts.roots[: int(status["starts"])].tolist()
        roots += memory.starts.tests[: int(status["tests"])].tolist()
        return memory.tree.states[np.array(roots, dtype=np.int64)]

    def checked(self, memory: RaceMemory, fresh: RaceMemory) -> RaceMemory:
        """Check a memory from a file."""
        return checked_race_memory(memory, fresh)

    # ---- confirmation ---------------------------------------------------------------------------------------------

    def claims(self, agent: Agent, ended: int, goal: Goal) -> bool:
        """Whether the present map reaches the threshold on its starts and has not been refuted."""
        status = agent.memory.status
        claimed = bool(not status["pending"][0] and is_claimable(agent))
        status["claimed"] = claimed
        if claimed:
            status["changed"] = 0
        return claimed


def _threshold(goal: Goal, cap: int) -> float:
    """Return the mean return that solves a task; NaN if it is unknown."""
    if isinstance(goal, Hold):
        return cap
    return np.nan if goal.threshold is None else goal.threshold


def _chosen(memory: RaceMemory) -> PrototypeMap:
    """Return the present map, or that of the best attempt if it gained more and nothing is claimed of the present."""
    better = memory.status["best"][0] > _mean(memory)
    return memory.best if better and not memory.status["claimed"][0] else memory.incumbent


def _mean(memory: RaceMemory) -> float:
    count = int(memory.status["starts"][0])
    return float(memory.starts.returns[:count].mean()) if count else -np.inf


@kernel
def advance_race(
    world: Any,
    memory: RaceMemory,
    settings: Any,
    progress: Progress,
    log: RaceLog,
    rng: Generator,
    cap: int,
    steps: tuple[int, int],
) -> int:
    """Try proposals for ``steps`` steps; see :func:`drive`."""
    agent = by_reference(Agent(world, memory, settings, progress, log, rng))
    return drive(agent, cap, steps[0], steps[1])


@kernel
def run_from_new_start(
    world: Any,
    memory: RaceMemory,
    settings: Any,
    progress: Progress,
    log: RaceLog,
    rng: Generator,
    chosen: PrototypeMap,
    cap: int,
) -> tuple[int, float]:
    """Run a trial of a map from a new start; return its steps and its return."""
    agent = by_reference(Agent(world, memory, settings, progress, log, rng))
    root = new_root(agent)
    place = memory.status["tests"][0]
    if place < len(memory.starts.tests):
        memory.starts.tests[place] = root
        memory.status["tests"][0] = place + 1
    last, steps = run_trial(agent, by_reference(chosen), root, cap, -1e300)
    return steps, memory.tree.gained[last]


PROBATION = Probation.name

register(Probation())
