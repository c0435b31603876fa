"""The model in which laws are searched for: what it predicts, where it ends trials, and that runs resume."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import distinguo as dg
from distinguo.learners.evolution import proposals
from distinguo.learners.evolution.laws import laws_of_numbers
from distinguo.learners.evolution.memory import EvolutionSettings, fresh_evolution_memory
from distinguo.learners.evolution.model import (
    Imagined,
    _fitted_last,
    _is_end,
    _ridge,
    fitted_models,
    work_of_step,
)
from distinguo.learners.evolution.places import (
    count_numbers,
    count_with_laws,
    prototypes_of_numbers,
    standardised_again,
)
from distinguo.runs.configuration import configure
from distinguo.runs.learn import learn_configured
from distinguo.search.maps import prototype_map
from distinguo.tasks.catalog import spec_of
from tests.learners.evolution.test_exact import Stopped, left, stop_at

LOW, HIGH, LIMIT = -1.0, 3.0, 40


def step(s: np.ndarray, u: float) -> tuple[np.ndarray, float, bool]:
    """A cart that slides on; it falls off where x > 2, and that costs 10."""
    v = 0.9 * s[1] + 0.2 * (u - 1.0)
    after = np.array([s[0] + 0.2 * v, v])
    fell = bool(after[0] > 2.0)
    return after, -10.0 if fell else -(after[0] ** 2) - 0.1 * u * u, fell


def a_memory(trials: int = 60) -> Any:
    """A memory of trials in which amounts were drawn at random."""
    memory, rng = fresh_evolution_memory(2, 2, EvolutionSettings(), amounts=1), np.random.default_rng(5)
    memory.laws.box[:] = [[LOW], [HIGH]]
    memory.facts["amounts"] = 1
    noted, n = memory.experience, 0
    for trial in range(trials):
        s, push, ended, length = rng.uniform(-1.5, 1.5, 2), rng.uniform(LOW, HIGH), False, 0
        noted.first[trial % len(noted.first)] = s
        while not ended and length < LIMIT:
            u = float(np.clip(push + rng.normal(), LOW, HIGH))
            after, r, ended = step(s, u)
            noted.before[n], noted.amounts[n], noted.reward[n] = s, u, r
            noted.ended[n], noted.after[n] = ended, after
            s, n, length = after, n + 1, length + 1
    memory.status["noted"], memory.status["begun"] = n, trials
    memory.seen.centre[:], memory.seen.spread[:] = noted.before[:n].mean(axis=0), noted.before[:n].std(axis=0)
    return memory


def real_return(memory: Any, numbers: np.ndarray, size: int, start: np.ndarray) -> float:
    """The return of a map of laws in the task itself."""
    own = size * 3
    places, widths = prototypes_of_numbers(numbers[: len(numbers) - own], 2, size)
    seen, table = memory.seen, laws_of_numbers(memory, numbers, size)
    given_map = prototype_map(places * seen.spread + seen.centre, range(size), seen.spread * widths)
    s, total = start, 0.0
    for _ in range(LIMIT):
        law = table[int(given_map.choose(s[None])[0]), 0]
        s, r, ended = step(s, float(np.clip(law[:2] @ s + law[2], LOW, HIGH)))
        total += r
        if ended:
            break
    return total


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_imagined_returns_are_close_to_those_of_the_task(size: int) -> None:
    memory, rng = a_memory(), np.random.default_rng(size)
    imagined = Imagined(memory, fitted_models(memory, rng), size, LIMIT)
    pairs = []
    for _ in range(40):
        numbers, start = rng.normal(size=count_with_laws(2, size, 1)), rng.uniform(-1.0, 1.0, 2)
        told = imagined(numbers, ((start - memory.seen.centre) / memory.seen.spread)[None])
        pairs.append((told, real_return(memory, numbers, size, start)))
    told_all, real = np.array(pairs).T
    assert np.corrcoef(told_all, real)[0, 1] > 0.9
    assert np.median(np.abs(told_all - real)) < 1.0


def test_trials_end_in_the_model_where_they_ended_in_the_task() -> None:
    memory = a_memory()
    model, other, *_ = fitted_models(memory, np.random.default_rng(1))
    assert (model.planes != other.planes).any(), "their hinges differ"
    assert model.ends_high.tolist() == [1.0, 0.0], "x has a cliff, v has none"
    assert model.ends_low.tolist() == [0.0, 0.0]
    assert model.last == pytest.approx([-10.0, 0.0, 0.0], abs=1e-6)
    assert len(model.ends) == 0
    assert fitted_models(a_memory(trials=1), np.random.default_rng(1)) == [], "too few steps"


def test_few_rows_are_explained_by_few_features() -> None:
    """With more features than rows any numbers can be explained, and nothing is predicted."""
    rng = np.random.default_rng(2)
    rows, new = rng.normal(size=(60, 120)), rng.normal(size=(500, 120))
    true = np.zeros(120)
    true[:4] = 1.0, -2.0, 0.5, 3.0
    noise = 0.1 * rng.normal(size=60)
    chosen = _ridge(rows, (rows @ true + noise)[:, None], (4, 40, 120))[:, 0]
    assert not chosen[4:].any()
    assert np.abs(new @ chosen - new @ true).mean() < 0.1
    true[60] = 5.0
    many = rng.normal(size=(2_000, 120))
    assert np.abs(_ridge(many, (many @ true)[:, None], (4, 40, 120))[:, 0] - true).max() < 1e-3


def test_a_landing_is_no_crash() -> None:
    """What the last step pays depends on where it ends; too few ends say no more than their mean."""
    rng = np.random.default_rng(4)
    speed = rng.uniform(-1.0, 1.0, (200, 1))
    rewards = 100.0 + 200.0 * speed[:, 0] + rng.normal(size=200)
    assert _fitted_last(speed, rewards) == pytest.approx([100.0, 200.0], abs=2.0)
    assert _fitted_last(speed[:0], rewards[:0]).tolist() == [0.0, 0.0]
    assert _fitted_last(speed[:1], np.array([7.0])) == pytest.approx([7.0, 0.0])


def test_where_trials_fail_nothing_is_imagined_beyond_what_was_seen() -> None:
    """A law that leaves what was observed, on a side where no trial ended, does not stay at its border for ever."""
    memory = a_memory()
    noted = memory.experience
    noted.reward[noted.ended != 0] = -1_000.0
    model = fitted_models(memory, np.random.default_rng(1))[0]
    assert model.closed
    imagined = Imagined(memory, [model], 1, LIMIT)
    away, start = np.array([0.0, 0.0, -9.0]), np.zeros((1, 2))  # pushes to the left, where there is no cliff
    lost = imagined(away, start)
    assert imagined.room.taken[0] < LIMIT
    imagined.models = [model._replace(closed=False)]
    imagined.room.taken[:] = 0.0
    assert imagined(away, start) != lost
    assert imagined.room.taken[0] == LIMIT
    noted.reward[noted.ended != 0] = 5.0
    assert not fitted_models(memory, np.random.default_rng(1))[0].closed, "ends that pay are goals"


def test_ends_that_no_side_explains_are_found_by_a_regression() -> None:
    """Trials end outside a ring that is tilted, as by the height of a tip."""
    memory, rng = a_memory(), np.random.default_rng(3)

    def beyond(rows: np.ndarray) -> np.ndarray:
        return (rows**2).sum(axis=1) + rows[:, 0] * rows[:, 1] > 3.0

    noted, n = memory.experience, int(memory.status["noted"][0])
    noted.after[:n] = rows = rng.normal(size=(n, 2))
    noted.ended[:n] = beyond(rows)
    memory.seen.centre[:], memory.seen.spread[:] = 0.0, 1.0
    model, new = fitted_models(memory, rng)[0], rng.normal(size=(500, 2))
    assert not np.hstack([model.ends_low, model.ends_high]).any()
    told = np.array([_is_end(model.ends, s) for s in new])
    assert told.sum() > 20
    assert (told == beyond(new)).mean() > 0.97


@given(st.integers(1, 4), st.integers(1, 5), st.integers(1, 2), st.integers(0, 10**6))
def test_another_standardisation_changes_no_amount(
    dimensions: int, size: int, amounts: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=count_with_laws(dimensions, size, amounts))
    scales = [(rng.normal(size=dimensions), rng.uniform(0.1, 9.0, dimensions)) for _ in range(2)]
    borders, rows, decided = count_numbers(dimensions, size), rng.normal(size=(30, dimensions)), []
    for some, (centre, spread) in (
        (numbers, scales[0]),
        (standardised_again(numbers, size, *scales), scales[1]),
    ):
        places, widths = prototypes_of_numbers(some[:borders], dimensions, size)
        z = (rows - centre) / spread
        chosen = prototype_map(places, range(size), widths).choose(z)
        laws = some[borders:].reshape(size, amounts, dimensions + 1)[chosen]
        decided.append(np.einsum("nki,ni->nk", laws[..., :-1], z) + laws[..., -1])
    assert np.isclose(*decided, rtol=1e-6, atol=1e-6).all(axis=1).mean() > 0.9  # rounding may move a border


@dg.task(
    states=("x", "v"), actions=dg.amounts(-1.0, 1.0), low=(-2, -3), high=(2, 3), threshold=-9.0, limit=40
)
class Braked(NamedTuple):
    """To come to rest at 0; one law is enough."""

    force: float = 4.0

    def transition(self, s: Any, u: float) -> Any:
        v = 0.9 * s[1] + 0.1 * self.force * u
        x = min(max(s[0] + 0.1 * v, -2.0), 2.0)
        return (x, v), -(x * x), False

    def start(self, rng: np.random.Generator) -> Any:
        return (rng.uniform(-1.0, 1.0), rng.uniform(-1.0, 1.0))


FEW = {"stage.steps": 30_000, "stage.confidence": 0.5, "learner.tests": 8}


def test_a_model_saves_most_of_the_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proposals, "WORK_OF_GENERATION", 2_500_000)
    monkeypatch.setattr(proposals, "FROM_NOTHING", 15)
    asked = {**FEW, "learner.polish": 0.0}
    run = dg.learn(Braked, learner="evolution", seed=4, settings=asked)
    assert run.solved
    assert run.summary["generations"] == 0, "no search by trials was needed"
    alone = dg.learn(Braked, learner="evolution", seed=4, settings={**asked, "learner.model": False})
    assert alone.summary["generations"] > 0
    assert alone.summary["environment_steps"] > 1.5 * run.summary["environment_steps"]


@pytest.mark.second_stage
def test_a_run_with_a_model_resumes_with_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proposals, "WORK_OF_GENERATION", 1_300_000)
    monkeypatch.setattr(proposals, "FROM_NOTHING", 4)
    monkeypatch.setattr(proposals, "FROM_BEST", 3)
    phases: list[Any] = []
    changes = FEW | {"stage.steps": 2_500, "stage.confirm": 3, "learner.population": 8}
    asked = configure(spec_of(Braked), seed=3, learner="evolution", changes=changes)
    learn_configured(asked, tmp_path / "whole", stop_at(0, phases))
    whole = left(tmp_path / "whole")
    for chunk in np.linspace(3, len(phases) - 1, 3).astype(int).tolist():
        path = tmp_path / str(chunk)
        with pytest.raises(Stopped):
            learn_configured(asked, path, stop_at(chunk, []))
        learn_configured(asked, path)
        assert left(path) == whole, chunk


def test_many_coordinates_are_left_to_trials() -> None:
    """A step of a model with 105 observed numbers costs more than one of most environments."""
    few, many = (
        fresh_evolution_memory(n, n, EvolutionSettings(regions=2), amounts=m) for n, m in ((3, 1), (105, 8))
    )
    usual = proposals.POPULATION * proposals.FEWEST_STARTS * proposals.LONGEST
    assert work_of_step(few) * usual < proposals.MOST_WORK < work_of_step(many) * usual


def test_a_model_that_costs_too_much_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proposals, "MOST_WORK", 0)
    run = dg.learn(Braked, learner="evolution", seed=4, settings={**FEW, "stage.steps": 3_000})
    assert run.summary["generations"] > 0
