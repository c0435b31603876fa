"""Words that the shell completes: tasks, presets, learners, settings, run folders, views, representations.

A shell asks at every key press, so nothing heavy is loaded here: the names of our tasks, views and baselines are
listed, and a test keeps the lists complete.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

OWN_TASKS = ("puck", "puck-continuing", "maze", "CartPole-v1", "MountainCar-v0", "Acrobot-v1", "Pendulum-v1")
VIEWS = ("partition", "values", "phase", "critical", "regret", "family", "trials", "dial", "fidelity")
BASELINES = ("diagonal", "grid:10x10", "seeds", "near-start:3")  #: representations of ours by name
STYLES = ("light", "dark", "print")
FORMATS = (
    "c",
    "c-source",
    "arduino",
    "python",
    "javascript",
    "structured-text",
    "onnx",
    "fmu",
    "markdown",
    "json",
    "dot",
    "npz",
)
SETTINGS_FILE = "settings.toml"  #: a folder with this file is a run
MOST_FOLDERS = 200  #: searched


def _beginning(words: Iterable[str], incomplete: str) -> list[str]:
    """Return the words that begin with a text, ignoring case.

    >>> _beginning(OWN_TASKS, "cart")
    ['CartPole-v1']
    """
    return [word for word in words if word.lower().startswith(incomplete.lower())]


def complete_task(incomplete: str) -> list[str]:
    """Complete the name of a task: ours and, after the first letter, Gymnasium's.

    >>> complete_task("")[0], complete_task("FrozenLake-v")
    ('puck', ['FrozenLake-v1'])
    """
    own = _beginning(OWN_TASKS, incomplete)
    if not incomplete or own:
        return own
    from gymnasium import registry  # 0.2 s

    return sorted(_beginning((name for name in registry if "/" not in name), incomplete))


def complete_preset(incomplete: str) -> list[str]:
    """Complete the name of a preset.

    >>> complete_preset("pa")
    ['paper']
    """
    from distinguo.presets import PRESETS

    return _beginning(PRESETS, incomplete)


def complete_learner(incomplete: str) -> list[str]:
    """Complete the name of a learner.

    >>> complete_learner("pro")
    ['probation']
    """
    from distinguo.learners.catalog import learner_names

    return _beginning(sorted(learner_names()), incomplete)


def complete_view(incomplete: str) -> list[str]:
    """Complete the name of a view.

    >>> complete_view("p")
    ['partition', 'phase']
    """
    return _beginning(VIEWS, incomplete)


def complete_style(incomplete: str) -> list[str]:
    """Complete the style of a picture.

    >>> complete_style("d")
    ['dark']
    """
    return _beginning(STYLES, incomplete)


def complete_format(incomplete: str) -> list[str]:
    """Complete the format of an export.

    >>> complete_format("n")
    ['npz']
    """
    return _beginning(FORMATS, incomplete)


def complete_setting(incomplete: str) -> list[str]:
    """Complete a setting of learning, up to its value.

    >>> complete_setting("learner.epsilon_")
    ['learner.epsilon_share=']
    """
    from distinguo.learners.learner import all_learners
    from distinguo.settings import StageSettings

    with warnings.catch_warnings(action="ignore"):  # packages that cannot be imported
        fields = [name for learner in all_learners() for name in learner.settings._fields]
    keys = [f"learner.{name}=" for name in dict.fromkeys(fields)]
    return _beginning([*keys, *(f"stage.{name}=" for name in StageSettings._fields)], incomplete)


def complete_tester_setting(incomplete: str) -> list[str]:
    """Complete a setting of the testing stage.

    >>> complete_tester_setting("tester.every_s")
    ['tester.every_steps=']
    """
    from distinguo.settings import TesterSettings

    return _beginning((f"tester.{name}=" for name in TesterSettings._fields), incomplete)


def complete_run(incomplete: str) -> list[str]:
    """Complete the folder of a run: in the current folder, under runs/, or along the path typed so far."""
    if not incomplete:
        return [*_folders(Path(), ""), *_folders(Path("runs"), "")]
    parent, name = os.path.split(incomplete)
    return _folders(Path(parent), name)


def complete_representation(incomplete: str) -> list[str]:
    """Complete a representation to test: by name, or a run."""
    from distinguo.registry import REPRESENTATIONS, added

    return [*_beginning([*BASELINES, *added(REPRESENTATIONS)], incomplete), *complete_run(incomplete)]


def _folders(parent: Path, beginning: str) -> list[str]:
    """Return the runs in a folder and, with a slash at the end, the folders that may hold some."""
    return sorted(_found(parent, beginning))


def _found(parent: Path, beginning: str) -> Iterator[str]:
    try:
        entries = sorted(os.scandir(parent), key=lambda entry: entry.name)[:MOST_FOLDERS]
    except OSError:  # no such folder, or no permission
        return
    for entry in entries:
        hidden = entry.name.startswith(".") and not beginning
        if entry.name.startswith(beginning) and not hidden and entry.is_dir():
            path = parent / entry.name
            yield str(path) if (path / SETTINGS_FILE).is_file() else f"{path}{os.sep}"
