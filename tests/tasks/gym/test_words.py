"""What the coordinates and actions of environments are called."""

from __future__ import annotations

import gymnasium
import numpy as np

from distinguo.tasks.catalog import spec_of, task_spec
from distinguo.tasks.gym.spaces import DiscreteActions
from distinguo.tasks.gym.task import DOCUMENTED, Names, action_names, dimension_names

HILL = "MountainCarContinuous-v0"


def test_a_known_environment_has_the_names_of_its_documents() -> None:
    spec = task_spec(HILL, {"levels": [-1.0, 0.25, 1.0]})
    assert spec.dimensions == ("x", "v")
    assert spec.actions == ("-1", "+0.25", "+1")


def test_the_names_are_those_of_the_right_numbers() -> None:
    env = gymnasium.make(HILL)
    before, _ = env.reset(seed=3)
    place, speed = DOCUMENTED[HILL].dimensions.index("x"), DOCUMENTED[HILL].dimensions.index("v")
    for _ in range(20):
        seen, *_ = env.step(np.array([1.0], dtype=np.float32))
        assert abs(seen[place] - before[place] - seen[speed]) < 1e-6
        before = seen


def test_an_object_may_be_wrapped_and_keeps_its_numbers() -> None:
    spec = spec_of(DiscreteActions(gymnasium.make(HILL), 3))
    assert spec.dimensions == ("o0", "o1")
    assert spec.actions == ("-1", "+0", "+1")


def test_an_environment_of_another_shape_keeps_its_numbers() -> None:
    assert dimension_names(HILL, ("o0", "o1", "o2")) == ("o0", "o1", "o2")
    assert action_names("LunarLander-v3", None, 3) == ("a0", "a1", "a2")
    assert action_names("LunarLander-v3", None, 4)[2] == "main_engine"


def test_levels_that_read_the_same_are_numbered() -> None:
    env = DiscreteActions(gymnasium.make(HILL), [0.1234561, 0.1234562])
    assert action_names(HILL, env, 2) == ("a0", "a1")


def test_no_name_is_there_twice() -> None:
    for names in DOCUMENTED.values():
        assert isinstance(names, Names)
        for one in (names.dimensions, names.actions):
            assert len(set(one)) == len(one)
        assert len(names.units) in (0, len(names.dimensions))
