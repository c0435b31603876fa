"""Why a run did not solve its task, and a command to try: what its trials show, and a short look around at its end.

The look around plays each action all the time, and some trials of the policy with random actions in between. It takes
a tenth of the steps of the run at most, and the summary counts them as ``diagnosis_steps``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError, counted
from distinguo.evaluation.confirmation import UNDECIDED
from distinguo.learners.catalog import ECONOMY, PROBATION, SURPRISE
from distinguo.runs.configuration import Configuration, configure, learn_command, settings_call
from distinguo.runs.history import TrialRow
from distinguo.tasks.amounts import laws_of
from distinguo.tasks.spec import CATEGORIES, Hold, MeanReturn, TaskSpec
from distinguo.tasks.task import has_one_start, observe, seeded, start, transition, truncated

#: The reasons, as ``not_solved`` names them.
NOTHING_CHANGES, TOO_LITTLE, NO_REWARD, EQUAL = (
    "nothing changes",
    "observation says too little",
    "no reward",
    "equal returns",
)
CUT, CLOSE, FEW, UNRELIABLE = "cut", "undecided", "too few trials", "nothing reliable"
OVERFITS, IMPROVING, CONSTANT, STALLS = "overfits its starts", "improving", "constant action", "stalls"

FEWEST_TRIALS = 40  #: from which on the course of the returns says something
FEWEST_EQUAL = 5  #: trials that are said to be all equal
CLEARLY = 2.0  #: standard errors by which means must differ
GAP = 0.25  #: share of the range of returns by which own starts and new ones differ, if a map overfits
LOOKED = 2_000  #: steps of the look around at most, besides a trial of every action
SHARE = 10  #: at most every so many steps of the run one of the look around
MOST_ACTIONS = 32  #: that are played all the time
NEAR = 0.01  #: how near two observations are that look alike, in extents
FEWEST_PAIRS = 20  #: of observations that look alike
DIFFERENT = 0.3  #: of a usual change, by which what follows them differs
UNEXPLAINED = (
    0.5  #: share of the squared differences of rewards that are between equal observations and actions
)


class UnsolvedRun(NamedTuple):
    """What is known of a run that ended without success."""

    configuration: Configuration
    summary: Mapping[str, Any]
    trials: Sequence[TrialRow]
    controller: Controller
    returns: Sequence[float] = ()  #: of the last confirmation
    reliable: bool = True  #: whether any action value is
    observed: tuple[Sequence[float], Sequence[float]] | None = None  #: the extremes, if they are known
    cut: int = 0  #: steps of the trial that was running when the budget ended

    @property
    def spec(self) -> TaskSpec:
        """The task."""
        return self.configuration.spec


class UnsolvedReason(NamedTuple):
    """A reason, and what to change."""

    name: str
    sentence: str
    settings: Mapping[str, Any] = {}
    learner: str | None = None


class LookAround(NamedTuple):
    """What the look around found."""

    steps: int = 0
    constant: tuple[int, float] | None = None  #: the best action to play all the time, and its mean return
    alike: tuple[tuple[float, ...], int] | None = (
        None  #: an observation that does not say what an action does
    )


def why_not_solved(ending: UnsolvedRun, task: Any) -> dict[str, Any]:
    """The fields of a summary that say why a run did not solve its task, and what to try; ``task`` takes steps."""
    try:
        look = look_around(ending, task)
    except DistinguoError:  # the environment failed; what the trials show is enough
        look = LookAround()
    reason = found_reason(ending, look)
    spec = ending.spec
    same = spec.stochastic == "no" and has_one_start(task)
    return {
        "diagnosis_steps": look.steps,
        "not_solved": {
            "reason": reason.name,
            "sentence": reason.sentence,
            "command": command_to_try(ending.configuration, reason),
            **({"one_start": True} if same else {}),
        },
    }


def command_to_try(configuration: Configuration, reason: UnsolvedReason) -> str:
    """The command, or the call in Python, that repeats a run with what a reason suggests."""
    only_one = laws_of(configuration.spec) is not None  # no other learner finds laws
    if not only_one and reason.learner is not None and reason.learner != configuration.learner_name:
        new = configure(configuration.spec, seed=configuration.seed, learner=reason.learner)
    else:
        tables: dict[str, dict[str, Any]] = {"stage": {}, "learner": {}}
        for name, value in reason.settings.items():
            table, _, key = name.partition(".")
            tables[table][key] = value
        new = configuration._replace(
            stage=configuration.stage._replace(**tables["stage"]),
            learner=configuration.learner._replace(**tables["learner"]),
        )
    if new.spec.interpreted and not new.spec.portable:
        return settings_call(new, reason.settings)
    return learn_command(new)


# The reason: the first that applies.


def found_reason(ending: UnsolvedRun, look: LookAround) -> UnsolvedReason:
    """The first reason that applies, from the task to the budget."""
    found = (
        _nothing_changes(ending)
        or _too_little(ending, look)
        or _cut(ending)
        or _equal_returns(ending)
        or _nothing_reliable(ending)
        or _close(ending)
        or _few_trials(ending)
        or _overfits(ending)
        or _improving(ending)
        or _constant(ending, look)
    )
    return found or _stalls(ending)


def _nothing_changes(ending: UnsolvedRun) -> UnsolvedReason | None:
    if ending.observed is None or ending.spec.kind == CATEGORIES:
        return None
    low, high = ending.observed
    if list(low) != list(high):
        return None
    said = (
        f"No observation ever changed (always {list(low)}): there is nothing to learn from; check the task."
    )
    return UnsolvedReason(NOTHING_CHANGES, said, *_other(ending))


def _too_little(ending: UnsolvedRun, look: LookAround) -> UnsolvedReason | None:
    if look.alike is None:
        return None
    seen, action = look.alike
    where = ", ".join(
        f"{name} {value:z.4g}" for name, value in zip(ending.spec.dimensions, seen, strict=True)
    )
    said = (
        f"The observation says too little: where it is {where}, '{ending.spec.actions[action]}' has different "
        "outcomes, although the task is deterministic. Observe what is missing, such as a velocity or the previous "
        "observation."
    )
    return UnsolvedReason(TOO_LITTLE, said, *_other(ending))


def _cut(ending: UnsolvedRun) -> UnsolvedReason | None:
    stage = ending.configuration.stage
    if not isinstance(ending.spec.goal, Hold) or ending.cut < stage.steps // 2:
        return None
    said = (
        f"The budget of {counted(stage.steps, 'step')} ended in a trial that had lasted {ending.cut:,}; "
        f"{stage.cap:,} are needed."
    )
    return UnsolvedReason(CUT, said, {"stage.steps": _rounded(2 * (stage.steps + stage.cap))})


def _equal_returns(ending: UnsolvedRun) -> UnsolvedReason | None:
    gained = {trial.gained for trial in ending.trials}
    if len(gained) != 1 or isinstance(ending.spec.goal, Hold):
        return None
    value, steps = gained.pop(), ending.summary["environment_steps"]
    if value and len(ending.trials) < FEWEST_EQUAL:
        return None  # too few to say that they are all equal
    what = "No return differed" if value else "No reward was seen"
    said = (
        f"{what} in {counted(steps, 'step')}: every trial returned {value:zg}, so nothing could be learned."
    )
    return UnsolvedReason(EQUAL if value else NO_REWARD, said, *_other(ending, 5))


def _nothing_reliable(ending: UnsolvedRun) -> UnsolvedReason | None:
    if ending.reliable or ending.configuration.learner_name not in (ECONOMY, SURPRISE):
        return None
    ended = sum(trial.ended in ("wall", "terminal") for trial in ending.trials)
    why = f"only {counted(ended, 'trial')} ended" if ended else "no trial ended"
    said = f"No action value ever became reliable: {why} in a terminal state, where reliability begins."
    return UnsolvedReason(UNRELIABLE, said, *_other(ending))


def _close(ending: UnsolvedRun) -> UnsolvedReason | None:
    if ending.summary.get("answer") != UNDECIDED:
        return None
    more = ending.summary.get("trials_to_pass")
    if more is None:
        return None
    allowed = ending.summary.get("settings_to_pass") or {}
    said = f"The last confirmation was undecided: about {counted(more, 'more trial')} would pass."
    return UnsolvedReason(CLOSE, said, allowed or _more(ending, 2))


def _few_trials(ending: UnsolvedRun) -> UnsolvedReason | None:
    if len(ending.trials) >= FEWEST_TRIALS:
        return None
    steps = ending.summary["environment_steps"]
    said = f"Only {counted(len(ending.trials), 'trial')} fitted into {counted(steps, 'step')}."
    return UnsolvedReason(FEW, said, _more(ending, 10))


def _overfits(ending: UnsolvedRun) -> UnsolvedReason | None:
    own, summary, goal = ending.summary.get("starts_return"), ending.summary, ending.spec.goal
    if own is None or len(ending.returns) < 2 or not isinstance(goal, MeanReturn):
        return None
    fresh, error = (
        float(np.mean(ending.returns)),
        float(np.std(ending.returns) / np.sqrt(len(ending.returns))),
    )
    gained = [*(trial.gained for trial in ending.trials), *ending.returns]
    if own - fresh <= max(CLEARLY * error, GAP * (max(gained) - min(gained))):
        return None
    learner = ending.configuration.learner
    said = (
        f"The map overfits its starts: its mean return is {own:z.4g} on the "
        f"{counted(summary['starts'], 'start')} that it was chosen by, and {fresh:z.4g} on new ones."
    )
    more = {"learner.starts": min(8, max(2 * learner.starts, 4)), **_more(ending, 2)}
    return UnsolvedReason(OVERFITS, said, more)


class _Course(NamedTuple):
    """The last quarter of the trials beside the one before."""

    before: float
    lately: float
    quarter: int  #: trials
    rises: bool
    steps: int  #: that the last quarter took

    def said(self, what: str) -> str:
        last = f"the last {counted(self.quarter, 'trial')} {what} {self.lately:z.4g}"
        return f"{last} on average, those before {self.before:z.4g}"


def _course(ending: UnsolvedRun) -> _Course:
    by_length = isinstance(ending.spec.goal, Hold)
    values = np.array([float(trial.length if by_length else trial.gained) for trial in ending.trials])
    quarter = len(values) // 4
    before, lately = values[-2 * quarter : -quarter], values[-quarter:]
    error = float(np.sqrt((before.var() + lately.var()) / quarter))
    rise = float(lately.mean() - before.mean())
    taken = ending.trials[-1].environment_steps - ending.trials[-1 - quarter].environment_steps
    return _Course(float(before.mean()), float(lately.mean()), quarter, rise > CLEARLY * error, taken)


def _improving(ending: UnsolvedRun) -> UnsolvedReason | None:
    course, threshold = _course(ending), ending.spec.threshold
    if not course.rises:
        return None
    if isinstance(ending.spec.goal, Hold):
        said = f"Trials were still getting longer when the budget ended: {course.said('lasted')} steps."
        return UnsolvedReason(IMPROVING, said, _more(ending, 4))
    if threshold is None or course.lately >= threshold:
        return None
    more = course.steps * (threshold - course.lately) / (course.lately - course.before)
    said = (
        f"The returns were still rising when the budget ended: {course.said('returned')}. At this rate it would take "
        f"about {_rounded(int(np.ceil(more))):,} more steps, by a straight line through these means."
    )
    steps = ending.summary["environment_steps"]
    return UnsolvedReason(IMPROVING, said, {"stage.steps": _rounded(max(steps + 2 * int(more), 2 * steps))})


def _constant(ending: UnsolvedRun, look: LookAround) -> UnsolvedReason | None:
    score = ending.summary["score"]
    if look.constant is None or look.constant[1] < score or isinstance(ending.spec.goal, Hold):
        return None
    action, mean = look.constant
    how = "better" if mean > score else "as good"
    said = (
        f"A constant action is {how}: always '{ending.spec.actions[action]}' returns {mean:z.4g} on average, "
        f"and the policy {score:z.4g}."
    )
    return UnsolvedReason(CONSTANT, said, *_other(ending))


def _stalls(ending: UnsolvedRun) -> UnsolvedReason:
    course = _course(ending)
    if isinstance(ending.spec.goal, Hold):
        return UnsolvedReason(
            STALLS, f"Trials no longer got longer: {course.said('lasted')} steps.", *_other(ending)
        )
    said = f"The returns stall at {course.lately:z.4g}: {course.said('returned')}."
    return UnsolvedReason(STALLS, said, *_other(ending))


# What to try.


def _other(ending: UnsolvedRun, times: int = 4) -> tuple[Mapping[str, Any], str | None]:
    """Another learner where there is a better one for what values cannot tell, else a larger budget."""
    if ending.spec.kind != CATEGORIES and ending.configuration.learner_name != PROBATION:
        return {}, PROBATION
    return _more(ending, times), None


def _more(ending: UnsolvedRun, times: int) -> dict[str, Any]:
    """A larger budget: of what ended the run."""
    stage, steps = ending.configuration.stage, int(ending.summary["environment_steps"])
    if ending.summary["trials"] >= stage.trials:
        more = {"stage.trials": times * stage.trials}
        return more if 2 * steps < stage.steps else {**more, "stage.steps": _rounded(times * stage.steps)}
    return {"stage.steps": _rounded(times * max(steps, 1))}


def _rounded(number: int) -> int:
    """A number in two digits, rounded up."""
    digits = len(str(number)) - 2
    return -(-number // 10**digits) * 10**digits if digits > 0 else number


# The look around.


class _Seen(NamedTuple):
    """A step of the look around."""

    trial: int
    before: tuple[float, ...]
    action: int
    after: tuple[float, ...]
    reward: float
    terminal: bool


def look_around(ending: UnsolvedRun, task: Any) -> LookAround:
    """Play every action all the time, and the policy with random actions in between."""
    spec, steps = ending.spec, int(ending.summary["environment_steps"])
    left = steps // SHARE
    if isinstance(spec.goal, Hold) and spec.stochastic != "no":
        return LookAround()
    world, rng = (
        seeded(task, ending.configuration.seed),
        np.random.default_rng([ending.configuration.seed, 2]),
    )
    cap, count = spec.cap(LOOKED), len(spec.actions)
    taken: list[_Seen] = []
    constant = None
    if isinstance(spec.goal, MeanReturn) and count <= MOST_ACTIONS and count * cap <= left:
        means = []
        for action in range(count):
            returns: list[float] = []
            until = len(taken) + max(cap, min(LOOKED, left // 2) // count)
            while len(taken) + cap <= until:
                returns.append(_play(spec, world, rng, cap, taken, lambda seen, a=action: a))
            means.append(float(np.mean(returns)))
        constant = int(np.argmax(means)), max(means)
    sample = min(LOOKED, left - len(taken))
    if spec.stochastic != "no" or _shows_all(world, rng) or sample < FEWEST_PAIRS:
        return LookAround(len(taken), constant)
    until, policy = len(taken) + sample, ending.controller

    def mixed(seen: tuple[float, ...]) -> int:
        return int(rng.integers(count)) if rng.random() < 0.5 else int(policy.action(seen))

    while len(taken) < until:
        _play(spec, world, rng, min(cap, until - len(taken)), taken, mixed)
    return LookAround(len(taken), constant, alike(spec, taken))


def _shows_all(task: Any, rng: np.random.Generator) -> bool:
    """Whether an observation is the whole state."""
    first = start(task, rng)
    return tuple(observe(task, first)) == tuple(first)


def _play(
    spec: TaskSpec, task: Any, rng: np.random.Generator, cap: int, taken: list[_Seen], act: Any
) -> float:
    """Run a trial of at most ``cap`` steps, note its steps, and return its return."""
    s, number = start(task, rng), taken[-1].trial + 1 if taken else 0
    seen, gained = tuple(observe(task, s)), 0.0
    for _ in range(cap):
        action = act(seen)
        s, reward, terminal = transition(task, s, action)
        after = tuple(observe(task, s))
        taken.append(_Seen(number, seen, action, after, float(reward), bool(terminal)))
        seen, gained = after, gained + float(reward)
        if terminal or truncated(task, s):
            break
    return gained


def alike(spec: TaskSpec, taken: Sequence[_Seen]) -> tuple[tuple[float, ...], int] | None:
    """An observation, and an action whose outcome it does not decide; None if none was found.

    Labels must be equal. Numbers must be near, in different trials, and what follows must differ as much as two
    changes usually do, in most of such pairs; or they are equal, and most differences of rewards are between them.
    """
    if spec.kind == CATEGORIES:
        outcomes: dict[Any, Any] = {}
        for one in taken:
            found = (one.after, one.reward, one.terminal)
            if outcomes.setdefault((one.before, one.action), found) != found:
                return one.before, one.action
        return None
    if (place := _unexplained_reward(taken)) is not None:
        return taken[place].before, taken[place].action
    before, after = (np.array([getattr(one, name) for one in taken]) for name in ("before", "after"))
    width = np.ptp(before, axis=0)
    points = before / np.where(width > 0.0, width, 1.0)
    changes = (after - before) / np.where(width > 0.0, width, 1.0)
    trials, chosen = (np.array([getattr(one, name) for one in taken]) for name in ("trial", "action"))
    pairs = [
        pair
        for action in np.unique(chosen)
        for pair in _near_pairs(points, trials, np.flatnonzero(chosen == action))
    ]
    if len(pairs) < FEWEST_PAIRS:
        return None
    left, right = np.array(pairs).T
    differ = np.linalg.norm(changes[left] - changes[right], axis=1)
    apart = np.linalg.norm(points[left] - points[right], axis=1)
    usual = float(np.sqrt(((changes - changes.mean(axis=0)) ** 2).sum(axis=1).mean()))
    middle = float(np.median(differ))
    if middle <= DIFFERENT * usual or middle <= 3.0 * float(np.median(apart)):
        return None
    most = int(left[np.argmax(differ)])
    return taken[most].before, taken[most].action


def _unexplained_reward(taken: Sequence[_Seen]) -> int | None:
    """A step whose reward differs from that of equal ones, if equal observations and actions explain few rewards."""
    rewards = np.array([one.reward for one in taken])
    steps = defaultdict[Any, list[int]](list)
    for place, one in enumerate(taken):
        steps[one.before, one.action].append(place)
    repeated = [places for places in steps.values() if len({taken[n].trial for n in places}) > 1]
    if sum(map(len, repeated)) < FEWEST_PAIRS:
        return None
    within = [float(((rewards[places] - rewards[places].mean()) ** 2).sum()) for places in repeated]
    mixed = sum(len(places) for places, square in zip(repeated, within, strict=True) if square > 0.0)
    if mixed < FEWEST_PAIRS or sum(within) <= UNEXPLAINED * float(((rewards - rewards.mean()) ** 2).sum()):
        return None
    return repeated[int(np.argmax(within))][0]


def _near_pairs(points: np.ndarray, trials: np.ndarray, rows: np.ndarray) -> list[tuple[int, int]]:
    """Each point with the nearest of another trial, if it is near enough."""
    if len(rows) < 2:
        return []
    from scipy.spatial import KDTree  # takes a while to load

    count = min(16, len(rows))
    distances, places = KDTree(points[rows]).query(points[rows], k=count)
    found = []
    for here, (row, near) in enumerate(zip(distances, places, strict=True)):
        for distance, place in zip(row, near, strict=True):
            if distance <= NEAR and trials[rows[place]] != trials[rows[here]]:
                found.append((int(rows[here]), int(rows[place])))
                break
    return found
