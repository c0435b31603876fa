"""The audit against a plain computation of Definition 8, state by state."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from distinguo.controller import Controller, FeatureController
from distinguo.criteria import POLICY, VALUE, shortfall
from distinguo.errors import DistinguoError
from distinguo.evaluation.audit import Audit, Visits, audit_controller, audit_policy
from distinguo.representations.voronoi import voronoi
from distinguo.tasks.puck.analysis import ExactValues
from distinguo.tasks.puck.puck import Puck
from distinguo.tasks.task import transition
from tests.oracle import adequate, pref, v

TWO = voronoi([[0.268, 0.62], [-0.268, -0.62]], [4.8, 11.0])
Q = np.array([[-0.1, -0.14], [-0.6, -0.3]])


def plainly(s: tuple[float, float], gamma: float) -> tuple[list[float], list[float]]:
    """Return the region's values and the look-ahead values of a state, by hand."""

    def values(state: tuple[float, float]) -> list[float]:
        near = [((state[0] - x) / 4.8) ** 2 + ((state[1] - y) / 11) ** 2 for x, y in TWO.prototypes]
        return Q[int(np.argmin(near))].tolist()

    q1 = []
    for a in range(2):
        s_next, r, terminal = transition(Puck(), s, a)
        q1.append(r if terminal else r + gamma * max(values(s_next)))
    return values(s), q1


def test_audit_equals_the_definitions() -> None:
    rng = np.random.default_rng(0)
    states = rng.uniform([-2.4, -5.5], [2.4, 5.5], (2000, 2))
    states[:1000] = rng.uniform([-0.1, -0.2], [0.1, 0.2], (1000, 2))  # where one push may change the region
    findings = audit_controller(Puck(), Controller(TWO, Q, 0.05), states, gamma=0.95, epsilon=0.1)
    for n, s in enumerate(map(tuple, states.tolist())):
        q, q1 = plainly(s, 0.95)
        assert (findings.rules[n] == 0) == adequate(q, q1, 0.1, 0.05)
        assert bool(findings.rules[n] & POLICY) == (not pref(q, 0.05) <= pref(q1, 0.1))
        assert bool(findings.rules[n] & VALUE) == (not abs(v(q1) - v(q)) <= 0.1)
        assert findings.regret[n] == pytest.approx(max(q1) - min(q1[a] for a in pref(q, 0.05)))
    assert 0 < findings.policy_failures < 2000
    assert 0 < findings.value_failures < 2000


def trials_of(findings: Audit) -> list[slice]:
    """Return the rows of each trial; the puck's trials end at a wall, but for the last."""
    bounds = [*np.flatnonzero(findings.first).tolist(), len(findings.states)]
    return [slice(*pair) for pair in pairwise(bounds)]


@pytest.mark.parametrize("side", [-1, 1], ids=["falls", "holds"])
def test_what_trials_return_less_than_promised_is_the_sum_of_errors_and_regrets(side: int) -> None:
    controller = Controller(TWO, Q[:, ::side])
    findings = audit_controller(Puck(), controller, Visits(500), gamma=0.95, epsilon=0.1)
    trials = trials_of(findings)
    assert (len(trials) > 2) == (side == -1)
    for rows in trials:
        cut = rows.stop == 500  # its last state stands for what would follow
        seen = slice(rows.start, rows.stop - cut)
        sums = (
            shortfall(findings.value_errors[seen], findings.regret[seen], 0.95)
            if seen.stop > seen.start
            else 0.0
        )
        assert findings.values[rows.start] - findings.returns[rows.start] == pytest.approx(sums)
        steps = seen.stop - seen.start
        assert findings.horizons[rows.start] == pytest.approx((1 - 0.95**steps) / 0.05)
    if side == -1:
        falls = [-(0.95 ** (rows.stop - rows.start - 1)) for rows in trials[:-1]]
        assert findings.returns[[rows.start for rows in trials[:-1]]] == pytest.approx(falls)
    assert findings.loss <= findings.bound
    assert findings.ratio == findings.loss / findings.bound
    assert findings.least_epsilon == max(abs(findings.value_errors).max(), findings.regret.max())
    eased = audit_controller(Puck(), controller, Visits(500), gamma=0.95, epsilon=findings.least_epsilon)
    assert eased.adequate == 1.0 > findings.adequate
    ratio = f" (ratio {findings.ratio:.3f})" if findings.loss > 0.0 else ""
    assert repr(findings).endswith(
        f"loss {findings.loss:.4f}, by the bound at most {findings.bound:.4f}{ratio}."
    )


def test_with_exact_values_the_loss_is_that_against_the_best_policy() -> None:
    exact = FeatureController(ExactValues(Puck(), gamma=0.95), np.eye(2))
    holding, falling = (Controller(TWO, Q[:, ::side]) for side in (1, -1))
    options = {"gamma": 0.95, "epsilon": 0.1, "values": exact}
    held = audit_controller(Puck(), holding, Visits(500), **options)
    fallen = audit_controller(Puck(), falling, Visits(500), **options)
    assert held.loss == held.bound == 0.0
    assert np.isnan(held.ratio)
    assert 0.0 < fallen.loss == pytest.approx(-fallen.returns[fallen.first].mean())
    assert fallen.loss <= fallen.bound


def test_where_no_trial_was_followed_or_there_are_no_values_nothing_is_bounded() -> None:
    given = audit_controller(Puck(), Controller(TWO, Q), [(0.1, 0.2)], gamma=0.95, epsilon=0.1)
    without = audit_policy(Puck(), Controller(TWO, Q), Visits(20), longest=50)
    assert np.isnan([given.loss, given.bound, given.ratio, without.loss, without.bound, without.ratio]).all()
    assert np.isnan(without.least_epsilon)
    assert not np.isnan(given.least_epsilon)
    assert len(repr(given).splitlines()) == 4
    assert len(repr(without).splitlines()) == 3
    growing = audit_controller(Puck(), Controller(TWO, Q), Visits(2000), gamma=2.0, epsilon=0.1)
    assert np.isnan(growing.bound)
    assert len(repr(growing).splitlines()) == 4


def test_bad_states_get_one_sentence() -> None:
    with pytest.raises(DistinguoError, match="rows of 2 numbers"):
        audit_controller(Puck(), Controller(TWO, Q), [[1.0, 2.0, 3.0]], gamma=0.9, epsilon=0.1)
    with pytest.raises(DistinguoError, match="finite"):
        audit_controller(Puck(), Controller(TWO, Q), [[np.nan, 2.0]], gamma=0.9, epsilon=0.1)
    with pytest.raises(DistinguoError, match="rows of 2 numbers"):
        audit_controller(Puck(), Controller(TWO, Q), np.zeros((0, 2)), gamma=0.9, epsilon=0.1)
