"""What a run is asked: read from words, written to a file with comments, compared."""

from __future__ import annotations

import math
import tomllib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from distinguo.errors import DistinguoError
from distinguo.presets import PRESETS
from distinguo.runs.configuration import Configuration, configure, differences, learn_command
from distinguo.runs.settings_file import from_toml, to_toml
from distinguo.settings import LearnerSettings, StageSettings
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.puck.puck import Puck

points = st.lists(st.tuples(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9)), min_size=1, max_size=4, unique=True)


@st.composite
def configurations(draw: st.DrawFn) -> Configuration:
    """Draw a configuration with something of every table changed."""
    changes = {
        "task.beta": draw(st.floats(1e-3, 100)),
        "learner.epsilon": draw(st.floats(1e-9, 1e9)),
        "learner.min_updates": draw(st.integers(0, 1000)),
        "learner.discount_steps": draw(st.booleans()),
        "stage.cap": draw(st.integers(1, 10**12)),
    }
    return configure(
        "puck",
        seed=draw(st.integers(0, 2**63 - 1)),
        preset_name=draw(st.sampled_from(sorted(PRESETS))),
        changes=changes,
        prototypes=draw(st.none() | points),
    )


@given(configurations())
def test_a_configuration_survives_its_file(configuration: Configuration) -> None:
    assert from_toml(to_toml(configuration)) == configuration
    assert to_toml(from_toml(to_toml(configuration))) == to_toml(configuration)


def test_every_setting_is_in_the_file_with_a_comment() -> None:
    tables = to_toml(configure("puck")).split("\n[")
    for kind, table in ((Puck, "task]"), (LearnerSettings, "learner]"), (StageSettings, "stage]")):
        (text,) = [text for text in tables if text.startswith(table)]
        for name in kind._fields:
            (line,) = [line for line in text.splitlines() if line.startswith(f"{name} = ")]
            assert len(line.partition(" # ")[2]) > 3, line


def test_the_source_of_a_setting_is_told_in_its_comment() -> None:
    text = to_toml(configure("puck"))
    assert "MIN_UPDATES; paper, section 3.1" in text


@pytest.mark.parametrize("name", ["task.mass", "learner.epsilon", "stage.hold", "stage.confirm_steps"])
def test_a_setting_that_is_missing_is_not_taken_for_the_default(name: str) -> None:
    key = name.partition(".")[2]
    lines = to_toml(configure("puck", changes={"task.mass": 1.3})).splitlines(keepends=True)
    text = "".join(line for line in lines if not line.startswith(f"{key} = "))
    with pytest.raises(DistinguoError, match=r"mine.toml is damaged: it has \d+ settings, but its end says"):
        from_toml(text, "mine.toml")


def test_a_preset_is_a_start_that_changes_go_on_top_of() -> None:
    for name, changes in PRESETS.items():
        plain = configure("puck", preset_name=name)
        for key, value in changes.items():
            table, _, field = key.partition(".")
            assert getattr(getattr(plain, table), field) == value
        assert configure("puck", preset_name=name, changes={"learner.gamma": 0.5}).learner.gamma == 0.5


def sentence(**asked: Any) -> str:
    with pytest.raises(DistinguoError) as caught:
        configure(**{"task": "puck", **asked})
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    return message


@pytest.mark.parametrize(
    ("asked", "offer"),
    [
        ({"task": "pukc"}, "did you mean 'puck'?"),
        ({"preset_name": "papier"}, "did you mean 'paper'?"),
        ({"changes": {"learner.epsilom": 1}}, "did you mean 'epsilon'?"),
        ({"changes": {"lerner.epsilon": 1}}, "did you mean 'learner.epsilon'?"),
        ({"changes": {"task.betta": 1}}, "did you mean 'beta'?"),
        ({"changes": {"stage.trails": 1}}, "did you mean 'trials'?"),
        ({"changes": {"epsilon": 1}}, "settings are named TABLE.NAME"),
        ({"changes": {"learner.": 1}}, "settings are named TABLE.NAME"),
        ({"changes": {"learner.zzz": 1}}, "known: active, alpha, "),
    ],
)
def test_a_misspelt_word_gets_an_offer(asked: dict[str, Any], offer: str) -> None:
    assert offer in sentence(**asked)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("learner.gamma", 1.0),
        ("learner.gamma", 0.0),
        ("learner.epsilon", -0.1),
        ("learner.epsilon", math.nan),
        ("learner.delta", math.nan),
        ("learner.alpha", 1.5),
        ("learner.alpha", "fast"),
        ("learner.min_updates", -1),
        ("learner.min_updates", 2.5),
        ("learner.discount_steps", "perhaps"),
        ("learner.coin", None),
        ("task.beta", 0),
        ("task.wall", math.inf),
        ("stage.cap", 0),
        ("stage.cap", 10**13),
        ("stage.cap", 10**400),
        ("stage.prototypes", [1]),
    ],
)
def test_a_value_out_of_range_is_told_with_its_name(key: str, value: Any) -> None:
    message = sentence(changes={key: value})
    assert message.startswith(f"Setting {key} should ")
    assert "got " in message


