"""The door for tasks: what a class body and a few names make, and what is said of a wrong one."""

from __future__ import annotations

import math
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest
from pydantic import Field

from distinguo.errors import DistinguoError
from distinguo.presets import BY_NOISE, BY_RETURN, NON_ACTIVE, suited
from distinguo.runs.configuration import configure
from distinguo.runs.learn import learn
from distinguo.runs.settings_file import from_toml, to_toml
from distinguo.seam import is_compiled
from distinguo.tasks import declare
from distinguo.tasks.catalog import AbsentTask, check_imported, spec_of, task_spec
from distinguo.tasks.declare import declared_spec, task
from distinguo.tasks.noise import ActionNoise
from distinguo.tasks.puck.noisy import NoisyPuck
from distinguo.tasks.puck.puck import Puck
from distinguo.tasks.task import actions, observe, randomness, seeded, start, transition, truncated, unpack

NAMES: dict[str, Any] = {"states": ("x", "v"), "actions": ("left", "right"), "low": (-1, -3), "high": (1, 3)}


@task(**NAMES)
class Cart(NamedTuple):
    push: Annotated[float, Field(gt=0, le=100, description="m/s^2")] = 3
    wall: float = 1.0

    def transition(self, s: Any, a: int) -> Any:
        x, v = s[0] + 0.02 * s[1], s[1] + 0.02 * (self.push if a == 1 else -self.push)
        over = not -self.wall < x < self.wall
        return (x, v), (-1.0 if over else 0.0), over

    def start(self, rng: Any) -> Any:
        return (0.0, 0.0)


@task(
    states=("x", "steps"),
    actions=lambda task: [f"to {a}" for a in range(task.ways)],
    low=lambda task: (-task.ways,),
    high=lambda task: (task.ways,),
    observations=("place",),
    threshold=3.0,
    limit=50,
)
class Gusts(NamedTuple):
    """Everything that a class body may define."""

    ways: int = 3
    rng: np.random.Generator = np.random.default_rng(0)

    def transition(self, s: Any, a: int) -> Any:
        x = 0.5 * s[0] + 0.1 * float(a) + 0.1 * self.rng.random()
        return (x, s[1] + 1.0), 1, False

    def start(self, rng: Any) -> Any:
        return (rng.random(), 0.0)

    def actions(self) -> int:
        return self.ways

    def observe(self, s: Any) -> Any:
        return (2.0 * s[0],)

    def truncated(self, s: Any) -> bool:
        return bool(s[1] >= 10.0)


@task(
    states=("place",),
    actions=("left", "right"),
    low=(0,),
    high=(3,),
    categories=True,
    compiled=False,
)
class Ledge(NamedTuple):
    """Labels, in plain Python that no compiler takes."""

    def transition(self, s: Any, a: int) -> Any:
        place = s[0] + {"left": -1.0, "right": 1.0}[("left", "right")[a]]
        fell = place not in {0.0, 1.0, 2.0, 3.0}
        return (place,), -1.0 if fell else 0.0, fell

    def start(self, rng: Any) -> Any:
        return (float(rng.choice([1.0, 2.0])),)


def test_the_functions_of_the_body_and_those_that_follow_from_the_names() -> None:
    cart = Cart(2.0)
    assert transition(cart, (0.5, 1.0), 1) == ((0.52, 1.04), 0.0, False)
    assert transition(cart, (0.99, 1.0), 0)[1:] == (-1.0, True)
    assert start(cart, np.random.default_rng(0)) == (0.0, 0.0)
    assert actions(cart) == 2
    assert unpack(cart, np.array([0.5, 1.0])) == (0.5, 1.0)
    assert observe(cart, (0.5, 1.0)) == (0.5, 1.0)
    assert truncated(cart, (0.5, 1.0)) is False
    assert randomness(cart) is None
    assert is_compiled(cart)
    assert not is_compiled(Ledge())


def test_the_optional_functions() -> None:
    gusts = seeded(Gusts(), 4)
    assert randomness(gusts) is gusts.rng
    assert gusts.rng is not Gusts().rng
    assert gusts.rng.random() == seeded(Gusts(), 4).rng.random()
    assert actions(Gusts(5)) == 5
    assert observe(gusts, (0.25, 3.0)) == (0.5,)
    assert (truncated(gusts, (0.0, 9.0)), truncated(gusts, (0.0, 10.0))) == (False, True)


