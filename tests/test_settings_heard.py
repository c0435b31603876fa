"""No setting is silently ignored: a name that is not known is an error that offers the nearest that is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import distinguo as dg
from distinguo.cli import main
from distinguo.cli.parse import changes
from distinguo.comparison.compare import plan_for
from distinguo.comparison.plan import PlanHead, make_plan, read_plan
from distinguo.errors import DistinguoError
from distinguo.runs.configuration import configure
from distinguo.runs.settings_file import RUN, from_toml, to_toml
from distinguo.settings import LearnerSettings, StageSettings
from distinguo.settings import TesterSettings as SettingsOfTester
from distinguo.tasks.catalog import spec_of, task_spec
from distinguo.tasks.puck.noisy import NoisyPuck
from distinguo.tasks.puck.puck import Puck
from tests.nightly import so_many

LETTERS = "abcdefghijklmnopqrstuvwxyz_"
TABLES = {"task": Puck._fields, "learner": LearnerSettings._fields, "stage": StageSettings._fields}
FEW = settings(max_examples=so_many(25, nightly=500))


@st.composite
def misspelt(draw: st.DrawFn, known: tuple[str, ...]) -> tuple[str, str]:
    """Draw a known name and the same with a letter lost, doubled, swapped or changed."""
    name = draw(st.sampled_from([word for word in known if len(word) > 3]))
    place = draw(st.integers(0, len(name) - 2))
    letter = draw(st.sampled_from(LETTERS))
    wrong = draw(
        st.sampled_from(
            [
                name[:place] + name[place + 1 :],
                name[:place] + name[place] + name[place:],
                name[:place] + name[place + 1] + name[place] + name[place + 2 :],
                name[:place] + letter + name[place + 1 :],
            ]
        )
    )
    assume(wrong not in known and wrong.isidentifier() and not wrong.startswith("_"))
    return name, wrong


def sentence(call: Callable[..., Any], *arguments: Any, **named: Any) -> str:
    with pytest.raises(DistinguoError) as caught:
        call(*arguments, **named)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


def offers(said: str, name: str, wrong: str, known: tuple[str, ...]) -> bool:
    """Tell whether a sentence names what is wrong and offers what was meant, or one that is as near, or all."""
    offered = said.rpartition("did you mean ")[2] if "did you mean" in said else said
    return wrong in said and (name in offered or any(f"'{other}'" in offered for other in known))


@FEW
@given(data=st.data(), table=st.sampled_from(sorted(TABLES)))
def test_of_a_run_in_python_and_in_its_file(data: st.DataObject, table: str) -> None:
    name, wrong = data.draw(misspelt(TABLES[table]))
    known = (*TABLES[table], "noise")
    said = sentence(configure, "puck", changes={f"{table}.{wrong}": 0})
    assert offers(said, name, wrong, known)
    said = sentence(configure, task_spec("puck"), changes={f"{table}.{wrong}": 0})
    assert offers(said, name, wrong, known)
    text = to_toml(configure("puck"))
    said = sentence(from_toml, text.replace(f"\n{name} = ", f"\n{wrong} = "))
    assert offers(said, name, wrong, known)


@FEW
@given(misspelt(RUN), misspelt(("task", "learner", "stage")))
def test_of_the_head_and_the_tables_of_a_settings_file(key: tuple[str, str], table: tuple[str, str]) -> None:
    text = to_toml(configure("puck"))
    assert offers(sentence(from_toml, text.replace("[run]\n", f"[run]\n{key[1]} = 1\n")), *key, RUN)
    said = sentence(from_toml, text.replace(f"[{table[0]}]", f"[{table[1]}]"))
    assert table[0] in said
    more = sentence(from_toml, f"{text}\n[{table[1]}]\na = 1\n")
    assert table[1] in more


@FEW
@given(misspelt(SettingsOfTester._fields), misspelt(PlanHead._fields), misspelt(Puck._fields))
def test_of_a_plan(tester: tuple[str, str], head: tuple[str, str], task: tuple[str, str]) -> None:
    text = '[plan]\nrepresentations = ["diagonal"]\n'
    for table in ("tester", "variant.slow"):
        said = sentence(read_plan, f"{text}[{table}]\n{tester[1]} = 1\n")
        assert offers(said, *tester, SettingsOfTester._fields)
    assert offers(sentence(read_plan, f"{text}{head[1]} = 1\n"), *head, PlanHead._fields)
    assert offers(sentence(read_plan, f"{text}[task]\n{task[1]} = 1\n"), *task, (*Puck._fields, "noise"))
    assert "unknown table" in sentence(read_plan, f"{text}[{head[1]}]\na = 1\n")
    said = sentence(make_plan, ["diagonal"], task=task_spec("puck"), task_parameters={task[1]: 0})
    assert offers(said, *task, (*Puck._fields, "noise"))
    said = sentence(plan_for, ["diagonal"], settings={f"tester.{tester[1]}": 1})
    assert offers(said, *tester, SettingsOfTester._fields)


@FEW
@given(data=st.data(), table=st.sampled_from(sorted(TABLES)))
def test_of_the_command_line(data: st.DataObject, table: str) -> None:
    name, wrong = data.draw(misspelt(TABLES[table]))
    said = sentence(lambda: configure("puck", changes=changes([f"{table}.{wrong}=1"])))
    assert offers(said, name, wrong, (*TABLES[table], "noise"))


def test_options_of_the_command_line_too(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for words in (["learn", "puck", "--sede", "1"], ["test", "diagonal", "--rnus", "2"]):
        monkeypatch.setattr(sys, "argv", ["distinguo", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 2
        assert "No such option: " + words[2] in capfd.readouterr().err


#: Public functions with an argument each, and their names.
FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], tuple[str, ...]]] = {
    "learn": (dg.learn, ("puck",), ("seed", "preset", "learner", "settings", "prototypes", "watch")),
    "Economy": (dg.Economy, ("puck",), ("seed", "preset", "verbose", "settings", *LearnerSettings._fields)),
    "compare": (
        dg.compare,
        (["diagonal"],),
        ("seed", "engine", "workers", "settings", *SettingsOfTester._fields),
    ),
    "condense": (dg.condense, (None,), ("seed", "regions", "watch")),
    "audit": (dg.audit, (None,), ("states", "visits", "seed")),
    "verify": (dg.verify, (None,), ("task", "seed", "cells", "steps", "disturbance", "ranges")),
    "reproduce": (dg.reproduce, (), ("quick", "seed", "watch")),
    "show": (dg.show, (None,), ("view", "path")),
    "export": (dg.export, (None, "c"), ("name", "force")),
    "make_plan": (dg.make_plan, (["diagonal"],), ("task", "seed", "interpreted", "tester", "variants")),
}


@FEW
@given(data=st.data(), function=st.sampled_from(sorted(FUNCTIONS)))
def test_of_arguments_by_name(data: st.DataObject, function: str) -> None:
    call, arguments, known = FUNCTIONS[function]
    name, wrong = data.draw(misspelt(known))
    said = sentence(call, *arguments, **{wrong: 0})
    others = (
        *known,
        *LearnerSettings._fields,
        *StageSettings._fields,
        "task",
        "out",
        "whats",
        "env",
        "run",
        "say",
    )
    assert offers(said, name, wrong, others) or "settings={" in said


def test_a_setting_that_learn_takes_by_dotted_name_is_offered_so() -> None:
    assert "did you mean settings={'learner.epsilon': …}?" in sentence(dg.learn, "puck", epsilom=0.1)


MADE = spec_of(NoisyPuck(noise=0.2))


@pytest.mark.parametrize(
    ("spec", "change"),
    [
        (task_spec("CartPole-v1", {"sutton_barto_reward": True}), {"task.sutton_barto_reward": False}),
        (MADE, {"task.noise": 0}),
        (MADE, {"task.noise": 0.0}),
        (task_spec("puck"), {"task.noise": 0.3}),
        (task_spec("puck"), {"task.beta": 0}),
        (task_spec("puck", {"noisy_actions": 0.5}), {"task.noisy_actions": 0.0}),
        (task_spec("puck"), {"task.mass": ""}),
        (task_spec("FrozenLake-v1", {"is_slippery": True}), {"task.is_slippery": False}),
    ],
    ids=lambda value: getattr(value, "name", None) or str(value),
)
def test_a_parameter_of_a_task_that_is_made_already_is_refused_whatever_it_is(
    spec: Any, change: dict[str, Any]
) -> None:
    assert "should be given when" in sentence(configure, spec, changes=change)
    assert "should be given when" in sentence(dg.learn, spec, settings=change)
    ((key, value),) = change.items()
    assert "should be given when" in sentence(
        make_plan, ["seeds"], task=spec, task_parameters={key.removeprefix("task."): value}
    )


def test_a_parameter_that_a_task_was_made_with_may_be_given_again() -> None:
    assert configure(MADE, changes={"task.noise": 0.2}).spec is MADE
    assert configure(task_spec("puck"), changes={"task.noise": 0, "task.noisy_actions": 0.0}).seed == 0
