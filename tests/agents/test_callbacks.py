"""Claims of other trainings are tested with a stated error; our runs are logged anywhere; masks are obeyed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import distinguo as dg
from distinguo.agents.callbacks import SolvedClaims
from distinguo.agents.session import checked_masks, chosen_actions
from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.representations.partition import regions_of
from distinguo.representations.voronoi import voronoi
from distinguo.runs import learn
from tests.agents.common import CART
from tests.agents.test_regions import divided
from tests.nightly import so_many


def refusal(work: Any) -> str:
    with pytest.raises(DistinguoError) as caught:
        work()
    return str(caught.value)


def trainings_that_say_solved(mean: float, looks: int, count: int) -> int:
    """How many trainings say solved at one of their looks, if returns are 0 or 500 with this mean."""
    said = 0
    for seed in range(count):
        draw = np.random.default_rng(seed)
        claims = SolvedClaims(475.0)
        claims.see([0.0, 500.0])

        def trials(n: int, draw: Any = draw) -> tuple[list[float], int]:
            returns = np.where(draw.random(n) < mean / 500.0, 500.0, 0.0).tolist()
            return returns, int(sum(returns)) + n

        said += any(claims.look(trials) for _ in range(looks))
        assert claims.count <= looks
    return said


def test_looking_often_does_not_make_a_poor_policy_solved() -> None:
    """With 10 looks at returns of 0 or 500 and a mean of 470; a mean of five trials reaches 475 in 73 % of looks."""
    count = so_many(40, nightly=400)
    assert trainings_that_say_solved(470.0, 10, count) <= count * 0.05 + 2 * (count * 0.05) ** 0.5
    assert trainings_that_say_solved(498.0, 3, count) >= 0.9 * count


def test_returns_below_all_before_begin_the_test_anew() -> None:
    answers = iter([[500.0] * 5, [500.0] * 9 + [20.0], *([[500.0] * 10] * 30)])
    claims = SolvedClaims(475.0)
    claims.see([300.0, 500.0])
    assert claims.look(lambda n: (next(answers), 1_000))
    assert min(claims.returns) == 20.0
    assert 20.0 < claims.bound < 500.0
    assert claims.steps == 1_000 * (1 + len(claims.returns) // 10)


def test_wrong_words_for_the_callback_are_told() -> None:
    assert "no threshold of its own" in refusal(lambda: dg.stop_when_solved("Pendulum-v1"))
    assert "finite number" in refusal(lambda: dg.stop_when_solved(CART, threshold=float("nan")))
    assert "between 0 and 1" in refusal(lambda: dg.stop_when_solved(CART, confidence=95))
    assert "every should be a whole number from 1, got 0" in refusal(
        lambda: dg.stop_when_solved(CART, every=0)
    )


class Recorder:
    """A logger that keeps what it is given, under the methods of several packages."""

    def __init__(self, *names: str) -> None:
        self.rows: list[tuple[int, dict[str, float]]] = []
        self.pending: dict[str, float] = {}
        for name in names:
            setattr(self, name, getattr(self, f"_{name}"))

    def _record(self, key: str, value: float) -> None:
        self.pending[key] = value

    def _dump(self, step: int) -> None:
        self.rows.append((step, self.pending))
        self.pending = {}

    def _log_metrics(self, scalars: dict[str, float], step: int) -> None:
        self.rows.append((step, scalars))

    _log = _log_metrics


def test_one_run_is_logged_alike_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tensorboardX")
    logs = [Recorder("record", "dump"), Recorder("log_metrics"), Recorder("log")]
    called: list[tuple[int, dict[str, float]]] = []
    watches = [dg.log_to(one) for one in logs]
    watches += [dg.log_to(lambda scalars, step: called.append((step, scalars))), dg.log_to(tmp_path)]
    run = dg.learn("puck", seed=1, watch=lambda stage: [watch(stage) for watch in watches] and None)
    assert all(one.rows == called for one in logs)
    steps = [step for step, _ in called]
    assert steps == sorted(steps)
    assert called[-1][1]["time/episodes"] == len(run.trials)
    assert called[-1][1]["rollout/ep_len_mean"] == pytest.approx(
        np.mean([t.length for t in run.trials[-100:]])
    )
    assert list((tmp_path / "puck_1").glob("events.*"))
    with monkeypatch.context() as patch:
        patch.setattr(
            learn, "CHECKPOINT_SECONDS", 0.0
        )  # a checkpoint after every chunk takes the trials away
        kept = Recorder("log")
        dg.learn("puck", seed=1, watch=dg.log_to(kept), out=tmp_path / "run")
    assert kept.rows == called
    rare = Recorder("log")
    dg.learn("puck", seed=1, watch=dg.log_to(rare, every=5))
    assert len(rare.rows) <= len(run.trials) / 5
    assert "got 3" in refusal(lambda: dg.log_to(3))
    assert "from 1" in refusal(lambda: dg.log_to(rare, every=0))


def test_of_allowed_actions_the_best_is_taken() -> None:
    draw = np.random.default_rng(3)
    controller = Controller(voronoi(draw.normal(size=(5, 2)), [1.0, 1.0]), draw.normal(size=(5, 4)), 0.1)
    rows = draw.normal(size=(300, 2))
    masks = draw.random((300, 4)) < 0.5
    masks[~masks.any(axis=1), 2] = True
    chosen = chosen_actions(controller, rows, None, checked_masks(masks, 300, 4))
    for row, mask, a, j in zip(rows, masks, chosen, regions_of(controller.partition, rows), strict=True):
        worth = np.where(mask, controller.q[j], -np.inf)
        assert mask[a]
        assert worth[a] >= worth.max() - controller.delta
        if mask[controller.action(row)]:
            assert a == controller.action(row)
    some = chosen_actions(controller, rows, np.random.default_rng(1), masks)
    assert masks[np.arange(300), some].all()
    everything = np.ones((300, 4), dtype=bool)
    assert (
        chosen_actions(controller, rows, None, everything) == chosen_actions(controller, rows, None)
    ).all()


def test_masks_of_a_wrong_shape_are_told() -> None:
    agent = dg.Economy("puck", seed=1)
    assert agent.predict([0.0, 0.1], action_masks=[False, True])[0] == 1
    assert agent.predict([0.0, 0.1], action_masks=[[1, 0]])[0] == 0
    assert agent.predict([[0.0, 0.1]] * 3, action_masks=[[1, 0], [0, 1], [1, 1]])[0].tolist()[:2] == [0, 1]
    for masks in ([True], [True] * 3, [[True, False]] * 2, 1, "ab", [[True], [True, False]]):
        assert "should have the shape (2,)" in refusal(
            lambda masks=masks: agent.predict([0.0, 0.1], action_masks=masks)
        )
    many = [[0.0, 0.1]] * 3
    assert "shape (3, 2)" in refusal(lambda: agent.predict(many, action_masks=[True, False]))
    assert "true and false" in refusal(lambda: agent.predict([0.0, 0.1], action_masks=[0.5, 1.0]))
    assert "no action at observation 1" in refusal(
        lambda: agent.predict(many, action_masks=[[1, 1], [0, 0], [1, 0]])
    )


@pytest.mark.parametrize("one_hot", [False, True])
@pytest.mark.parametrize("mode", list(gymnasium.vector.AutoresetMode))
def test_a_vector_observes_the_regions_of_each(one_hot: bool, mode: Any) -> None:
    def vector() -> Any:
        options = {"autoreset_mode": mode}
        return gymnasium.make_vec(CART, 3, vectorization_mode="sync", vector_kwargs=options)

    plain, seen = vector(), dg.VectorRegionObservation(vector(), divided(), one_hot=one_hot)
    single = dg.RegionObservation(gymnasium.make(CART), divided(), one_hot=one_hot)
    first, second = plain.reset(seed=4)[0], seen.reset(seed=4)[0]
    last = 0
    for _ in range(60):
        np.testing.assert_array_equal(second, [single.observation(one) for one in first])
        assert seen.observation_space.contains(second)
        actions = plain.action_space.sample()
        (first, *_, known), (second, *_, ends, over, infos) = plain.step(actions), seen.step(actions)
        for n, one in enumerate(infos.get("final_obs", ())):
            last += one is not None
            assert (one is None) == (known["final_obs"][n] is None)
            assert one is None or np.array_equal(one, single.observation(known["final_obs"][n]))
        if mode == gymnasium.vector.AutoresetMode.DISABLED and (ends | over).any():
            first, second = (one.reset(options={"reset_mask": ends | over})[0] for one in (plain, seen))
    assert (last > 0) == (mode == gymnasium.vector.AutoresetMode.SAME_STEP)


def test_one_environment_and_a_vector_are_told_apart() -> None:
    vector = gymnasium.make_vec(CART, 2, vectorization_mode="sync")
    assert "take distinguo.VectorRegionObservation" in refusal(
        lambda: dg.RegionObservation(vector, divided())
    )
    one = gymnasium.make(CART)
    assert "take distinguo.RegionObservation" in refusal(lambda: dg.VectorRegionObservation(one, divided()))
    other = gymnasium.make_vec("MountainCar-v0", 2, vectorization_mode="sync")
    assert "2 coordinates" in refusal(lambda: dg.VectorRegionObservation(other, divided()))
