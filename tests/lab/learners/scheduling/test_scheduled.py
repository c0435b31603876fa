"""The paper's learner, whose regions grow, under each scheduler."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import distinguo as dg
from distinguo.errors import DistinguoError
from distinguo.learners.agent import Agent, fresh_progress
from distinguo.learners.economy.figures import repeated_mini_trial
from distinguo.learners.economy.memory import Memory, fresh_memory
from distinguo.learners.learner import learner_named, leaves
from distinguo.learners.model import learner as by_model
from distinguo.representations.growing import growing_voronoi
from distinguo.runs.configuration import configure
from distinguo.runs.stage import Stage
from distinguo.seam import implements_interpreted
from distinguo.settings import LearnerSettings
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.puck.puck import Puck
from distinguo.tasks.task import transition, truncated, unpack
from distinguo.tasks.world import python_world
from distinguo_lab.learners.scheduling.agenda import NONE, SCHEDULERS, Agenda
from distinguo_lab.learners.scheduling.trials import ScheduledMemory, in_watched_world, with_agenda
from tests.nightly import interpreted_by_day, so_many

SAME = ("trials", "environment_steps", "investigation_steps", "regions", "prototypes")
SHORT = {"stage.cap": 300, "stage.hold": 300, "stage.trials": so_many(12, nightly=300), "stage.restart": 0}


class Line(NamedTuple):
    """Action 0 goes on by 1, action 1 stays; a trial ends at ``end`` and is stopped from ``stop`` on."""

    end: float = 99.0
    stop: float = 99.0


@implements_interpreted(transition, Line)
def _step(task: Line, s: Any, a: int) -> Any:
    place = s[0] + 1.0 - a
    return (place,), -1.0, place >= task.end


@implements_interpreted(truncated, Line)
def _stopped(task: Line, s: Any) -> bool:
    return bool(s[0] >= task.stop)


@implements_interpreted(unpack, Line)
def _place(task: Line, row: np.ndarray) -> Any:
    return (float(row[0]),)


def learned(learner: str, **changes: Any) -> Any:
    with interpreted_by_day(Puck):
        return dg.learn("puck", seed=0, learner=learner, settings={**SHORT, **changes})


def test_under_the_stack_it_is_the_papers_learner_bit_for_bit() -> None:
    one = learned("economy")
    other = learned("scheduled", **{"learner.scheduler": "stack"})
    assert [one.summary[name] for name in SAME] == [other.summary[name] for name in SAME]
    assert one.summary["regions"] > 1
    assert np.array_equal(one.controller.q, other.controller.q)


def memory_of(learner: str, **changes: Any) -> Any:
    stage = Stage(configure("puck", seed=0, learner=learner, changes={**SHORT, **changes}))
    for _ in stage.work():
        pass
    return stage.agent.memory


def test_under_the_stack_all_that_the_papers_learner_remembers_is_the_same() -> None:
    ours, theirs = leaves(memory_of("scheduled")), leaves(memory_of("economy"))
    stack = {"stacked", "pushed_at"}  # a session takes it over at once
    assert all(np.array_equal(ours[name], theirs[name]) for name in theirs.keys() - stack)
    assert {name for name in ours if not name.startswith("agenda.")} == set(theirs)


@pytest.mark.parametrize("learner", ["scheduled", "model"])
def test_compiled_equals_interpreted(learner: str) -> None:
    changes = {"learner.scheduler": "sweeping", "stage.trials": 4}
    compiled = leaves(memory_of(learner, **changes))
    with interpreted_by_day(Puck), pytest.MonkeyPatch.context() as patch:
        if learner == "model":
            patch.setattr(by_model, "settle_in_model", by_model.settle_in_model.py_func)
        plain = leaves(memory_of(learner, **changes))
    assert all(np.array_equal(compiled[name], plain[name]) for name in compiled | plain)


@pytest.mark.parametrize("scheduler", SCHEDULERS[1:])
@pytest.mark.parametrize("learner", ["scheduled", "model"])
def test_every_scheduler_investigates(learner: str, scheduler: str) -> None:
    stack = learned(learner, **{"learner.scheduler": "stack"})
    run = learned(learner, **{"learner.scheduler": scheduler, "learner.investigations": 5})
    count = "investigation_steps" if learner == "scheduled" else "model_queries"
    assert run.summary[count] > 0
    different = (
        run.summary[count] != stack.summary[count] or run.controller.q.shape != stack.controller.q.shape
    )
    assert different or not np.array_equal(run.controller.q, stack.controller.q)


def test_a_session_is_no_longer_than_asked() -> None:
    stage = Stage(
        configure(
            "puck",
            learner="scheduled",
            changes={
                **SHORT,
                "learner.scheduler": "dyna",
                "learner.investigations": 3,
                "learner.merge_interval": 0,
            },
        )
    )
    actions, longest, profiles = 2, stage.configuration.learner.max_steps, 3
    with interpreted_by_day(Puck):
        for _ in stage.work():
            pass
    assert 0 < stage.investigation_steps <= stage.count_trials * 3 * profiles * actions * longest


def test_an_agenda_grows_with_the_map_and_only_where_it_is_needed() -> None:
    changes = {"learner.scheduler": "sweeping"}
    stage = Stage(configure("puck", learner="scheduled", changes=changes))
    memory = stage.agent.memory
    memory.partition.size[0] = len(memory.q) - 1
    memory.agenda.seen_at[3] = 7
    larger = stage.learner.prepared(stage.agent, None).memory
    assert len(larger.agenda.state) == len(larger.q) > len(memory.q)
    assert larger.agenda.seen_at[3] == 7
    assert isinstance(larger.agenda, Agenda)
    assert isinstance(Stage(configure("puck", learner="economy")).agent.memory, Memory)
    assert isinstance(Stage(configure("puck", learner="model")).agent.memory.economy, Memory)
    asked = Stage(configure("puck", learner="model", changes={"learner.investigations": 1}))
    assert isinstance(asked.agent.memory.economy, ScheduledMemory)


def test_where_no_package_offers_a_scheduler_a_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_model, "added", lambda group: {})
    assert learned("model").summary["regions"] > 1
    for changes in ({"learner.scheduler": "dyna"}, {"learner.investigations": 2}):
        with pytest.raises(DistinguoError, match="No installed package offers the scheduler") as caught:
            learned("model", **changes)
        assert len(str(caught.value).splitlines()) == 1


#: On a line of regions of a step each: what a mini-trial from place 2 comes to, if it is noted.
OUTCOMES = {
    "the region is left": (Line(), 0, 5, {(2, 0, 3): 1}),
    "the steps are used up": (Line(), 1, 3, {(2, 1, 2): 1}),
    "the trial ends": (Line(end=3.0), 0, 5, {}),
    "the trial is stopped": (Line(stop=2.0), 1, 5, {(2, 1, 2): 1}),
    "every sample counts": (Line(), 0, 5, {(2, 0, 3): 4}),
}


@pytest.mark.parametrize("case", OUTCOMES)
def test_what_a_mini_trial_leads_to_is_noted_once(case: str) -> None:
    task, a, max_steps, noted = OUTCOMES[case]
    settings = LearnerSettings(max_steps=max_steps, samples=sum(noted.values()) or 1)
    memory = with_agenda(
        fresh_memory(growing_voronoi([[float(n)] for n in range(6)], [1.0], 8), 2), "sweeping", 0
    )
    agent = Agent(
        python_world(task, 1, 1), memory, settings, fresh_progress(1, 1), None, np.random.default_rng(0)
    )
    repeated_mini_trial(in_watched_world(agent), np.array([2.0]), 2, a)
    ways = memory.agenda
    found = {
        (pair // 2, pair % 2, k): int(ways.way_count[k, way])
        for k in range(8)
        for way, pair in enumerate(ways.way_from[k].tolist())
        if pair != NONE
    }
    assert found == noted
    assert ways.tries.sum() == sum(noted.values())


def test_where_no_state_can_be_restored_it_refuses() -> None:
    stage = Stage(configure(task_spec("puck"), learner="scheduled"))
    setup = stage._setup(stage.rng)._replace(restorable=False)
    with pytest.raises(DistinguoError, match="cannot restore them; take the learner model"):
        learner_named("scheduled").fresh(setup)
