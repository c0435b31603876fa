"""A learning run as a value: its configuration, its result and its history."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError, counted
from distinguo.evaluation.confirmation import (
    FAILED,
    PASSED,
    UNDECIDED,
    lower_bound,
    spent_error,
    trials_to_pass,
)
from distinguo.representations.file import Representation
from distinguo.runs.account import LAWS
from distinguo.runs.configuration import Configuration
from distinguo.runs.history import Frame, TrialRow, packed_history
from distinguo.runs.restarts import of_these_regions
from distinguo.runs.stage import ReturnStage, Stage
from distinguo.runs.unsolved import UnsolvedRun, why_not_solved
from distinguo.tasks.amounts import amounts_of, count_stored, laws_of, needs_laws, with_laws
from distinguo.tasks.catalog import origin_of
from distinguo.versions import software

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from distinguo.evaluation.audit import Audit
    from distinguo.runs.rollout import Rollout
    from distinguo.verification import Proof


MOST_TRIALS = 10**6  #: of an estimate; a policy that would take more does not get there


# The public functions on a run as methods of the same names.


class Verbs:
    """The methods of a run, and of anything that can be turned into one.

    They import what they need when they are called, because those modules import runs.
    """

    __slots__ = ()

    def _as_run(self) -> Run:
        raise NotImplementedError

    @overload
    def plot(
        self, view: str | Callable[[Run], Any] = ..., path: str | Path | None = ..., *, ax: Axes
    ) -> Axes: ...

    @overload
    def plot(
        self,
        view: str | Callable[[Run], Any] = ...,
        path: str | Path | None = ...,
        *,
        figsize: tuple[float, float] = ...,
    ) -> Figure: ...

    def plot(
        self, view: str | Callable[[Run], Any] = "partition", path: str | Path | None = None, **options: Any
    ) -> Figure | Axes:
        """Draw the map, or another view of the run; with a path it is written there, too.

        The figure shows itself in a notebook; elsewhere its method ``show`` opens a window. See ``distinguo.show``
        for the options: ``figsize``, or ``ax`` to draw into a figure of your own.

        >>> import distinguo
        >>> figure = distinguo.learn("puck", seed=1).plot(figsize=(5, 4))
        >>> figure.axes[0].get_ylabel(), figure.get_size_inches().tolist()
        ('v (m/s)', [5.0, 4.0])
        """
        import distinguo

        drawn: Figure | Axes = distinguo.show(self._as_run(), view, path, **options)
        return drawn

    def rollout(
        self, start: Sequence[float] | None = None, *, steps: int | None = None, seed: int = 0
    ) -> Rollout:
        """Follow the greedy policy through one trial. See ``distinguo.rollout``.

        >>> import distinguo
        >>> distinguo.learn("puck", seed=1).rollout((2.0, 3.0))
        Rollout of puck: 7 steps, return -1; ended in a terminal state
        """
        import distinguo

        return distinguo.rollout(self._as_run(), start, steps=steps, seed=seed)

    def audit(self, **options: Any) -> Audit:
        """Find the states where the map costs reward. See ``distinguo.audit`` for the options.

        >>> import distinguo
        >>> distinguo.learn("puck", seed=1).audit(visits=500).adequate
        1.0
        """
        import distinguo

        return distinguo.audit(self._as_run(), **options)

    def verify(self, **options: Any) -> Proof:
        """Prove what can be proven of the controller. See ``distinguo.verify`` for the options.

        >>> import distinguo
        >>> distinguo.learn("puck", seed=1).verify(cells=40_000).holds
        True
        """
        import distinguo

        return distinguo.verify(self._as_run(), **options)

    def export(self, to: str | Path, **options: Any) -> Path:
        """Write the controller to a file for others. See ``distinguo.export`` for formats and options.

        >>> import distinguo, tempfile
        >>> with tempfile.TemporaryDirectory() as place:
        ...     distinguo.learn("puck", seed=1).export(f"{place}/controller.h").name
        'controller.h'
        """
        import distinguo

        return distinguo.export(self._as_run(), to, **options)

    def explain(self, s: Sequence[float], other: Sequence[float] | None = None) -> Any:
        """Explain the action in a state, or why two states are kept apart. See ``distinguo.explain``.

        >>> import distinguo
        >>> distinguo.learn("puck", seed=1).explain((0.5, 1.0)).document()["action"]
        'left'
        """
        import distinguo

        return distinguo.explain(self._as_run(), s, other)

    def report(self, out: str | Path | None = None, **options: Any) -> Path:
        """Write one page on the run, with its pictures, settings and reasons. See ``distinguo.report``.

        >>> import distinguo, tempfile
        >>> with tempfile.TemporaryDirectory() as place:
        ...     distinguo.learn("puck", seed=1).report(f"{place}/puck.html").name
        'puck.html'
        """
        import distinguo

        written: Path = distinguo.report([self._as_run()], out, **options)
        return written

    def play(self, out: str | Path | None = None, **options: Any) -> Any:
        """Animate the greedy policy, in a notebook, a window or a file. See ``distinguo.play`` for the options.

        >>> import distinguo, tempfile
        >>> with tempfile.TemporaryDirectory() as place:
        ...     film = distinguo.learn("puck", seed=1).play(f"{place}/puck.gif", steps=4)
        >>> film.trial
        Rollout of puck: 4 steps, return 0; still running when stopped after 4 steps
        """
        import distinguo

        return distinguo.play(self._as_run(), out, **options)


class RunRecord(NamedTuple):
    """The parts of a run."""

    configuration: Configuration
    representation: Representation
    q: np.ndarray
    updates: np.ndarray
    summary: dict[str, Any]
    trials: Sequence[TrialRow]
    reasons: Sequence[dict[str, Any]]
    path: Path | None = None
    carried: Representation | None = None  #: the map for other learners, if it differs from the controller's
    history: Sequence[
        Frame
    ] = ()  #: the map after some of the trials, oldest first; the last is the one that acts


class Run(Verbs, RunRecord):
    """A learning run.

    >>> import distinguo
    >>> run = distinguo.learn("puck", seed=1)
    >>> run
    Run of puck, seed 1, preset default: solved
      score 500000, 4 regions in 5 prototypes
      17 trials, 1,403 environment steps (265 of them in mini-trials)
    >>> run.action((0.5, 1.0))
    'left'
    """

    __slots__ = ()

    def _as_run(self) -> Run:
        return self

    def __repr__(self) -> str:
        """Return the result in a few lines."""
        asked, summary = self.configuration, self.summary
        head = f"Run of {asked.spec.name}, seed {asked.seed}, preset {asked.preset}"
        if asked.learner_name != "economy":
            head += f", learner {asked.learner_name}"
        if "trials" not in summary:
            return f"{head}: not finished, {counted(self.representation.regions, 'region')} so far"
        lines = [
            f"{head}: {'solved' if self.solved else 'not solved'}",
            f"  score {summary['score']:zg}, {counted(summary['regions'], 'region')} in "
            f"{counted(summary['prototypes'], 'prototype')}",
            f"  {counted(summary['trials'], 'trial')}, {counted(summary['environment_steps'], 'environment step')} "
            f"({summary['investigation_steps']:,} of them in mini-trials)",
        ]
        return "\n".join([*lines, f"  in {self.path}"] if self.path else lines)

    def _repr_html_(self) -> str:
        """Return the map and the key numbers, for notebooks."""
        from distinguo.views.notebook import run_html

        return run_html(self)

    @property
    def is_distilled(self) -> bool:
        """Whether it was distilled from a policy."""
        return "teacher" in self.summary

    @property
    def solved(self) -> bool:
        """Whether it was confirmed that the greedy policy solves the task."""
        return bool(self.summary["solved"])

    @property
    def controller(self) -> Controller:
        """The controller of the run."""
        delta = getattr(self.configuration.learner, "delta", 0.0)
        return Controller(self.representation.partition, self.q, delta)

    def action(self, s: Any) -> str:
        """Return the name of the greedy action where ``s`` is observed; the first of tied actions.

        ``s`` is a row of coordinates, or an observation with parts as its environment gives it. Of images that are
        reduced it is the reduced one, as ``ReducedObservation`` gives it.
        """
        return self.configuration.spec.actions[self.controller.action(self._row(s))]

    def amounts(self, s: Any) -> tuple[float, ...]:
        """The amounts that the controller takes where ``s`` is observed, in a task whose actions are amounts.

        >>> import distinguo
        >>> run = distinguo.learn("Pendulum-v1", learner="evolution", settings={"stage.steps": 1_000})
        >>> -2.0 <= run.amounts((1.0, 0.0, 0.0))[0] <= 2.0
        True
        """
        known, seen = laws_of(self.configuration.spec), self._row(s)
        if known is None:
            raise DistinguoError(
                f"The actions of {self.configuration.spec.name} are no amounts; ask for run.action(s)."
            )
        return amounts_of(known, self.controller.action(seen), [float(x) for x in seen])

    def _row(self, s: Any) -> Any:
        """An observation as a row of numbers."""
        if isinstance(s, Mapping):
            s = self.configuration.spec.task.driver.checked_env.view.flatten(s)
        elif np.ndim(s) > 1:
            s = np.ravel(s)
        return s


def run_of(stage: Stage) -> Run:
    """Return a stage that has ended as a run."""
    stage.prove()
    stage.refine()
    values = stage.values()
    configuration = stage.configuration
    if LAWS in values:
        configuration = configuration._replace(spec=with_laws(configuration.spec, values[LAWS]))
    return Run(
        configuration,
        stage.representation(),
        values["q"],
        values.get("updates", np.zeros(values["q"].shape, dtype=np.int64)),
        whole_summary(stage, stage.trials),
        stage.trials,
        of_these_regions(stage.reasons),
        carried=carried(stage),
        history=packed_history(stage.history()),
    )


def carried(stage: Stage) -> Representation | None:
    """Return the map for other learners, if it differs from the controller's."""
    if stage.refined is not None:
        partition = stage.refined.representation.partition
    elif stage.proof is not None and stage.proof.changed:
        return None
    else:
        partition = stage.learner.map_for_others(stage.agent.memory, stage.configuration.learner)
    if partition is None:
        return None
    acting = stage.representation()
    return Representation(partition, acting.dimensions, acting.provenance)


