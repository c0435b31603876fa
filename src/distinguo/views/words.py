"""A run in words: the facts of its task, how it ended and, if nothing was learned, why."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from distinguo.errors import counted, visible
from distinguo.evaluation.confirmation import UNDECIDED
from distinguo.explanations.subject import asked_about
from distinguo.learners.learner import learner_or_absent
from distinguo.offline.estimate import finding_sentences
from distinguo.presets import DEFAULT
from distinguo.representations.file import Representation
from distinguo.representations.partition import prototypes_of
from distinguo.runs.configuration import Configuration, choice_for, ranges_of
from distinguo.runs.run import Run
from distinguo.tasks.spec import Hold, TaskSpec

NOISE = {"no": "deterministic", "some": "slightly stochastic", "strong": "stochastic"}


def presentable(run: Run) -> Run:
    """Return a run whose names can be printed and drawn: control characters in them are shown as escapes."""
    spec, summary = run.configuration.spec, run.summary
    names: dict[str, Any] = {"name": visible(spec.name), "note": visible(spec.note)}
    for field in ("dimensions", "actions", "units"):
        names[field] = tuple(map(visible, getattr(spec, field)))
    words = {key: visible(value) for key, value in summary.items() if isinstance(value, str)}
    if all(getattr(spec, key) == value for key, value in names.items()) and words.items() <= summary.items():
        return run

    def named(one: Representation) -> Representation:
        return one._replace(dimensions=tuple(map(visible, one.dimensions)))

    return run._replace(
        configuration=run.configuration._replace(spec=spec._replace(**names)),
        representation=named(run.representation),
        carried=None if run.carried is None else named(run.carried),
        summary={**summary, **words},
    )


def values_name_actions(run: Run) -> bool:
    """Whether action values only mark the action of a region by 1, so that they are not rewards."""
    return asked_about(run).values_name_actions


def way_sentence(configuration: Configuration) -> str:
    """Return one line with the facts of a task and the learner that is used.

    >>> from distinguo.runs.configuration import configure
    >>> print(way_sentence(configure("MountainCar-v0")))
    MountainCar-v0: 2 numbers observed, 3 actions, states can be restored, deterministic, solved by a mean return \
