"""PPO with its defaults beside us, in the environments that others wrote."""

from __future__ import annotations

import pytest

pytest.importorskip("stable_baselines3")

from benchmarks.worlds import RIVAL, TRIALS, World, rival_line


def test_the_rival_is_trained_and_tried_anew() -> None:
    line = rival_line(World("Blackjack-v1", 64, -2.0), 0)  # its observations are a Tuple
    assert (line.agent, line.answer, line.trials) == (RIVAL, "solved", TRIALS)
    assert -1.0 <= line.anew <= 1.0


def test_what_the_rival_raises_is_recorded() -> None:
    line = rival_line(World("Nowhere-v0", 64, 0.0), 0)
    assert line.answer == "refused"
    assert line.words.startswith("NameNotFound: ")
