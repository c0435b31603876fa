"""What makes a claim of the paper reproduced, better or different: curves, runs and critics made by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from distinguo.comparison.plan import AveragedCurve
from distinguo.runs.learn import learn
from distinguo.runs.run import Run
from distinguo.tasks.puck.analysis import MUST_PUSH_LEFT, analyse
from distinguo.tasks.puck.puck import Puck
from distinguo_lab.learners.ahc import Balanced
from distinguo_lab.paper.claims import (
    BETTER,
    DIFFERS,
    REPRODUCED,
    Claim,
    GeneratedRun,
    adequacy_of,
    analysis_claims,
    critic_claim,
    curve_claims,
    facts_of,
    scratch_claims,
    seeded_claims,
)

CAP = 5_000_000
LEVELS: dict[str, list[float]] = {
    "diagonal": [60, CAP, CAP],
    "learned": [60, CAP / 2, CAP],
    "grid:10x10": [60, CAP / 3, CAP / 2],
    "vrdp-enhanced": [60, CAP / 5, CAP / 4],
    "vrdp": [60, 900, 2215],
    "controllability": [60, 100, 300],
}
REGIONS = {
    "diagonal": 2,
    "learned": 24,
    "grid:10x10": 100,
    "vrdp-enhanced": 117,
    "vrdp": 265,
    "controllability": 9,
}
Curves = dict[str, AveragedCurve]


def good_curves() -> Curves:
    def curve(name: str) -> AveragedCurve:
        scores = np.tile(np.array(LEVELS[name], dtype=float), (10, 1))
        return AveragedCurve(name, "plain", REGIONS[name], [0, 25_000, 50_000], scores, np.ones(scores.shape))

    return {name: curve(name) for name in LEVELS}


def failing(claims: list[Claim]) -> set[str]:
    return {claim.id for claim in claims if not claim.holds}


def with_scores(name: str, scores: list[float]) -> Callable[[Curves], None]:
    def change(curves: Curves) -> None:
        curves[name].scores[:] = scores

    return change


def with_failures(name: str, runs: int) -> Callable[[Curves], None]:
    """Let some runs end just below the cap."""

    def change(curves: Curves) -> None:
        curves[name].scores[:runs, -1] = CAP - 1

    return change


def with_regions(name: str, regions: int) -> Callable[[Curves], None]:
    def change(curves: Curves) -> None:
        curves[name] = curves[name]._replace(regions=regions)

    return change


#: What is changed, and which claims fail then; a claim and its neighbours say the same of the original VRDP.
CHANGES: list[tuple[Callable[[Curves], None], set[str]]] = [
    (with_failures("diagonal", 1), set()),
    (with_failures("diagonal", 2), {"diagonal-reaches-cap"}),
    (with_failures("learned", 2), {"learned-reaches-cap"}),
    (with_scores("vrdp", [60, 2499, 60]), set()),
    (with_scores("vrdp", [60, 2500, 60]), {"vrdp-poor"}),
    (with_scores("vrdp", [60, 4430, 60]), {"vrdp-poor"}),
    (with_scores("vrdp", [60, 4431, 60]), {"vrdp-best", "vrdp-poor"}),
    (with_scores("vrdp", [180, 200, 359]), {"vrdp-best"}),
    (with_scores("vrdp", [60, 90, 290]), {"order-of-poor"}),
    (with_scores("controllability", [60, 2600, 60]), {"controllability-poor"}),
    (with_scores("vrdp-enhanced", [60, CAP / 2, CAP / 2]), {"order-of-best"}),
    (with_scores("grid:10x10", [60, CAP / 1.5, CAP]), {"order-of-best"}),
    (with_scores("learned", [60, CAP, CAP]), set()),
    (with_scores("vrdp-enhanced", [60, 4430, 60]), set()),
    (with_scores("vrdp-enhanced", [60, 4429, 60]), {"enhanced-better"}),
    (with_regions("diagonal", 3), {"diagonal-categories"}),
    (with_regions("learned", 4), set()),
    (with_regions("learned", 26), set()),
    (with_regions("learned", 27), {"learned-categories"}),
    (with_regions("grid:10x10", 99), {"grid:10x10-categories"}),
    (with_regions("vrdp-enhanced", 106), set()),
    (with_regions("vrdp-enhanced", 105), {"vrdp-enhanced-categories"}),
    (with_regions("vrdp-enhanced", 265), {"vrdp-enhanced-categories"}),
    (with_regions("vrdp-enhanced", 40), {"vrdp-enhanced-categories"}),
]


@pytest.mark.parametrize(("change", "fail"), CHANGES)
def test_curves_that_break_a_claim_make_it_fail_and_no_other(
    change: Callable[[Curves], None], fail: set[str]
) -> None:
    curves = good_curves()
    assert failing(curve_claims(curves, CAP)) == set()
    change(curves)
    assert failing(curve_claims(curves, CAP)) == fail


def test_every_claim_about_curves_can_fail() -> None:
    ids = {claim.id for claim in curve_claims(good_curves(), CAP)}
    assert set().union(*(fail for _, fail in CHANGES)) == ids


def test_a_claim_tells_the_averaged_score_and_the_runs_at_the_cap() -> None:
    curves = good_curves()
    curves["learned"].scores[:3, -1] = [0.0, 1_000_000.0, 2_000_000.0]
    claim = next(c for c in curve_claims(curves, CAP) if c.id == "learned-reaches-cap")
    assert claim.ours == "3,800,000 (7 of 10 runs at 5,000,000)"


def test_fewer_categories_than_the_papers_are_better() -> None:
    curves = good_curves()
    with_regions("learned", 4)(curves)
    (claim,) = [c for c in curve_claims(curves, CAP) if c.id == "learned-categories"]
    assert (claim.verdict, claim.holds) == (BETTER, True)


def runs_like(count: int = 20, **changes: list[Any]) -> list[GeneratedRun]:
    """Return results of learning runs; of a list given, each value is for one run, the rest are as the paper's."""
    rows = [
        {
            "solved": True,
            "regions": 24,
            "trials": 207,
            "held": 1.0,
            "outwards": -0.9,
            "added": 2,
            "at_ends": True,
        }
    ] * count
    for key, values in changes.items():
        rows = [{**row, key: value} for row, value in zip(rows, values, strict=False)] + rows[len(values) :]
    return [
        GeneratedRun(
            {key: row[key] for key in ("solved", "regions", "trials")},
            *(row[key] for key in ("held", "outwards", "added", "at_ends")),
        )
        for row in rows
    ]


