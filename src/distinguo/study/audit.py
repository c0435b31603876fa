"""The audit of a learning run: where its representation costs reward, by the settings that it was learned with."""

from __future__ import annotations

from pathlib import Path

from numpy.typing import ArrayLike

from distinguo.errors import DistinguoError, checks_names
from distinguo.evaluation.audit import Audit, audit_controller
from distinguo.runs.folder import open_run
from distinguo.runs.run import Run
from distinguo.tasks.task import seeded


@checks_names()
def audit(
    run: Run | str | Path, *, states: ArrayLike | None = None, visits: int = 10_000, seed: int = 0
) -> Audit:
    """Audit a run, or the run in a folder: which states are not epsilon-adequate, by which rule, at what cost.

    The states are given, or they are ``visits`` ones that the greedy policy comes through; the seed decides among
    tied actions.

    >>> import distinguo
    >>> audit(distinguo.learn("puck", seed=1), visits=1000).adequate
    1.0
    """
    opened = open_run(run) if isinstance(run, str | Path) else run
    learner = opened.configuration.learner
    return audit_controller(
        seeded(opened.configuration.spec.task, seed),
        opened.controller,
        states,
        gamma=_setting(opened, "gamma"),
        # where epsilon is a share of what was seen, the summary has the amount
        epsilon=float(opened.summary.get("epsilon") or _setting(opened, "epsilon")),
        samples=getattr(learner, "samples", 1),
        visits=visits,
        seed=seed,
    )


def _setting(run: Run, name: str) -> float:
    """Return a setting of the learner that an audit cannot do without."""
    configuration = run.configuration
    if not hasattr(configuration.learner, name):
        raise DistinguoError(
            f"An audit needs gamma and epsilon, but the learner {configuration.learner_name} has no setting {name}; "
            "give it to audit_controller."
        )
    return float(getattr(configuration.learner, name))
