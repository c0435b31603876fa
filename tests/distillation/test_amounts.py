"""A task of one coordinate whose actions are amounts: in Python, by its id, and from a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import distinguo as dg
from distinguo.distillation.levels import has_amounts
from distinguo.distillation.trials import EnvironmentTrials, trials_of
from distinguo.tasks.catalog import task_spec
from tests.cli.test_cli import Call, call
from tests.distillation.common import QUICKEST, refused

__all__ = ["call"]  # a fixture

MATCH = "tests/Match-v0"
STEPS = 10


class Match(gymnasium.Env[Any, Any]):
    """Name the number that is shown: every step gains 1 less twice the error."""

    observation_space = spaces.Box(-1.0, 1.0, (1,), np.float32)

    def __init__(self, continuous: bool = True, breaks: bool = False) -> None:
        self.action_space = spaces.Box(-1.0, 1.0, (1,), np.float32) if continuous else spaces.Discrete(2)
        self.breaks = breaks

    def _shown(self) -> np.ndarray:
        self.x = np.float32(self.np_random.uniform(-1.0, 1.0))
        return np.array([self.x])

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Show a number."""
        super().reset(seed=seed)
        self.left = STEPS
        return self._shown(), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Show the next one."""
        if self.breaks:
            raise OSError("the wire is cut")
        named = action[0] if isinstance(self.action_space, spaces.Box) else 2.0 * action - 1.0
        reward = 1.0 - 2.0 * abs(float(named) - float(self.x))
        self.left -= 1
        return self._shown(), reward, self.left == 0, False, {}


@pytest.fixture(autouse=True)
def _registered() -> Any:
    """Register the environment as a script does: other processes do not know it."""
    gymnasium.register(MATCH, entry_point=Match)
    yield
    del gymnasium.registry[MATCH]


def same(seen: np.ndarray) -> np.ndarray:
    assert seen.dtype == np.float32
    return seen


@pytest.mark.parametrize("task", [MATCH, Match()])
def test_what_levels_lose_is_not_hidden(task: Any) -> None:
    """The teacher gains 10, and with five levels about 8.5: less than the share that is to be kept."""
    small = dg.distil(same, task, settings=QUICKEST | {"learner.most": 5, "learner.laws": False})
    assert small.bar == pytest.approx(0.95 * STEPS)
    assert small.fidelity.teacher.mean == pytest.approx(STEPS)
    assert small.run.summary["teacher_score"] == pytest.approx(STEPS)
    assert not small.kept
    assert small.fidelity.map.mean < 0.9 * STEPS
    assert "without" in small.notes[0]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_levels_that_the_teacher_takes_anyway_lose_nothing_whatever_the_seed(seed: int) -> None:
    """What is compared start by start is the same for map and teacher, so that no draw of starts decides."""
    small = dg.distil(
        lambda seen: np.sign(seen), MATCH, seed=seed, settings=QUICKEST | {"learner.laws": False}
    )
    assert small.share == 0.95
    assert small.kept
    assert small.run.summary["prototypes"] == 2
    assert small.fidelity.map.mean == pytest.approx(
        small.fidelity.teacher.mean, abs=0.3
    )  # from the same starts
    kept = next(one for one in small.dial if one.size == 2)
    assert kept.mean >= small.bar
    assert kept.error < 0.1  # whatever starts there were


def test_an_id_that_only_a_script_knows_is_run_in_its_process() -> None:
    trials = trials_of(task_spec(MATCH, {"levels": 3}), 100)
    assert isinstance(trials, EnvironmentTrials)
    trials.close()


def test_parameters_decide_whether_actions_are_amounts() -> None:
    assert has_amounts(MATCH)
    assert not has_amounts(MATCH, {"continuous": False})
    small = dg.distil(lambda seen: int(seen[0] > 0), MATCH, settings=QUICKEST | {"task.continuous": False})
    assert small.run.configuration.spec.actions == ("a0", "a1")
    assert small.kept


def test_an_environment_that_fails_is_told_in_one_sentence() -> None:
    refused(lambda: dg.distil(same, Match(breaks=True)), "The environment Match failed")


def test_a_class_in_a_file_may_have_amounts(call: Call, tmp_path: Path) -> None:
    source = Path(__file__).read_text()
    head = "import gymnasium\nimport numpy as np\nfrom typing import Any\nfrom gymnasium import spaces\nSTEPS = 10\n"
    body = source[source.index("class Match(") : source.index("@pytest.fixture(autouse")]
    (tmp_path / "own.py").write_text(f"{head}\n\n{body}\n\ndef same(seen):\n    return seen\n")
    words = [word for name, value in QUICKEST.items() for word in ("--set", f"{name}={json.dumps(value)}")]
    words += ["--set", "learner.laws=false"]
    answer = call("distil", "own.py:same", "--task", "own.py:Match", "--keep", "-50", *words, "--json")
    assert answer.code == 0, answer.err
    folder = Path(answer.content["run"])
    assert {"partition.png", "dial.png", "fidelity.png"} <= {path.name for path in folder.iterdir()}
    levels = dg.open_run(folder).configuration.spec.parameters["levels"]
    assert len(levels) >= 2
