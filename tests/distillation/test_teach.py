"""What ``--learner teacher`` refuses, with or without Stable-Baselines3."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import distinguo as dg
from distinguo.learners.teacher.learner import PUBLISHED
from tests.distillation.common import CART, refused


def test_without_the_package_the_sentence_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    refused(
        lambda: dg.learn(CART, learner="teacher"), "needs stable-baselines3, which is not installed; run: pip"
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"settings": {"stage.steps": 5}}, "does not use the setting stage.steps"),
        ({"settings": {"learner.epsilon": 5}}, "Unknown setting learner.epsilon"),
        ({"settings": {"learner.teacher": "x"}}, "Unknown setting learner.teacher"),
        ({"settings": {"learner.algorithm": "sarsa"}}, "Setting learner.algorithm should"),
        ({"settings": {"learner.steps": -1}}, "Setting learner.steps should be greater than or equal to 0"),
        ({"settings": {"learner.most": 0}}, "Setting learner.most should"),
        ({"prototypes": [[0, 0, 0, 0]]}, "takes no data, preset, prototypes, watch, prove or names"),
        ({"preset": "paper"}, "takes no data, preset, prototypes, watch, prove or names"),
        ({"threshold": float("nan")}, "keep should be a mean return"),
    ],
)
def test_what_it_does_not_take(options: dict[str, Any], words: str) -> None:
    refused(lambda: dg.learn(CART, learner="teacher", **options), words)


def test_labels_have_no_nearest_prototype() -> None:
    refused(lambda: dg.teach("FrozenLake-v1"), "observes labels")


def test_published_settings_are_known_by_id() -> None:
    import gymnasium

    assert all(known.steps > 0 and known.copies > 0 for several in PUBLISHED.values() for known in several)
    assert {"CartPole-v1", "MountainCar-v0", "LunarLander-v3"} <= PUBLISHED.keys() & gymnasium.registry.keys()
