"""The representation generation stage (section 3.4): trials until the task is solved or a budget ends.

A trial that looks like a success is followed by a *confirmation* of the greedy policy. A task whose trials should
never end is solved when that policy holds for the required length from the start of a trial (:class:`HoldStage`). A
task with a mean return to reach is solved when a sequential test of greedy trials passes (:class:`ReturnStage`,
evaluation/confirmation.py). The steps of a confirmation are counted separately, and if it fails, learning goes on.
An attempt that leads nowhere can be followed by another from scratch; the best one is kept (runs/restarts.py). The
learner decides what is learned in a trial, and how (learners/learner.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from distinguo.evaluation.confirmation import (
    FAILED,
    OPEN,
    PASSED,
    UNDECIDED,
    ReturnQuestion,
    judge,
    spent_error,
)
from distinguo.evaluation.simulate import follow, follow_in
from distinguo.learners.agent import CAPPED, NO_BUDGET, PAUSED, SPENT, TERMINAL, Agent, fresh_progress
from distinguo.learners.learner import OwnTests, Setup, learner_or_absent
from distinguo.learners.refinement.representation import Refined, refine_controller
from distinguo.runs.account import Account, preliminaries_for
from distinguo.runs.configuration import Configuration, ranges_of
from distinguo.runs.history import TrialRow
from distinguo.runs.restarts import RESTART, Best, better, is_over, returned_to
from distinguo.seam import at_speed, is_compiled
from distinguo.search.proving import learn_until_proven
from distinguo.tasks.amounts import MOST_LAWS, amounts_refused, laws, needs_laws, task_with_laws
from distinguo.tasks.extent import Extent, completed
from distinguo.tasks.spec import CATEGORIES, LENGTH, MeanReturn
from distinguo.tasks.task import actions, has_one_start, observe, seeded, start
from distinguo.tasks.world import python_world, world_of

#: Why a confirmation is run: a good trial claims success; an attempt, or the stage, is over.
CLAIM, ATTEMPT_OVER, STAGE_OVER = "claim", "attempt over", "stage over"
SAMPLE = 20  #: greedy trials that measure an attempt when it is over
AGAIN = 300  #: further trials that should reach the threshold, too, where the map may still become better
USUAL = 100  #: greedy trials that measure a policy where no mean return is asked for

#: The phases of the stage.
BETWEEN, TRIAL, CONFIRMING, DONE = "between trials", "trial", "confirming", "done"
CHUNK = 200_000  #: steps between two checks for Ctrl-C
SLOW_CHUNK = 2_000  #: the same at first where every step is plain Python
LONGEST_CHUNK = 0.5  #: seconds after which the next chunk is made smaller


class Stage(Account):
    """The stage as a process that can be stopped after any chunk and resumed with the same bits.

    Like ``pathlib.Path``, it makes an instance of a subclass: the goal of the task decides which.
    """

    #: Environment steps at which trials pause, and the most steps of a trial at once; None for the fastest.
    pause_at: int | None = None
    stride: int | None = None
    slow_chunk = SLOW_CHUNK

    def __new__(cls, configuration: Configuration) -> Stage:
        """A stage of the class for the goal of the task."""
        return super().__new__(ReturnStage if isinstance(configuration.spec.goal, MeanReturn) else HoldStage)

    def __init__(self, configuration: Configuration) -> None:
        """Prepare the first trial."""
        self.configuration = configuration
        self.learner = learner_or_absent(configuration.learner_name, {})
        self.rng = np.random.default_rng(configuration.seed)
        self.task = _with_room_for_laws(seeded(configuration.spec.task, configuration.seed), configuration)
        self.preliminaries = preliminaries_for(self.task, configuration, self.learner)
        self.extent = self.preliminaries.extent
        self.agent = self._fresh_agent()
        self.phase = BETWEEN
        self.solved = False
        self.score: float = 0  #: of the greedy policy in the last confirmation
        self.confirmation_steps = 0
        self.failed_confirmation_steps = 0  #: of those that did not pass
        self.replayed_before = 0  #: steps to restore states, in the processes that this one goes on from
        self.claimed = 0  #: confirmations so far that could have said "solved"
        self.returns: list[float] = []  #: of the confirmation that is under way
        self.held = 0  #: steps of its trial so far
        self.tested = 0  #: steps of all its trials so far
        self.tied = False  #: whether they chose among tied actions at random
        self.least, self.greatest = np.inf, -np.inf  #: the extreme returns of all trials
        self.bounds = (np.inf, -np.inf)  #: the same before this confirmation, which its bets rest on
        self._one_start: bool | None = None  # once it was asked
        self.answer = ""  #: of the last confirmation that asked whether the threshold is reached
        self.purpose = CLAIM  #: of that confirmation
        self.best: Best | None = None
        self.refined: Refined | None = None  #: the map for other learners, made after a solved run
        self.seconds = 0.0
        self.proving = ""  #: what is being done to prove the controller
        self.trials: list[TrialRow] = []  #: finished since the last checkpoint
        self.reasons: list[dict[str, Any]] = []  #: found since the last checkpoint
        self.checksums: dict[str, int] = {}  #: of the files that grow with every checkpoint
        self.frames: list[str] = []  #: lines of the history since the last checkpoint
        self.history_size = 0  #: bytes of all of them

    # ---- the loop -------------------------------------------------------------------------------------------------

    def work(self) -> Iterator[Stage]:
        """Work to the end, pausing after every chunk."""
        while self.phase != DONE:
            began = time.perf_counter()
            self._chunk()
            took = time.perf_counter() - began
            self.seconds += took
            if took > LONGEST_CHUNK:
                self.slow_chunk = max(1, self.slow_chunk // 2)
            yield self

    def _chunk(self) -> None:
        if self.phase == BETWEEN:
            self._between_trials()
        elif self.phase == TRIAL:
            self._advance_trial()
        else:
            self.confirm()
        if not self.is_sound:
            raise self.unsound()

    def _between_trials(self) -> None:
        if self.is_spent:
            self.end_stage()
        elif self._attempt_is_over():
            self.end_attempt()
        else:
            self._prepare()
            self.learner.begin(self.agent)
            self.phase = TRIAL

    def _advance_trial(self) -> None:
        ended = self.learner.advance(self.agent, self.cap, self.steps_at_once, self.steps_left)
        if ended == PAUSED:
            self._look_after()
        if ended in (TERMINAL, CAPPED):
            self.after_trial(ended)
        elif ended == SPENT or not self.steps_left:
            self._cut_trial()

    def _cut_trial(self) -> None:
        """Stop a trial where the budget of steps ends: it has not ended, so it is neither judged nor listed."""
        self.settle()
        self.take_reasons()
        self.end_stage()

    # ---- before and within a trial --------------------------------------------------------------------------------

    def _fresh_agent(self) -> Agent:
        """Return an agent before its first trial; to preview a first state does not advance its random stream."""
        setup = self._setup(np.random.default_rng(self.configuration.seed))
        memory = self.learner.fresh(setup)
        width, dimensions = len(setup.first), len(setup.seen)
        compiled = self.learner.runs_compiled(memory)
        if self.learner.declared is not None:  # on plain Python, a user's learner may be plain Python, too
            compiled &= is_compiled(self.task)
        make = world_of if compiled else python_world
        return Agent(
            make(self.task, width, dimensions),
            memory,
            setup.settings,
            fresh_progress(width, dimensions),
            self.learner.fresh_log(memory),
            self.rng,
        )

    def _setup(self, rng: np.random.Generator) -> Setup:
        first = start(self.task, rng)
        return Setup(
            task=self.task,
            actions=actions(self.task),
            first=first,
            seen=observe(self.task, first),
            extent=self.extent.without(self.preliminaries.left_out),
            left_out=self.preliminaries.left_out,
            categories=self.configuration.spec.kind == CATEGORIES,
            mean_reward=self.preliminaries.reward,
            prototypes=self.configuration.prototypes,
            settings=self.configuration.learner,
            goal=self.configuration.spec.goal,
            limit=self.configuration.spec.limit,
            stochastic=self.configuration.spec.stochastic,
            restorable=self.configuration.spec.restorable,
            box=self.configuration.spec.amounts if needs_laws(self.configuration.spec) else None,
        )

    def _prepare(self) -> None:
        """Make room for the next trial, and update the extent by the extremes observed so far."""
        low, high = self.agent.progress.extent
        spec, new = self.configuration.spec, None
        if not spec.bounded and (high >= low).all():
            self.extent = completed(spec, low.tolist(), high.tolist())
            new = self.extent.without(self.preliminaries.left_out)
        self._make_room(new)

    def _make_room(self, extent: Extent | None = None) -> None:
        self.take_reasons()
        self.agent = self.learner.prepared(self.agent, extent)

    def _look_after(self) -> None:
        """Make room during a trial, and investigate if it is time (section 5.1)."""
        self._make_room()
        if self.learner.is_time_to_settle(self.configuration.learner, self.trial_length):
            self.settle()
            self.take_reasons()

    # ---- what depends on the goal of the task ---------------------------------------------------------------------

    def after_trial(self, ended: int) -> None:
        """Decide what follows a trial that ended in a terminal state or was stopped."""
        raise NotImplementedError

    def confirm(self) -> None:
        """Do a chunk of a confirmation."""
        raise NotImplementedError

    def end_attempt(self) -> None:
        """End an attempt that was long enough."""
        raise NotImplementedError

    def end_stage(self) -> None:
        """End the stage: a budget is used up."""
        raise NotImplementedError

    # ---- trials and confirmations ---------------------------------------------------------------------------------

    def settle(self) -> None:
        """Let the learner learn from a trial as a whole."""
        self.learner.settle(self.agent, self.steps_left)

    def claims(self, ended: int) -> bool:
        """Whether the learner claims that the task is solved."""
        return self.learner.claims(self.agent, ended, self.configuration.spec.goal)

    def end_trial(self, how: str) -> None:
        """Record the trial."""
        self.note_return(self.gained)
        self.take_reasons()
        learned = self.controller
        size, steps = self.sizes(learned), (self.environment_steps, self.investigation_steps)
        self.trials.append(TrialRow(self.count_trials, self.trial_length, how, *size, *steps, self.gained))
        self.take_frame(learned, *size)
        self.phase = BETWEEN

    def begin_confirmation(self, purpose: str) -> None:
        """Begin to confirm the greedy policy."""
        self.returns, self.tested, self.tied, self.purpose, self.phase = [], 0, False, purpose, CONFIRMING
        self.bounds = (self.least, self.greatest)
        self.claimed += purpose != ATTEMPT_OVER
        if self._own_tests is not None:
            self._own_tests.begin(self.agent)
        self.begin_greedy_trial()

    def begin_greedy_trial(self) -> None:
        """Begin the next trial of a confirmation, unless the learner runs it itself."""
        if self.returns:
            self.note_return(self.returns[-1])
        self.returns.append(0.0)
        self.held = 0
        if self._own_tests is not None:
            self.agent = self.learner.prepared(self.agent, None)
        else:
            self.agent.progress.now[:] = start(self.task, self.rng)

    @property
    def _own_tests(self) -> OwnTests | None:
        """The trials of a confirmation that the learner runs itself; by default there are none."""
        tests = self.learner.own_tests
        return tests if tests is not None and tests.are_run(self.agent.memory) else None

    def follow(self, most: int) -> bool:
        """Follow the greedy policy for at most ``most`` steps; return whether the trial ended."""
        before = self.rng.bit_generator.state
        if self._own_tests is not None:
            steps, gained = self._own_tests.run(self.agent, most)
            ended = True
        else:
            now, most = self.agent.progress.now, min(self.steps_at_once, most)
            self.learner.set_laws(self.agent)
            if self.learner.declared is None:
                run = at_speed(follow_in, self.agent.world)
                steps, ended, gained = run(self.agent.world, self.controller, self.rng, now, most)
            else:  # a user's partition may need states as tuples
                run = at_speed(follow, self.task, self.controller.partition)
                steps, ended, gained = run(self.task, self.controller, self.rng, now, most)
        self.tied |= self.rng.bit_generator.state != before  # only a choice among tied actions is random
        self.confirmation_steps += steps
        self.held += steps
        self.tested += steps
        self.returns[-1] += gained
        return bool(ended)

    def refute(self) -> None:
        """Let the learner learn from a confirmation that failed."""
        if self.learner.own_tests is not None:
            self.learner.own_tests.refuted(self.agent, self.returns if self._own_tests is not None else [])

    def finish(self, solved: bool) -> None:
        """End the stage."""
        self.solved = solved
        self.phase = DONE

    def prove(self, watch: Callable[[Stage], None] | None = None) -> None:
        """Prove a controller; its map is changed until it can be, if that is asked for.

        One that should hold for ever and does not yet is changed as well: once proven, it has solved its task.
        """
        stage, spec, seed = self.configuration.stage, self.configuration.spec, self.configuration.seed
        if self.proof is not None or not stage.prove_steps or not (self.solved or spec.score == LENGTH):
            return
        acting = self.acting_spec() if needs_laws(spec) else spec
        self.proof = learn_until_proven(
            acting._replace(task=seeded(acting.task, seed)),
            self.controller,
            seed=seed,
            most_steps=stage.prove_steps,
            hold=stage.hold,
            ranges=ranges_of(stage),
            watch=partial(self._tell_proving, watch),
        )
        self.proving = ""
        if self.proof.verdict.proven and not self.solved:
            self.solved, self.score = True, stage.hold
        if self.proof.changed:  # the reasons so far belong to other regions
            self.reasons.append({"event": RESTART, "trial": self.count_trials})

    def _tell_proving(self, watch: Callable[[Stage], None] | None, what: str) -> None:
        self.proving = what
        if watch:
            watch(self)

    def refine(self) -> None:
        """Make a map for other learners from a controller that solves its task, and price its distinctions."""
        if self.refined is None and self.solved and self.learner.only_controls:
            spec = self.acting_spec()
            self.refined = refine_controller(
                spec, self.controller, self.configuration.seed, self.configuration.stage.refine_steps
            )
            self.reasons += self.refined.prices if self.refined else []

    # ---- attempts -------------------------------------------------------------------------------------------------

    def _attempt_is_over(self) -> bool:
        stage, counts = self.configuration.stage, self.agent.progress.counts
        begun = counts["trials"][0] > counts["since"][0]  # a fresh map may be full already
        full = stage.restart > 0 and begun and self.prototypes >= stage.prototypes
        return full or is_over(self.agent.progress, stage.restart)

    def restart(self) -> None:
        """Begin from scratch; the reasons so far belong to regions that no longer exist."""
        self._replace_memory(self.learner.begin_again(self._setup(self.rng), self.agent.memory))
        self.reasons.append({"event": RESTART, "trial": self.count_trials})
        self.phase = BETWEEN

    def _replace_memory(self, memory: Any) -> None:
        self.agent = self.agent._replace(memory=memory, log=self.learner.fresh_log(memory))
        counts = self.agent.progress.counts
        counts["attempt"][0] += 1
        counts["since"][0] = counts["trials"][0]

    def keep_if_best(self) -> None:
        """Save this attempt if it is the best so far."""
        self.best = better(self.best, self.score, self.agent)

    def turn_to_best(self) -> bool:
        """At the end of the stage, go back to the best attempt if it beat the last, and measure it again."""
        best, self.best = self.best, None
        if best is None or best.score <= self.score:
            return False
        self.reasons.append(returned_to(self.count_trials, best.attempt, best.trials))
        self._replace_memory(best.memory)
        self.begin_confirmation(STAGE_OVER)
        return True

    def abandon_trial(self) -> None:
        """Give up a trial in which the task failed; what was learned in it stays."""
        if self.phase == DONE:  # it failed afterwards
            return
        self.take_reasons()
        self.learner.forget_running(self.agent.memory)
        self.phase = BETWEEN

    @property
    def steps_at_once(self) -> int:
        """Return the steps until the next check for Ctrl-C or the next pause."""
        usual = CHUNK if is_compiled(self.task, self.agent.world) else self.slow_chunk
        if self.phase != TRIAL:
            return usual
        usual = min(usual, self.steps_left)
        if self.pause_at is None:
            return usual
        return max(1, min(self.stride or usual, usual, self.pause_at - self.environment_steps))


def _with_room_for_laws(task: Any, configuration: Configuration) -> Any:
    """Return a task with amounts as one of some laws, which the learner sets; any other task as it is."""
    spec, learner = configuration.spec, configuration.learner_name
    if not needs_laws(spec) or spec.amounts is None:
        return task
    chosen = learner_or_absent(learner, {})
    if not (chosen.uses_laws or chosen.uses_amounts):
        raise amounts_refused(spec, f"the learner '{learner}'")
    table = np.zeros((MOST_LAWS, len(spec.amounts.low), len(spec.dimensions) + 1))
    return task_with_laws(task, laws(table, spec.amounts))


class HoldStage(Stage):
    """A trial that reaches the cap claims success; then the frozen greedy policy must hold as long as required."""

    def after_trial(self, ended: int) -> None:
        """Confirm a trial that reached the cap; learn from one that failed."""
        if self.claims(ended):
            self.begin_confirmation(CLAIM)
            self.score = 0
        else:
            self.settle()
            self.end_trial("wall")

    def confirm(self) -> None:
        """Follow the greedy policy; a failure sends the learner back to work."""
        hold = self.configuration.stage.hold
        fell = self.follow(hold - self.held)
        self.score = self.held
        if fell:
            self.failed_confirmation_steps += self.tested
            self.settle()
            self.end_trial("cap")
            self.refute()
        elif self.held >= hold:
            self.end_trial("cap")
            self.finish(solved=True)

    def end_attempt(self) -> None:
        """Begin again: the attempt did not hold, so there is nothing to measure."""
        self.restart()

    def end_stage(self) -> None:
        """End without success."""
        self.finish(solved=False)

    @property
    def final_trial_steps(self) -> int:
        """The length of the trial that reached the cap and ended a solved stage; it does not count as learning."""
        return self.trial_length if self.solved and self.learner.ends_with_long_trial else 0


class ReturnStage(Stage):
    """A trial that reaches the threshold claims success; greedy trials show whether that was luck."""

    @property
    def threshold(self) -> float | None:
        """The mean return that solves the task, if it has one."""
        goal = self.configuration.spec.goal
        return goal.threshold if isinstance(goal, MeanReturn) else None

    def after_trial(self, ended: int) -> None:
        """Learn from the trial, and confirm the greedy policy if it was good."""
        self.settle()
        claimed = self.claims(ended)
        self.end_trial("terminal" if ended == TERMINAL else "cap")
        if claimed:
            self.begin_confirmation(CLAIM if self.threshold is not None else STAGE_OVER)

    def confirm(self) -> None:
        """Follow the greedy policy for a chunk, and judge it when a trial ends.

        Trials of a task without a time limit may never end: they are cut where the steps of a confirmation end.
        """
        ended = self.follow(min(self.cap - self.held, self._most_steps - self.tested))
        spent, whole = self.tested >= self._most_steps, ended or self.held >= self.cap
        if not whole and not spent:
            return
        if not whole and len(self.returns) > 1:  # the complete trials say more
            self.returns.pop()
        answer = OPEN if self.certain and not whole else self._judge()
        if answer == OPEN and spent:
            answer = UNDECIDED
        if answer == OPEN:
            self.begin_greedy_trial()
        else:
            self._conclude(answer)

    @property
    def _most_steps(self) -> int:
        """The steps after which a confirmation ends in any case, where trials have no limit of their own."""
        if self.configuration.spec.limit is not None:
            return NO_BUDGET
        return self.configuration.stage.confirm_steps

    def _judge(self) -> str:
        """Judge the trials so far; a small sample is enough if there is no threshold or an attempt is over."""
        most, count = self.configuration.stage.confirm, len(self.returns)
        if self.threshold is None or self.purpose == ATTEMPT_OVER:
            enough = min(most, SAMPLE if self.purpose == ATTEMPT_OVER else USUAL)
            return FAILED if count >= enough else OPEN
        return judge(self.returns, self.tested, self.question(self.threshold), final=self.purpose != CLAIM)

    @property
    def certain(self) -> bool:
        """Whether all trials of the confirmation that is under way, or else of the last, are the same."""
        if self.configuration.spec.stochastic != "no" or self.tied:
            return False
        if self._one_start is None:
            self._one_start = has_one_start(self.task)
        return self._one_start

    def question(self, threshold: float) -> ReturnQuestion:
        """The question of the confirmation that is under way, or else of the last."""
        stage = self.configuration.stage
        return ReturnQuestion(
            threshold,
            *self.bounds,
            error=spent_error(max(self.claimed, 1), stage.confidence),
            refusal=1.0 - stage.confidence,
            steps=stage.confirm_steps,
            most=stage.confirm,
            is_claim=self.purpose == CLAIM,
            certain=self.certain,
            again=AGAIN if self.purpose == CLAIM and self.learner.only_controls else 0,
        )

    def _conclude(self, answer: str) -> None:
        """Act on the result; a small sample is enough to save an attempt, not to call it solved."""
        self.score = float(np.mean(self.returns))
        passed = answer == PASSED
        self.failed_confirmation_steps += 0 if passed else self.tested
        self.answer = answer if self.threshold is not None and self.purpose != ATTEMPT_OVER else ""
        if self.purpose == ATTEMPT_OVER:
            self.keep_if_best()
            self.restart()
        elif self.purpose == CLAIM and not passed:
            self.keep_if_best()
            self.refute()
            self.phase = BETWEEN
        elif passed or not self.turn_to_best():
            self.finish(solved=passed)

    def end_attempt(self) -> None:
        """Measure an attempt before the next one."""
        self.begin_confirmation(ATTEMPT_OVER)

    def end_stage(self) -> None:
        """Measure the mean return first."""
        self.begin_confirmation(STAGE_OVER)
