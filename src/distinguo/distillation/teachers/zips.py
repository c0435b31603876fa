"""Agents that Stable-Baselines3 has saved. Its zips hold pickled objects: opening one runs whatever code is in it."""

from __future__ import annotations

import json
import zipfile
import zlib
from importlib import import_module
from pathlib import Path
from typing import Any

from distinguo.errors import DistinguoError, reason_of

WARNING = "Stable-Baselines3's zips run code when they are opened; open only those that you trust."
CLASSES = {
    "dqn": ("stable_baselines3", "DQN"),
    "ppo": ("stable_baselines3", "PPO"),
    "a2c": ("stable_baselines3", "A2C"),
    "sac": ("stable_baselines3", "SAC"),
    "td3": ("stable_baselines3", "TD3"),
    "qrdqn": ("sb3_contrib", "QRDQN"),
}
#: What only these have among the data of a zip, the most telling first.
MARKS = {
    "qrdqn": ("quantile_net",),
    "ppo": ("clip_range", "n_epochs"),
    "a2c": ("n_steps", "gae_lambda"),
    "td3": ("target_policy_noise",),
    "sac": ("target_entropy",),
    "dqn": ("exploration_final_eps",),
}
LARGEST_DATA = 64 * 1024 * 1024  #: bytes


def kind_of_zip(path: Path) -> str:
    """Return which agent a zip holds, by the names in it; nothing in it is run for that."""
    try:
        with zipfile.ZipFile(path) as archive:
            info = archive.getinfo("data")
            if info.file_size > LARGEST_DATA:
                raise DistinguoError(f"{path} is too large: its data take {info.file_size:,} bytes.")
            data = json.loads(archive.read(info).decode("utf-8"))
    except FileNotFoundError:
        raise DistinguoError(
            f"There is no file {path}; give the path of a zip that model.save wrote."
        ) from None
    except (zipfile.BadZipFile, zlib.error, KeyError, ValueError, OSError, EOFError, RuntimeError) as error:
        raise DistinguoError(
            f"{path} is damaged, or no agent of Stable-Baselines3 ({reason_of(error)}); save it again with "
            "model.save."
        ) from None
    if isinstance(data, dict):
        policy = str(data.get("policy_class", "")).lower()
        for kind, marks in MARKS.items():
            if all(mark in data for mark in marks) or (kind == "qrdqn" and "qrdqn" in policy):
                return kind
    raise DistinguoError(
        f"{path} holds an agent of another kind; allowed are DQN, QR-DQN, PPO, A2C, SAC and TD3; load it yourself "
        "and hand it over: distinguo.distil(model, task)."
    )


def load_zip(path: Path) -> Any:
    """Open an agent, which runs the code in its zip: only for files that were named on the command line."""
    module, name = CLASSES[kind_of_zip(path)]
    try:
        kind = getattr(import_module(module), name)
    except ImportError:
        package = module.replace("_", "-")
        raise DistinguoError(
            f"{path} needs {package}, which is not installed; run: pip install {package}"
        ) from None
    try:
        return kind.load(path, device="cpu")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever is in it
        raise DistinguoError(
            f"{path} could not be opened ({reason_of(error)}); save it again with the installed {module}, or load it "
            "yourself and hand it over: distinguo.distil(model, task)."
        ) from error
