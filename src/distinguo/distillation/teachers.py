"""Teachers: policies of any kind, brought to one form to be distilled.

Any callable ``observation -> action``, an object with ``predict`` as in Stable-Baselines3 and scikit-learn, a run
of ours or a table of decisions can be a teacher. Its answers are checked; errors are one sentence.
"""

from __future__ import annotations

import csv
import inspect
import io
import math
import os
from array import array
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium import spaces
from scipy.spatial import cKDTree

from distinguo.controller import Controller
from distinguo.distillation.fit import standard_of
from distinguo.distillation.ledger import Ledger
from distinguo.errors import DistinguoError, attempt, call_user_code, one_line, reason_of, shown
from distinguo.reading.arrays import read_zip
from distinguo.reading.files import MEBIBYTE, parse_json, read_json, regular_file
from distinguo.representations.partition import regions_of
from distinguo.runs.run import Run
from distinguo.tasks.gym.source import number_of
from distinguo.tasks.gym.spaces import View
from distinguo.tasks.spec import TaskSpec

Answer = Callable[[np.ndarray], np.ndarray]  #: from observations, a row each, to actions

ASKED_AGAIN, PROBES = 8, 64  #: how often a teacher is asked the same question, and about how many states
FEW, SAME = 4, 0.9  #: questions that show whether many may be asked at once, and the share of equal answers
VOTES = 25  #: answers of a stochastic teacher, of which the most frequent is taken


class Teacher(NamedTuple):
    """A policy with its name; ``values`` gives its action values, if known."""

    name: str
    answer: Answer
    values: Answer | None = None
    stochastic: bool = False  #: whether it answers the same question differently

    def settled(self) -> Teacher:
        """Return a teacher that gives its most frequent answer."""
        answer = self.answer
        return self._replace(answer=lambda rows: most_frequent([answer(rows) for _ in range(VOTES)]))


def most_frequent(answers: list[np.ndarray]) -> np.ndarray:
    """Return the most frequent of several answers for every row; the median of continuous ones.

    >>> most_frequent([np.array([0, 1]), np.array([0, 2]), np.array([1, 2])]).tolist()
    [0, 2]
    """
    stacked = np.array(answers)
    if stacked.dtype.kind == "f":
        return np.asarray(np.median(stacked, axis=0))
    return np.array([np.bincount(column).argmax() for column in stacked.T])


class Policy(NamedTuple):
    """Anything that can be a teacher, with its name and its action values.

    ``values`` is a function from an observation to the value of every action.

    >>> Policy(lambda s: 0, name="always left").name
    'always left'
    """

    policy: Any
    name: str = ""
    values: Any = None


def teacher_of(given: Any, room: Room) -> Teacher:
    """Make a teacher of anything that can be one, for the spaces of a task."""
    thing, name, values = given if isinstance(given, Policy) else Policy(given)
    name = name or getattr(thing, "name", "") or _name_of(thing)
    known = None if values is None else one_by_one(values, room, f"The values of {name}", room.checked_values)
    if isinstance(thing, Teacher):
        return _of_numbers(thing._replace(name=name, values=known or thing.values), room)
    if isinstance(thing, str):
        raise DistinguoError(
            f"A teacher is a function or an object, got the text {shown(thing)}; load it first, or name it on the "
            "command line: distinguo distil TEACHER --task TASK."
        )
    if isinstance(thing, Run):
        learned = _of_run(thing, room, name)
        return learned._replace(values=known or learned.values)
    if callable(getattr(thing, "predict", None)):
        room.check_spaces(thing, name)
        return Teacher(name, _predicting(thing, room, name), known or _network_values(thing, room, name))
    if callable(thing):
        return Teacher(name, one_by_one(thing, room, f"The teacher {name}", room.checked_actions), known)
    raise DistinguoError(
        "A teacher is a function from an observation to an action, an object with predict, a run or a table, got "
        f"{shown(thing)}."
    )


def _name_of(thing: Any) -> str:
    return getattr(thing, "__name__", None) or type(thing).__name__


def _of_numbers(teacher: Teacher, room: Room) -> Teacher:
    """Return a teacher that answers with numbers of actions from 0, as a table does, with its answers checked."""
    if room.box is not None:
        raise DistinguoError(
            f"The teacher {teacher.name} answers with numbers of actions, but those of {room.name} are continuous; "
            "give it levels, as in --set task.levels=3, or wrap the environment in DiscreteActions."
        )

    def answer(rows: np.ndarray) -> np.ndarray:
        given = teacher.answer(rows)
        wrong = np.flatnonzero(~np.isin(given, np.arange(room.actions)))
        if len(wrong):
            raise DistinguoError(
                f"The teacher {teacher.name} answered {given[wrong[0]]}; the actions of {room.name} are whole "
                f"numbers from 0 to {room.actions - 1}."
            )
        return given

    return teacher._replace(answer=answer)


