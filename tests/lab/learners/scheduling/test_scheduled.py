"""The paper's learner, whose regions grow, under each scheduler."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import distinguo as dg
from distinguo.errors import DistinguoError
from distinguo.learners.economy.memory import Memory
from distinguo.learners.learner import learner_named, leaves
from distinguo.learners.model import learner as by_model
from distinguo.runs.configuration import configure
from distinguo.runs.stage import Stage
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.puck.puck import Puck
from distinguo_lab.learners.scheduling.agenda import SCHEDULERS, Agenda
from distinguo_lab.learners.scheduling.trials import ScheduledMemory
from tests.nightly import interpreted_by_day, so_many

SAME = ("trials", "environment_steps", "investigation_steps", "regions", "prototypes")
SHORT = {"stage.cap": 300, "stage.hold": 300, "stage.trials": so_many(12, nightly=300), "stage.restart": 0}


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


def test_where_no_state_can_be_restored_it_refuses() -> None:
    stage = Stage(configure(task_spec("puck"), learner="scheduled"))
    setup = stage._setup(stage.rng)._replace(restorable=False)
    with pytest.raises(DistinguoError, match="cannot come back to them; take the learner model"):
        learner_named("scheduled").fresh(setup)
