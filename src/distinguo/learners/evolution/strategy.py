"""The evolution strategy: CMA-ES of the package ``cmaes``, rebuilt from arrays for every generation.

So a checkpoint holds all of it, and a resumed run draws the same candidates.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

from distinguo.learners.evolution.memory import EvolutionMemory


def _rebuilt(memory: EvolutionMemory, seed: int) -> Any:
    from cmaes import CMA  # only a run that evolves needs it

    status, distribution, n = memory.status[0], memory.distribution, int(memory.status["numbers"][0])
    made: Any = CMA(
        mean=distribution.mean[:n],
        sigma=float(status["sigma"]),
        cov=distribution.covariance[:n, :n].copy(),
        population_size=len(memory.candidates.drawn),
        seed=seed,
    )
    made._pc, made._p_sigma = distribution.path[:n].copy(), distribution.width_path[:n].copy()
    made._g = int(status["generation"])
    return made


def begin_distribution(memory: EvolutionMemory, centre: np.ndarray, sigma: float = 1.0) -> None:
    """Begin a search around some numbers."""
    n = len(centre)
    memory.status["numbers"], memory.status["generation"], memory.status["sigma"] = n, 0, sigma
    for array in memory.distribution:
        array[:] = 0.0
    memory.distribution.mean[:n] = centre
    memory.distribution.covariance[:n, :n] = np.eye(n)


def draw(memory: EvolutionMemory, rng: Generator) -> None:
    """Draw the candidates of a generation; those of laws in pairs, on opposite sides of the centre."""
    made, n = _rebuilt(memory, int(rng.integers(2**31))), int(memory.status["numbers"][0])
    drawn, paired = memory.candidates.drawn[:, :n], bool(memory.facts["amounts"][0])
    for i, row in enumerate(drawn):
        row[:] = 2.0 * made.mean - drawn[i - 1] if paired and i % 2 else made.ask()


def shift_distribution(memory: EvolutionMemory, ranks: np.ndarray) -> None:
    """Move the distribution towards the candidates of the lowest ranks."""
    made, n = _rebuilt(memory, 0), int(memory.status["numbers"][0])
    drawn = memory.candidates.drawn[:, :n]
    made.tell([(drawn[i].copy(), float(ranks[i])) for i in range(len(drawn))])
    distribution = memory.distribution
    distribution.mean[:n], distribution.covariance[:n, :n] = made.mean, made._C
    distribution.path[:n], distribution.width_path[:n] = made._pc, made._p_sigma
    memory.status["sigma"] = made._sigma
    memory.status["generation"] += 1
    memory.status["generations"] += 1
