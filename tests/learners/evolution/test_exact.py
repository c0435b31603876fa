"""The same bits: compiled and interpreted, stopped and resumed, rebuilt and not; and checkpoints that are damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from distinguo.errors import DistinguoError
from distinguo.learners.evolution import strategy
from distinguo.learners.evolution.memory import WARM_UP, EvolutionSettings, fresh_evolution_memory
from distinguo.learners.evolution.strategy import begin_distribution, draw, shift_distribution
from distinguo.reading.arrays import read_arrays
from distinguo.runs import folder, stage
from distinguo.runs.configuration import Configuration, configure
from distinguo.runs.learn import learn, learn_configured
from distinguo.runs.run import Run
from distinguo.runs.stage import Stage
from distinguo.tasks.world import python_world
from distinguo.writing import pack_arrays
from tests.nightly import so_many

SAME = ("representation.json", "values.npz", "trials.csv", "reasons.jsonl")
SMALL = {"learner.population": 6, "learner.warm_up": 4, "learner.tests": 3, "stage.confirm": 3}


def asked() -> Configuration:
    return configure("CartPole-v1", seed=5, learner="evolution", changes=SMALL | {"stage.steps": 4_000})


def told(run: Run) -> dict[str, Any]:
    """Return all that a run found."""
    partition = run.representation.partition
    summary = {key: value for key, value in run.summary.items() if key != "seconds"}
    arrays = partition.prototypes.tobytes(), partition.weight.tobytes(), run.q.tobytes()
    return {"summary": summary, "arrays": arrays, "trials": run.trials, "reasons": run.reasons}


def test_compiled_and_interpreted_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    brief = SMALL | {"stage.steps": 1_500}
    fast = told(learn("CartPole-v1", seed=5, learner="evolution", settings=brief))
    assert fast["summary"]["generations"] >= 2
    monkeypatch.setattr(stage, "world_of", python_world)
    assert told(learn("CartPole-v1", seed=5, learner="evolution", settings=brief)) == fast


def test_a_rebuilt_strategy_is_the_librarys_own() -> None:
    """Generations through arrays are those of one object of the library that lives on."""
    from cmaes import CMA

    memory, rng = fresh_evolution_memory(3, 3, EvolutionSettings(population=8)), np.random.default_rng(1)
    n = 8
    begin_distribution(memory, np.zeros(n))
    alive: Any = CMA(mean=np.zeros(n), sigma=1.0, population_size=8)
    for _ in range(20):
        state = rng.bit_generator.state
        draw(memory, rng)
        rng.bit_generator.state = state
        alive.reseed_rng(int(rng.integers(2**31)))
        drawn = [alive.ask() for _ in range(8)]
        assert np.allclose(memory.candidates.drawn[:, :n], drawn, rtol=1e-9, atol=1e-12)
        ranks = np.argsort(np.argsort([((x - 1.0) ** 2).sum() for x in drawn])).astype(float)
        shift_distribution(memory, ranks)
        alive.tell([(x, float(rank)) for x, rank in zip(drawn, ranks, strict=True)])
    assert np.abs(memory.distribution.mean[:n] - 1.0).max() < 0.5
    assert strategy._rebuilt(memory, 0).generation == alive.generation


# Stopped and resumed.


class Stopped(Exception):
    pass


def left(path: Path) -> dict[str, Any]:
    result = json.loads((path / "result.json").read_text())
    del result["seconds"]
    return {name: (path / name).read_bytes() for name in SAME} | {"result": result}


def stop_at(chunk: int, seen: list[Any]) -> Any:
    def watch(work: Stage) -> None:
        seen.append((work.phase, int(work.agent.memory.status["phase"][0])))
        if len(seen) == chunk:
            raise Stopped

    return watch


def test_a_run_stopped_anywhere_ends_with_the_same_bytes(tmp_path: Path) -> None:
    """In each phase of the learner, and in the midst of a generation."""
    phases: list[Any] = []
    learn_configured(asked(), tmp_path / "whole", stop_at(0, phases))
    whole = left(tmp_path / "whole")
    assert {phase for _, phase in phases} >= {0, 1, 2}
    firsts = {phase: n + 2 for n, phase in reversed(list(enumerate(phases)))}
    chosen = {*firsts.values(), *np.linspace(3, len(phases) - 1, so_many(3, nightly=40)).astype(int).tolist()}
    for chunk in sorted(chunk for chunk in chosen if chunk < len(phases)):
        path = tmp_path / str(chunk)
        with pytest.raises(Stopped):
            learn_configured(asked(), path, stop_at(chunk, []))
        learn_configured(asked(), path)
        assert left(path) == whole, chunk


# Checkpoints that do not hold together.

BAD: dict[str, tuple[Any, Any]] = {
    "memory.candidate.actions": (0, 2),
    "memory.best.partition.size": (0, 17),
    "memory.central.partition.primary": (0, 3),
    "memory.candidates.actions": (0, -1),
    "memory.distribution.covariance": ((0, 0), -1.0),
    "memory.distribution.mean": (0, np.nan),
    "memory.candidates.drawn": ((0, 0), np.inf),
    "memory.seen.spread": (0, np.nan),
    "memory.facts": ("hold", 1),
}
BAD_STATUS = {
    "phase": 4,
    "numbers": 10**9,
    "prototypes": 1,
    "candidate": 6,
    "place": 64,
    "trials": 0,
    "horizon": 0,
    "limit": -1,
    "sigma": 0.0,
    "level": np.nan,
    "generations": -(10**18),
}


def test_damaged_checkpoints_are_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "run"
    with pytest.raises(Stopped):
        learn_configured(asked(), path, stop_at(60, []))
    file = path / "checkpoint.npz"
    arrays = read_arrays(file)
    assert arrays["memory.status"]["phase"][0] != WARM_UP
    spoilt = {("memory.status", name): value for name, value in BAD_STATUS.items()}
    for (name, place), value in (
        {(name, place): value for name, (place, value) in BAD.items()} | spoilt
    ).items():
        new = arrays[name].copy()
        new[place] = value
        file.write_bytes(pack_arrays(arrays | {name: new}))
        with pytest.raises(DistinguoError) as caught:
            folder.load_checkpoint(file, asked())
        assert len(str(caught.value).splitlines()) == 1, (name, place)
        assert str(file) in str(caught.value)
