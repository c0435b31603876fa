"""The monitor of Stable-Baselines3 as learning curves."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import distinguo as dg
from distinguo.errors import DistinguoError
from tests.nightly import so_many

HEAD = '#{"t_start": 1700000000.0, "env_id": "CartPole-v1"}\n'


def write(path: Path, rows: list[tuple[float, int, float]], extra: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    names = "r,l,t" + (f",{extra}" if extra else "")
    lines = [",".join(map(str, [*row, *([0] if extra else [])])) for row in rows]
    path.write_text(HEAD + "\n".join([names, *lines]) + "\n")
    return path


def test_the_curve_is_the_mean_of_the_last_episodes(tmp_path: Path) -> None:
    draw = np.random.default_rng(5)
    for _ in range(so_many(5, nightly=50)):
        lengths = draw.integers(1, 300, size=int(draw.integers(1, 80)))
        returns = draw.normal(size=len(lengths))
        rows = [(float(r), int(n), float(t)) for t, (r, n) in enumerate(zip(returns, lengths, strict=True))]
        path = write(tmp_path / "monitor.csv", rows, extra="is_success")
        for score, values in (("return", returns), ("length", lengths)):
            curve = dg.read_monitor(path, score=score)
            assert curve.training_steps[-1] == lengths.sum()
            for point, seen in zip(curve.training_steps, curve.scores[0], strict=True):
                ended = [
                    v for v, end in zip(values, lengths.cumsum(), strict=True) if end <= point
                ] or values[:1]
                middle = np.mean if score == "return" else np.median
                assert seen == pytest.approx(middle(ended[-20:]))


def test_environments_of_one_training_are_put_together_and_seeds_stay_apart(tmp_path: Path) -> None:
    for seed in range(3):
        for n in range(2):
            write(tmp_path / f"seed{seed}" / f"{n}.monitor.csv", [(seed, 10, k + n / 2) for k in range(20)])
    one = dg.read_monitor(tmp_path / "seed2")
    assert (len(one.scores), one.training_steps[-1]) == (1, 400)
    three = dg.read_monitor(tmp_path)
    assert three.scores[:, -1].tolist() == [0.0, 1.0, 2.0]
    assert dg.read_monitor(*sorted(tmp_path.iterdir())).scores.tolist() == three.scores.tolist()
    axes = dg.show(three).axes[0]
    assert axes.get_ylabel() == "mean return"
    low, high = json.loads(json.dumps(three.as_json()))["low"][-1], three.as_json()["high"][-1]
    assert 0.0 <= low < 1.0 < high <= 2.0
    assert three.row()[1] == three.row()[-1] == "–"


def test_a_shorter_training_ends_the_curve(tmp_path: Path) -> None:
    write(tmp_path / "a" / "monitor.csv", [(1, 10, 0)] * 5)
    write(tmp_path / "b" / "monitor.csv", [(2, 10, 0)] * 50)
    assert dg.read_monitor(tmp_path).training_steps[-1] == 50


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "first line should begin with #"),
        ("r,l,t\n1,2,3\n", "first line should begin with #"),
        (HEAD, "has no column 'r'"),
        (f"{HEAD}r,t\n1,2\n", "has no column 'l'"),
        (f"{HEAD}r,l,t\n", "has no episodes"),
        (f"{HEAD}r,l,t\n1,2,3\n1,x,3\n", "Line 4 of "),
        (f"{HEAD}r,l,t\n1,2\n", "Line 3 of "),
        (f"{HEAD}r,l,t\nnan,2,3\n", "Line 3 of "),
        (f"{HEAD}r,l,t\n1,0,3\n", "a length from 1"),
    ],
)
def test_damage_is_told_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "monitor.csv"
    path.write_text(text)
    with pytest.raises(DistinguoError, match=words):
        dg.read_monitor(path)


def test_folders_without_monitors_are_told(tmp_path: Path) -> None:
    with pytest.raises(DistinguoError, match=r"holds no monitor\.csv"):
        dg.read_monitor(tmp_path)
    with pytest.raises(DistinguoError, match="Which monitor"):
        dg.read_monitor()
    with pytest.raises(DistinguoError, match="'return' or 'length'"):
        dg.read_monitor(tmp_path, score="reward")
