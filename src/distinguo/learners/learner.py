"""What a learner is: something that makes a controller out of trials.

A learner has ``fresh`` (its first memory) and ``controller`` (its present controller). The driver of trials
(learners/driver.py) calls its functions for a step and for the end of a trial. Stage, run folder, resume and
confirmation are shared by all (runs/). The memory is a ``NamedTuple`` of arrays, so that compiled code can read it
and a checkpoint can hold it.
"""

from __future__ import annotations

import warnings
from collections import namedtuple
from collections.abc import Mapping, Sequence
from keyword import iskeyword
from typing import Any, NamedTuple, Protocol

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError, did_you_mean, one_line
from distinguo.learners.agent import CAPPED, NO_BUDGET, Agent
from distinguo.learners.catalog import DISTILLED, import_learner, learner_names
from distinguo.learners.driver import advance_trial, begin_trial, settle_trial
from distinguo.seam import at_speed
from distinguo.tasks.extent import Extent
from distinguo.tasks.spec import Amounts, Goal, MeanReturn, TaskSpec
from distinguo.tasks.task import State


class Setup(NamedTuple):
    """The facts that a learner gets before its first trial, or before it begins again from scratch."""

    task: Any
    actions: int  #: how many there are
    first: State  #: the state that a trial may begin from
    seen: tuple[float, ...]  #: its observation
    extent: Extent  #: of the observations, as far as it is known; very wide where they do not matter
    categories: bool  #: whether observations are labels and not numbers
    mean_reward: float  #: of a step in the preliminary series
    prototypes: Sequence[tuple[float, ...]] | None  #: given prototypes to begin with, if any
    settings: Any
    goal: Goal  #: the goal of the task
    limit: int | None  #: steps after which the task stops a trial
    stochastic: str  #: how much noise there is: "no", "some" or "strong"
    restorable: bool  #: whether any earlier state can be restored
    left_out: tuple[int, ...] = ()  #: coordinates of the observations that do not matter
    box: Amounts | None = None  #: of the actions, if they are amounts

    @property
    def low(self) -> tuple[float, ...]:
        """Return the least of each coordinate."""
        return self.extent.low

    @property
    def high(self) -> tuple[float, ...]:
        """Return the greatest of each coordinate."""
        return self.extent.high


class OwnTests(Protocol):
    """Trials of a confirmation that a learner runs itself, to remember them and to learn from a failure."""

    def are_run(self, memory: Any) -> bool:
        """Whether the learner runs the trials of this task."""

    def begin(self, agent: Agent) -> None:
        """Prepare for a confirmation."""

    def run(self, agent: Agent, cap: int) -> tuple[int, float]:
        """Run a trial from a new start: its steps, and its return."""

    def refuted(self, agent: Agent, returns: Sequence[float]) -> None:
        """Learn from the returns of a confirmation that failed."""


