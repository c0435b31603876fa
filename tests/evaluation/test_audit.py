"""The audit against a plain computation of Definition 8, state by state."""

from __future__ import annotations

import numpy as np
import pytest

from distinguo.controller import Controller
from distinguo.criteria import POLICY, VALUE
from distinguo.errors import DistinguoError
from distinguo.evaluation.audit import audit_controller
from distinguo.representations.voronoi import voronoi
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


def test_bad_states_get_one_sentence() -> None:
    with pytest.raises(DistinguoError, match="rows of 2 numbers"):
        audit_controller(Puck(), Controller(TWO, Q), [[1.0, 2.0, 3.0]], gamma=0.9, epsilon=0.1)
    with pytest.raises(DistinguoError, match="finite"):
        audit_controller(Puck(), Controller(TWO, Q), [[np.nan, 2.0]], gamma=0.9, epsilon=0.1)
    with pytest.raises(DistinguoError, match="rows of 2 numbers"):
        audit_controller(Puck(), Controller(TWO, Q), np.zeros((0, 2)), gamma=0.9, epsilon=0.1)
