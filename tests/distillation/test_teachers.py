"""Whatever can be a teacher is brought to one form, and what it answers is checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import distinguo as dg
from distinguo.distillation.teachers import (
    ASKED_AGAIN,
    VOTES,
    Policy,
    Room,
    Teacher,
    most_frequent,
    read_table,
    room_of,
    table_teacher,
    teacher_of,
    watched,
)
from distinguo.tasks.catalog import spec_of, task_spec
from tests.distillation.common import CAR, SWINGS, Predicts, refused, swing

ROOM = room_of(task_spec(CAR))
ROWS = np.array([[-0.5, 0.02], [-0.4, -0.01], [0.1, 0.05]])
SAID = [2, 0, 2]


def answers(thing: Any, room: Room = ROOM) -> list[Any]:
    return teacher_of(thing, room).answer(ROWS).tolist()


# ---- what can be one -----------------------------------------------------------------------------------------------


def test_a_function_of_one_observation() -> None:
    assert answers(swing) == SAID
    assert teacher_of(swing, ROOM).name == "swing"
    assert teacher_of(Policy(swing, name="mine"), ROOM).name == "mine"


def test_answers_of_any_kind_of_number() -> None:
    for kind in (np.int32, np.float32, float, lambda a: np.array([a]), lambda a: np.array(a)):
        assert answers(lambda seen, kind=kind: kind(swing(seen))) == SAID
    assert answers(lambda seen: True) == [1, 1, 1]


def test_what_predicts_many_is_asked_once() -> None:
    asked: list[tuple[int, ...]] = []

    def rule(rows: np.ndarray) -> np.ndarray:
        asked.append(rows.shape)
        return np.where(rows[:, 1] > 0, 2, 0)

    teacher = teacher_of(Predicts(rule), ROOM)
    many = np.tile(ROWS, (4, 1))
    assert teacher.answer(many).tolist() == SAID * 4
    asked.clear()
    assert teacher.answer(many).tolist() == SAID * 4
    assert asked == [(12, 2)]


def test_what_predicts_one_is_not_taken_for_what_predicts_many() -> None:
    """Of two observations of two coordinates it takes the second for the velocities, and gives two answers."""
    rule = Predicts(lambda seen: np.where(seen[1] > 0, 2, 0))
    pair = np.array([[-0.5, 0.01], [-0.4, -0.01]])
    for rows in (pair, np.tile(pair, (4, 1))):
        assert teacher_of(rule, ROOM).answer(rows).tolist() == [2, 0] * (len(rows) // 2)
    teacher = teacher_of(rule, ROOM)
    for count in (1, 8, 1):
        assert teacher.answer(np.tile(pair, (count, 1))).tolist() == [2, 0] * count


def test_what_predicts_one_is_asked_one_at_a_time() -> None:
    asked: list[tuple[int, ...]] = []

    def rule(row: np.ndarray) -> int:
        asked.append(row.shape)
        return int(row[1] > 0) * 2  # an array of many has no truth

    assert answers(Predicts(lambda row: int(row[1] > 0) * 2 if row.ndim == 1 else 1 / 0)) == SAID
    assert answers(Predicts(rule))[0] in (0, 2)
    assert asked[-3:] == [(2,), (2,), (2,)]


def test_an_action_with_a_state_is_an_action() -> None:
    """Stable-Baselines3 returns a pair."""
    assert answers(Predicts(lambda rows: (SWINGS.predict(rows), None))) == SAID


def test_it_is_asked_to_be_deterministic_where_it_can_be() -> None:
    class Agent:
        def predict(self, rows: Any, state: Any = None, deterministic: bool = False) -> Any:
            assert deterministic
            return SWINGS.predict(rows), state

    assert answers(Agent()) == SAID


def test_teachers_cannot_change_what_they_are_shown() -> None:
    def spoil(seen: np.ndarray) -> int:
        seen[:] = 9.0
        return 1

    rows = ROWS.copy()
    for thing in (spoil, Predicts(lambda rows: [spoil(row) for row in rows])):
        assert teacher_of(thing, ROOM).answer(rows).tolist() == [1, 1, 1]
        np.testing.assert_array_equal(rows, ROWS)


def test_a_compiled_task_is_seen_as_the_environment_that_it_stands_for() -> None:
    """A network of 32 bits takes no numbers of 64."""
    kinds: list[Any] = []
    for thing in (
        lambda seen: kinds.append(seen.dtype) or 1,
        Predicts(lambda rows: kinds.append(rows.dtype) or [1] * 3),
    ):
        teacher_of(thing, room_of(task_spec(CAR))).answer(ROWS)
    assert set(kinds) == {np.dtype(np.float32)}
    assert room_of(task_spec("puck")).seen is None


def test_an_environment_is_seen_as_it_gives_its_observations() -> None:
    room = room_of(task_spec(CAR, interpreted=True))
    kinds: list[Any] = []

    def look(seen: Any) -> int:
        kinds.append((type(seen), seen.dtype, seen.shape))
        return 1

    assert answers(look, room) == [1, 1, 1]
    assert kinds == [(np.ndarray, np.dtype(np.float32), (2,))] * 3


class FromFive(gymnasium.Env[Any, int]):
    """Actions are 5 and 6."""

    def __init__(self) -> None:
        self.observation_space: Any = spaces.Box(-1.0, 1.0, (2,))
        self.action_space: Any = spaces.Discrete(2, start=5)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        return np.zeros(2, dtype=np.float32), {}

    def step(self, action: int) -> Any:
        return np.zeros(2, dtype=np.float32), float(action), True, False, {}


def test_actions_are_counted_as_the_environment_does() -> None:
    room = room_of(spec_of(FromFive()))
    assert answers(lambda seen: 6, room) == [1, 1, 1]
    refused(lambda: answers(lambda seen: 1, room), "whole numbers from 5 to 6.")
    table = table_teacher([[0.0, 0.0]], [1])  # a table counts from 0, as we do
    assert answers(table, room) == [1, 1, 1]


def test_a_run_of_ours_teaches_what_it_does_and_what_it_knows() -> None:
    run = dg.learn("puck", seed=1, settings={"stage.cap": 1000, "stage.hold": 1000})
    room = room_of(task_spec("puck"))
    teacher = teacher_of(run, room)
    rows = np.random.default_rng(0).normal(size=(50, 2))
    assert teacher.answer(rows).tolist() == [run.controller.action(row) for row in rows]
    assert teacher.values is not None
    for row, worth in zip(rows, teacher.values(rows), strict=True):
        np.testing.assert_array_equal(worth, run.controller.q[run.controller.region(row)])
    only = run._replace(summary={**run.summary, "condensed_from": "x"})
    assert teacher_of(only, room).values is None  # a map that only acts knows no values
    refused(
        lambda: teacher_of(run, ROOM),
        "puck sees 2 coordinates and has 2 actions, but MountainCar-v0 has 2 and 3",
    )


def test_values_are_known_where_a_function_gives_them() -> None:
    teacher = teacher_of(Policy(swing, values=lambda seen: [0.0, seen[0], seen[1]]), ROOM)
    assert teacher.values is not None
    np.testing.assert_allclose(teacher.values(ROWS), np.column_stack([np.zeros(3), ROWS]), rtol=1e-6)
    assert teacher_of(swing, ROOM).values is None


# ---- tables --------------------------------------------------------------------------------------------------------


def test_a_table_does_what_was_done_nearest() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 2)) * [1.0, 1e-3]  # each coordinate counts by its spread
    taken = rng.integers(3, size=40)
    seen = rng.normal(size=(30, 2)) * [1.0, 1e-3]
    spread = rows.std(axis=0)
    expected = [taken[(((rows - row) / spread) ** 2).sum(axis=1).argmin()] for row in seen]
    assert table_teacher(rows, taken).answer(seen).tolist() == expected
    assert dg.table_teacher(rows.tolist(), taken.tolist()).answer(seen).tolist() == expected


def test_a_file_of_decisions(tmp_path: Path) -> None:
    path = tmp_path / "decisions.csv"
    path.write_text("action,note,v,x\nright,a,0.02,-0.5\n0,b,-0.01,-0.4\n2,c,0.05,0.1\n")
    spec = task_spec(CAR)
    assert spec.dimensions == ("x", "v")
    assert read_table(path, spec).answer(ROWS).tolist() == SAID
    assert read_table(path, spec).name == str(path)


TABLES = {
    "no column": ("x,action\n0.1,1\n", "has no column 'v'; a table of decisions for MountainCar-v0 has"),
    "no action": ("x,v\n0.1,1\n", "has no column 'action'"),
    "nothing": ("", "has no column 'x'"),
    "no rows": ("x,v,action\n", "should have rows of finite numbers"),
    "a word": ("x,v,action\n0.1,0.2,1\n0.1,fast,1\n", "Line 3 of "),
    "nan": ("x,v,action\nnan,0.2,1\n", "Line 2 of "),
    "infinite": ("x,v,action\ninf,0.2,1\n", "Line 2 of "),
    "unknown action": (
        "x,v,action\n0.1,0.2,3\n",
        "0, 1, 2, left, none, right as its action, got '0.1,0.2,3'.",
    ),
    "short row": ("x,v,action\n0.1,0.2\n", "Line 2 of "),
}


@pytest.mark.parametrize("problem", TABLES)
def test_a_bad_file_is_told_with_its_line(problem: str, tmp_path: Path) -> None:
    text, words = TABLES[problem]
    path = tmp_path / "decisions.csv"
    path.write_text(text)
    refused(lambda: read_table(path, task_spec(CAR)), words)


def test_a_quoted_line_is_the_right_one(tmp_path: Path) -> None:
    path = tmp_path / "decisions.csv"
    path.write_text("x,v,action\n\n0.1,0.2,1\n0.5,0.6,up\n")
    refused(lambda: read_table(path, task_spec(CAR)), "Line 4 of ")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    refused(lambda: read_table(tmp_path / "none.csv", task_spec(CAR)), "none.csv")
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\x00\x01")
    refused(lambda: read_table(tmp_path / "bytes.csv", task_spec(CAR)), "bytes.csv")


@pytest.mark.parametrize(
    ("rows", "taken"),
    [
        ([], []),
        ([[0.0, 1.0]], [0, 1]),
        ([[0.0, 1.0]], [-1]),
        ([[0.0, 1.0]], [0.5]),
        ([[0.0, 1.0]], ["left"]),
        ([[0.0, np.nan]], [0]),
        ([[0.0, 1.0], [2.0]], [0, 1]),
        ("ab", [0]),
        (None, None),
        ([0.0, 1.0], [0, 1]),
    ],
)
def test_what_is_no_table(rows: Any, taken: Any) -> None:
    refused(lambda: table_teacher(rows, taken), "The table table should have ")


def test_a_table_of_another_task_is_told() -> None:
    refused(lambda: answers(table_teacher([[0.0, 1.0, 2.0]], [0])), "rows of 3 coordinates, but 2 are seen")
    refused(
        lambda: answers(table_teacher([[0.0, 1.0]], [9])), "answered 9; the actions of MountainCar-v0 are"
    )
    box = ROOM._replace(actions=0, box=spaces.Box(-1.0, 1.0, (1,)))
    refused(
        lambda: answers(table_teacher([[0.0, 1.0]], [0]), box), "but those of MountainCar-v0 are continuous"
    )


# ---- what cannot ---------------------------------------------------------------------------------------------------


def fail(seen: Any) -> int:
    raise KeyError("rope")


BAD: dict[str, tuple[Any, str]] = {
    "raises": (fail, "The teacher fail failed in "),
    "raises too": (Predicts(fail), "(KeyError: 'rope')."),
    "outside": (
        lambda seen: 3,
        "answered 3 where it saw (-0.5, 0.02); the actions of MountainCar-v0 are whole",
    ),
    "below": (lambda seen: -1, "answered -1"),
    "half": (lambda seen: 1.5, "answered 1.5"),
    "nan": (lambda seen: float("nan"), "answered nan"),
    "huge": (lambda seen: 10**400, "answered 1000"),
    "text": (lambda seen: "left", "answered 'left'"),
    "nothing": (lambda seen: None, "answered None"),
    "two": (lambda seen: [0, 1], "answered [0, 1]"),
    "many texts": (Predicts(lambda rows: ["left"] * len(rows)), "answered 'left'"),
    "no answers": (Predicts(lambda rows: None), "answered None"),
    "tables": (Predicts(lambda rows: np.zeros((len(rows), 2))), "answered array([0., 0.])"),
    "a text": ("runs/first", "got the text 'runs/first'; load it first"),
    "a path": (Path("runs/first"), "A teacher is a function from an observation to an action"),
    "a number": (5, "got 5."),
    "None": (None, "got None."),
}


@pytest.mark.parametrize("problem", BAD)
def test_a_bad_teacher_is_told_in_one_sentence(problem: str) -> None:
    thing, words = BAD[problem]
    refused(lambda: answers(thing), words)


def test_the_first_wrong_answer_is_named() -> None:
    refused(lambda: answers(lambda seen: 7 if seen[1] < 0 else 2), "answered 7 where it saw (-0.4, -0.01)")


def test_ctrl_c_of_a_teacher_comes_through() -> None:
    def stop(seen: Any) -> int:
        raise KeyboardInterrupt

    for thing in (stop, Predicts(stop)):
        with pytest.raises(KeyboardInterrupt):
            answers(thing)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (
            {"observation_space": spaces.Box(-1, 1, (4,))},
            "sees Box(-1.0, 1.0, (4,), float32), but an observation",
        ),
        ({"action_space": spaces.Discrete(2)}, "acts by Discrete(2), but MountainCar-v0 has 3 actions"),
        ({"action_space": spaces.Box(-1, 1, (1,))}, "acts by Box(-1.0, 1.0, (1,), float32), but"),
    ],
)
def test_an_agent_of_other_spaces_is_told_before_it_is_asked(facts: dict[str, Any], words: str) -> None:
    refused(lambda: teacher_of(Predicts(fail, **facts), ROOM), words)


def test_an_agent_of_the_same_spaces_is_welcome() -> None:
    env = gymnasium.make(CAR)
    facts = {"observation_space": env.observation_space, "action_space": env.action_space}
    assert answers(Predicts(SWINGS.rule, **facts)) == SAID


@pytest.mark.parametrize(
    "values",
    [
        lambda s: [1.0, 2.0],
        lambda s: [1.0, 2.0, np.nan],
        lambda s: 1.0,
        lambda s: None,
        lambda s: "abc",
        lambda s: {},
    ],
)
def test_values_of_another_shape_are_told(values: Any) -> None:
    teacher = teacher_of(Policy(swing, values=values), ROOM)
    assert teacher.values is not None
    refused(lambda: teacher.values(ROWS), "The values of swing should be 3 finite numbers")  # type: ignore[misc]


def test_values_that_fail_are_told() -> None:
    for values, words in ((fail, "The values of swing failed in "), ([1.0, 2.0], "not callable")):
        teacher = teacher_of(Policy(swing, values=values), ROOM)
        refused(lambda teacher=teacher: teacher.values(ROWS), words)


@pytest.mark.parametrize("answer", [[3.0], [np.nan], [1.0, 1.0], "up", None, []])
def test_amounts_outside_of_their_bounds_are_told(answer: Any) -> None:
    room = Room("Pendulum-v1", 2, 0, 0, None, spaces.Box(-2.0, 2.0, (1,)))
    refused(lambda: answers(lambda seen: answer, room), "the actions of Pendulum-v1 are Box(-2.0, 2.0")


def test_amounts_that_are_rounded_are_brought_back() -> None:
    room = Room("Pendulum-v1", 2, 0, 0, None, spaces.Box(-2.0, 2.0, (1,)))
    assert answers(lambda seen: [2.00001], room) == [[2.0]] * 3
    assert answers(lambda seen: -1.5, room) == [[-1.5]] * 3


# ---- chance --------------------------------------------------------------------------------------------------------


def test_a_teacher_that_hesitates_is_noticed_and_asked_more_often() -> None:
    rng = np.random.default_rng(0)
    calls = [0]

    def answer(rows: np.ndarray) -> np.ndarray:
        calls[0] += 1
        return np.where(rng.random(len(rows)) < 0.8, 2, 0)

    teacher = watched(Teacher("doubt", answer), ROWS)
    assert teacher.stochastic
    calls[0] = 0
    assert teacher.answer(ROWS).tolist() == [2, 2, 2]
    assert calls == [VOTES]


def test_a_teacher_that_does_not_is_left_as_it_is() -> None:
    calls = [0]

    def answer(rows: np.ndarray) -> np.ndarray:
        calls[0] += 1
        return SWINGS.predict(rows)

    sure = Teacher("sure", answer)
    assert watched(sure, ROWS) is sure
    assert calls == [1 + ASKED_AGAIN]


def test_of_amounts_the_median_is_taken() -> None:
    given = [np.array([[0.0], [1.0]]), np.array([[9.0], [1.5]]), np.array([[1.0], [1.25]])]
    assert most_frequent(given).tolist() == [[1.0], [1.25]]
