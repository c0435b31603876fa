"""Every command that takes environment steps has an upper bound, counted by the environment itself."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete

import distinguo as dg
from distinguo.cli import COMMANDS, app
from distinguo.cli.seeing import VERDICTS
from distinguo.comparison.audit import LONGEST
from distinguo.explanations.distinctions import MOST_PAIRS
from distinguo.explanations.investigation import MOST_STEPS, SEARCH, SEARCHES
from distinguo.runs.rollout import STEPS
from distinguo.runs.stage import USUAL
from distinguo.studies.measure import SLOW_LONG
from distinguo.tasks.catalog import task_spec
from distinguo.verification import TRIALS
from distinguo.views.descriptions import VISITS
from tests.cli.test_cli import Call, call

__all__ = ["call"]  # a fixture

ENDLESS, LIMITED, LIMIT = "BudgetRing-v0", "BudgetRing20-v0", 20
ACTIONS = 3


class Ring(gymnasium.Env[Any, int]):
    """A place on a ring; no trial ends by itself."""

    taken = 0  #: steps of all that there are

    def __init__(self) -> None:
        self.observation_space = Box(0.0, 8.0, shape=(1,), dtype=np.float64)
        self.action_space: Any = Discrete(ACTIONS)
        self.place = 0.0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.place = float(self.np_random.integers(9))
        return np.array([self.place]), {}

    def step(self, action: int) -> Any:
        Ring.taken += 1
        self.place = (self.place + action) % 9.0
        return np.array([self.place]), -1.0 if self.place else 0.5, False, False, {}


def counted(work: Callable[[], Any]) -> int:
    """How many steps the environment is asked for."""
    Ring.taken = 0
    work()
    return Ring.taken


@pytest.fixture(scope="module", autouse=True)
def probe() -> Iterator[int]:
    """Register the environments; return the steps that it takes to find out what one of them can do."""
    gymnasium.register(ENDLESS, entry_point=Ring)
    gymnasium.register(LIMITED, entry_point=Ring, max_episode_steps=LIMIT)
    yield counted(lambda: task_spec(ENDLESS).task.driver)
    for name in (ENDLESS, LIMITED):
        gymnasium.registry.pop(name)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a run of each environment, with values and without."""
    place = tmp_path_factory.mktemp("budgets")
    settings = {"stage.steps": 300, "stage.confirm_steps": 20, "stage.confirm": 5}
    for task in (ENDLESS, LIMITED):
        for learner in ("economy", "probation"):
            dg.learn(task, learner=learner, settings=settings, out=place / f"{task}-{learner}")
    return place


LEARN = ("--set", "stage.steps=200", "--set", "stage.confirm_steps=30", "--set", "stage.trials=5")
DISTIL = ("--set", "learner.most=2", "--set", "learner.rounds=1", "--set", "learner.restarts=1", "--set",
          "learner.states=100", "--set", "learner.trials=2", "--set", "learner.starts=2")  # fmt: skip
