"""``distil`` as people call it: what it is asked, and what it says of the teacher."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import distinguo as dg
from distinguo.distillation.descent import target_return
from distinguo.distillation.distil import Distilled
from distinguo.tasks.catalog import task_spec
from tests.distillation.common import CAR, QUICK, QUICKEST, SWINGING, SWINGS, Predicts, bits, refused, swing

EASY = -180.0  #: what every map that swings at all gains


def distilled(teacher: Any = SWINGS, task: Any = CAR, **options: Any) -> Distilled:
    return dg.distil(teacher, task, **{"settings": QUICKEST, "keep": EASY, **options})


# ---- what is kept --------------------------------------------------------------------------------------------------


def test_the_bar_is_the_threshold_or_a_share_of_what_the_teacher_gains() -> None:
    cart, pendulum, puck = (task_spec(name) for name in ("CartPole-v1", "Pendulum-v1", "puck"))
    good, poor = np.full(4, 490.0), np.array([90.0, 110.0])
    assert target_return(cart, good, None, 0.9, 500) == (475.0, ())
    bar, notes = target_return(cart, poor, None, 0.9, 500)
    assert bar == pytest.approx(90.0)
    assert notes[0].startswith(
        "The teacher does not solve CartPole-v1 itself: it gains 100 on average in 2 trials"
    )
    assert target_return(pendulum, np.array([-200.0]), None, 0.9, 200) == (
        pytest.approx(-220.0),
        (),
    )  # below, not above
    assert target_return(puck, np.array([2_000.0]), None, 0.9, 2_000) == (2_000.0, ())
    assert target_return(cart, good, 300, 0.9, 500) == (300.0, ())
    assert target_return(cart, poor, 300, 0.9, 500)[0] == 300.0
    assert len(target_return(cart, poor, 300, 0.9, 500)[1]) == 1
    assert target_return(cart, good, 495, 0.9, 500)[1][0].startswith("495 is to be kept, more than the 490")


def test_a_teacher_that_does_not_solve_its_task_is_said_so() -> None:
    small = distilled(lambda seen: 1, regions=1, keep=None)
    assert "does not solve MountainCar-v0 itself: it gains -200 on average" in small.notes[0]
    assert small.bar == -210.0
    assert small.kept
    assert not small.run.solved


def test_a_return_that_cannot_be_kept_is_not() -> None:
    small = distilled(lambda seen: 1, keep=-100)
    assert not small.kept
    assert "NOT kept" in repr(small)
    assert not small.run.solved


def test_a_hesitating_teacher_is_said_so() -> None:
    rng = np.random.default_rng(0)

    def hesitate(rows: np.ndarray) -> np.ndarray:
        said = SWINGS.predict(rows)
        return np.where(rng.random(len(said)) < 0.1, 1, said)

    small = distilled(Predicts(hesitate))
    assert "answers the same observation differently; its most frequent answer was used" in small.notes[-1]
    assert small.fidelity.on_map > 0.8


def test_at_most_so_many_regions_are_taken_whatever_that_costs() -> None:
    """A return that nobody reaches ends the way down early, but not before it is where it was asked to be."""
    small = distilled(keep=-60.0, regions=1, settings=QUICKEST | {"learner.most": 6})
    assert small.run.summary["prototypes"] == 1
    assert max(one.size for one in small.dial) == 6
    assert not small.kept


def test_at_most_so_many_regions_are_taken() -> None:
    small = distilled(regions=1)
    assert small.run.summary["prototypes"] == 1
    assert not small.kept
    assert [one.size for one in small.dial][-1] == 1
    without_most = {key: value for key, value in QUICKEST.items() if key != "learner.most"} | {
        "learner.states": 50
    }
    many = distilled(regions=12, settings=without_most)
    assert many.run.configuration.learner.most == 12


def test_what_is_watched_is_told_in_words() -> None:
    told: list[str] = []
    distilled(watch=told.append)
    assert told[0] == "following the teacher"
    assert any("2 prototypes" in line for line in told)
    assert told[-1] == "comparing the map with the teacher"
    assert all(line.isprintable() for line in told)


# ---- the seed decides ----------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_map(tmp_path: Path) -> None:
    one, again, other = (distilled(seed=seed) for seed in (5, 5, 6))
    for a, b in zip(one.dial, again.dial, strict=True):
        assert bits(a.map) == bits(b.map)
        np.testing.assert_array_equal(a.returns, b.returns)
    timed = {"seconds"}
    assert {k: v for k, v in one.run.summary.items() if k not in timed} == {
        k: v for k, v in again.run.summary.items() if k not in timed
    }
    assert one.fidelity.document() == again.fidelity.document()
    assert one.run.reasons == again.run.reasons
    assert not np.array_equal(one.dial[0].map.prototypes, other.dial[0].map.prototypes)


def test_a_function_and_an_object_that_do_the_same_give_the_same() -> None:
    one, other = distilled(seed=5), distilled(swing, seed=5)
    np.testing.assert_array_equal(
        one.run.representation.partition.prototypes, other.run.representation.partition.prototypes
    )
    assert (one.run.summary["teacher"], other.run.summary["teacher"]) == ("Predicts", "swing")


def test_a_distilled_run_can_be_distilled(swung: Distilled) -> None:
    small = distilled(swung.run)
    assert small.run.summary["teacher"] == str(swung.run.path)
    assert small.fidelity.teacher.mean == pytest.approx(swung.fidelity.map.mean, abs=10)


def test_values_make_some_disagreements_free() -> None:
    known = dg.Policy(SWINGS, name="valued", values=lambda seen: [0.0, 0.0, 0.0])
    small = distilled(known)
    assert small.fidelity.on_map < 1.0
    assert small.fidelity.per == "the teacher's values"
    assert (small.fidelity.free, small.fidelity.regret) == (1.0, 0.0)  # whatever is done is worth the same


# ---- wrong arguments -----------------------------------------------------------------------------------------------


def never(seen: Any) -> int:
    raise AssertionError("it should not be asked")


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no regions": ({"regions": 0}, "regions should be a whole number from 1 to 64, got 0."),
    "half a region": ({"regions": 2.5}, "regions should be a whole number"),
    "too many": ({"regions": 65}, "got 65."),
    "nan": ({"keep": float("nan")}, "keep should be a mean return, a finite number, got nan."),
    "infinite": ({"keep": -np.inf}, "keep should be a mean return"),
    "words": ({"keep": "much"}, "got 'much'."),
    "true": ({"keep": True}, "got True."),
    "seed": ({"seed": -1}, "The seed should be a whole number"),
    "path": ({"out": 5}, "A path should be a text"),
    "settings": ({"settings": [3]}, "Settings are a dictionary by dotted name, got [3]."),
    "unknown": ({"settings": {"learner.mots": 3}}, "did you mean 'most'?"),
    "bounds": (
        {"settings": {"learner.most": 0}},
        "Setting learner.most should be greater than or equal to 1",
    ),
    "misspelt": ({"region": 2}, "distil takes no 'region'; did you mean 'regions'?"),
    "task": ({"task": "MountainCat-v0"}, "did you mean 'MountainCar-v0'?"),
    "no task": ({"task": 42}, "A task must be an id"),
    "labels": ({"task": "FrozenLake-v1"}, "FrozenLake-v1 observes labels, which have no nearest prototype"),
    "parameter": ({"settings": {"task.levels": 3}}, "Unknown setting task.levels"),
}


@pytest.mark.parametrize("problem", WRONG)
def test_wrong_arguments_are_told_before_anything_is_asked(problem: str) -> None:
    options, words = WRONG[problem]
    task = options.get("task", CAR)
    rest = {key: value for key, value in options.items() if key != "task"}
    refused(lambda: dg.distil(never, task, **rest), words)


def test_numbers_of_numpy_are_numbers() -> None:
    assert distilled(keep=np.float32(-180.0), regions=np.int64(2), seed=np.int64(1)).bar == -180.0


def test_a_folder_that_holds_a_run_is_left_alone(swung: Distilled) -> None:
    path = swung.run.path
    assert path is not None
    before = {file.name: file.read_bytes() for file in path.iterdir()}
    refused(lambda: dg.distil(never, CAR, out=path), "holds a run; choose another --out, or delete it.")
    assert before == {file.name: file.read_bytes() for file in path.iterdir()}


def test_nothing_is_written_where_nobody_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert distilled().run.path is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("asked", "left"), [(3, []), (900, ["answers.bin", "request.json"])])
def test_a_failure_leaves_what_was_done_before_and_nothing_else(
    tmp_path: Path, asked: int, left: list[str]
) -> None:
    times = iter(range(10**6))

    def tire(rows: np.ndarray) -> np.ndarray:
        return SWINGS.predict(rows) if next(times) < asked else 1 / 0

    refused(lambda: distilled(Predicts(tire), out=tmp_path / "new" / "run"), "ZeroDivisionError")
    assert sorted(path.name for path in (tmp_path / "new" / "run").glob("*")) == left
    assert (tmp_path / "new").exists() == bool(left)


def test_ctrl_c_comes_through() -> None:
    def stop(text: str) -> None:
        if text.startswith("2 prototypes"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        distilled(watch=stop)


def test_an_environment_object_is_a_task() -> None:
    env = gymnasium.make(CAR)
    small = distilled(Predicts(lambda rows: SWINGING.choose(np.atleast_2d(rows))), env, settings=QUICKEST)
    assert small.run.configuration.spec.interpreted
    assert small.fidelity.on_map > 0.8


def test_one_prototype_is_the_best_action_and_is_not_raced() -> None:
    said: list[str] = []
    small = distilled(
        regions=1, settings=QUICK | {"learner.most": 2, "learner.patience": 10**6}, watch=said.append
    )
    assert [line for line in said if line.startswith("1 prototype") and "changes tried" in line] == []
    assert small.dial[-1].mean == -200.0  # no single action climbs the hill
