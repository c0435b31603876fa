"""The audit of a learning run: where its representation costs reward, by the settings that it was learned with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from distinguo.errors import DistinguoError, checks_names
from distinguo.evaluation.audit import NO_LIMIT, Audit, Visits, audit_controller
from distinguo.runs.configuration import check_seed
from distinguo.runs.folder import as_run
from distinguo.runs.run import Run
from distinguo.seam import is_compiled
from distinguo.tasks.task import seeded

LONGEST = 500  #: steps after which a trial is left whose environment stops none, and comes back by replays


@checks_names()
def audit(
    run: Run | str | Path,
    *,
    states: ArrayLike | None = None,
    visits: int = 10_000,
    seed: int = 0,
    watch: Callable[[int, int], None] | None = None,
    task: Any = None,
) -> Audit:
    """Audit a run, or the run in a folder: which states are not epsilon-adequate, by which rule, at what cost.

    The states are given, or they are ``visits`` ones that the greedy policy comes through; the seed decides among
    tied actions. ``watch`` is told how many states are done, of how many. Trials of an environment that is run as
    plain Python end at its time limit, or after 500 steps, so that the time grows with the visits and no faster.
    ``task`` is the environment, or the task of your own, that the run was learned from, where it is not at hand.

    >>> import distinguo
    >>> audit(distinguo.learn("puck", seed=1), visits=1000).adequate
    1.0
    """
    check_seed(seed)
    opened = as_run(run, task)
    learner, spec = opened.configuration.learner, opened.configuration.spec
    longest = NO_LIMIT if is_compiled(spec.task) else spec.cap(LONGEST)
    return audit_controller(
        seeded(spec.task, seed),
        opened.controller,
        Visits(visits, seed, longest) if states is None else states,
        gamma=_setting(opened, "gamma"),
        # where epsilon is a share of what was seen, the summary has the amount
        epsilon=float(opened.summary.get("epsilon") or _setting(opened, "epsilon")),
        samples=getattr(learner, "samples", 1),
        watch=watch,
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