def _of_run(run: Run, room: Room, name: str) -> Teacher:
    from distinguo.learners.learner import learner_or_absent

    spec, controller = run.configuration.spec, run.controller
    ours = (len(spec.dimensions), len(spec.actions))
    if ours != (room.dimensions, room.actions):
        raise DistinguoError(
            f"The run of {spec.name} sees {ours[0]} coordinates and has {ours[1]} actions, but {room.name} has "
            f"{room.dimensions} and {room.actions}; distil it on its own task."
        )
    learner = learner_or_absent(run.configuration.learner_name, {})
    worth = None if learner.only_controls or "condensed_from" in run.summary else _rows_of(controller)
    path = "" if run.path is None else str(run.path)
    return Teacher(
        path or name, lambda rows: controller.greedy[regions_of(controller.partition, rows)], worth
    )


def _rows_of(controller: Controller) -> Answer:
    return lambda rows: controller.q[regions_of(controller.partition, rows)]


def one_by_one(
    function: Callable[[Any], Any], room: Room, what: str, check: Callable[[Any, str, np.ndarray], np.ndarray]
) -> Answer:
    """Turn a function of one observation into a function of many."""

    def answer(rows: np.ndarray) -> np.ndarray:
        given = [call_user_code(what, function, room.observation(row)) for row in rows]
        return check(given, what, rows)

    return answer


def _predicting(thing: Any, room: Room, name: str) -> Answer:
    """The predictions for many observations, at once or, where that fails, one at a time."""
    what = f"The teacher {name}"
    options = {"deterministic": True} if _takes(thing.predict, "deterministic") else {}

    def predict(observations: Any) -> Any:
        given = call_user_code(what, lambda: thing.predict(observations, **options))
        return given[0] if isinstance(given, tuple) and len(given) == 2 else given

    def single(rows: np.ndarray) -> np.ndarray:
        return room.checked_actions([predict(room.observation(row)) for row in rows], what, rows)

    def together(rows: np.ndarray) -> np.ndarray:
        given = predict(room.observations(rows))
        if not isinstance(given, list | tuple | np.ndarray) or len(given) != len(rows):
            raise _NotForManyError(f"{what} answered {shown(given)} to {len(rows)} observations.")
        return room.checked_actions(given, what, rows)

    known: list[Answer] = []  # how it is asked, found out at the first suitable question

    def answer(rows: np.ndarray) -> np.ndarray:
        if not known:
            some = rows[: min(PROBES, len(rows) - (len(rows) == room.dimensions))]
            way = _way_to_ask(single, together, some if len(some) >= FEW else rows)
            if len(some) < FEW:
                return way(rows)
            known.append(way)
        return known[0](rows)

    return answer


def _way_to_ask(single: Answer, together: Answer, rows: np.ndarray) -> Answer:
    """Find out whether a teacher takes one observation or many at once, and whether both give the same answers."""
    alone = attempt(single, rows, otherwise=None)
    try:
        many = together(rows)
    except _NotForManyError:
        return single
    except DistinguoError:
        return single if alone is not None else together
    return together if alone is None or _much_alike(many, alone) else single


class _NotForManyError(DistinguoError):
    """The number of answers differs from the number of observations."""


def _much_alike(given: np.ndarray, single: np.ndarray) -> bool:
    """Whether answers to many questions at once equal the single answers, up to rounding."""
    same = np.isclose(given, single, rtol=1e-3, atol=1e-3).reshape(len(single), -1).all(axis=1)
    return bool(same.mean() >= SAME)


def _takes(function: Any, word: str) -> bool:
    parameters = attempt(lambda: inspect.signature(function).parameters, otherwise={})
    return word in parameters


def _network_values(thing: Any, room: Room, name: str) -> Answer | None:
    """Return the action values of a network of Stable-Baselines3's DQN or sb3-contrib's QR-DQN; else None."""
    net = getattr(thing, "q_net", None) or getattr(thing, "quantile_net", None)
    if net is None or not hasattr(thing, "policy"):
        return None

    def values(rows: np.ndarray) -> np.ndarray:
        import torch

        with torch.no_grad():
            tensor, _ = thing.policy.obs_to_tensor(room.observations(rows))
            worth = net(tensor)
        worth = worth.mean(dim=1) if worth.dim() == 3 else worth  # of the quantiles
        return room.checked_values(list(worth.double().cpu().numpy()), f"The values of {name}", rows)

    return values


