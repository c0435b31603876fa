"""What a teacher is: something that answers observations with actions, and perhaps knows what actions are worth.

Any callable ``observation -> action``, an object with ``predict`` as in Stable-Baselines3 and scikit-learn, a run of
ours or a table of decisions can be one. What it answers is checked; what goes wrong is said in one sentence.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.distillation.teachers.spaces import Room
from distinguo.errors import DistinguoError, attempt, call_user_code, shown
from distinguo.representations.partition import regions_of
from distinguo.runs.run import Run

Answer = Callable[[np.ndarray], np.ndarray]  #: from observations, a row each, to actions

ASKED_AGAIN, PROBES = 8, 64  #: how often a teacher is asked the same, and of how many states
FEW, SAME = 4, 0.9  #: questions that tell whether many may be asked at once, and the share of equal answers
VOTES = 25  #: answers of a stochastic teacher, of which the most frequent is taken


class Teacher(NamedTuple):
    """A policy with its name; ``values`` gives what each action is worth, where it knows."""

    name: str
    answer: Answer
    values: Answer | None = None
    stochastic: bool = False  #: whether it answers the same question differently

    def settled(self) -> Teacher:
        """Return a teacher that gives its most frequent answer."""
        answer = self.answer
        return self._replace(answer=lambda rows: most_frequent([answer(rows) for _ in range(VOTES)]))


def most_frequent(answers: list[np.ndarray]) -> np.ndarray:
    """Return the most frequent of several answers for every row; of amounts, the median.

    >>> most_frequent([np.array([0, 1]), np.array([0, 2]), np.array([1, 2])]).tolist()
    [0, 2]
    """
    stacked = np.array(answers)
    if stacked.dtype.kind == "f":
        return np.asarray(np.median(stacked, axis=0))
    return np.array([np.bincount(column).argmax() for column in stacked.T])


class Policy(NamedTuple):
    """Whatever can be a teacher, with what it does not say itself: its name, and what actions are worth.

    ``values`` is a function from an observation to the worth of every action.

    >>> Policy(lambda s: 0, name="always left").name
    'always left'
    """

    policy: Any
    name: str = ""
    values: Any = None


def teacher_of(given: Any, room: Room) -> Teacher:
    """Return whatever can be a teacher as one, for the spaces of a task."""
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
            f"The teacher {teacher.name} answers with numbers of actions, but those of {room.name} are amounts; give "
            "it levels, as in --set task.levels=3, or wrap the environment in DiscreteActions."
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
    """Return a function of one observation as one of many."""

    def answer(rows: np.ndarray) -> np.ndarray:
        given = [call_user_code(what, function, room.observation(row)) for row in rows]
        return check(given, what, rows)

    return answer


def _predicting(thing: Any, room: Room, name: str) -> Answer:
    """Return what predicts many observations at once, or one at a time where it cannot."""
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

    known: list[Answer] = []  # how it is asked, found out at the first question that can tell

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
    """Find out whether a teacher takes one observation or many at once, and if both, whether it answers the same."""
    alone = attempt(single, rows, otherwise=None)
    try:
        many = together(rows)
    except _NotForManyError:
        return single
    except DistinguoError:
        return single if alone is not None else together
    return together if alone is None or _much_alike(many, alone) else single


class _NotForManyError(DistinguoError):
    """What came back are not as many answers as there were observations."""


def _much_alike(given: np.ndarray, single: np.ndarray) -> bool:
    """Tell whether answers to many questions at once are those to each alone; numbers may be rounded otherwise."""
    same = np.isclose(given, single, rtol=1e-3, atol=1e-3).reshape(len(single), -1).all(axis=1)
    return bool(same.mean() >= SAME)


def _takes(function: Any, word: str) -> bool:
    parameters = attempt(lambda: inspect.signature(function).parameters, otherwise={})
    return word in parameters


def _network_values(thing: Any, room: Room, name: str) -> Answer | None:
    """Return the action values of a network of Stable-Baselines3's DQN or sb3-contrib's QR-DQN, else nothing."""
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


def watched(teacher: Teacher, rows: np.ndarray) -> Teacher:
    """Ask a teacher the same several times; one that answers differently is asked more often from then on."""
    if teacher.stochastic:  # which is known, and its answers are settled
        return teacher
    some = rows[:: max(1, len(rows) // PROBES)][:PROBES]
    first = teacher.answer(some)
    again = [teacher.answer(some) for _ in range(ASKED_AGAIN)]
    if all(np.array_equal(first, other) for other in again):
        return teacher
    return teacher._replace(stochastic=True).settled()