class Learner:
    """The interface of a learner to the stage; subclasses override what they need."""

    name: str
    about = ""  #: what it does, in a few words
    settings: Any  #: the ``NamedTuple`` class of its settings
    declared: Any = None  #: the class that a user declared it by
    suggested: Mapping[str, Any] = {}  #: settings of the stage that suit it, by dotted name
    suggested_by_return: Mapping[str, Any] = {}  #: the same for tasks judged by return
    uses_laws = False  #: whether it finds laws where actions are amounts, and prefers amounts to levels
    uses_amounts = False  #: whether it takes amounts where a task has no levels
    only_controls = False  #: whether its map is only good for acting, so that other learners need another one
    needs_extent = True  #: whether a preliminary series should find the extent of the observations
    #: Whether a long trial of the learner itself solves a task whose trials should never end.
    ends_with_long_trial = True
    own_tests: OwnTests | None = None  #: the trials of a confirmation, if the learner runs them itself

    def fresh(self, setup: Setup) -> Any:
        """Return a fresh memory."""
        raise NotImplementedError

    def begin_again(self, setup: Setup, memory: Any) -> Any:
        """Return the memory of another attempt; by default nothing of the last ``memory`` is kept."""
        return self.fresh(setup)

    def suggested_for(self, spec: TaskSpec) -> Mapping[str, Any]:
        """Return the settings that suit it and a task, by dotted name."""
        by_goal = self.suggested_by_return if isinstance(spec.goal, MeanReturn) else {}
        return {**self.suggested, **by_goal}

    def kernel_settings(self, settings: Any, memory: Any = None) -> Any:
        """The settings for compiled code; by default all of them."""
        return settings

    def begin(self, agent: Agent) -> None:
        """Begin a trial."""
        at_speed(begin_trial, agent.world)(*self._in_kernels(agent))

    def advance(self, agent: Agent, cap: int, steps: int, left: int = NO_BUDGET) -> int:
        """Advance the running trial by at most ``steps`` steps; return how it was left (``agent.RUNNING``, …).

        A learner that cannot stop after every step may take more steps, but never more than are ``left``.
        """
        ended: int = at_speed(advance_trial, agent.world)(*self._in_kernels(agent), cap, steps)
        return ended

    def settle(self, agent: Agent, left: int = NO_BUDGET) -> None:
        """Learn from a trial that has ended, was stopped or paused; mini-trials may take ``left`` steps."""
        at_speed(settle_trial, agent.world)(*self._in_kernels(agent), left)

    def _in_kernels(self, agent: Agent) -> Agent:
        return agent._replace(settings=self.kernel_settings(agent.settings, agent.memory))

    def runs_compiled(self, memory: Any) -> bool:
        """Whether compiled code can work on a memory; only a user's partition may prevent it."""
        return True

    def controller(self, memory: Any, settings: Any) -> Controller:
        """The present controller."""
        raise NotImplementedError

    def prepared(self, agent: Agent, extent: Extent | None) -> Agent:
        """Return the agent with room for the next trial; ``extent`` is new, if it is given."""
        return agent

    def fresh_log(self, memory: Any) -> Any:
        """Return an empty log for reasons that compiled code can write; None for a learner without reasons."""
        return None

    def reasons(self, agent: Agent) -> list[dict[str, Any]]:
        """Return the reasons that were logged, and empty the log."""
        return []

    def claims(self, agent: Agent, ended: int, goal: Goal) -> bool:
        """Whether, after a trial, the learner claims that the task is solved."""
        return goal.is_claimed(ended == CAPPED, float(agent.progress.counts["gained"][0]))

    def set_laws(self, agent: Agent) -> None:
        """Write the laws of the present controller into the world, where actions are amounts."""

    def laws(self, memory: Any) -> np.ndarray | None:
        """The laws of the present controller's actions; None for a learner that chooses among a few actions."""
        return None

    def most_actions(self, memory: Any) -> int | None:
        """How many actions a memory knows; None if that is what the task says."""
        return None

    def is_time_to_settle(self, settings: Any, length: int) -> bool:
        """Whether to learn at once from a trial that paused after ``length`` steps; by default not."""
        return False

    def needs_mean_reward(self, settings: Any) -> bool:
        """Whether a preliminary series should find the mean reward of a step."""
        return False

    def values(self, memory: Any) -> Mapping[str, np.ndarray]:
        """More arrays for ``values.npz``, with a row for each row of action values."""
        return {}

    def figures(self, memory: Any, settings: Any) -> Mapping[str, Any]:
        """Return numbers of this learner for the summary of a run."""
        return {}

    def map_for_others(self, memory: Any, settings: Any) -> Any:
        """Return the partition for other learners, if it differs from the controller's."""
        return None

    def states_needed(self, memory: Any) -> np.ndarray | None:
        """Return the states that the learner may want to restore; None if it never does."""
        return None

    def forget_running(self, memory: Any) -> None:
        """Forget the states of a trial that failed, which the task may be unable to restore."""

    def checked(self, memory: Any, fresh: Any) -> Any:
        """Return a memory that came from a file if compiled code can trust it, else raise ``ValueError``."""
        for name, array in leaves(memory).items():
            like = leaves(fresh)[name]
            if array.dtype != like.dtype or array.shape != like.shape or not array.flags.c_contiguous:
                raise ValueError(f"{name} has an unexpected shape or type")
        return memory


