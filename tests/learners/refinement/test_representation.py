"""From a controller to a representation: changes that pay are kept, and values are what they say."""

from __future__ import annotations

import numpy as np
import pytest

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.learners.refinement.improvement import Improvement, OutOfStepsError
from distinguo.learners.refinement.representation import (
    RepresentationSettings,
    is_assured,
    representation_from,
    settled_values,
    worth_from,
)
from distinguo.representations.voronoi import voronoi
from distinguo.search.maps import (
    PrototypeMap,
    append_prototype,
    drop_prototype,
    map_of,
    prototype_map,
    set_action,
)
from distinguo.search.races import is_hopeless
from distinguo.search.trials import Trail, fresh_trail, rerun
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.world import world_of

CAR, BOT = task_spec("MountainCar-v0"), task_spec("Acrobot-v1")
#: Against the velocity in the middle, and one prototype far away that is hardly met.
SWING = prototype_map([[-0.5, -0.01], [-0.5, 0.01], [0.55, -0.06]], [0, 2, 1], [1.8, 0.14])
#: Solves the task with little to spare: a mean of -108.
NARROW = prototype_map([[-0.4421, 0.0052], [-0.338, -0.0029], [-0.2853, 0.0133]], [2, 0, 2], [2.852, 0.14])
WORLD = world_of(CAR.task, 2, 2)
BRIEF = RepresentationSettings(starts=10, most_starts=20, patience=30, steps=20_000, settling=4)


def run(changed: PrototypeMap, old: Trail) -> tuple[Trail, int]:
    return rerun(WORLD, changed, old)


def as_controller(one: PrototypeMap) -> Controller:
    q = np.full((len(one.actions), 3), -1.0)
    q[np.arange(len(q)), one.actions] = 0.0
    return Controller(voronoi(one.prototypes, one.scale), q)


def test_a_change_is_kept_only_if_it_pays() -> None:
    work = Improvement(CAR, SWING.changed(set_action, 1, 0), 200, np.random.default_rng(0))
    work.trails = work.fresh_trails(10)
    before = work.steps
    assert work.judge(SWING)
    assert work.map is SWING
    assert work.steps > before
    assert not work.judge(SWING.changed(set_action, 1, 0))
    assert work.map is SWING
    assert (
        work.judge(SWING.changed(append_prototype, SWING.prototypes[0], 0)) is False
    )  # no gain: not with more prototypes
    assert work.map.size == 3
    assert work.judge(SWING.changed(drop_prototype, 2)) in (True, False)


def test_poor_changes_are_given_up_early() -> None:
    work = Improvement(CAR, SWING, 200, np.random.default_rng(0))
    work.trails = work.fresh_trails(40)
    before = work.steps
    work.judge(SWING.changed(set_action, 0, 2).changed(set_action, 1, 2))
    assert work.steps - before <= 200 * 10
    assert not is_hopeless(np.full(4, -1.0))


def test_values_are_what_trials_are_worth_from_a_region_on() -> None:
    work = Improvement(CAR, SWING.changed(drop_prototype, 2), 200, np.random.default_rng(0))
    work.trails = work.fresh_trails(12)
    q = settled_values(work, settling=12)
    assert (q.argmax(axis=1) == work.map.actions).all()
    for j in range(2):
        for a in range(3):
            changed = work.map.changed(set_action, j, a)
            fresh = [run(changed, fresh_trail(trail.states[0], 200))[0] for trail in work.trails]
            assert q[j, a] == worth_from(fresh, j)
    assert worth_from(work.trails, 7) == 0.0


def test_a_better_action_is_adopted() -> None:
    work = Improvement(
        CAR, SWING.changed(drop_prototype, 2).changed(set_action, 1, 1), 200, np.random.default_rng(0)
    )
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
    never_met = NARROW.changed(append_prototype, np.array([-1.2, 0.07]), 1)
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
