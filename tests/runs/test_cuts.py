"""The settings of a run are whole or refused: what was cut away is never taken for the default."""

from __future__ import annotations

import contextlib
import random
import tomllib
from pathlib import Path

import pytest

from distinguo.errors import DistinguoError
from distinguo.runs.configuration import Configuration, configure, differences
from distinguo.runs.folder import read_settings
from distinguo.runs.settings_file import from_toml, to_toml
from distinguo.settings import LearnerSettings
from distinguo.tasks.catalog import spec_of
from tests.nightly import NIGHTLY
from tests.tasks.test_declare import Gusts

FORMATS = Path(__file__).parents[1] / "golden" / "formats"
WRITTEN = {
    "our own task": configure("puck", seed=1, changes={"task.mass": 1.3, "stage.confirm_steps": 7}),
    "a port": configure("CartPole-v1", seed=2, changes={"task.force": 12.0}),
    "another learner": configure("MountainCar-v0", learner="probation", changes={"stage.confirm": 77}),
    "prototypes": configure("puck", prototypes=[[0.5, 1.0], [-0.25, 3.5]]),
    "interpreted": configure("FrozenLake-v1", changes={"task.is_slippery": False}),
    "declared": configure(spec_of(Gusts(ways=4)), seed=3),
}
OLD = sorted(path.parent.name for path in FORMATS.glob("runs/*/settings.toml"))


def refused_or_the_same(text: str, whole: Configuration) -> None:
    with contextlib.suppress(DistinguoError):
        read = from_toml(text)
        assert differences(read, whole) == ""
        assert (read.spec.parameters, read.preset) == (whole.spec.parameters, whole.preset)
        assert (read.spec.threshold, read.spec.limit) == (whole.spec.threshold, whole.spec.limit)


def places(text: str) -> list[int]:
    """Return where to cut: anywhere by night, by day in the last lines, at line ends and at some places between."""
    if NIGHTLY:
        return list(range(len(text)))
    some = random.Random(len(text)).sample(range(len(text)), 40)
    return [*some, *range(len(text) - 60, len(text)), *(n for n, c in enumerate(text) if c == "\n")]


@pytest.mark.parametrize("name", WRITTEN)
def test_settings_that_are_cut_anywhere_are_refused_or_the_same(name: str) -> None:
    text = to_toml(WRITTEN[name])
    refused_or_the_same(text, WRITTEN[name])
    for place in places(text):
        refused_or_the_same(text[:place], WRITTEN[name])


@pytest.mark.parametrize("name", OLD)
def test_so_are_those_of_earlier_versions(name: str) -> None:
    path = FORMATS / "runs" / name
    text, whole = (path / "settings.toml").read_text(), read_settings(path)
    lacks_its_last_line = name == "puck-5"  # which files of just before did not have; all else can be told
    for place in places(text[: text.rindex("confirm_steps")] if lacks_its_last_line else text):
        refused_or_the_same(text[:place], whole)


@pytest.mark.parametrize("name", WRITTEN)
def test_settings_that_lost_a_line_are_refused_or_the_same(name: str) -> None:
    lines = to_toml(WRITTEN[name]).splitlines(keepends=True)
    for place in range(len(lines)):
        refused_or_the_same("".join(lines[:place] + lines[place + 1 :]), WRITTEN[name])


def test_a_setting_may_be_changed_by_hand() -> None:
    text = to_toml(WRITTEN["our own task"]).replace("mass = 1.3", "mass = 1.4")
    assert from_toml(text).spec.parameters["mass"] == 1.4


def test_settings_that_older_files_lack_are_as_they_were_then() -> None:
    """The preset of that name may have others now."""
    first = read_settings(FORMATS / "runs" / "puck-1")
    assert first.learner[-10:] == LearnerSettings()[-10:]
    assert (first.stage.restart, configure("puck").stage.restart) == (0, 60)


def test_a_setting_that_is_gone_is_only_dropped_where_it_meant_nothing() -> None:
    text = (FORMATS / "runs" / "puck-2" / "settings.toml").read_text()
    assert tomllib.loads(text)["learner"]["initial"] == 0.0
    from_toml(text)
    with pytest.raises(DistinguoError, match=r"learner\.initial"):
        from_toml(text.replace("initial = 0.0", "initial = 0.5"))
