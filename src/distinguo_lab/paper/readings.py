"""The two readings under which the case study is run: the paper's own world, and what serves users best.

A reading fills in what the paper leaves open, once for the learner, the tester and the controls. ``PAPER`` was found
with the paper's numbers in view: it shows that there is a reading under which its claims hold together, not that it
was the author's (docs/results.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from distinguo import presets


class Reading(NamedTuple):
    """One way to run the case study."""

    name: str
    preset: str  #: of the learner and the tester
    controllability: str  #: the control of that name in the catalog
    like_paper: (
        bool  #: of many runs show and test the one whose size is nearest to the paper's; else the first
    )

    @property
    def tester(self) -> Mapping[str, Any]:
        """Return the settings of the tester."""
        return presets.tester_preset(self.preset)

    @property
    def words(self) -> str:
        """Say what it is, for a report."""
        tester = ", ".join(f"{name} {value:g}" for name, value in self.tester.items()) or "its defaults"
        return f"learner: preset {self.preset}; tester: {tester}; quantization: {self.controllability}"


#: Integrated over all pairs of a region, the deviation that gives a quantization on which the critic balances and a
#: Q-learner does poorly, both as reported (docs/readings.md, "The controls").
FINE = "controllability:2e-7"
PAPER = Reading(presets.PAPER, presets.PAPER, FINE, like_paper=True)
DEFAULT = Reading(presets.DEFAULT, presets.DEFAULT, "controllability", like_paper=False)
READINGS = (PAPER, DEFAULT)
