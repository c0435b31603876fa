"""Images: reduced by stated rules, in a run and after it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box

import distinguo as dg
from distinguo.errors import DistinguoError
from distinguo.tasks.catalog import spec_of
from distinguo.tasks.gym.images import ReducedObservation
from tests.tasks.faulty import Walk

SMALL = {"stage.steps": 200, "stage.cap": 20, "stage.confirm": 2}


class Camera(Walk):
    """The walk, seen as a bright column of an image."""

    def __init__(self, size: int = 30) -> None:
        super().__init__()
        self.size = size
        self.observation_space = Box(0, 255, (size, size, 3), np.uint8)

    def observation(self) -> Any:
        image = np.zeros(self.observation_space.shape, np.uint8)
        image[:, int(np.clip((self.simulation["place"] + 5) / 10, 0, 0.999) * self.size)] = 250
        return image


@pytest.mark.parametrize(
    "shape", [(30, 30, 3), (7, 7, 3), (210, 160, 3), (84, 84), (2835,), (5, 3), (90, 2, 40)]
)
def test_means_of_blocks(shape: tuple[int, ...]) -> None:
    env = Camera()
    env.observation_space = Box(0, 255, shape, np.uint8)
    wrapped = ReducedObservation(env, "pool")
    image = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
    found = wrapped.reduced(image)
    assert found.shape == wrapped.observation_space.shape
    assert found.size <= 64 or shape[2:] == (40,)
    assert wrapped.observation_space.contains(found)
    corner = tuple(
        slice(0, max(1, -(-side // blocks))) for side, blocks in zip(shape[:2], found.shape, strict=False)
    )
    assert image[corner].min() <= found.ravel()[0] <= image[corner].max()
    assert np.isclose(wrapped.reduced(np.full(shape, 7, np.uint8)), 7).all()


def test_changes_since_the_previous_observation() -> None:
    env = ReducedObservation(Camera(), "pool+differences")
    seen, _ = env.reset(seed=1)
    assert not seen[1].any()
    for _ in range(8):
        after = env.step(1)[0]
        assert np.array_equal(after[1], after[0] - seen[0])
        seen = after
    assert not env.reset(seed=1)[0][1].any()


def test_a_large_image_is_named() -> None:
    assert (
        " It observes images of 30 x 30 x 3 = 2,700 numbers; --features pool reduces them."
        in spec_of(Camera()).note
    )
    note = spec_of(Camera(), {"features": "pool+differences"}).note
    assert note.endswith(" Its observations are reduced to 2 x 4 x 4 x 3 = 96 numbers.")


@pytest.mark.parametrize("wrong", ["pol", "pool+pool", "", 3])
def test_unknown_features(wrong: Any) -> None:
    with pytest.raises(
        DistinguoError, match=r"Features \(task.features\) are pool, differences or pool\+diff"
    ):
        spec_of(Camera(), {"features": wrong})
    with pytest.raises(DistinguoError, match="Features are for observations of a Box, got Discrete"):
        dg.learn("FrozenLake-v1", settings={"task.features": "pool"})


@pytest.mark.second_stage
def test_a_run_on_reduced_images(tmp_path: Path) -> None:
    settings = {"task.features": "pool+differences", **SMALL}
    run = dg.learn(Camera(), learner="economy", settings=settings, out=tmp_path / "run")
    assert len(run.configuration.spec.dimensions) == 96
    again = dg.open_run(tmp_path / "run", task=Camera())
    env = ReducedObservation(Camera(), "pool+differences")
    seen = env.reset(seed=3)[0]
    assert again.action(seen) == run.action(seen) == run.action(seen.ravel())
    assert len(dg.rollout(again, steps=20).observations[0]) == 96


@pytest.mark.second_stage
def test_an_agent_on_reduced_images() -> None:
    if "Camera-v0" not in gymnasium.registry:
        gymnasium.register("Camera-v0", Camera, max_episode_steps=30)
    agent = dg.Economy("Camera-v0", settings={"task.features": "pool"}).learn(200)
    seen = agent.env.reset(seed=1)[0]
    assert seen.shape == (4, 4, 3)
    assert agent.predict(seen)[0] in (0, 1)