def test_adequacy_is_told_of_solved_maps_that_were_audited() -> None:
    shares = [1.0, 1.0, 0.996, 0.0, 0.5, None]
    runs = [run._replace(adequate=share) for run, share in zip(runs_like(6), shares, strict=True)]
    runs[4] = runs[4]._replace(summary={"solved": False})
    assert adequacy_of(runs) == (
        "Of 4 solved maps from scratch, 2 are ε-adequate at every state that their policy visits; "
        "the median map at 99.8% of these states."
    )
    assert adequacy_of(runs_like(2)) == "No solved map from scratch was audited."


SCRATCH: list[tuple[dict[str, list[Any]], dict[str, str]]] = [
    ({}, {}),
    ({"solved": [False]}, {}),
    ({"solved": [False] * 2}, {"scratch-solves": DIFFERS}),
    ({"regions": [*[9] * 9, *[40] * 9]}, {}),
    ({"regions": [4] * 19}, {"scratch-categories": BETTER}),
    ({"regions": [40] * 19}, {"scratch-categories": DIFFERS}),
    ({"outwards": [0.0] * 9}, {}),
    ({"outwards": [-0.4] * 11}, {"values-outwards": DIFFERS}),
]


def test_the_criterion_is_printed_beside_the_verdict() -> None:
    claim = Claim("a", "the size", "24", "within 10%", "22", REPRODUCED)
    assert repr(claim) == "reproduced  the size: paper 24; ours 22 (reproduced if: within 10%)"


@pytest.mark.parametrize(("changes", "verdicts"), SCRATCH)
def test_runs_from_scratch_decide_their_claims_and_no_other(
    changes: dict[str, list[Any]], verdicts: dict[str, str]
) -> None:
    claims = scratch_claims(runs_like(**changes))
    assert {c.id: c.verdict for c in claims if c.verdict != REPRODUCED} == verdicts


