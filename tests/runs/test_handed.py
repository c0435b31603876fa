"""Environments that somebody made: what is said of them is kept, and they are handed in again to be stepped."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import distinguo as dg
from distinguo.cli import main
from distinguo.errors import DistinguoError
from distinguo.runs.configuration import configure
from distinguo.runs.folder import read_settings
from distinguo.runs.run import Run
from distinguo.runs.settings_file import from_toml, to_toml
from distinguo.tasks.catalog import spec_of, task_spec
from distinguo.tasks.gym.task import with_words
from tests.runs.corridor import Corridor
from tests.tasks.test_declare import Gusts

WORDS: dict[str, Any] = {
    "threshold": 0.9,
    "dimensions": ("field",),
    "actions": ("back", "on"),
    "units": ("m",),
}
SETTINGS = {"stage.steps": 2000, "stage.confidence": 0.5}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Learn from an object, in a folder."""
    out = tmp_path_factory.mktemp("handed") / "run"
    dg.learn(Corridor(), learner="economy", settings=SETTINGS, out=out, **WORDS)
    return out


def test_a_threshold_lets_an_object_be_solved_and_names_are_used(place: Path) -> None:
    run = dg.open_run(place)
    assert run.solved
    assert run.action((3,)) == "on"
    assert run.representation.dimensions == ("field",)
    assert run.configuration.spec.axes == ("field (m)",)
    assert run.configuration.spec.threshold == 0.9
    without = dg.learn(Corridor(), learner="economy", settings={"stage.trials": 30, "stage.confirm": 5})
    assert not without.solved
    assert without.configuration.spec.actions == ("a0", "a1")


def test_a_run_keeps_the_environment_that_it_was_learned_from(place: Path) -> None:
    again = dg.learn(
        Corridor(), learner="economy", settings=SETTINGS, out=place, **WORDS
    )  # it is there already
    assert again.path == place
    assert again.rollout(steps=3).actions[0] == "on"
    with pytest.raises(DistinguoError, match="hand"):
        dg.open_run(place).rollout(steps=3)


def test_what_was_said_is_in_the_settings_and_counted(place: Path) -> None:
    text = (place / "settings.toml").read_text()
    assert to_toml(from_toml(text)) == text
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith("units = ")]
    assert len(lines) == len(text.splitlines()) - 1
    with pytest.raises(DistinguoError, match=r"is damaged: it has .* settings"):
        from_toml("".join(lines))
    with pytest.raises(DistinguoError, match="units should have a word for every dimension"):
        from_toml(text.replace('units = ["m"]', 'units = ["m", "s"]'))


def test_the_same_object_goes_on_and_other_words_are_another_run(place: Path) -> None:
    again = dg.learn(Corridor(), learner="economy", settings=SETTINGS, out=place, **WORDS)
    assert again.summary == dg.open_run(place).summary
    for name, value in (("threshold", 0.8), ("dimensions", ("x",)), ("actions", ("l", "r"))):
        with pytest.raises(DistinguoError, match=f"holds another run .asked now: {name} "):
            dg.learn(Corridor(), learner="economy", settings=SETTINGS, out=place, **(WORDS | {name: value}))


STEPPED: dict[str, Callable[[Any, Any], Any]] = {
    "audit": lambda run, task: dg.audit(run, visits=20, task=task).regret,
    "verify": lambda run, task: dg.verify(run, steps=50, task=task).answer.details["mean"],
    "rollout": lambda run, task: dg.rollout(run, task=task).gained,
}


@pytest.mark.parametrize("name", STEPPED)
def test_it_is_stepped_where_it_is_handed_in_and_asked_for_otherwise(name: str, place: Path) -> None:
    with pytest.raises(DistinguoError) as caught:
        STEPPED[name](place, None)
    assert str(caught.value) == (
        "Corridor was learned from an environment object, which cannot be made from its name; hand in an equal one: "
        "open_run(path, task=env), or --task path/to/file.py:Class."
    )
    answers = [STEPPED[name](place, Corridor()), STEPPED[name](dg.open_run(place), Corridor())]
    answers.append(STEPPED[name](dg.open_run(place, task=Corridor()), None))
    assert all(np.array_equal(answer, answers[0]) for answer in answers)


def test_it_is_compared_where_it_is_handed_in(place: Path) -> None:
    with pytest.raises(DistinguoError, match="hand in an equal one"):
        dg.compare([place], runs=1, steps=50)
    found = dg.compare([place, dg.voronoi([[0.0], [5.0]], [5.0])], task=Corridor(), runs=1, steps=100, cap=50)
    assert len(found.curves) == 2


def test_it_can_be_looked_at_without(place: Path) -> None:
    assert dg.show(place, "trials").axes
    assert dg.export(place, place / "controller.h").read_text().count("on") > 0
    assert len(dg.open_run(place).history) == 2


def test_one_of_the_same_name_is_not_made_in_its_place(tmp_path: Path, place: Path) -> None:
    shutil.copytree(place, tmp_path / "run")
    settings = tmp_path / "run" / "settings.toml"
    settings.write_text(settings.read_text().replace('task = "Corridor"', 'task = "CliffWalking-v1"'))
    with pytest.raises(DistinguoError, match="CliffWalking-v1 was learned from an environment object"):
        dg.open_run(tmp_path / "run").rollout()