def test_what_is_known_of_a_declared_task() -> None:
    spec = spec_of(Cart)
    assert spec[:7] == ("Cart", Cart(), ("x", "v"), ("left", "right"), (-1.0, -3.0), (1.0, 3.0), "length")
    assert (spec.threshold, spec.limit, spec.stochastic, spec.portable) == (None, None, "no", False)
    assert spec.parameters == {"push": 3.0, "wall": 1.0}
    assert type(spec.task.push) is float  # as its annotation says, though its default is not
    gusts = spec_of(Gusts(ways=2))
    assert (gusts.dimensions, gusts.actions, gusts.low, gusts.high) == (
        ("place",),
        ("to 0", "to 1"),
        (-2,),
        (2,),
    )
    assert (gusts.score, gusts.threshold, gusts.limit, gusts.stochastic) == ("return", 3.0, 50, "some")
    assert gusts.parameters == {"ways": 2}
    assert spec_of(Ledge).kind == "categories"


def test_a_declared_task_is_known_by_class_by_task_and_by_name() -> None:
    assert spec_of(Cart, {"push": 2}).task == Cart(2.0)
    assert spec_of(Cart(push=2)).task == Cart(2.0)
    assert task_spec("Cart", {"push": 2}).task == Cart(2.0)
    assert spec_of(spec_of(Cart)) == spec_of(Cart)
    with pytest.raises(DistinguoError, match=r"Setting task\.push should be greater than 0, got -1"):
        spec_of(Cart(push=-1))
    with pytest.raises(DistinguoError, match=r"Unknown setting task\.psuh; did you mean 'push'\?"):
        task_spec("Cart", {"psuh": 2})
    with pytest.raises(DistinguoError, match=r"Cart is not Gymnasium's; .* compiled=False"):
        task_spec("Cart", interpreted=True)


def test_our_own_tasks_are_declared_too() -> None:
    assert spec_of(Puck(beta=0.2)) == task_spec("puck", {"beta": 0.2})
    assert spec_of(NoisyPuck(noise=0.5))._replace(task=0) == task_spec("puck", {"noise": 0.5})._replace(
        task=0
    )
    assert spec_of(Puck).portable


def test_noisy_actions_suit_any_compiled_task() -> None:
    spec = task_spec("Cart", {"noisy_actions": 0.25})
    assert isinstance(spec.task, ActionNoise)
    assert (spec.stochastic, spec.parameters["noisy_actions"]) == ("some", 0.25)
    assert spec_of(Gusts, {"noisy_actions": 0.25}).stochastic == "some"
    with pytest.raises(DistinguoError, match=r"Unknown setting task\.noisy_actions"):
        spec_of(Ledge, {"noisy_actions": 0.25})


def test_a_name_of_ours_cannot_be_taken() -> None:
    kind = declared("puck", Cart)
    with pytest.raises(DistinguoError, match=r"Copy is named 'puck', as one of our own tasks; rename it\."):
        spec_of(kind)
    assert type(task_spec("puck").task) is Puck


def declared(name: str, model: Any) -> Any:
    class Copy(NamedTuple):
        push: float = 1.0
        wall: float = 1.0
        transition = model.transition
        start = model.start

    return task(**NAMES, name=name)(Copy)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"states": "xv"}, "The states of Bad should be 1 or more different names, such as"),
        ({"states": ("x", "x")}, "different names, such as"),
        ({"states": ()}, "1 or more different names"),
        ({"actions": ("push",)}, "The actions of Bad should be 2 or more different names"),
        ({"low": (-1,)}, r"low of Bad should be a number for each of x, v, got \(-1,\)"),
        ({"high": "high"}, "high of Bad should be a number for each of x, v, got 'high'"),
        ({"high": (1, -3)}, r"low < high in each coordinate, got -3\.0 and -3\.0 for v"),
        ({"low": (math.nan, 0)}, r"low < high in each coordinate, got nan and 1\.0 for x"),
        ({"observations": ("x",)}, r"Bad lacks observe\(self, s\)"),
        ({"score": "lenght"}, "The score of Bad should be 'length' or 'return', got 'lenght'"),
        ({"threshold": math.inf}, "The threshold of Bad should be a finite mean return, got inf"),
        ({"threshold": "high"}, "The threshold of Bad should be a finite mean return, got 'high'"),
        (
            {"threshold": 1.0, "score": "length"},
            "has a threshold, which is a mean return, but its score is 'len",
        ),
        ({"limit": 0}, "The limit of Bad should be a number of steps from 1, got 0"),
        ({"limit": True}, "The limit of Bad should be a number of steps from 1, got True"),
        ({"stochastic": True}, "should be stochastic 'no', 'some' or 'strong', got True"),
        ({"treshold": 1.0}, r"Bad is given 'treshold', which no task has; did you mean 'threshold'\?"),
    ],
)
def test_a_wrong_declaration(changes: dict[str, Any], words: str) -> None:
    class Bad(NamedTuple):
        push: float = 1.0

        def transition(self, s: Any, a: int) -> Any:
            return s, 0.0, False

        def start(self, rng: Any) -> Any:
            return (0.0, 0.0)

    with pytest.raises(DistinguoError, match=words):
        task(**(NAMES | changes))(Bad)
    assert not declare.is_declared(Bad)


