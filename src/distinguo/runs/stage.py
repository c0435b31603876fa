"""The representation generation stage (section 3.4): trials until the greedy policy holds or a budget ends.

In a task that is judged by length, a trial that reaches the cap is followed by a confirmation: the frozen greedy
policy must hold for the required length from the start of a trial. In one that is judged by return, a trial that
reaches the threshold is followed by as many greedy trials as it takes to tell whether their mean does, too. The steps
of a confirmation are counted apart; if it fails, learning goes on. An attempt that leads nowhere can be followed by
another from scratch; the best one is kept.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.evaluation.confirmation import OPEN, PASSED, judge
from distinguo.evaluation.simulate import follow
from distinguo.learners.economy.memory import (
    Memory,
    fresh_memory,
    with_room,
)
from distinguo.learners.economy.reasons import RESTART, Log, drain, fresh_log, returned_to
from distinguo.learners.economy.trials import CAPPED, FELL, PAUSED, RUNNING, advance, begin, settle
from distinguo.representation.categories import categories
from distinguo.representation.voronoi import voronoi
from distinguo.runs.account import Account
from distinguo.runs.configuration import Configuration
from distinguo.runs.restarts import Best, begin_anew, better, is_over
from distinguo.seam import at_speed, is_compiled
from distinguo.tasks.extent import Extent, Preliminaries, completed, preliminary_series
from distinguo.tasks.spec import CATEGORIES
from distinguo.tasks.spec import LENGTH as BY_LENGTH
from distinguo.tasks.task import actions, observe, seeded, start

#: What the stage is doing between two chunks of work.
BETWEEN, TRIAL, HOLDING, CONFIRMING, DONE = "between trials", "trial", "holding", "confirming", "done"
CHUNK = 200_000  #: steps between two looks at the keyboard
SLOW_CHUNK = 2_000  #: the same where every step is plain Python
#: Why greedy trials are run: a good trial claims success; an attempt, or the stage, is over.
CLAIM, ATTEMPT_OVER, STAGE_OVER = "claim", "attempt over", "stage over"
SAMPLE = 20  #: greedy trials that an attempt is judged by when it is over


class Trial(NamedTuple):
    """One line of ``trials.csv``."""

    trial: int
    length: int
    ended: str  #: "wall" or "terminal" for a terminal state, "cap" for a trial that was stopped
    regions: int
    prototypes: int
    environment_steps: int
    investigation_steps: int
    gained: float = 0.0  #: the sum of its rewards


class Generation(Account):
    """The stage as a process that can be stopped after any chunk and resumed with the same bits."""

    def __init__(self, configuration: Configuration) -> None:
        """Prepare the first trial."""
        self.configuration = configuration
        self.rng = np.random.default_rng(configuration.seed)
        self.task = seeded(configuration.spec.task, configuration.seed)
        self.preliminaries = self._preliminaries()
        self.extent = self.preliminaries.extent
        self.memory = self._fresh_memory(np.random.default_rng(configuration.seed))
        self.log = _log_for(self.memory)
        self.phase = BETWEEN
        self.solved = False
        self.score: float = 0  #: what the frozen greedy policy reached when it was last confirmed
        self.confirmation_steps = 0
        self.returns: list[float] = []  #: of the confirmation that is under way
        self.held = 0  #: steps of its trial so far
        self.purpose = CLAIM  #: of that confirmation
        self.best: Best | None = None
        self.seconds = 0.0
        self.trials: list[Trial] = []  #: finished since the last checkpoint
        self.reasons: list[dict[str, Any]] = []  #: found since the last checkpoint

    def _preliminaries(self) -> Preliminaries:
        """Learn the extent of the observations and the mean reward by experience, where they are asked for."""
        spec = self.configuration.spec
        if spec.bounded and not self.configuration.learner.optimistic:
            return Preliminaries(Extent(spec.low, spec.high), 0.0, 0)
        return preliminary_series(self.task, spec, self.configuration.seed)

    def _fresh_memory(self, rng: np.random.Generator) -> Memory:
        """Return the memory of an attempt that begins from scratch, or from the prototypes that were given."""
        given, task, learner = self.configuration.prototypes, self.task, self.configuration.learner
        first = start(task, rng)
        rows = given or (observe(task, first),)
        if given and len(first) != len(rows[0]):
            raise DistinguoError(
                f"{self.configuration.spec.name} cannot start from given prototypes: its states cannot be told from "
                f"observations; start from scratch."
            )
        if self.configuration.spec.kind == CATEGORIES:
            partition: Any = categories(rows, room=64)
        else:
            partition = voronoi(rows, self.extent.widths, room=64)
        memory = fresh_memory(partition, actions(task), len(first))
        memory.states[: len(rows)] = given or (first,)
        if learner.optimistic:
            memory.q[: len(rows)] = max(self.preliminaries.reward, 0.0) / (1.0 - learner.gamma)
        return memory

    def work(self) -> Iterator[Generation]:
        """Work to the end, pausing after every chunk."""
        while self.phase != DONE:
            began = time.perf_counter()
            self._chunk()
            self.seconds += time.perf_counter() - began
            yield self

    def _chunk(self) -> None:
        if self.phase == BETWEEN:
            self._begin_trial()
        elif self.phase == TRIAL:
            self._advance_trial()
        elif self.phase == HOLDING:
            self._hold()
        else:
            self._confirm()

    def _run(self, kernel: Any, *arguments: Any) -> Any:
        """Run a kernel on the task, compiled where that is possible."""
        return at_speed(kernel, self.task)(self.task, *arguments)

    @property
    def _steps_at_once(self) -> int:
        return CHUNK if is_compiled(self.task) else SLOW_CHUNK

    def _begin_trial(self) -> None:
        if self._spent():
            self._end_stage()
        elif self._attempt_is_over():
            self._end_attempt()
        else:
            self._make_room()
            self._rescale()
            self._run(begin, self.memory, self.configuration.learner, self.rng)
            self.phase = TRIAL

    def _spent(self) -> bool:
        stage = self.configuration.stage
        return (
            self.count_trials >= stage.trials
            or self.environment_steps >= stage.steps
            or (stage.restart == 0 and self.prototypes >= stage.prototypes)
        )

    def _attempt_is_over(self) -> bool:
        stage = self.configuration.stage
        full = stage.restart > 0 and self.prototypes >= stage.prototypes
        return full or is_over(self.memory, stage.restart)

    def _end_attempt(self) -> None:
        """Judge an attempt before the next one; by length there is nothing to judge: it did not hold."""
        if self.configuration.spec.score == BY_LENGTH:
            self._restart()
        else:
            self._begin_confirmation(ATTEMPT_OVER)

    def _restart(self) -> None:
        """Begin from scratch; the reasons so far are those of regions that are no more."""
        self.memory = begin_anew(self.memory, self._fresh_memory(self.rng))
        self.log = _log_for(self.memory)
        self.reasons.append({"event": RESTART, "trial": self.count_trials})
        self.phase = BETWEEN

    def _rescale(self) -> None:
        """Scale distances by the extremes observed so far."""
        low, high = self.memory.extent
        spec = self.configuration.spec
        if self.configuration.learner.rescale and not spec.bounded and (high >= low).all():
            self.extent = completed(spec, low.tolist(), high.tolist())
            self.memory.partition.scale[:] = self.extent.widths
            self.memory.partition.weight[:] = 1.0 / self.memory.partition.scale

    def _make_room(self) -> None:
        # process_stack pops at most one state per region and adds at most one prototype for each
        self.memory = with_room(self.memory, 2 * self.prototypes + 2)
        if len(self.log.regret) < 5 * len(self.memory.q):
            self.reasons += drain(self.log, self.memory)
            self.log = _log_for(self.memory)

    def _advance_trial(self) -> None:
        spec, learner = self.configuration.spec, self.configuration.learner
        cap = spec.cap(self.configuration.stage.cap)
        ended = self._run(advance, self.memory, learner, self.rng, self.log, cap, self._steps_at_once)
        if ended == PAUSED:
            self._pause()
        elif ended != RUNNING and spec.score == BY_LENGTH:
            self._end_by_length(ended)
        elif ended != RUNNING:
            self._end_by_return(ended)

    def _pause(self) -> None:
        """Make room in the midst of a trial, and investigate if it is time (section 5.1)."""
        every = self.configuration.learner.investigate_every
        self._make_room()
        if every and self.trial_length % every == 0:
            self._run(settle, self.memory, self.configuration.learner, self.log)
            self.reasons += drain(self.log, self.memory)

    def _end_by_length(self, ended: int) -> None:
        if ended == CAPPED:
            self.score = 0
            self.memory.now[:] = start(self.task, self.rng)
            self.phase = HOLDING
        else:
            self._end_trial("wall")

    def _end_by_return(self, ended: int) -> None:
        """End a trial that is judged by its return; if it is good enough, see whether that was luck."""
        threshold = self.configuration.spec.threshold
        if ended == CAPPED:
            self._run(settle, self.memory, self.configuration.learner, self.log)
        good = threshold is not None and self.memory.gained[0] >= threshold
        self._end_trial("terminal" if ended == FELL else "cap")
        if good:
            self._begin_confirmation(CLAIM)

    def _follow(self, steps: int) -> tuple[int, bool, float]:
        memory = self.memory
        controller = Controller(memory.partition, memory.q, self.configuration.learner.delta)
        done: tuple[int, bool, float] = self._run(follow, controller, self.rng, memory.now, steps)
        self.confirmation_steps += done[0]
        return done

    def _hold(self) -> None:
        hold = self.configuration.stage.hold
        steps, fell, _ = self._follow(min(self._steps_at_once, hold - int(self.score)))
        self.score += steps
        if fell:
            self._run(settle, self.memory, self.configuration.learner, self.log)
            self._end_trial("cap")
        elif self.score >= hold:
            self.solved = True
            self._end_trial("cap")
            self.phase = DONE

    def _begin_confirmation(self, purpose: str) -> None:
        self.returns, self.purpose, self.phase = [], purpose, CONFIRMING
        self._begin_greedy_trial()

    def _begin_greedy_trial(self) -> None:
        self.returns.append(0.0)
        self.held = 0
        self.memory.now[:] = start(self.task, self.rng)

    def _confirm(self) -> None:
        """Follow the greedy policy for a while, and judge it when a trial ends."""
        cap = self.configuration.spec.cap(self.configuration.stage.cap)
        steps, ended, gained = self._follow(min(self._steps_at_once, cap - self.held))
        self.held += steps
        self.returns[-1] += gained
        if ended or self.held >= cap:
            self._end_greedy_trial()

    def _end_greedy_trial(self) -> None:
        stage, threshold = self.configuration.stage, self.configuration.spec.threshold
        most = min(SAMPLE, stage.confirm) if self.purpose == ATTEMPT_OVER else stage.confirm
        verdict = judge(self.returns, threshold, most, final=self.purpose != CLAIM)
        if verdict == OPEN:
            self._begin_greedy_trial()
        else:
            self._end_confirmation(verdict == PASSED)

    def _end_confirmation(self, passed: bool) -> None:
        """Draw the conclusion; a mere sample is good enough to keep an attempt in mind, not to call it solved."""
        self.score = float(np.mean(self.returns))
        if self.purpose == ATTEMPT_OVER:
            self.best = better(self.best, self.score, self.memory)
            self._restart()
        elif self.purpose == CLAIM and not passed:
            self.best = better(self.best, self.score, self.memory)
            self.phase = BETWEEN
        elif passed or not self._turn_to_best():
            self.solved = passed
            self.phase = DONE

    def _turn_to_best(self) -> bool:
        """At the end of the stage, go back to the best attempt if it was better than the last, and judge it anew."""
        best, self.best = self.best, None
        if best is None or best.score <= self.score:
            return False
        self.reasons.append(returned_to(best.memory, self.count_trials))
        self.memory = begin_anew(self.memory, best.memory)
        self._begin_confirmation(STAGE_OVER)
        return True

    def _end_stage(self) -> None:
        """End the stage; in a task judged by return, find the mean return first."""
        if self.configuration.spec.score == BY_LENGTH:
            self.phase = DONE
        else:
            self._begin_confirmation(STAGE_OVER)

    def _end_trial(self, how: str) -> None:
        self.reasons += drain(self.log, self.memory)
        self.trials.append(
            Trial(
                self.count_trials,
                self.trial_length,
                how,
                self.regions,
                self.prototypes,
                self.environment_steps,
                self.investigation_steps,
                float(self.memory.gained[0]),
            )
        )
        self.phase = BETWEEN

    def abandon_trial(self) -> None:
        """Give a trial up in which the task failed; what was learned in it stays."""
        self.reasons += drain(self.log, self.memory)
        self.memory.pushed_at[:] = 0  # states that the task may not be able to come back to
        self.phase = BETWEEN


def _log_for(memory: Memory) -> Log:
    """Make room for a session: a region is popped once, so it is split and detached at most once, and every
    merge undoes one of the regions there were or that a split or detachment made.
    """
    return fresh_log(5 * len(memory.q), memory.q.shape[1])