def watched(teacher: Teacher, rows: np.ndarray, ledger: Ledger | None = None) -> Teacher:
    """Ask a teacher the same several times; one that answers differently is asked more often from then on.

    With a ledger, its answers are those of the ledger.
    """
    some = rows[:: max(1, len(rows) // PROBES)][:PROBES]
    if teacher.stochastic:  # known already, and its answers are settled
        return _recorded(teacher, ledger)
    first = _recorded(teacher, ledger).answer(some)

    def ask() -> dict[str, np.ndarray]:
        again = [teacher.answer(some) for _ in range(ASKED_AGAIN)]
        return {"stochastic": np.array(not all(np.array_equal(first, other) for other in again))}

    found = ask() if ledger is None else ledger.answer(["watched", some], ask, _is_truth)
    settled = teacher._replace(stochastic=True).settled() if found["stochastic"] else teacher
    return _recorded(settled, ledger)


def _is_truth(arrays: dict[str, np.ndarray]) -> bool:
    return arrays["stochastic"].shape == ()


def _recorded(teacher: Teacher, ledger: Ledger | None) -> Teacher:
    """Return a teacher whose answers are those of a ledger; one that no longer gives them is rejected."""
    if ledger is None:
        return teacher

    def answer(rows: np.ndarray) -> np.ndarray:
        asked = []

        def ask() -> dict[str, np.ndarray]:
            asked.append(rows)
            return {"said": teacher.answer(rows)}

        said = ledger.answer(["said", rows], ask, lambda arrays: len(arrays["said"]) == len(rows))["said"]
        if not asked and not teacher.stochastic:
            some = slice(None, None, max(1, len(rows) // PROBES))
            alike = np.array_equal(teacher.answer(rows[some]), said[some])
            if not alike and not np.array_equal(
                teacher.answer(rows), said
            ):  # many at once may round otherwise
                raise DistinguoError(
                    f"The teacher {teacher.name} no longer gives the answers that it gave before the interruption; "
                    "give the same teacher, or choose another --out."
                )
        return said

    return teacher._replace(answer=answer)


# ---- observations and actions of a teacher
# ---------------------------------------------------------------------------


NEAR = 1e-5  #: by which an action may exceed its bounds, as a share of their width: numbers are rounded


class Room(NamedTuple):
    """The coordinates of an observation, the actions, and how the environment writes both."""

    name: str  #: of the task
    dimensions: int
    actions: int  #: 0 if they are continuous
    first: int = 0  #: the environment's number of the first action
    view: View | None = None  #: of the environment, if there is one
    box: Any = None  #: the space of continuous actions
    seen: spaces.Box | None = None  #: the space of observations, where they are an array

    def observation(self, row: np.ndarray) -> Any:
        """Return an observation as the environment gives it."""
        if self.seen is not None:
            return row.astype(self.seen.dtype).reshape(self.seen.shape)
        return row.copy() if self.view is None else self.view.unflatten(row.tolist())

    def observations(self, rows: np.ndarray) -> Any:
        """Return many of them."""
        if self.seen is not None:
            return rows.astype(self.seen.dtype).reshape(len(rows), *self.seen.shape)
        return rows.copy() if self.view is None else np.array([self.observation(row) for row in rows])

    # ---- what comes back ------------------------------------------------------------------------------------------

    def checked_actions(self, given: Any, what: str, rows: np.ndarray) -> np.ndarray:
        """Return answers as numbers of actions from 0, or as continuous actions; raise an error for any other."""
        if self.box is not None:
            return self._all_amounts(given, what, rows)
        numbers = np.array([number_of(one) for one in given])
        wrong = np.flatnonzero(~(np.isin(numbers, np.arange(self.first, self.first + self.actions))))
        if len(wrong):
            n = int(wrong[0])
            last = self.first + self.actions - 1
            raise DistinguoError(
                f"{what} answered {shown(list(given)[n])} where it saw {_seen(rows[n])}; the actions of {self.name} "
                f"are whole numbers from {self.first} to {last}."
            )
        return numbers.astype(np.int64) - self.first

    def _all_amounts(self, given: Any, what: str, rows: np.ndarray) -> np.ndarray:
        """Many answers at once, or one at a time where something is wrong with them."""
        low, high, slack = self._limits()
        if isinstance(given, np.ndarray) and given.dtype.kind == "f" and given.size == len(rows) * len(low):
            amounts = given.reshape(len(rows), -1).astype(np.float64)
            if (amounts >= low - slack).all() and (amounts <= high + slack).all():
                return np.clip(amounts, low, high)
        return np.array([self._amounts(one, what, row) for one, row in zip(given, rows, strict=True)])

    def _limits(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        low, high = self.box.low.ravel().astype(float), self.box.high.ravel().astype(float)
        return low, high, NEAR * np.where(np.isfinite(high - low), high - low, 1.0)

    def _amounts(self, given: Any, what: str, row: np.ndarray) -> np.ndarray:
        low, high, slack = self._limits()
        amounts = attempt(lambda: np.asarray(given, dtype=np.float64).ravel(), otherwise=np.zeros(0))
        inside = amounts.shape == low.shape and bool(
            np.isfinite(amounts).all() and (amounts >= low - slack).all() and (amounts <= high + slack).all()
        )
        if not inside:
            raise DistinguoError(
                f"{what} answered {shown(given)} where it saw {_seen(row)}; the actions of {self.name} are "
                f"{self.box}."
            )
        return np.clip(amounts, low, high)

    def checked_values(self, given: Any, what: str, rows: np.ndarray) -> np.ndarray:
        """The action values, a row for every observation."""
        worth = attempt(
            lambda: np.array([np.ravel(one) for one in given], dtype=np.float64), otherwise=np.zeros(0)
        )
        if worth.shape != (len(rows), self.actions) or not np.isfinite(worth).all():
            raise DistinguoError(
                f"{what} should be {self.actions} finite numbers for every observation, one for each action of "
                f"{self.name}, got {shown(given[0] if len(given) else given)}."
            )
        return worth

    def check_spaces(self, thing: Any, name: str) -> None:
        """Reject an agent that was made for other spaces."""
        seen, acted = getattr(thing, "observation_space", None), getattr(thing, "action_space", None)
        if (
            isinstance(seen, spaces.Space)
            and seen.shape is not None
            and math.prod(seen.shape) != self.dimensions
        ):
            raise DistinguoError(
                f"The teacher {name} sees {seen}, but an observation of {self.name} has {self.dimensions} "
                "coordinates; take a teacher of this task, or another --task."
            )
        if isinstance(acted, spaces.Space) and not self._fits(acted):
            here = f"{self.actions} actions" if self.box is None else f"actions of {self.box}"
            raise DistinguoError(
                f"The teacher {name} acts by {acted}, but {self.name} has {here}; take a teacher of this task, or "
                "another --task."
            )

    def _fits(self, acted: Any) -> bool:
        if self.box is not None:
            return isinstance(acted, spaces.Box) and acted.shape == self.box.shape
        return isinstance(acted, spaces.Discrete) and int(acted.n) == self.actions


def _seen(row: np.ndarray) -> str:
    return "(" + ", ".join(f"{x:z.4g}" for x in row[:8]) + (", …)" if len(row) > 8 else ")")


def room_of(spec: TaskSpec) -> Room:
    """The observations and actions of a task, for its teachers.

    >>> from distinguo.tasks.catalog import task_spec
    >>> room_of(task_spec("puck"))[1:4]
    (2, 2, 0)
    """
    size = (spec.name, len(spec.dimensions), len(spec.actions))
    if not spec.interpreted:
        return Room(
            *size, seen=_box_of(gymnasium.spec(spec.name) if spec.name in gymnasium.registry else None)
        )
    checked = spec.task.driver.checked_env
    space = checked.env.observation_space
    return Room(
        *size, checked.choices.first, checked.view, seen=space if isinstance(space, spaces.Box) else None
    )


def _box_of(registered: Any) -> spaces.Box | None:
    """The observation space of the environment that a compiled task ports: teachers were made for it."""
    if registered is None:
        return None
    env = registered.make()
    env.close()
    return env.observation_space if isinstance(env.observation_space, spaces.Box) else None


# ---- tables of decisions -------------------------------------------------------------------------------------------


LARGEST_TABLE = 128 * MEBIBYTE  #: bytes
ACTION = "action"  #: the column of actions


def table_teacher(observations: Any, actions: Any, name: str = "table") -> Teacher:
    """Return a teacher that answers with the action of the nearest row, each coordinate measured by its spread.

    ``actions`` are numbers from 0, one for each row of ``observations``.

    >>> teacher = table_teacher([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]], [1, 0, 1])
    >>> teacher.answer(np.array([[0.9, 0.1], [0.1, 0.8]])).tolist()
    [0, 1]
    """
    rows = attempt(np.array, observations, np.float64, otherwise=np.zeros(0))
    taken = attempt(np.array, actions, otherwise=np.zeros(0))
    if rows.ndim != 2 or not rows.size or not np.isfinite(rows).all():
        raise DistinguoError(
            f"The table {name} should have rows of finite numbers to look actions up by, got {shown(observations)}."
        )
    if taken.shape != (len(rows),) or taken.dtype.kind not in "iu" or (taken < 0).any():
        raise DistinguoError(
            f"The table {name} should have the number of an action, from 0, for each of its {len(rows)} rows, got "
            f"{shown(actions)}."
        )
    standard = standard_of(rows)
    tree = cKDTree(standard.of(rows))

    def answer(seen: np.ndarray) -> np.ndarray:
        if seen.shape[1] != rows.shape[1]:
            raise DistinguoError(
                f"The table {name} has rows of {rows.shape[1]} coordinates, but {seen.shape[1]} are seen; take a "
                "table of this task, or another --task."
            )
        return np.asarray(taken[tree.query(standard.of(seen))[1]].astype(np.int64))

    return Teacher(name, answer)


def read_table(path: Path, spec: TaskSpec) -> Teacher:
    """Read a table of decisions from a file.

    It is CSV with a column for every coordinate of the task, by its name, and a column ``action`` with the number or
    the name of one.
    """
    with regular_file(path, LARGEST_TABLE) as file, io.TextIOWrapper(file, "utf-8", newline="") as text:
        try:
            seen, taken = _decisions(csv.DictReader(text), path, spec)
        except (csv.Error, UnicodeDecodeError) as error:
            raise DistinguoError(
                f"{path} is no table in CSV ({one_line(str(error))}); write it again, as text in UTF-8."
            ) from None
    return table_teacher(np.array(seen).reshape(-1, len(spec.dimensions)), np.array(taken), str(path))


def _decisions(reader: csv.DictReader[str], path: Path, spec: TaskSpec) -> tuple[array[float], array[int]]:
    """Read the coordinates of all rows, one after the other, and their actions."""
    wanted = (*spec.dimensions, ACTION)
    missing = [name for name in wanted if name not in (reader.fieldnames or ())]
    if missing:
        raise DistinguoError(
            f"{path} has no column '{missing[0]}'; a table of decisions for {spec.name} has the columns "
            f"{', '.join(wanted)}."
        )
    names = {
        **{str(a): a for a in range(len(spec.actions))},
        **{word: a for a, word in enumerate(spec.actions)},
    }
    seen, taken = array("d"), array("q")
    for row in reader:
        numbers = [attempt(float, row[name], otherwise=np.nan) for name in spec.dimensions]
        if not np.isfinite(numbers).all() or row[ACTION] not in names:
            raise DistinguoError(
                f"Line {reader.line_num} of {path} should have a number in each of {', '.join(spec.dimensions)} and "
                f"one of {', '.join(names)} as its action, got {shown(','.join(map(str, row.values())))}."
            )
        seen.extend(numbers)
        taken.append(names[row[ACTION]])
    return seen, taken


# ---- agents that Stable-Baselines3 has saved -----------------------------------------------------------------------


WARNING = "Stable-Baselines3's zips run code when they are opened; open only those that you trust."
CLASSES = {
    "dqn": ("stable_baselines3", "DQN"),
    "ppo": ("stable_baselines3", "PPO"),
    "a2c": ("stable_baselines3", "A2C"),
    "sac": ("stable_baselines3", "SAC"),
    "td3": ("stable_baselines3", "TD3"),
    "qrdqn": ("sb3_contrib", "QRDQN"),
}
#: Names in the data of a zip that only these agents have, the most specific first.
MARKS = {
    "qrdqn": ("quantile_net",),
    "ppo": ("clip_range", "n_epochs"),
    "a2c": ("n_steps", "gae_lambda"),
    "td3": ("target_policy_noise",),
    "sac": ("target_entropy",),
    "dqn": ("exploration_final_eps",),
}
LARGEST_DATA, LARGEST_ZIP = 16 * MEBIBYTE, 2**32  #: bytes of its data, unpacked, and of the whole zip


def kind_of_zip(path: Path) -> str:
    """The kind of agent in a zip, by the names in it; no code in it is run."""
    try:
        data = parse_json(read_zip(path, ("data",), LARGEST_DATA, LARGEST_ZIP)["data"], "its data")
    except (DistinguoError, KeyError) as error:
        if not path.exists():
            raise DistinguoError(
                f"There is no file {path}; give the path of a zip that model.save wrote."
            ) from None
        why = str(error).rstrip(".") if isinstance(error, DistinguoError) else "it has no data"
        raise DistinguoError(
            f"{path} is damaged, or no agent of Stable-Baselines3 ({why}); save it again with model.save."
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
    except BaseException as error:  # its code may raise anything
        raise DistinguoError(
            f"{path} could not be opened ({reason_of(error)}); save it again with the installed {module}, or load it "
            "yourself and hand it over: distinguo.distil(model, task)."
        ) from error


# ---- folders of the Hugging Face hub -------------------------------------------------------------------------------


NO_AGENTS = ("train_eval_metrics.zip",)  #: zips that the RL Zoo puts beside an agent
STATISTICS = ("vec_normalize.pkl", "vecnormalize.pkl")  #: how the agent's observations were normalised
RESULTS, LARGEST_RESULTS = "results.json", MEBIBYTE


def agent_in(folder: Path) -> Path:
    """The zip of the one agent in a folder, as ``huggingface_sb3`` and the RL Zoo write it; no code is run."""
    zips = [path for path in sorted(folder.glob("*.zip")) if path.name not in NO_AGENTS]
    found = [path for path in zips if attempt(kind_of_zip, path, otherwise="")]
    if len(found) == 1:
        return found[0]
    if len(zips) == 1:
        kind_of_zip(zips[0])  # says why it is none
    what = f"several agents ({', '.join(one.name for one in found)})" if found else "no zip of an agent"
    raise DistinguoError(f"{folder} holds {what}; give the path of the zip that model.save wrote.")


def reported(folder: Path) -> str:
    """What a folder says about its agent, as a sentence; empty if it says nothing."""
    try:
        known = read_json(folder / RESULTS, LARGEST_RESULTS)
        mean, deviation = float(known["mean_reward"]), float(known["std_reward"])
    except (DistinguoError, LookupError, TypeError, ValueError):
        return ""
    return f"{RESULTS} reports a mean return of {mean:z.4g} with a standard deviation of {deviation:z.4g}."


class NormalisedPolicy:
    """An agent that was trained on normalised observations, for observations as they are."""

    def __init__(self, agent: Any, statistics: Any) -> None:
        self.agent, self.statistics = agent, statistics
        self.observation_space, self.action_space = agent.observation_space, agent.action_space

    def predict(self, observation: Any, deterministic: bool = True) -> Any:
        """What the agent does, and its state."""
        seen = self.statistics.normalize_obs(np.asarray(observation))
        return self.agent.predict(seen, deterministic=deterministic)


def load_policy(path: str | os.PathLike[str]) -> Any:
    """Load an agent of Stable-Baselines3: its zip, or a folder that was downloaded from the Hugging Face hub.

    It has ``predict``, and :func:`distinguo.distil` takes it. A folder holds the zip of one agent; with
    ``vec_normalize.pkl`` beside it, observations are normalised as in its training. Nothing is downloaded. Loading
    runs code in these files, so load only those that you trust.

    >>> load_policy("/")
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: / holds no zip of an agent; give the path of the zip that model.save wrote.
    """
    place = Path(path)
    zipped = agent_in(place) if place.is_dir() else place
    agent = load_zip(zipped)
    near = (zipped.parent, zipped.with_suffix(""))
    beside = [folder / name for folder in near for name in STATISTICS if (folder / name).is_file()]
    if not place.is_dir() or not beside:
        return agent
    vectors = import_module("stable_baselines3.common.vec_env")
    try:
        known = vectors.VecNormalize.load(str(beside[0]), _like(agent, vectors))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # its code may raise anything
        raise DistinguoError(
            f"{beside[0]} could not be opened ({reason_of(error)}); the agent does not act well without it."
        ) from error
    known.training = False
    return NormalisedPolicy(agent, known)


def _like(agent: Any, vectors: Any) -> Any:
    """A vector of environments with the spaces of an agent, which is never stepped."""

    class Nowhere(gymnasium.Env[Any, Any]):
        observation_space, action_space = agent.observation_space, agent.action_space

    return vectors.DummyVecEnv([Nowhere])
