"""Laws that are learned: the number of regions is found, runs have the same bits, and folders hold the laws."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import distinguo as dg
from distinguo.errors import DistinguoError
from distinguo.evaluation.simulate import evaluate
from distinguo.learners.evolution import proposals
from distinguo.learners.evolution.laws import (
    LARGE,
    PAYS,
    PAYS_IF_LARGE,
    _is_misled,
    _is_sure,
    begin_search_around_best,
    laws_of_numbers,
    projected,
)
from distinguo.learners.evolution.memory import EvolutionSettings, fresh_evolution_memory
from distinguo.learners.evolution.places import count_numbers, numbers_with_another, prototypes_of_numbers
from distinguo.reading.arrays import read_arrays
from distinguo.runs import stage
from distinguo.runs.configuration import configure
from distinguo.runs.folder import open_run
from distinguo.runs.learn import learn_configured
from distinguo.search.maps import prototype_map
from distinguo.tasks.amounts import laws_of
from distinguo.tasks.catalog import spec_of
from distinguo.tasks.task import start, transition
from distinguo.tasks.world import python_world
from distinguo.writing import pack_arrays
from tests.learners.evolution.test_exact import Stopped, left, stop_at, told
from tests.nightly import so_many

SMALL = {"learner.population": 8, "learner.tests": 4, "stage.confidence": 0.5, "learner.model": False}


@dg.task(
    states=("x", "v"), actions=dg.amounts(-1.0, 1.0), low=(-1.2, -3), high=(1.2, 3), threshold=-4.0, limit=60
)
class Bent(NamedTuple):
    """To rest at -0.5, although the force is turned round where ``x`` is positive: one law gets -11, two -2.3."""

    force: float = 4.0

    def transition(self, s: Any, u: float) -> Any:
        turned = -u if s[0] > 0.0 else u
        v = 0.9 * s[1] + 0.1 * self.force * turned
        x = min(max(s[0] + 0.1 * v, -1.2), 1.2)
        return (x, v), -((x + 0.5) ** 2), False

    def start(self, rng: np.random.Generator) -> Any:
        return (rng.uniform(-1.0, 1.0), 0.0)


@pytest.mark.second_stage
def test_a_second_law_is_found_where_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proposals, "WORK_OF_GENERATION", 2_000_000)
    run = dg.learn(
        Bent, learner="evolution", seed=2, settings={"stage.steps": 40_000, "stage.confidence": 0.5}
    )
    assert run.solved
    assert run.summary["regions"] == 2
    table = laws_of(run.configuration.spec).table  # type: ignore[union-attr]
    assert run.summary["numbers"] == 3 * 2 + 2 * 3
    assert table.shape == (2, 1, 3)


def brief(kind: Any = Bent, **changes: Any) -> Any:
    return configure(
        spec_of(kind), seed=3, learner="evolution", changes=SMALL | {"stage.steps": 40_000} | changes
    )


def test_compiled_and_interpreted_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    some = {"stage.steps": 9_000, "stage.confirm": 2}
    fast = told(dg.learn(Bent, seed=3, learner="evolution", settings=SMALL | some))
    assert fast["summary"]["generations"] >= 3
    monkeypatch.setattr(stage, "world_of", python_world)
    assert told(dg.learn(Bent, seed=3, learner="evolution", settings=SMALL | some)) == fast


@pytest.mark.second_stage
def test_a_run_stopped_anywhere_ends_with_the_same_bytes(tmp_path: Path) -> None:
    phases: list[Any] = []
    asked = brief(**{"stage.steps": 60_000, "stage.confirm": 3})
    learn_configured(asked, tmp_path / "whole", stop_at(0, phases))
    whole = left(tmp_path / "whole")
    assert whole["result"]["restarts"] > 0, "another search challenged the first"
    assert {phase for _, phase in phases} >= {0, 1, 2}
    for chunk in np.linspace(3, len(phases) - 1, so_many(4, nightly=40)).astype(int).tolist():
        path = tmp_path / str(chunk)
        with pytest.raises(Stopped):
            learn_configured(asked, path, stop_at(chunk, []))
        learn_configured(asked, path)
        assert left(path) == whole, chunk


def test_a_folder_holds_the_laws(tmp_path: Path) -> None:
    path = tmp_path / "run"
    made = dg.learn(Bent, learner="evolution", seed=1, settings=SMALL | {"stage.steps": 4_000}, out=path)
    run, seen = open_run(path), (0.3, -0.2)
    assert run.amounts(seen) == made.amounts(seen)
    assert (
        run.rollout((0.3, -0.2), seed=4).rewards.tobytes()
        == made.rollout((0.3, -0.2), seed=4).rewards.tobytes()
    )
    assert (
        transition(run.configuration.spec.task, seen, 0)[0]
        == Bent().transition(seen, run.amounts(seen)[0])[0]
    )
    assert open_run(path, task=Bent).amounts(seen) == run.amounts(seen)
    copy = tmp_path / "copy"
    from distinguo.runs.folder import write_run

    write_run(run, copy)
    assert open_run(copy).amounts(seen) == run.amounts(seen)
    arrays = read_arrays(path / "values.npz")
    for wrong in (
        {k: v for k, v in arrays.items() if k != "laws"},
        {**arrays, "laws": arrays["laws"][:, :, 1:]},
    ):
        (path / "values.npz").write_bytes(pack_arrays(wrong))
        with pytest.raises(DistinguoError, match="laws are missing or damaged"):
            open_run(path)


def test_what_is_confirmed_is_what_is_saved() -> None:
    """The last candidate had other laws in the world; the score must be that of the best map's."""
    asked = SMALL | {"stage.steps": 40_000, "stage.confirm": 200}
    run = dg.learn(without_threshold(), seed=3, learner="evolution", settings=asked)
    spec, controller = run.configuration.spec, run.controller
    starts = np.array([start(spec.task, np.random.default_rng(n)) for n in range(400)])
    returns = evaluate(spec.task, controller, np.random.default_rng(0), starts, 60).returns
    error = returns.std() * np.sqrt(1 / 400 + 1 / 100)
    assert abs(run.summary["score"] - returns.mean()) < 4.0 * error


