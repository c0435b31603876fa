"""The audit of features on the puck: does it report the critical states that they get wrong, and no others?

    python benchmarks/features.py --seeds 0-19 --picture docs/images/audit-features.png

For each kind of features, action values are made in three ways: all weights 0, weights that a fresh learner of the
tester ends with, and the weights that come closest to the exact action values (least squares over all states of
the grid). Each is audited with the exact values as look-ahead (gamma 0.999): a regret above 0.5 is a fall that
could have been avoided.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import distinguo as dg
from distinguo.controls import build_representation
from distinguo.criteria import POLICY
from distinguo.evaluation.audit import Audit, audit_controller
from distinguo.features.feature import vector_of
from distinguo.representations.partition import OneHot
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.puck.analysis import DONT_CARE, MUST_PUSH_LEFT, ExactValues, analyse
from distinguo.tasks.puck.puck import Puck

NAMES = ("grid:10x10", "tiles:8x10x10", "rbf:10x10", "normalised-rbf:10x10", "perceptron", "perceptron:64")
GAMMA, COUNTS, RESOLUTION = 0.999, 0.5, 0.1
EXACT = dg.FeatureController(ExactValues(Puck(), GAMMA), np.eye(2))


def hill() -> tuple[np.ndarray, np.ndarray]:
    """Return the states of a grid within the walls, and the class of each."""
    known = analyse(Puck(), resolution=RESOLUTION)
    rows = np.array([(x, v) for x in known.x[1:-1] for v in known.v])
    return rows, known.codes[1:-1].ravel()


def features_of(name: str) -> Any:
    """Return the features of that name; a partition as one-hot ones."""
    known = build_representation(name, task_spec("puck"), 0)
    return known.partition if known.of_features else OneHot(known.partition)


def fitted(features: Any, rows: np.ndarray) -> np.ndarray:
    """Return the weights closest to the exact action values."""
    design = np.array([vector_of(features, tuple(row)) for row in rows.tolist()])
    exact = np.array([EXACT.q(row) for row in rows.tolist()])
    return np.linalg.lstsq(design, exact, rcond=None)[0]


def trained(name: str, seed: int, steps: int) -> np.ndarray:
    """Return the weights, or action values, that a fresh learner ends with."""
    learned = dg.trained_controller(name, "puck", seed=seed, steps=steps)
    return learned.weights if isinstance(learned, dg.FeatureController) else learned.q


def audited(features: Any, weights: np.ndarray, rows: np.ndarray) -> Audit:
    """Audit weights against the exact values."""
    controller = dg.FeatureController(features, weights)
    return audit_controller("puck", controller, rows, gamma=GAMMA, epsilon=COUNTS, values=EXACT)


def wrong_ones(features: Any, weights: np.ndarray, rows: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return which critical states may get the push that dooms them, found without any audit."""
    controller, wrong = dg.FeatureController(features, weights), np.zeros(len(rows), dtype=bool)
    for n in np.flatnonzero(codes > DONT_CARE):
        wrong[n] = controller.preferred(rows[n])[1 if codes[n] == MUST_PUSH_LEFT else 0]
    return wrong


def row_of(name: str, how: str, found: list[tuple[np.ndarray, np.ndarray]]) -> str:
    wrong = np.array([w.sum() for w, _ in found])
    caught = sum((w & r).sum() for w, r in found)
    others = sum((r & ~w).sum() for w, r in found)
    share = f"{caught:,} of {wrong.sum():,}"
    return f"| {name} | {how} | {np.median(wrong):g} ({wrong.min()} to {wrong.max()}) | {share} | {others} |"


def draw(path: Path, rows: np.ndarray, codes: np.ndarray, pictures: dict[str, Audit]) -> None:
    """Draw where each audit reports states, over the zone that can be held."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, (len(pictures) + 1) // 2, figsize=(11, 7), sharex=True, sharey=True)
    for axis, (title, findings) in zip(axes.flat, pictures.items(), strict=False):
        reported = (findings.rules & POLICY) > 0
        for chosen, colour, label in (
            (codes == DONT_CARE, "0.88", "either push will do"),
            (codes > DONT_CARE, "#7fa8d1", "critical"),
            (reported, "#b3261e", "reported"),
        ):
            axis.scatter(*rows[chosen].T, s=7, marker="s", color=colour, label=label, linewidths=0)
        axis.set_title(f"{title}: {int(reported.sum())} reported", fontsize=9)
    for axis in axes[-1]:
        axis.set_xlabel("x (m)")
    for axis in axes[:, 0]:
        axis.set_ylabel("v (m/s)")
    axes.flat[0].legend(fontsize=8, loc="upper right", markerscale=2)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="0-4")
    parser.add_argument("--steps", type=int, default=50_000)
    parser.add_argument("--names", nargs="*", default=NAMES)
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    first, last = map(int, options.seeds.split("-"))
    rows, codes = hill()
    print(f"{len(rows):,} states, {(codes > DONT_CARE).sum()} of them critical")
    print("| features | weights | critical states decided wrongly | reported | others reported |")
    print("|---|---|---|---|---|")
    pictures: dict[str, Audit] = {}
    for name in options.names:
        features = features_of(name)
        ways = {
            "all 0": [np.zeros_like(fitted(features, rows))],
            "closest to the exact values": [fitted(features, rows)],
        }
        ways["learned"] = [trained(name, seed, options.steps) for seed in range(first, last + 1)]
        for how, weights in ways.items():
            audits = [audited(features, each, rows) for each in weights]
            wrong = [wrong_ones(features, each, rows, codes) for each in weights]
            found = [(w, (a.rules & POLICY) > 0) for w, a in zip(wrong, audits, strict=True)]
            print(row_of(name, how, found), flush=True)
            if name in ("tiles:8x10x10", "rbf:10x10"):
                pictures[f"{name}\nweights {how}"] = audits[0]
    if options.picture:
        draw(options.picture, rows, codes, pictures)


if __name__ == "__main__":
    main()
