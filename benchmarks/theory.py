"""How tight are the bounds of docs/theory.md? On random tasks whose states are grouped at random.

    python benchmarks/theory.py --tasks 400 --picture docs/images/theory-tightness.png

A task has 4 to 12 states and 2 to 4 actions; rewards are uniform in -1 .. 1; chances of the next states are drawn
from a Dirichlet distribution (parameter 1). States are put into regions at random: two or more, and fewer than there
are states. The values of the regions are those that Q-learning settles at when all states of a region are visited
equally often, and the policy is greedy. Of each task the worst state counts. A bound is vacuous if no policy at all
could lose more.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from distinguo import criteria

GAMMAS = (0.5, 0.9, 0.95, 0.99)
BOUNDS = ("loss, one epsilon", "loss, two-sided", "promise")


def values_of(chances: np.ndarray, rewards: np.ndarray, gamma: float, chosen: np.ndarray) -> np.ndarray:
    """The value of a policy, by its equations."""
    rows = np.arange(len(rewards))
    return np.linalg.solve(np.eye(len(rewards)) - gamma * chances[rows, chosen], rewards[rows, chosen])


def best_q(chances: np.ndarray, rewards: np.ndarray, gamma: float) -> np.ndarray:
    """The action values of a best policy, by policy iteration."""
    chosen = np.zeros(len(rewards), dtype=int)
    while True:
        q = rewards + gamma * chances @ values_of(chances, rewards, gamma, chosen)
        better = q.max(axis=1) > q[np.arange(len(q)), chosen] + 1e-12
        if not better.any():
            return q
        chosen = np.where(better, q.argmax(axis=1), chosen)


def measured(rng: np.random.Generator, gamma: float) -> list[tuple[float, float]]:
    """Draw a task; return what was lost and the bound on it, for each of ``BOUNDS``."""
    states, actions = int(rng.integers(4, 13)), int(rng.integers(2, 5))
    regions = rng.integers(0, rng.integers(2, states), states)
    chances = rng.dirichlet(np.ones(states), (states, actions))
    rewards = rng.uniform(-1.0, 1.0, (states, actions))
    _, regions, sizes = np.unique(regions, return_inverse=True, return_counts=True)
    member = np.eye(len(sizes))[regions]  # (states, regions)
    mean = member.T / sizes[:, None]
    grouped = np.einsum("rs,sat,tq->raq", mean, chances, member)
    q = best_q(grouped, mean @ rewards, gamma)[regions]
    v, chosen = q.max(axis=1), q.argmax(axis=1)
    q1 = rewards + gamma * chances @ v
    errors = v - q1.max(axis=1)
    regret = float((q1.max(axis=1) - q1[np.arange(states), chosen]).max())
    over, under = max(0.0, float(errors.max())), max(0.0, float(-errors.min()))
    epsilon, horizon = max(over, under, regret), criteria.horizon(gamma)
    own = values_of(chances, rewards, gamma, chosen)
    lost = float((best_q(chances, rewards, gamma).max(axis=1) - own).max())
    return [
        (lost, criteria.loss_bound(epsilon, epsilon, epsilon, horizon)),
        (lost, criteria.loss_bound(over, under, regret, horizon)),
        (float((v - own).max()), criteria.promise_bound(over, regret, horizon)),
    ]


def draw(path: Path, lost: np.ndarray, gammas: tuple[float, ...]) -> None:
    """Draw loss over bound, one line for each discount: the share of tasks up to a ratio."""
    figure = Figure(figsize=(9.0, 3.2), layout="constrained")
    for place, name in enumerate(BOUNDS):
        axes = figure.add_subplot(1, len(BOUNDS), place + 1)
        for row, gamma in zip(lost, gammas, strict=True):
            ratios = np.sort(row[:, place, 0] / row[:, place, 1])
            axes.plot(ratios, np.arange(1, len(ratios) + 1) / len(ratios), label=f"γ = {gamma:g}")
        axes.set(title=name, xlabel="loss / bound", xlim=(-0.05, 1.0), ylim=(0.0, 1.0))
    figure.axes[0].set_ylabel("share of tasks")
    figure.axes[0].legend()
    figure.savefig(path, dpi=110)


def main() -> None:
    """Print a table of ratios, and draw them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=400, help="for each discount")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    lost = np.array(
        [
            [measured(rng, gamma) for _ in range(options.tasks)]
            for gamma, rng in ((gamma, np.random.default_rng(options.seed)) for gamma in GAMMAS)
        ]
    )
    print("| γ | bound | median ratio | 95 % point | greatest | vacuous |\n|---|---|---|---|---|---|")
    for row, gamma in zip(lost, GAMMAS, strict=True):
        for place, name in enumerate(BOUNDS):
            ratios, bounds = row[:, place, 0] / row[:, place, 1], row[:, place, 1]
            assert ratios.max() <= 1.0 + 1e-9
            middle, most = np.quantile(ratios, [0.5, 0.95])
            vacuous = (bounds >= 2.0 * criteria.horizon(gamma)).mean()
            print(f"| {gamma:g} | {name} | {middle:.3f} | {most:.3f} | {ratios.max():.3f} | {vacuous:.0%} |")
    if options.picture:
        draw(options.picture, lost, GAMMAS)


if __name__ == "__main__":
    main()