def without_threshold() -> Any:
    return spec_of(Bent)._replace(threshold=None)


def test_the_returns_of_the_best_map_are_known_and_not_run_again(tmp_path: Path) -> None:
    """After each step of the stage, they are those of its laws from the starts that tests have in common."""
    known: dict[bytes, tuple[Any, ...]] = {}

    def watch(work: Any) -> None:
        memory = work.agent.memory
        count, laws = int(memory.status["known"][0]), memory.laws
        if count and np.isfinite(memory.status["best"][0]):
            best = memory.best.only(slice(memory.best.size))
            kept = laws.best.copy(), laws.starts[:count].copy(), laws.record[:count].copy()
            known[laws.record[:count].tobytes()] = (best, *kept)

    learn_configured(brief(**{"stage.steps": 24_000, "stage.confirm": 2}), tmp_path / "run", watch)
    assert len(known) > 1
    for best, table, starts, record in known.values():
        for s, wanted in zip(starts, record, strict=True):
            gained = 0.0
            for _ in range(60):
                gains = table[best.choose(s[None])[0], 0]
                s, r, _ = Bent().transition(s, float(np.clip(gains[:2] @ s + gains[2], -1.0, 1.0)))
                s, gained = np.array(s), gained + r
            assert gained == pytest.approx(wanted)


@pytest.mark.parametrize("far", [True, False])
def test_trials_begin_from_nothing_where_the_model_did_not_come_half_the_way(far: bool) -> None:
    memory = fresh_evolution_memory(2, 2, EvolutionSettings(), amounts=1)
    memory.facts["amounts"], memory.facts["threshold"] = 1, 100.0
    memory.status["base"], memory.status["best"] = 20.0, 59.0 if far else 61.0
    memory.status["first"] = memory.status["limit"] = memory.status["horizon"] = 50
    memory.laws.numbers[1, :3] = 4.0, 5.0, 6.0
    agent: Any = SimpleNamespace(memory=memory, settings=EvolutionSettings(), rng=np.random.default_rng(1))
    begin_search_around_best(agent)
    assert memory.distribution.mean[:3].tolist() == ([0.0] * 3 if far else [4.0, 5.0, 6.0])
    assert bool(memory.status["sigma"][0] == 1.0) is far


# Short trials that foresee long ones.


def a_search(horizon: int, limit: int) -> Any:
    """The memory of a search for laws that has come from 0 to 80; 100 solves the task."""
    memory = fresh_evolution_memory(2, 2, EvolutionSettings(), amounts=1)
    memory.facts["amounts"], memory.facts["threshold"] = 1, 100.0
    memory.status["base"], memory.status["best"], memory.status["level"] = 0.0, 80.0, 80.0
    memory.status["horizon"], memory.status["limit"] = horizon, limit
    return memory


def test_a_short_trial_stands_for_one_that_goes_on_like_its_second_half() -> None:
    memory = a_search(horizon=11, limit=111)
    assert projected(memory, half=0.0, whole=6.0) == 6.0 + 100.0  # 0 in 5 steps, then 1 in each of 6
    assert projected(memory, half=11.0, whole=11.0) == 11.0, "what came at first does not go on"
    memory.status["horizon"] = 111
    assert projected(memory, half=3.0, whole=7.0) == 7.0, "nothing is foreseen of a whole trial"