@pytest.mark.parametrize("seed", [-1, 2**63, 1.5, "1", None, math.nan])
def test_a_seed_is_a_whole_number(seed: Any) -> None:
    assert "seed" in sentence(seed=seed)


def test_a_whole_number_of_numpy_is_a_seed() -> None:
    configuration = configure("puck", seed=np.int64(3))  # type: ignore[arg-type]
    assert from_toml(to_toml(configuration)).seed == 3


@pytest.mark.parametrize(
    ("prototypes", "word"),
    [
        ([], "empty"),
        ([[]], "empty"),
        ([[0.0]], "2 coordinates"),
        ([0.0, 0.0], "2 coordinates"),
        ([[0.0, 1.0, 2.0]], "2 coordinates"),
        ([[[0.0, 1.0]]], "2 coordinates"),
        ([[0.0, 0.0], [math.nan, 1.0]], "Prototype 1"),
        ([[0.0, -math.inf]], "Prototype 0"),
        ([[0.0, 1.0], [0.0, 1.0]], "differ"),
        ([[0.0, 0.0], [0.0, -0.0]], "differ"),
        ([[0.0, 1.0], [2.0]], "rows of numbers"),
        ([["left", "right"]], "rows of numbers"),
        ("seeds", "rows of numbers"),
        ({"x": 1}, "rows of numbers"),
    ],
)
def test_prototypes_that_cannot_be_are_told(prototypes: Any, word: str) -> None:
    assert word in sentence(prototypes=prototypes)


HEAD = '[run]\nversion = 1\ntask = "puck"\nseed = 0\npreset = "paper"\n'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[run",
        "run = 3",
        "[run]\nversion = 1",
        HEAD.replace("1", "2"),
        HEAD.replace("1", '"1"'),
        HEAD.replace('"puck"', "3"),
        HEAD.replace('"puck"', '["puck"]'),
        HEAD.replace('"puck"', '"pukc"'),
        HEAD.replace("seed = 0", 'seed = "0"'),
        HEAD.replace("seed = 0", "seed = -1"),
        HEAD.replace('"paper"', "[]"),
        "learner = 3\n" + HEAD,
        HEAD + "[learner]\nepsilom = 0.1",
        HEAD + "[learner]\nepsilon = -0.1",
        HEAD + "[lerner]\nepsilon = 0.1",
        HEAD + "sede = 3",
        HEAD + "prototypes = [[1.0]]",
        HEAD + "prototypes = 3",
    ],
)
def test_a_file_that_is_not_a_configuration_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(DistinguoError) as caught:
        from_toml(text, "settings.toml")
    assert len(str(caught.value).splitlines()) == 1


def test_a_newer_file_asks_for_an_upgrade() -> None:
    with pytest.raises(DistinguoError, match="newer"):
        from_toml(HEAD.replace("1", "3"))


@given(configurations(), configurations())
def test_differences_are_empty_exactly_for_the_same_run(one: Configuration, other: Configuration) -> None:
    assert differences(one, one) == ""
    same = one._replace(preset="") == other._replace(preset="")
    assert (differences(one, other) == "") == same


def test_differences_name_each_setting_with_both_values() -> None:
    ours = configure("puck", seed=1, preset_name="paper", changes={"learner.epsilon": 0.5})
    theirs = configure("puck", seed=2, preset_name="paper", changes={"learner.epsilon": 0.25})
    assert differences(ours, theirs) == "seed 1 instead of 2, learner.epsilon 0.5 instead of 0.25"


def test_a_start_from_prototypes_differs_from_a_start_from_scratch() -> None:
    seeded = configure("puck", prototypes=[[0.5, 1.0]])
    assert differences(seeded, configure("puck")) == "prototypes [[0.5, 1.0]] instead of null"


def test_the_settings_of_a_run_are_plain_toml() -> None:
    content = tomllib.loads(to_toml(configure("puck", seed=9, prototypes=[[0.1, -1e300]])))
    assert content["run"]["seed"] == 9
    assert content["run"]["prototypes"] == [[0.1, -1e300]]
    assert set(content) == {"run", "task", "learner", "stage", "end"}


def test_a_command_asks_for_plain_python_only_where_there_is_a_port() -> None:
    assert learn_command(configure("CliffWalking-v1")) == "distinguo learn CliffWalking-v1 --seed 0"
    assert "--interpreted" in learn_command(configure(task_spec("CartPole-v1", interpreted=True)))