def whole_summary(stage: Stage, trials: Sequence[TrialRow]) -> dict[str, Any]:
    """Return the summary of a stage with all its trials; if the task is not solved, with the reason found."""
    summary = summarise(stage)
    if stage.solved or not stage.configuration.spec.goal.can_be_solved:
        return summary
    observed, spec = stage.agent.progress.extent, stage.configuration.spec
    low, high = observed if spec.bounded else (stage.extent.low, stage.extent.high)
    values = stage.values()
    acting = stage.acting_spec()
    ending = UnsolvedRun(
        stage.configuration._replace(spec=acting if needs_laws(spec) else spec),
        summary,
        trials,
        stage.controller,
        tuple(stage.returns) if isinstance(stage, ReturnStage) else (),
        bool(values["updates"].any()) if "updates" in values else True,
        (tuple(map(float, low)), tuple(map(float, high))) if np.isfinite([low, high]).all() else None,
        stage.trial_length if not trials or trials[-1].trial < stage.count_trials else 0,
    )
    why = why_not_solved(ending, acting.task)
    return {**summary, **why, "total_steps": summary["total_steps"] + why.get("diagnosis_steps", 0)}


def summarise(stage: Stage) -> dict[str, Any]:
    """Return a summary of the result of a stage.

    ``environment_steps`` counts trials and mini-trials, without the final long trial of a solved run, which is
    listed separately, and without the confirmation. ``total_steps`` counts every step that the task took.
    """
    final, of_map = stage.final_trial_steps, _of_representation(stage)
    after = of_map.get("representation_steps", 0) + of_map.get("price_steps", 0)
    proof = _of_proof(stage)
    after += proof.get("proof_steps", 0)
    spent = (
        stage.environment_steps + stage.confirmation_steps + stage.probe_steps + stage.replayed_steps + after
    )
    return {
        "task": stage.configuration.spec.name,
        "seed": stage.configuration.seed,
        "preset": stage.configuration.preset,
        "learner": stage.configuration.learner_name,
        "solved": stage.solved,
        "score": stage.score,
        "regions": stage.regions,
        "prototypes": stage.prototypes,
        "trials": stage.count_trials,
        "environment_steps": stage.environment_steps - final,
        "investigation_steps": stage.investigation_steps,
        "final_trial_steps": final,
        "confirmation_steps": stage.confirmation_steps,
        "failed_confirmation_steps": stage.failed_confirmation_steps,
        **_of_confirmation(stage),
        **_of_laws(stage),
        "attempts": stage.attempts,
        **of_map,
        **proof,
        "probe_steps": stage.probe_steps,
        "replayed_steps": stage.replayed_steps,
        "total_steps": spent,
        **stage.learner.figures(stage.agent.memory, stage.configuration.learner),
        **origin_of(stage.configuration.spec),
        "seconds": round(stage.seconds, 4),
        "versions": software(),
    }