@pytest.mark.parametrize(
    ("foreseen", "level", "misled"),
    [(80.0, 80.0, False), (104.0, 80.0, False), (120.0, 80.0, True), (80.0, 120.0, True)],
)
def test_short_trials_are_kept_as_long_as_they_foresee_the_whole(
    foreseen: float, level: float, misled: bool
) -> None:
    memory = a_search(horizon=50, limit=200)
    memory.candidates.foreseen[:4] = foreseen
    memory.status["level"] = level
    assert _is_misled(memory, np.full(4, 80.0)) is misled


def test_falling_soon_after_a_short_trial_gains_nothing() -> None:
    """Who dives gets 3 a step until step 70; short trials of 50 steps take it for the better one until a test."""
    dives, stands = np.minimum(np.arange(1, 201), 70) * 3.0, np.arange(1, 201) * 1.0
    memory = a_search(horizon=50, limit=200)
    seen = [projected(memory, half=one[24], whole=one[49]) for one in (dives, stands)]
    assert seen == [600.0, 200.0]
    memory.candidates.foreseen[0] = seen[0]
    assert _is_misled(memory, dives[-1:])
    memory.status["horizon"] = 100
    assert projected(memory, dives[49], dives[99]) > dives[-1], "still misled"
    memory.status["horizon"] = 200
    assert projected(memory, dives[99], dives[199]) == dives[-1]


def test_a_large_gain_needs_less_evidence_where_no_target_is_known() -> None:
    memory = a_search(50, 200)
    small, large = 0.9 * LARGE * 80.0, 1.1 * LARGE * 80.0
    between = (PAYS + PAYS_IF_LARGE) / 2.0
    assert not _is_sure(memory, large, large / between)
    memory.facts["threshold"] = np.nan
    assert not _is_sure(memory, small, small / between)
    assert _is_sure(memory, large, large / between)
    assert not _is_sure(memory, large, large / PAYS_IF_LARGE * 1.01)


def test_an_environment_with_a_box_is_taken_as_it_is(tmp_path: Path) -> None:
    few = {"stage.steps": 2_500, "stage.confirm": 2, "learner.model": False}
    run = dg.learn(
        "MountainCarContinuous-v0", learner="evolution", seed=5, settings=few, out=tmp_path / "run"
    )
    assert run.configuration.learner_name == "evolution"
    again = open_run(tmp_path / "run")
    assert again.amounts((-0.5, 0.01)) == run.amounts((-0.5, 0.01))
    assert again.rollout(steps=30).rewards.tobytes() == run.rollout(steps=30).rewards.tobytes()
    levels = dg.learn("MountainCarContinuous-v0", seed=5, settings={"stage.steps": 500, "stage.confirm": 2})
    assert levels.configuration.learner_name == "probation"
    assert len(levels.configuration.spec.actions) == 5


def test_raw_laws_are_those_of_standardised_observations() -> None:
    memory, rng = fresh_evolution_memory(3, 3, EvolutionSettings(), amounts=2), np.random.default_rng(1)
    memory.laws.box[:] = (-1.0, 2.0), (3.0, 5.0)
    memory.seen.centre[:], memory.seen.spread[:] = rng.normal(size=3), rng.uniform(0.1, 9.0, 3)
    numbers = rng.normal(size=2 * 2 * 4)
    table, seen = laws_of_numbers(memory, numbers, 2), rng.normal(size=3)
    own = numbers.reshape(2, 2, 4)
    z = (seen - memory.seen.centre) / memory.seen.spread
    half, middle = np.array([2.0, 1.5]), np.array([1.0, 3.5])
    for a in range(2):
        expected = middle + half * (own[a, :, :3] @ z + own[a, :, 3])  # 2 / sqrt(3 + 1) is 1
        assert table[a, :, :3] @ seen + table[a, :, 3] == pytest.approx(expected)


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 10**6))
def test_a_split_changes_no_decision(dimensions: int, size: int, seed: int) -> None:
    """Until it is varied, the new prototype and the one it was split from share a law, so who is nearer is one."""
    rng = np.random.default_rng(seed)
    numbers, chosen = rng.normal(size=count_numbers(dimensions, size)), int(rng.integers(size))
    more = numbers_with_another(numbers, dimensions, size, chosen)
    rows = rng.normal(size=(50, dimensions))
    taken = []
    for given_numbers, count in ((numbers, size), (more, size + 1)):
        places, widths = prototypes_of_numbers(given_numbers, dimensions, count)
        actions = [*range(size), chosen][:count]
        taken.append(prototype_map(places, actions, widths).choose(rows))
    assert (taken[0] == taken[1]).mean() > 0.95  # rounding may move a border
