"""Once kernels are warm, nothing is left to compile while a run is timed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from numba.core import event

from distinguo.runs.configuration import configure
from distinguo.runs.learn import learn, warm
from distinguo.seam import config


class Compilations(event.Listener):
    """The names of the functions that were compiled."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def on_start(self, happening: Any) -> None:
        self.names.append(happening.data["dispatcher"].__name__)

    def on_end(self, happening: Any) -> None:
        pass


@contextmanager
def compilations() -> Iterator[list[str]]:
    listener = Compilations()
    with event.install_listener("numba:compile", listener):
        yield listener.names


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
@pytest.mark.parametrize("task", ["puck", "CartPole-v1"])
def test_a_warm_learner_compiles_nothing(task: str) -> None:
    """The first file of all (tests/conftest.py): what it leaves in the cache serves every other process."""
    warm(configure(task))
    with compilations() as names:
        learn(task, seed=1, settings={"stage.steps": 3_000})
    assert names == []