def leaves(memory: Any, prefix: str = "") -> dict[str, np.ndarray]:
    """Return all arrays of a tuple of tuples, by dotted name.

    >>> from distinguo.representations.voronoi import voronoi
    >>> list(leaves(Controller(voronoi([[0.0]], [1.0]), np.zeros((1, 2)))))[:2]
    ['partition.prototypes', 'partition.regions']
    """
    arrays: dict[str, np.ndarray] = {}
    for name, value in memory._asdict().items():
        if isinstance(value, np.ndarray):
            arrays[prefix + name] = value
        elif hasattr(value, "_asdict"):
            arrays |= leaves(value, f"{prefix}{name}.")
    return arrays


def with_leaves(memory: Any, arrays: Mapping[str, np.ndarray], prefix: str = "") -> Any:
    """Return the tuple with its arrays replaced by those of the same dotted name."""
    replaced = {}
    for name, value in memory._asdict().items():
        if isinstance(value, np.ndarray):
            replaced[name] = _as_declared(arrays[prefix + name], value.dtype)
        elif hasattr(value, "_asdict"):
            replaced[name] = with_leaves(value, arrays, f"{prefix}{name}.")
    return memory._replace(**replaced)


def _as_declared(array: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Return records from a file with the alignment that compiled code expects."""
    return array.view(dtype) if dtype.names and array.dtype == dtype else array


_LEARNERS: dict[str, Learner] = {}


def register(learner: Learner) -> None:
    """Make a learner known by its name."""
    _LEARNERS[learner.name] = learner


def learner_named(what: Any) -> Learner:
    """Return the learner of a name or of a declared class.

    >>> learner_named("econmy")
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Unknown learner 'econmy'; did you mean 'economy'?
    """
    if not isinstance(what, str):
        declared = [one for one in _LEARNERS.values() if one.declared is not None and one.declared is what]
        if not declared:
            raise DistinguoError(
                f"{what!r} is not a learner; declare it with the decorator distinguo.learner."
            )
        return declared[0]
    if what not in _LEARNERS:
        import_learner(what)
    if what not in _LEARNERS:
        names = [name for name in dict.fromkeys([*learner_names(), *_LEARNERS]) if name != what]
        raise DistinguoError(f"Unknown learner '{what}'; {did_you_mean(what, names)}")
    return _LEARNERS[what]


def learner_or_absent(name: str, settings: Mapping[str, Any]) -> Learner:
    """Return the learner of that name or, if it is unknown, a placeholder that only holds its settings."""
    try:
        return learner_named(name)
    except DistinguoError:  # unknown, or of a package that cannot be imported
        return AbsentLearner(name, settings)


def all_learners() -> list[Learner]:
    """Return every learner that has a name, ours first; a warning names those that cannot be imported."""
    found = []
    for name in [*learner_names(), DISTILLED]:
        try:
            found.append(learner_named(name))
        except DistinguoError as error:
            warnings.warn(str(error), stacklevel=2)
    return found


class AbsentLearner(Learner):
    """The placeholder for a learner that is not declared here: its run can be read, not continued."""

    def __init__(self, name: str, settings: Mapping[str, Any]) -> None:
        self.name = name
        for key in settings:
            if not key.isidentifier() or iskeyword(key) or key.startswith("_"):
                raise DistinguoError(
                    f"'{one_line(key)}' cannot be a setting of the learner '{one_line(name)}'."
                )
        self.settings = namedtuple("Settings", list(settings), defaults=list(settings.values()))  # type: ignore[misc]

    def fresh(self, setup: Setup) -> Any:
        """Raise an error that says what is missing."""
        raise DistinguoError(
            f"The learner '{self.name}' is not known here; name it with --learner path/to/file.py:Name, or import "
            "the module that declares it."
        )
