"""Other homes of logs: Parquet, HDF5 as Minari and D4RL write it, replay buffers; pickles are refused."""

from __future__ import annotations

import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from distinguo.cli.distil import _teacher
from distinguo.errors import DistinguoError
from distinguo.offline.log import ARRAYS, Transitions
from distinguo.offline.readers import load_log
from distinguo.offline.record import record_log
from distinguo.tasks.catalog import task_spec

COLUMNS = ("before", "action", "reward", "after", "ended", "cut")


def same(a: Transitions, b: Transitions) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in COLUMNS)


@pytest.fixture(scope="module")
def log() -> Transitions:
    return record_log("Acrobot-v1", steps=1_300, seed=4)


def test_parquet(log: Transitions, tmp_path: Path) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {name: log.before[:, i] for i, name in enumerate(log.dimensions)}
    columns |= {f"next_{name}": log.after[:, i] for i, name in enumerate(log.dimensions)}
    columns |= {"action": log.action, "reward": log.reward, "terminated": log.ended, "truncated": log.cut}
    parquet.write_table(pyarrow.table(columns), tmp_path / "log.parquet")
    assert same(load_log(tmp_path / "log.parquet", task_spec("Acrobot-v1")), log)
    columns["action"] = np.array([f"torque {a}" for a in log.action])
    parquet.write_table(pyarrow.table(columns), tmp_path / "log.parquet")
    named = load_log(tmp_path / "log.parquet")
    assert (named.action == log.action).all()
    assert named.actions == ("torque 0", "torque 1", "torque 2")
    del columns["reward"]
    parquet.write_table(pyarrow.table(columns), tmp_path / "log.parquet")
    with pytest.raises(DistinguoError, match="has no column 'reward'"):
        load_log(tmp_path / "log.parquet")
    (tmp_path / "log.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(DistinguoError, match="is damaged or not a Parquet file"):
        load_log(tmp_path / "log.parquet")


def write_minari(h5py: Any, log: Transitions, folder: Path) -> Path:
    (folder / "data").mkdir(parents=True)
    with h5py.File(folder / "data" / "main_data.hdf5", "w") as file:
        for n in range(len(log.starts)):
            rows = np.flatnonzero(log.episodes == n)
            group = file.create_group(f"episode_{n}")
            group["observations"] = np.vstack([log.before[rows], log.after[rows[-1:]]])
            names = ("actions", "rewards", "terminations", "truncations")
            for name, column in zip(names, (log.action, log.reward, log.ended, log.cut), strict=True):
                group[name] = column[rows]
    return folder


def test_a_data_set_of_minari(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    log = record_log("CartPole-v1", steps=400, seed=5)  # more than ten episodes: their numbers are not words
    assert len(log.starts) > 11
    folder = write_minari(h5py, log, tmp_path / "cartpole" / "random-v0")
    read = load_log(folder, task_spec("CartPole-v1"))
    assert read.cut[-1]
    assert same(read._replace(cut=log.cut), log)
    with h5py.File(folder / "data" / "main_data.hdf5", "a") as file:
        del file["episode_3/rewards"]
        file["episode_3/rewards"] = np.zeros(2)
    with pytest.raises(
        DistinguoError, match=r"episode_3 of main_data.hdf5 should have arrays of numbers, with one"
    ):
        load_log(folder)
    with pytest.raises(DistinguoError, match="is not the folder of a Minari data set"):
        load_log(tmp_path)


def test_hdf5_as_d4rl_has_it(log: Transitions, tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "log.hdf5", "w") as file:
        file["observations"], file["next_observations"] = log.before, log.after
        file["actions"], file["rewards"] = log.action, log.reward
        file["terminals"], file["timeouts"] = log.ended, log.cut
    assert same(load_log(tmp_path / "log.hdf5", task_spec("Acrobot-v1")), log)
    (tmp_path / "log.hdf5").write_bytes(b"no HDF5")
    with pytest.raises(DistinguoError, match="is damaged or not in HDF5"):
        load_log(tmp_path / "log.hdf5")


def buffer_of(log: Transitions, size: int, keep_next: bool = True) -> SimpleNamespace:
    """What a ring of this size holds of two environments that did the same, as Stable-Baselines3 fills it."""
    steps = len(log.action)
    kept = np.arange(max(0, steps - size), steps)
    places = kept % size
    buffer: dict[str, Any] = {"pos": steps % size, "full": steps >= size}
    for name, column in zip(
        ("observations", "actions", "rewards", "dones", "timeouts"), (0, 1, 2, 4, 5), strict=True
    ):
        values = log[column + 1] if name != "dones" else log.last
        ring = np.zeros((size, 2, *np.shape(values)[1:], *([1] if name == "actions" else [])))
        ring[places] = values[kept].reshape(len(kept), 1, *ring.shape[2:])
        buffer[name] = ring
    if keep_next:
        ring = np.zeros((size, 2, log.after.shape[1]))
        ring[places] = log.after[kept][:, None]
        buffer["next_observations"] = ring
    return SimpleNamespace(**buffer)


@pytest.mark.parametrize("size", [1_000, 5_000])
def test_a_replay_buffer(log: Transitions, size: int) -> None:
    read = load_log(buffer_of(log, size), task_spec("Acrobot-v1"))
    rows = np.arange(len(log.action))[-size:]
    for name in ("before", "action", "reward", "after", "ended"):
        assert np.array_equal(getattr(read, name), np.concatenate([getattr(log, name)[rows]] * 2))
    cut = log.cut[rows].copy()
    cut[-1] = not log.ended[-1]
    assert np.array_equal(read.cut, np.concatenate([cut, cut]))


def test_a_replay_buffer_without_next_observations() -> None:
    """Those of the last step of an episode are then the next start, which says nothing, as in the buffer itself."""
    log = record_log("puck", steps=60, seed=1)
    assert not log.last.any()
    read = load_log(buffer_of(log, 100, keep_next=False), task_spec("puck"))
    assert np.array_equal(read.after, np.concatenate([log.after[:-1]] * 2))


def test_pickles_are_refused(tmp_path: Path) -> None:
    class Opened:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "opened",))

    (tmp_path / "buffer.pkl").write_bytes(pickle.dumps(Opened()))
    with pytest.raises(
        DistinguoError, match=r"runs code when it is opened.* save it as npz: model.load_replay_buffer"
    ):
        load_log(tmp_path / "buffer.pkl")
    np.savez(tmp_path / "log.npz", **dict.fromkeys(ARRAYS, np.array([Opened()], dtype=object)))  # type: ignore[arg-type]
    with pytest.raises(DistinguoError, match=r"is damaged or not an .npz file"):
        load_log(tmp_path / "log.npz")
    assert not (tmp_path / "opened").exists()


def test_a_log_is_a_teacher(tmp_path: Path) -> None:
    """Its actions in its states are what the teacher answers; a log of another task is rejected."""
    log = record_log("puck", steps=200, seed=6, out=tmp_path / "log.npz")
    teacher = _teacher(str(tmp_path / "log.npz"), "puck", {}, print)
    assert np.array_equal(teacher.answer(log.before[1:]), log.action[1:])
    with pytest.raises(DistinguoError, match="observations of 2 coordinates, but CartPole-v1 has 4"):
        _teacher(str(tmp_path / "log.npz"), "CartPole-v1", {}, print)