def step(self: Any, s: Any, a: int) -> Any:
    return s, 0.0, False


def begin(self: Any, rng: Any) -> Any:
    return (0.0, 0.0)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"start": begin}, r"Bad has no transition; define transition\(self, s, a\) in its body"),
        ({"transition": step}, r"Bad has no start; define start\(self, rng\) in its body"),
        (
            {"transition": begin, "start": begin},
            r"transition of Bad should take \(self, s, a\), got 2 arguments",
        ),
        (
            {"transition": step, "start": begin, "truncate": begin},
            r"Bad defines 'truncate', which no task has; did you mean 'truncated'\?",
        ),
        ({"transition": step, "start": begin, "observe": begin}, r"Bad lacks observations=\('x', \.\.\.\)"),
        ({"transition": step, "start": begin, "mass": ...}, "The parameter 'mass' of Bad has no default"),
    ],
)
def test_a_wrong_body(body: dict[str, Any], words: str) -> None:
    fields = [("mass", float)] if body.pop("mass", None) else []
    kind: Any = NamedTuple("Bad", fields)  # type: ignore[misc]
    for name, function in body.items():
        setattr(kind, name, function)
    with pytest.raises(DistinguoError, match=words):
        task(**NAMES)(kind)


def test_something_else_than_a_named_tuple() -> None:
    class Plain:
        transition, start = step, begin

    with pytest.raises(
        DistinguoError, match=r"Plain should be a NamedTuple of its parameters: class Plain\("
    ):
        task(**NAMES)(Plain)
    with pytest.raises(DistinguoError, match="got list"):
        spec_of([])


# Learning, files, and processes where the task is not.

BRIEF = {"stage.cap": 100, "stage.hold": 300}


def test_labels_in_plain_python_are_learned(tmp_path: Path) -> None:
    run = learn(Ledge(), seed=1, settings=BRIEF, out=tmp_path / "run")
    assert run.solved
    assert run.summary["score"] == 300
    assert run.configuration.spec.task == Ledge()  # it is known here


def test_settings_are_those_that_suit_the_facts() -> None:
    assert suited(spec_of(Cart)) == {}
    assert suited(spec_of(Gusts)) == {**BY_RETURN, **BY_NOISE["some"]}
    assert suited(spec_of(Gusts), "paper") == {}
    assert suited(spec_of(Cart)._replace(restorable=False), "paper") == NON_ACTIVE
    assert configure(spec_of(Gusts), learner="economy").learner.confidence == 2.0


def test_a_run_can_be_read_where_its_task_is_not_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    text = to_toml(configure(spec_of(Gusts(ways=4)), seed=3))
    here = from_toml(text)
    assert type(here.spec.task) is Gusts
    assert here.spec.parameters == {"ways": 4}
    monkeypatch.setattr(declare, "_by_name", {})
    there = from_toml(text)
    assert there.spec.task == AbsentTask("Gusts")
    assert there.spec[2:10] == here.spec[2:10]
    assert to_toml(there) == text
    with pytest.raises(
        DistinguoError,
        match=r"The task Gusts of this run is not declared .*: --task path/to/file\.py:Gusts, or",
    ):
        start(there.spec.task, np.random.default_rng(0))


def test_another_task_of_the_same_name_is_not_taken_for_it() -> None:
    text = to_toml(configure(spec_of(declared("Sled", Cart))))
    assert type(from_toml(text).spec.task).__qualname__.endswith("Copy")
    for change in (("high = [1.0, 3.0]", "high = [7.0, 7.0]"), ("push = 1.0", "pull = 1.0")):
        assert from_toml(text.replace(*change)).spec.task == AbsentTask("Sled")


@pytest.mark.parametrize("name", ["antigravity:CartPole-v1", "examples/own_task.py:Hover", "Nowhere-v0"])
def test_no_file_has_code_imported(name: str) -> None:
    text = to_toml(configure("puck")).replace('task = "puck"', f'task = "{name}"')
    with pytest.raises(DistinguoError, match="names the unknown task"):
        from_toml(text)
    if ":" in name:
        with pytest.raises(
            DistinguoError, match=f"plan.toml names code, '{name}', and distinguo imports no code"
        ):
            check_imported(name, "plan.toml")
    interpreted = to_toml(configure("FrozenLake-v1")).replace('task = "FrozenLake-v1"', f'task = "{name}"')
    opened = from_toml(interpreted)
    with suppress(DistinguoError):
        start(opened.spec.task, np.random.default_rng(0))
    assert "antigravity" not in sys.modules


def test_code_is_named_on_the_command_line_only() -> None:
    with pytest.raises(
        DistinguoError, match=r"'cart\.py:Cart' names code, which only the command line takes"
    ):
        learn("cart.py:Cart")


def test_declared_specs_are_checked_with_their_defaults() -> None:
    assert declared_spec(Cart, {}).task == Cart(3.0, 1.0)