def _of_proof(stage: Stage) -> dict[str, Any]:
    """Whether a controller is proven, and the effort; nothing if no proof was asked for."""
    made = stage.proof
    if made is None:
        return {"proven": False} if stage.configuration.stage.prove_steps else {}
    verdict = made.verdict
    return {
        "proven": verdict.proven,
        "proven_share": verdict.share,
        "proven_states": verdict.held,
        "not_proven": verdict.why,
        "proof_steps": made.steps,
        "proofs": made.proofs,
        "proof_proposals": made.proposals,
        "proof_kept": made.kept,
        "proof_margin": made.margin,
        "proof_seconds": round(made.seconds, 4),
        "prover_seconds": round(made.seconds_proving, 4),
    }


def _of_laws(stage: Stage) -> dict[str, Any]:
    """How many numbers a map of laws is."""
    found = stage.learner.laws(stage.agent.memory)
    return {} if found is None else {"numbers": count_stored(found, stage.prototypes)}


def _of_representation(stage: Stage) -> dict[str, Any]:
    """Return the size of the map for other learners and the steps it took; by default it is the controller's."""
    other, made = carried(stage), stage.refined
    sizes = (stage.regions, stage.prototypes) if other is None else (other.regions, other.prototypes)
    figures: dict[str, Any] = {"representation_regions": sizes[0], "representation_prototypes": sizes[1]}
    if made is not None:
        figures |= {"representation_steps": made.steps, "representation_assured": made.assured}
        figures["price_steps"] = made.price_steps
    return figures