#: A command on RUN or TASK, and the most steps that it may take beside probing the environment.
TABLE: dict[str, tuple[tuple[str, ...], int]] = {
    "learn": (("learn", "TASK", "--learner", "economy", *LEARN), 200 + 5 * (30 + USUAL * LIMIT)),
    "learn probation": (
        ("learn", "TASK", "--learner", "probation", *LEARN),
        200 + 5 * (30 + USUAL * LIMIT),
    ),
    "distil": (("distil", "policy.py:go", "--task", "TASK", *DISTIL, "--set", "learner.steps=7000"), 7000),
    "distil, one step": (("distil", "policy.py:go", "--task", "TASK", "--set", "learner.steps=1"), 1),
    "condense": (("condense", "RUN", "--steps", "2500"), 2500),
    "condense, one step": (("condense", "RUN", "--steps", "1"), 1),
    "test": (
        ("test", "RUN", "--task", "TASK", "--runs", "1", "--steps", "60", "--cap", "9", "--set", "tester.batch=5"),
        60 + LIMIT + (60 // 20 + 1) * 5 * 9,
    ),
    "audit": (("audit", "RUN", "--visits", "3"), 3 * (1 + ACTIONS) * LONGEST),
    "report": (("report", "RUN"), MOST_PAIRS * MOST_STEPS),
    "explain": (("explain", "RUN", "--state", "1", "--and", "5"), MOST_STEPS + SEARCHES * SEARCH),
    "play": (("play", "RUN", "--steps", "3", "--out", "film.gif"), 3),
    "verify": (("verify", "RUN", "--steps", "4"), TRIALS * 4),
    "show": (("show", "RUN"), VISITS),
    "export": (("export", "RUN", "--to", "json"), 0),
    "record": (("record", "TASK", "--steps", "300"), 300),
    "study": (("study", "plan.toml", "--engine", "threads"), 200 + 5 * (30 + USUAL * LIMIT) + 5 * SLOW_LONG),
}  # fmt: skip
#: Runs with the settings of the row "learn", each tried in five new trials.
PLAN = """
[study]
tasks = ["{task}"]
learners = ["economy"]
seeds = "1"
trials = 5

[settings.short]
stage.steps = 200
stage.confirm_steps = 30
stage.trials = 5
"""
SLOW = ("report", "play")  #: once is enough
#: What takes no steps, or those of other commands that a person asks for.
NO_STEPS = {"tasks", "settings", "studio", "runs"}


def test_every_command_is_in_the_table() -> None:
    assert {words[0] for words, _ in TABLE.values()} | NO_STEPS == set(COMMANDS)


@pytest.mark.parametrize(
    ("name", "task", "learner"),
    [
        (name, task, learner)
        for name, (words, _) in TABLE.items()
        for task in (ENDLESS, LIMITED)
        for learner in (("economy", "probation") if "RUN" in words else ("",))
        if name not in SLOW or (task, learner) == (ENDLESS, "probation")
    ],
)
def test_no_more_steps_than_promised(
    name: str, task: str, learner: str, runs: Path, probe: int, call: Call, tmp_path: Path
) -> None:
    words, most = TABLE[name]
    (tmp_path / "policy.py").write_text("def go(seen):\n    return 1 if seen[0] < 5 else 2\n")
    (tmp_path / "plan.toml").write_text(PLAN.format(task=task))
    known = {"TASK": task, "RUN": str(runs / f"{task}-{learner}"), "plan.toml": str(tmp_path / "plan.toml")}
    out = () if words[0] in ("show", "explain", "audit", "play") else ("--out", str(tmp_path / "out.json"))
    answers = []
    taken = counted(lambda: answers.append(call(*(known.get(word, word) for word in words), *out)))
    assert answers[0].code in (0, 2, *VERDICTS.values())
    assert "Traceback" not in answers[0].err
    if answers[0].code == 2:
        assert "environment step" in answers[0].err
    assert taken <= most + 2 * probe, (taken, probe)


def test_functions_have_the_same_bounds(runs: Path, probe: int) -> None:
    run = dg.open_run(runs / f"{ENDLESS}-economy")
    assert counted(lambda: dg.rollout(run)) <= STEPS + probe
    assert counted(lambda: dg.rollout(run, steps=5)) <= 5 + probe


def turn(seen: Any) -> int:
    """Go round slowly, then fast."""
    return 1 if seen[0] < 5 else 2


@pytest.mark.parametrize("steps", [40, 700, 5_000, 10_000, 15_000, 30_000])
def test_a_distillation_ends_within_its_budget_wherever_it_ends(steps: int, probe: int) -> None:
    settings = {name: json.loads(value) for name, value in (word.split("=") for word in DISTIL[1::2])}

    settings["learner.steps"] = steps

    def distil() -> None:
        if steps < 8_000 + probe:  # of the probe and the teacher's trials alone
            with pytest.raises(
                dg.DistinguoError, match="ended before there was a map; allow more with --set learner"
            ):
                dg.distil(turn, LIMITED, settings=settings)
            return
        small = dg.distil(turn, LIMITED, settings=settings)
        summary = small.run.summary
        total = sum(summary[name] for name in ("environment_steps", "confirmation_steps", "price_steps"))
        assert total <= steps
        assert ("budget_ended" in summary) == any("environment steps ended" in note for note in small.notes)

    assert counted(distil) <= max(steps, probe + 1)


# ---- settings that a command does not use --------------------------------------------------------------------------


UNUSED = {
    "distil": ["stage.steps=1", "stage.cap=5", "learner.teacher=x", "tester.gamma=0.5"],
    "test": ["stage.steps=1", "learner.epsilon=0.5"],
    "learn": ["tester.gamma=0.5", "learner.most=3"],
}
WORDS = {
    "distil": ("distil", "policy.py:go", "--task", "MountainCar-v0"),
    "test": ("test", "diagonal"),
    "learn": ("learn", "puck"),
}


def test_every_command_with_settings_is_asked() -> None:
    import typer

    takes = {
        name
        for name, command in typer.main.get_command(app).commands.items()  # type: ignore[attr-defined]
        if any("--set" in option.opts for option in command.params)
    }
    assert takes == set(UNUSED)


@pytest.mark.parametrize(("command", "setting"), [(c, s) for c, several in UNUSED.items() for s in several])
def test_a_setting_that_a_command_does_not_use_is_refused(
    command: str, setting: str, call: Call, tmp_path: Path
) -> None:
    (tmp_path / "policy.py").write_text("def go(seen):\n    return 1\n")
    answer = call(*WORDS[command], "--set", setting, "--out", str(tmp_path / "run"))
    assert answer.code == 2
    assert setting.partition("=")[0] in answer.err
    assert re.search(r"it takes|known:|did you mean|Unknown setting", answer.err)
    assert not (tmp_path / "run").exists()