MISFITS: dict[str, tuple[Any, str]] = {
    "longer": (Corridor(7), "its bounds are"),
    "more actions": (gymnasium.make("FrozenLake-v1"), "its actions are 4 instead of 2"),
    "amounts": (gymnasium.make("MountainCar-v0"), "its coordinates are 2 instead of 1"),
    "a task": (Gusts, "its kind is another"),
    "a number": (5, "A task must be an id"),
    "a name": ("CliffWalking-v1", "its actions are 4 instead of 2"),
}


@pytest.mark.parametrize("name", MISFITS)
def test_what_is_not_like_it_is_refused(name: str, place: Path) -> None:
    given, words = MISFITS[name]
    with pytest.raises(DistinguoError, match=words) as caught:
        dg.open_run(place, task=given)
    assert len(str(caught.value).splitlines()) == 1


def test_a_run_of_our_own_task_needs_none() -> None:
    run = Path(__file__).parents[1] / "golden" / "formats" / "runs" / "puck-8"
    assert dg.open_run(run, task="puck").solved
    with pytest.raises(DistinguoError, match="puck is one of our own tasks; leave task out"):
        dg.open_run(run, task=Corridor())


def test_a_task_of_ones_own_is_handed_in_by_its_class_with_the_parameters_of_the_run() -> None:
    spec = spec_of(Gusts(ways=4))
    absent = from_toml(to_toml(configure(spec)).replace('task = "Gusts"', 'task = "Squalls"')).spec
    assert handed(absent, Gusts).parameters == {"ways": 4} == handed(absent, Gusts(ways=4)).parameters
    with pytest.raises(DistinguoError, match="Gusts does not fit a run of Squalls: its actions are"):
        handed(absent, Gusts(ways=3))


def handed(spec: Any, given: Any) -> Any:
    from distinguo.runs.folder import handed_in

    return handed_in(spec, given)


def test_an_agent_takes_the_same_words() -> None:
    agent = dg.Economy(Corridor(), **WORDS, settings={"stage.confidence": 0.5}).learn(2000)
    assert agent.solved
    assert agent.configuration.spec.axes == ("field (m)",)
    assert isinstance(agent.run, Run)
    assert agent.rollout().actions == ("on", "on", "on")
    with pytest.raises(DistinguoError, match="did you mean 'threshold'"):
        dg.Economy(Corridor(), treshold=1.0)


WRONG: list[tuple[str, Any]] = [
    *(("threshold", value) for value in (math.nan, math.inf, "1", True, 1e200, (1.0,))),
    *(("dimensions", value) for value in (("a", "b"), (), "x", ("",), (5,), ("a\nb",), 3)),
    *(("actions", value) for value in (("a",), ("a", "a"), ("a", "b", "c"), "ab", ("a", None), {"a": 1})),
    *(("units", value) for value in ((), ("m", "s"), (1,), "m", ("m\n",))),
]


@pytest.mark.parametrize(("name", "value"), WRONG, ids=str)
def test_words_that_make_no_sense_are_refused(name: str, value: Any) -> None:
    spec = spec_of(Corridor())
    with pytest.raises(DistinguoError, match=f"The {name} of Corridor should be .*, got ") as caught:
        with_words(spec, {name: value})  # type: ignore[misc]
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("name", WORDS)
def test_our_own_tasks_have_their_words(name: str) -> None:
    with pytest.raises(DistinguoError, match=f"puck says itself what its {name} is"):
        dg.learn("puck", **{name: WORDS[name]})
    with pytest.raises(DistinguoError, match="did you mean 'threshold'"):
        dg.learn("puck", treshold=1.0)  # type: ignore[call-arg]


def test_an_id_that_is_run_as_plain_python_takes_a_threshold(tmp_path: Path) -> None:
    asked = configure("FrozenLake-v1", words={"threshold": 0.5})
    assert (asked.spec.threshold, task_spec("FrozenLake-v1").threshold) == (0.5, 0.7)
    assert asked.spec.portable
    (tmp_path / "settings.toml").write_text(to_toml(asked))
    assert read_settings(tmp_path).spec.threshold == 0.5


def test_an_environment_in_a_file_is_handed_in_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    world, out = f"{Path(__file__).with_name('corridor.py')}:Corridor", str(tmp_path / "run")
    changes = [word for name, value in SETTINGS.items() for word in ("--set", f"{name}={value}")]

    def told(*words: str) -> tuple[int, str]:
        monkeypatch.setattr("sys.argv", ["distinguo", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0), capsys.readouterr().err

    assert told("learn", world, "--learner", "economy", "--threshold", "0.9", *changes, "--out", out)[0] == 0
    assert told("audit", out, "--task", world, "--visits", "20")[0] == 0
    assert told("verify", out, "--task", world, "--steps", "50")[0] == 5
    for command in ("audit", "verify"):
        code, words = told(command, out)
        assert code == 2
        assert "hand in an equal one" in " ".join(words.split())