def _what_it_takes(stage: ReturnStage, more: float) -> dict[str, Any]:
    """How many more trials would pass, None if none would, and settings that allow twice as many."""
    if more >= MOST_TRIALS:
        return {"trials_to_pass": None, "settings_to_pass": {}}
    trials = len(stage.returns) + 2 * round(more)
    steps, limits = round(stage.tested / len(stage.returns) * trials), stage.configuration.stage
    allow = {"stage.confirm": trials} if trials > limits.confirm else {}
    allow |= {"stage.confirm_steps": steps} if steps > limits.confirm_steps else {}
    return {"trials_to_pass": round(more), "settings_to_pass": allow}


def _of_confirmation(stage: Stage) -> dict[str, Any]:
    """The number of trials behind the score, its lower bound, and the answer to whether the threshold is reached.

    The bound has the error of its confirmation, so that with those of all earlier ones it keeps the confidence.
    """
    if not isinstance(stage, ReturnStage) or not stage.returns:
        return {}
    error = spent_error(max(stage.claimed, 1), stage.configuration.stage.confidence)
    facts: dict[str, Any] = {
        "confirmation_trials": len(stage.returns),
        "confirmations": stage.claimed,
        "confidence": stage.configuration.stage.confidence,
        "score_low": stage.score
        if stage.certain and stage.answer in (PASSED, FAILED)
        else lower_bound(stage.returns, stage.least, error),
    }
    if stage.answer:
        facts["answer"] = stage.answer
    if stage.answer == UNDECIDED and stage.threshold is not None:
        facts |= _what_it_takes(stage, trials_to_pass(stage.returns, stage.question(stage.threshold)))
    return facts