of -110. Learner: probation (tries changes of a small map and keeps those that pay); it suits tasks judged by return.
    """
    spec, name = configuration.spec, configuration.learner_name
    kind = "label" if spec.kind == "categories" else "number"
    facts = [
        f"{counted(len(spec.dimensions), kind)} observed",
        counted(len(spec.actions), "action"),
        "states can be restored" if spec.restorable else "states cannot be restored",
        NOISE[spec.stochastic],
        _goal(spec),
        *(
            []
            if spec.limit or not spec.interpreted
            else [f"trials stopped after {counted(_longest(configuration), 'step')}"]
        ),
    ]
    about = learner_or_absent(name, {}).about
    way, chosen = f" ({about})" if about else "", choice_for(spec)
    why = f"; {chosen.why}" if (chosen.learner, DEFAULT) == (name, configuration.preset) else ""
    return f"{spec.name}: {', '.join(facts)}. Learner: {name}{way}{why}."


def _longest(configuration: Configuration) -> int:
    """The steps after which a trial without a time limit is stopped: some learners have a limit of their own."""
    return int(
        min(configuration.stage.cap, getattr(configuration.learner, "horizon", configuration.stage.cap))
    )


def _goal(spec: TaskSpec) -> str:
    if isinstance(spec.goal, Hold):
        return "solved by trials that never end"
    if spec.threshold is None:
        return "judged by mean return; the return that solves it is unknown"
    return f"solved by a mean return of {spec.threshold:zg}"


def why_nothing(run: Run) -> list[str]:
    """Say why a run did not solve its task, and what to try; empty for a run that did, or for which it is unknown."""
    why = {} if run.solved else run.summary.get("not_solved", {})
    if not why:
        return []
    said = [visible(why["sentence"]), f"Try: {visible(why['command'])}"]
    if why.get("one_start"):
        said.insert(1, ONE_START)
    return said


#: What it means that a deterministic task has one start.
ONE_START = (
    "Every trial begins in the same state, and the task is deterministic: all trials of a policy are the same, so "
    "they say nothing about other starts."
)


def outcome_sentence(run: Run) -> str:
    """Return a sentence or two on how a run ended; of one that was learned from a log, within the model of it."""
    known = run.configuration.spec.parameters
    return f"In a model of {known['file']}: {_outcome(run)}" if "sha256" in known else _outcome(run)


def _outcome(run: Run) -> str:
    summary = run.summary
    size = f"{counted(summary['regions'], 'region')} ({counted(summary['prototypes'], 'prototype')})"
    cost = (
        f"{counted(summary['trials'], 'trial')}, {counted(summary['environment_steps'], 'environment step')}"
    )
    if "total_steps" in summary:
        cost += f" ({_steps_in_all(summary)})"
    if run.is_distilled:
        return f"{_distilled(summary)} with {size}, found in {cost}."
    if run.configuration.spec.score != "length":
        return f"{_mean_return(run)} with {size}, learned in {cost}."
    if run.solved:
        return f"Solved: the greedy policy holds {counted(summary['score'], 'step')} with {size}, learned in {cost}."
    return f"Not solved within the budget: {size} after {cost}."


def _within(run: Run) -> str:
    """For which parameters it is proven, where they lie in ranges."""
    ranges = ranges_of(run.configuration.stage)
    words = [f"{name} from {low} to {high}" for name, (low, high) in ranges.items()]
    return f", for {' and '.join(words)} at each step" if words else ""


def proof_sentence(run: Run) -> str:
    """Return a sentence or two on what was proven of a run that was to be proven."""
    summary = run.summary
    if "proofs" not in summary:
        return "Not proven: the task is not solved, and only a solved map is proven."
    effort = (
        f"{counted(summary['proofs'], 'proof')} in {summary['prover_seconds']:.1f} s, "
        f"{counted(summary['proof_proposals'], 'change')} tried in "
        f"{summary['proof_seconds'] - summary['prover_seconds']:.1f} s"
    )
    if summary["proven"]:
        where = (
            f"; certificate: {run.path / summary['certificate']}"
            if run.path and "certificate" in summary
            else ""
        )
        return f"Proven from every start{_within(run)}, and checked independently ({effort}){where}."
    why = f" {summary['not_proven']}" if summary["not_proven"] else ""
    return f"Not proven: only {summary['proven_share']:.1%} of the starts are ({effort}).{why}"


#: The parts of all steps, each with its words.
_PARTS = {
    "environment_steps": "to learn",
    "final_trial_steps": "in the last trial",
    "confirmation_steps": "to confirm",
    "probe_steps": "to probe the task",
    "diagnosis_steps": "to find out why it is not solved",
    "replayed_steps": "to restore states",
    "representation_steps": "for the values of the map",
    "proof_steps": "to prove",
    "price_steps": "for the prices of distinctions",
}


def _steps_in_all(summary: Mapping[str, Any]) -> str:
    """The steps of everything, part by part."""
    parts = [f"{summary[name]:,} {words}" for name, words in _PARTS.items() if summary.get(name)]
    return f"{summary['total_steps']:,} in all: {', '.join(parts)}"


def _distilled(summary: Mapping[str, Any]) -> str:
    """Compare a map with its teacher and with the target return."""
    what = f"{summary['bar']:z.4g}"
    if "share" in summary:
        what = f"{summary['share']:.0%} of that, start by start"
    return (
        f"{'Kept' if summary['kept'] else 'Not kept'}: distilled from {summary['teacher']}, whose mean return is "
        f"{summary['teacher_score']:z.4g}; the map's mean return is {score_text(summary['score'], summary['bar'])} "
        f"(target: {what})"
    )


def _mean_return(run: Run) -> str:
    """Compare the mean return of the greedy policy with the one that solves the task."""
    summary, threshold = run.summary, run.configuration.spec.threshold
    trials = (
        f" over {counted(summary['confirmation_trials'], 'trial')}"
        if "confirmation_trials" in summary
        else ""
    )
    found = f"the greedy policy's mean return{trials} is {score_text(summary['score'], threshold)}"
    if threshold is None:
        return f"{summary['task']} names no return that solves it (set one with --threshold): {found}"
    if summary.get("answer") == UNDECIDED:
        return f"Undecided: {found} ({threshold:zg} is needed), and {_what_it_takes(summary)},"
    return f"{'Solved' if run.solved else 'Not solved within the budget'}: {found} ({threshold:zg} is needed)"


def _what_it_takes(summary: Mapping[str, Any]) -> str:
    """How an undecided confirmation could be decided."""
    more = summary.get("trials_to_pass")
    if more is None:
        return "more trials of the same kind would not confirm it"
    allow = " ".join(f"--set {name}={value}" for name, value in summary["settings_to_pass"].items())
    return f"about {counted(more, 'more trial')} would confirm it" + (f" ({allow})" if allow else "")


def score_text(score: float, threshold: float | None) -> str:
    """Write a mean return with enough digits to see whether it reaches the target, and whether it is zero.

    >>> score_text(0.698, 0.7), score_text(0.7, 0.7), score_text(-106.04, -110.0), score_text(-0.009, -0.06)
    ('0.698', '0.7', '-106.0', '-0.01')
    """
    marks = (0.0, threshold)
    texts = [f"{score:z.{digits}f}" for digits in range(1, 7)]
    return next((text for text in texts if score in marks or float(text) not in marks), texts[-1])


def remarks(run: Run) -> list[str]:
    """What a log says of a controller that was learned from it, and a warning about coordinates that never change."""
    said = finding_sentences(run.summary)
    low, high = run.representation.provenance.get("extent", ((), ()))
    names = run.representation.dimensions
    same = [f"{name} (always {a:zg})" for name, a, b in zip(names, low, high, strict=False) if a == b]
    if not same or run.configuration.spec.kind != "continuous":
        return said
    return [*said, f"Never changed, so of no use: {', '.join(same)}; they count with a scale of 1."]


def distribution(summaries: list[dict[str, Any]]) -> str:
    """Return a table of the spread of results over the seeds."""
    solved = sum(bool(s["solved"]) for s in summaries)
    lines = [f"Solved: {solved} of {counted(len(summaries), 'seed')}.", ""]
    lines.append(f"{'':22}{'least':>9}{'5 %':>9}{'median':>9}{'95 %':>9}{'most':>9}")
    keys = ("regions", "prototypes", "trials", "environment_steps", "investigation_steps", "total_steps")
    for key in (key for key in keys if all(key in summary for summary in summaries)):
        values = np.array([s[key] for s in summaries])
        spread = np.percentile(values, [0, 5, 50, 95, 100])
        lines.append(f"{key.replace('_', ' '):22}" + "".join(f"{v:z9,.0f}" for v in spread))
    return "\n".join(lines)


MOST_TYPED = 30  #: coordinates of a state in a command


def why_command(run: Run, path: Path) -> str:
    """Return a command that explains why two regions with different actions are kept apart; empty if there are none.

    A state of too many coordinates is not typed: the command would fill the screen.

    >>> import distinguo
    >>> why_command(distinguo.learn("puck", seed=1), Path("runs/mine"))
    'distinguo explain runs/mine --state=0,0 --and=0.3288,1.633'
    """
    prototypes, policy = prototypes_of(run.representation.partition), run.controller.policy
    others = np.flatnonzero(policy != policy[0])
    if prototypes is None or not len(others):
        return ""
    if prototypes.points.shape[1] > MOST_TYPED:
        return ""
    pair = prototypes.points[prototypes.primaries[[0, others[0]]]]
    here, there = (",".join(f"{c:z.4g}" for c in row) for row in pair.tolist())
    return f"distinguo explain {shlex.quote(str(path))} --state={here} --and={there}"
