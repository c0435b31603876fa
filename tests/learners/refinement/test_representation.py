"""From a controller to a representation: reruns cost only what they change, and values are what they say."""

from __future__ import annotations

import numpy as np
import pytest

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.learners.refinement.improvement import (
    Improvement,
    OutOfStepsError,
    PrototypeMap,
    is_hopeless,
)
from distinguo.learners.refinement.representation import (
    RepresentationSettings,
    is_assured,
    map_of,
    representation_from,
    settled_values,
    worth_from,
)
from distinguo.search.trials import Trail, Try, follow_map, fresh_trail, rerun, return_of
from distinguo.representations.voronoi import voronoi
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.task import start, transition

CAR, BOT = task_spec("MountainCar-v0"), task_spec("Acrobot-v1")
#: Against the velocity in the middle, and one prototype far away that is hardly met.
SWING = PrototypeMap(
    np.array([[-0.5, -0.01], [-0.5, 0.01], [0.55, -0.06]]), np.array([0, 2, 1]), np.array([1.8, 0.14])
)
#: Solves the task with little to spare: a mean of -108.
NARROW = PrototypeMap(
    np.array([[-0.4421, 0.0052], [-0.338, -0.0029], [-0.2853, 0.0133]]),
    np.array([2, 0, 2]),
    np.array([2.852, 0.14]),
)
BRIEF = RepresentationSettings(starts=10, most_starts=20, patience=30, steps=20_000, settling=4)


