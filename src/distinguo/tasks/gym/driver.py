"""The driver of one Gymnasium environment: it goes forward by steps, and back to any state of its trials.

A state is ``(trial, step, *observation)``. Trials are numbered from 0 in the order of their starts, and each has a
seed of its own. A step from the head of the latest trial makes that trial longer. A step from anywhere else is a
look-ahead: its states are ``(-1, number, *observation)``, and one can only go on from the last of them, at once.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from distinguo.tasks.gym.checked_env import CheckedEnv
from distinguo.tasks.gym.history import History
from distinguo.tasks.gym.probe import ProbeResult, probe
from distinguo.tasks.gym.snapshots import Restoring, set_generator
from distinguo.tasks.gym.source import Source
from distinguo.tasks.task import State

AHEAD = -1.0  #: the trial of the states of look-aheads
_STREAM = 1  #: follows the seed in the keys of the noise, so that it is not the agent's


def trial_seed(seed: int, trial: int) -> int:
    """Return the seed of a trial; it fits where an environment wants 32 bits with a sign.

    >>> trial_seed(0, 1), trial_seed(1, 0)
    (1982462498, 917752063)
    """
    return int(np.random.SeedSequence([seed, trial]).generate_state(1)[0] >> 1)


class Driver:
    """Drives one environment, which is made on first use.

    >>> from distinguo.tasks.gym.source import source_of
    >>> driver = Driver(source_of("CliffWalking-v1", {}), seed=3)
    >>> s = driver.start()
    >>> s, driver.step(s, 0)
    ((0.0, 0.0, 36.0), ((0.0, 1.0, 24.0), -1.0, False))
    >>> driver.step(s, 1)  # from the same state again: a look-ahead
    ((-1.0, 1.0, 36.0), -100.0, False)
    """

    def __init__(self, source: Source, seed: int = 0) -> None:
        self.source, self.seed = source, seed
        self.history = History()
        self.steps = 0  #: that were asked for
        self._branches = 0  # states of look-aheads so far
        self._looks = 0  # look-aheads so far
        self._checked: CheckedEnv | None = None
        self._probed: ProbeResult | None = None
        self._user: list[Driver | None] = [None]  # who used the environment last, if drivers share it
        self._now: State | None = None  # where the environment is
        self._stopped = False  # whether it was truncated there
        self._ahead = 0  # steps into a look-ahead; the next one is counted already
        self._origin = (0, 0)  # trial and step that the look-ahead began from

    @property
    def name(self) -> str:
        """Return the environment's name."""
        return self.source.name

    @property
    def limit(self) -> int | None:
        """Return the steps after which the environment's makers stop a trial, if they do."""
        return self.source.limit

    @property
    def replayed(self) -> int:
        """Return how many steps were only taken to come back to a state."""
        return self.history.replayed

    @property
    def checked_env(self) -> CheckedEnv:
        """Return the environment with its view and its actions."""
        if self._checked is None:
            self._checked = CheckedEnv(self.source.make(), self.name)
        return self._checked

    @property
    def probed(self) -> ProbeResult:
        """Return what trying the environment showed; that is done once, before the first trial."""
        if self._probed is None:
            self._take_over()
            checked = self.checked_env
            self._probed = probe(checked.env, checked.view, checked.choices, self.name)
        return self._probed

    @property
    def restoring(self) -> Restoring:
        """Return how the environment is put back into earlier states."""
        return self.probed.restoring

    @property
    def stochastic(self) -> bool:
        """Tell whether the same action in the same state may lead to different ones."""
        return self.probed.stochastic

    def again(self, seed: int) -> Driver:
        """Return a driver of an environment like this one, with nothing behind it."""
        source, another = self.source.again()
        driver = Driver(source, seed)
        driver._probed = self._probed
        if not another:
            driver._user, driver._checked = self._user, self.checked_env
        return driver

    def _take_over(self) -> None:
        self._user[0] = self
        self._now = None  # wherever the environment was, it will not be there

    def start(self) -> State:
        """Begin a trial."""
        probed = self.probed
        self._take_over()
        trial = self.history.begin(trial_seed(self.seed, self.history.count))
        observation = self.checked_env.reset(self.history.latest.seed, trial)
        self.history.keep_beginning(self.checked_env, probed, observation)
        self._ahead, self._stopped = 0, False
        self._now = (float(trial), 0.0, *observation)
        return self._now

    def step(self, s: State, a: int) -> tuple[State, float, bool]:
        """Take action ``a`` from state ``s``: the next state, the reward, and whether it is terminal."""
        if (s is not self._now and s != self._now) or self._user[0] is not self:
            self._go_to(s)
        self._now = None  # nowhere, should the step fail
        self.steps += 1
        return self._look_ahead(int(a)) if self._ahead else self._go_on(s, int(a))

    def _go_on(self, s: State, a: int) -> tuple[State, float, bool]:
        latest = self.history.latest
        step = int(s[1]) + 1
        observation, reward, terminated, self._stopped = self.checked_env.step(a, int(s[0]), step)
        latest.moves.append(a)
        latest.stopped = self._stopped
        self._now = now = (s[0], s[1] + 1.0, *observation)
        return now, reward, terminated

    def _look_ahead(self, a: int) -> tuple[State, float, bool]:
        observation, reward, terminated, self._stopped = self.checked_env.step(a, *self._origin, self._ahead)
        self._ahead += 1
        self._branches += 1
        self._now = now = (AHEAD, float(self._branches), *observation)
        return now, reward, terminated

    def _go_to(self, s: State) -> None:
        probed = self.probed
        self._take_over()
        self.history.go_to(self.checked_env, probed, s)
        self._origin = (int(s[0]), int(s[1]))
        self._ahead = 0 if self.history.is_head(*self._origin) else 1
        if self._ahead and probed.stochastic:
            self._looks += 1
            set_generator(self.checked_env.env, self.seed, _STREAM, self._looks)

    def truncated(self, s: State) -> bool:
        """Tell whether the environment itself stopped the trial in ``s``, which is not terminal."""
        if s is self._now or s == self._now:
            return self._stopped
        return self.history.stopped_at(int(s[0]), int(s[1]))

    def memories(self, states: np.ndarray) -> dict[str, np.ndarray]:
        """Return what is needed to come back to these states, and drop what is not."""
        return self.history.to_arrays(self.probed, states, [self._branches, self._looks])

    def remember(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take back what :meth:`memories` gave."""
        self._branches, self._looks = self.history.from_arrays(arrays, self.checked_env.choices.number)
        self._now = None
