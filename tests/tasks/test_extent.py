"""The preliminary series: what it sees of a task."""

from __future__ import annotations

import pytest

from distinguo.tasks.extent import observed_extent
from distinguo.tasks.puck.puck import Puck
from tests.evaluation.tasks import pushed


def test_the_preliminary_series_sees_what_pushing_one_way_for_ever_shows() -> None:
    extent, s, fell = observed_extent(Puck()), (0.0, 0.0), False
    while not fell:
        fastest = s[1]
        s, _, fell = pushed(s, 1)
    assert extent.high[1] == -extent.low[1] == fastest == pytest.approx(5.48361927)
    assert s[1] > fastest


def test_the_preliminary_series_counts_no_terminal_states() -> None:
    extent = observed_extent(Puck())
    assert 2.35 < extent.high[0] < Puck().wall
    assert -Puck().wall < extent.low[0] < -2.35
    assert extent == observed_extent(Puck())
    assert extent != observed_extent(Puck(), seed=1)


def test_more_trials_widen_the_extent() -> None:
    """The first two trials repeat an action each, and both run straight to a wall."""
    few, more = observed_extent(Puck(), trials=2), observed_extent(Puck(), trials=100)
    assert few.low == (-few.high[0], -few.high[1])
    assert more.high[0] > few.high[0]
    assert more.high[1] == few.high[1]