def first_states(count: int, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [np.array(start(CAR.task, rng)) for _ in range(count)]


def run(changed: PrototypeMap, old: Trail) -> tuple[Trail, int]:
    return rerun(CAR.task, changed.partition, changed.actions, old)


def as_controller(one: PrototypeMap) -> Controller:
    q = np.full((len(one.actions), 3), -1.0)
    q[np.arange(len(q)), one.actions] = 0.0
    return Controller(one.partition, q)


@pytest.mark.parametrize("first", first_states(4), ids=str)
def test_a_rerun_is_the_trial_from_the_start_and_costs_only_the_rest(first: np.ndarray) -> None:
    old, whole = run(SWING, fresh_trail(first, 200))
    assert whole == old.length[0] > 0
    for changed in (SWING.with_action(1, 1), SWING.with_place(0, np.array([-0.7, -0.02])), SWING.without(2)):
        anew, steps = run(changed, fresh_trail(first, 200))
        again, rest = run(changed, old)
        length = anew.length[0]
        assert again.length[0] == length == steps
        for column, other in zip(again[:4], anew[:4], strict=True):
            assert (column[:length] == other[:length]).all()
        same = (anew.actions[:length] == old.actions[:length]).argmin() if rest else length
        assert rest == length - same


def test_a_map_that_decides_the_same_costs_nothing() -> None:
    old, _ = run(SWING, fresh_trail(first_states(1)[0], 200))
    twins = SWING.with_one(SWING.prototypes[0], 0)
    assert run(twins, old)[1] == 0
    assert run(twins, old)[0].total == old.total


def test_compiled_equals_interpreted() -> None:
    changed = SWING.with_action(0, 1)
    old, _ = run(SWING, fresh_trail(first_states(1)[0], 200))
    ours, steps = run(changed, old)
    plain = Trail(*(column.copy() for column in old))
    assert follow_map.py_func(CAR.task, changed.partition, changed.actions, old, plain, True) == steps
    for column, other in zip(ours, plain, strict=True):
        assert column.tobytes() == other.tobytes()


def test_a_mini_trial_holds_an_action_and_then_follows_the_map() -> None:
    old, _ = run(SWING, fresh_trail(first_states(1)[0], 200))
    step = 30
    gained, took = return_of(CAR.task, SWING.partition, SWING.actions, old, Try(step, 1, 5))
    s = tuple(old.states[step].tolist())
    for _ in range(5):
        s, _, _ = transition(CAR.task, s, 1)
    rest, _ = run(SWING, fresh_trail(np.array(s), 200 - step - 5))
    assert took == 5 + rest.length[0]
    assert gained == -(step + took)


def test_a_change_is_kept_only_if_it_pays() -> None:
    work = Improvement(CAR, SWING.with_action(1, 0), 200, np.random.default_rng(0))
    work.trails = work.fresh_trails(10)
    before = work.steps
    assert work.judge(SWING)
    assert work.map is SWING
    assert work.steps > before
    assert not work.judge(SWING.with_action(1, 0))
    assert work.map is SWING
    assert work.judge(SWING.with_one(SWING.prototypes[0], 0)) is False  # no gain: not with more prototypes
    assert len(work.map.actions) == 3
    assert work.judge(SWING.without(2)) in (True, False)


def test_poor_changes_are_given_up_early() -> None:
    work = Improvement(CAR, SWING, 200, np.random.default_rng(0))
    work.trails = work.fresh_trails(40)
    before = work.steps
    work.judge(SWING.with_action(0, 2).with_action(1, 2))
    assert work.steps - before <= 200 * 10
    assert not is_hopeless([-1.0] * 4)


def test_values_are_what_trials_are_worth_from_a_region_on() -> None:
    work = Improvement(CAR, SWING.without(2), 200, np.random.default_rng(0))
    work.trails = work.fresh_trails(12)
    q = settled_values(work, settling=12)
    assert (q.argmax(axis=1) == work.map.actions).all()
    for j in range(2):
        for a in range(3):
            changed = work.map.with_action(j, a)
            fresh = [run(changed, fresh_trail(trail.states[0], 200))[0] for trail in work.trails]
            assert q[j, a] == worth_from(fresh, j)
    assert worth_from(work.trails, 7) == 0.0


def test_a_better_action_is_adopted() -> None:
    work = Improvement(CAR, SWING.without(2).with_action(1, 1), 200, np.random.default_rng(0))
    work.trails = work.fresh_trails(12)
    settled_values(work, settling=3)
    assert work.map.actions.tolist() == [0, 2]


def test_assurance_asks_for_more_than_the_mean() -> None:
    def trails(totals: list[float]) -> list[Trail]:
        made = [fresh_trail(np.zeros(2), 1) for _ in totals]
        for trail, total in zip(made, totals, strict=True):
            trail.rewards[0], trail.length[0] = total, 1
        return made

    even, wide = trails([-109.0] * 40), trails([-60.0, -158.0] * 20)
    assert is_assured(even, -110.0, BRIEF)
    assert not is_assured(wide, -110.0, BRIEF)
    assert is_assured(wide, None, BRIEF)


def test_the_same_seed_gives_the_same_map() -> None:
    one, two = (
        representation_from(CAR, as_controller(SWING), np.random.default_rng(4), BRIEF) for _ in range(2)
    )
    assert one.controller.q.tobytes() == two.controller.q.tobytes()
    assert one.steps == two.steps > 0
    assert one.gains == two.gains


def test_what_comes_out_is_good_and_has_no_region_that_is_never_met() -> None:
    never_met = NARROW.with_one(np.array([-1.2, 0.07]), 1)
    better = representation_from(CAR, as_controller(never_met), np.random.default_rng(1))
    assert better.assured
    assert better.score > -107.0
    work = Improvement(CAR, map_of(better.controller), 200, np.random.default_rng(9))
    trails = work.fresh_trails(100)
    assert np.mean([trail.total for trail in trails]) > -110.0
    met = set(np.concatenate([trail.regions[: trail.length[0]] for trail in trails]).tolist())
    assert met == set(range(len(better.controller.q)))


def test_environments_of_others_are_restored_too() -> None:
    gym = task_spec("MountainCar-v0", interpreted=True)
    small = BRIEF._replace(starts=3, settling=2, patience=3)
    ours, theirs = (
        representation_from(spec, as_controller(SWING), np.random.default_rng(2), small)
        for spec in (CAR, gym)
    )
    assert theirs.steps > 0
    assert (theirs.controller.q.argmax(axis=1) == map_of(theirs.controller).actions).all()
    assert ours.controller.q.shape[1] == theirs.controller.q.shape[1] == 3


def test_a_task_without_a_way_back_is_refused() -> None:
    with pytest.raises(DistinguoError, match="MountainCar-v0 cannot"):
        representation_from(CAR._replace(restorable=False), as_controller(SWING), np.random.default_rng(0))


def test_acrobot_too() -> None:
    velocity = voronoi([[1, 0, 1, 0, 0.5, 0], [1, 0, 1, 0, -0.5, 0]], [2, 2, 2, 2, 1, 20])
    controller = Controller(velocity, np.array([[-1.0, -1.0, 0.0], [0.0, -1.0, -1.0]]))
    better = representation_from(BOT, controller, np.random.default_rng(1))
    assert better.score > -110.0


def test_steps_are_never_more_than_allowed() -> None:
    """A map that takes more is not made; a price that takes more is not told."""
    for most in (1, 3_000, 9_000, 30_000):
        work = Improvement(CAR, SWING, 200, np.random.default_rng(0), most)
        with pytest.raises(OutOfStepsError):
            work.fresh_trails(1000)
        assert most - 200 <= work.steps <= most or (most == 1 and work.steps == 0)
    brief = BRIEF._replace(most_steps=500)
    with pytest.raises(OutOfStepsError):
        representation_from(CAR, as_controller(SWING), np.random.default_rng(4), brief)