SEEDED: list[tuple[dict[str, list[Any]], dict[str, str]]] = [
    ({}, {}),
    ({"regions": [2] * 19}, {"seeded-categories": BETTER}),
    ({"regions": [7] * 19}, {"seeded-categories": DIFFERS}),
    ({"trials": [7] * 19}, {"seeded-trials": BETTER}),
    ({"trials": [300] * 19}, {"seeded-trials": DIFFERS}),
    ({"at_ends": [False] * 16}, {}),
    ({"at_ends": [False] * 17}, {"seeded-added": DIFFERS}),
    ({"at_ends": [False] * 17, "added": [0] * 11}, {"seeded-added": BETTER}),
    ({"at_ends": [False] * 17, "added": [3] * 11}, {"seeded-added": DIFFERS}),
    ({"solved": [False] * 5, "trials": [3000] * 5}, {}),
]


@pytest.mark.parametrize(("changes", "verdicts"), SEEDED)
def test_runs_from_two_seeds_decide_their_claims_and_no_other(
    changes: dict[str, list[Any]], verdicts: dict[str, str]
) -> None:
    runs = runs_like(**{"regions": [4] * 20, **changes})
    claims = seeded_claims(runs, last_trial=100_000_001)
    assert {c.id: c.verdict for c in claims if c.verdict != REPRODUCED} == verdicts


def test_a_last_trial_that_ends_too_soon_breaks_its_claim() -> None:
    assert failing(seeded_claims(runs_like(regions=[4] * 20), last_trial=100_000_000)) == {
        "seeded-long-trial"
    }
    assert failing(seeded_claims(runs_like(regions=[4] * 20), last_trial=2001, long=2000)) == set()


def learned(points: list[list[float]], values: list[float]) -> Run:
    """Return a run with these prototypes and state values."""
    run = learn("puck", preset="paper", settings={"stage.trials": 1, "stage.cap": 5}, prototypes=points)
    q = np.array(values)[:, None] - np.array([[0.0, 1.0]])
    return run._replace(q=q)


def test_what_is_asked_of_a_run_is_read_off_its_map() -> None:
    two = [[0.268, 0.62], [-0.268, -0.62]]
    ends = [[2.37, 5.48], [-2.36, -5.48]]
    run = learned([*two, *ends], [-0.1, -0.2, -1.0, -0.9])
    facts = facts_of(run, given=2)
    assert (facts.added, facts.at_ends) == (2, True)
    assert facts.outwards == pytest.approx(-0.949, abs=0.001)
    assert not facts_of(learned([*two, ends[0], [2.36, 5.4]], [0.0] * 4), given=2).at_ends
    assert not facts_of(learned([*two, ends[0], [-2.2, -5.0]], [0.0] * 4), given=2).at_ends
    assert not facts_of(learned([*two, *ends, [0.0, 0.0]], [0.0] * 5), given=2).at_ends
    assert facts_of(learned([*two, *ends], [-1.0, -0.9, 0.0, -0.1]), given=2).outwards > 0.9
    assert facts_of(learned([*two, *ends], [0.0] * 4)).outwards == 0.0


def test_another_hill_breaks_the_claims_of_the_analysis() -> None:
    puck_map = analyse(Puck(), resolution=0.05)
    assert failing(analysis_claims(Puck(), puck_map)) == set()
    assert failing(analysis_claims(Puck(force=2.9), puck_map)) == {"balance-point"}
    crossed = puck_map._replace(codes=puck_map.codes.copy())
    crossed.codes[0, 0] = MUST_PUSH_LEFT  # at the foot of the left side, below the diagonal
    assert failing(analysis_claims(Puck(), crossed)) == {"diagonal-separates"}


CRITICS: list[tuple[list[Balanced], str]] = [
    ([Balanced(True, 13, 2000)] * 5, REPRODUCED),
    ([Balanced(True, 1, 100), Balanced(True, 25, 3900)], REPRODUCED),
    ([Balanced(True, 1, 100), Balanced(True, 26, 3900)], DIFFERS),
    ([Balanced(True, 1, 4100), Balanced(True, 25, 3901)], DIFFERS),
    ([Balanced(True, 4, 999)], BETTER),
    ([Balanced(True, 1, 100), Balanced(False, 1, 100)], DIFFERS),
]


@pytest.mark.parametrize(("balanced", "verdict"), CRITICS)
def test_critics_that_need_longer_or_fail_break_their_claim(balanced: list[Balanced], verdict: str) -> None:
    assert critic_claim(balanced).verdict == verdict


def test_claims_leave_what_they_are_given_as_it_is() -> None:
    curves, before = good_curves(), good_curves()
    assert curve_claims(curves, CAP) == curve_claims(curves, CAP)
    for name, curve in before.items():
        assert np.array_equal(curves[name].scores, curve.scores)
        assert curves[name].regions == curve.regions
