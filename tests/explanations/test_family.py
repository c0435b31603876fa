"""Families of regions from logs that were written by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

import distinguo as dg
from distinguo.explanations.distinctions import distinctions
from distinguo.explanations.explain import explain
from distinguo.explanations.family import family
from distinguo.representations.voronoi import voronoi
from distinguo.runs.run import Run
from tests.explanations.maps import FOLDERS

POINTS = [[0.0, 0.0], [1.0, 1.0], [-1.0, 1.0], [0.5, -1.0]]


def entry(event: str, trial: int, older: int, younger: int, rules: list[str] | None = None) -> dict[str, Any]:
    return {
        "event": event,
        "trial": trial,
        "step": 10 * trial,
        "prototypes": [older, younger],
        "states": [POINTS[older], POINTS[younger]],
        "profiles": [[-0.1 * older, -0.5], [-0.1 * younger, -0.5]],
        "rules": ["value (Eq. 4)"] if rules is None else rules,
        "regret": 0.1 * trial,
    }


def run_of(primary: list[int], *entries: dict[str, Any]) -> Run:
    """Return a run of the puck with these prototypes, merged like this, and this log."""
    run = dg.open_run(FOLDERS["puck-7"])
    partition = voronoi(POINTS[: len(primary)], [4.8, 11.0], primary)
    count = len(partition.primaries)
    q = np.arange(2.0 * count).reshape(count, 2)
    representation = run.representation._replace(partition=partition)
    updates = np.full(q.shape, 9)
    return run._replace(representation=representation, q=q, updates=updates, reasons=list(entries))


def test_a_merge_takes_all_prototypes_of_a_region_along() -> None:
    split = [entry("split", 1, 0, 1), entry("split", 1, 1, 2), entry("split", 2, 2, 3)]
    merges = [entry("merge", 2, 2, 3, []), entry("merge", 3, 1, 2, []), entry("merge", 4, 0, 1, [])]
    tree = family(run_of([0, 0, 0, 0], *split, *merges))
    *_, (_, primaries) = tree.replayed()
    assert primaries == {0: 0, 1: 0, 2: 0, 3: 0}
    joined = tree.joining(0, 2)
    assert joined is not None
    assert (joined.trial, joined.prototypes) == (4, (0, 1))
    turned = tree.joining(2, 0)
    assert turned is not None
    assert (turned.trial, turned.prototypes) == (4, (1, 0))
    direct = tree.joining(1, 2)
    assert direct is not None
    assert direct.trial == 3
    last = tree.joining(3, 0)
    assert last is not None
    assert (last.trial, last.prototypes) == (4, (1, 0))


def test_what_was_detached_again_parted_then() -> None:
    log = [entry("split", 1, 0, 1), entry("merge", 2, 0, 1, []), entry("detach", 5, 0, 1, ["policy (Eq. 3)"])]
    run = run_of([0, 1], *log)
    tree = family(run)
    assert tree.members[1].came == "detach"
    assert tree.joining(0, 1) is None
    parted = tree.parting(0, 1)
    assert parted is not None
    assert (parted.event, parted.trial) == ("detach", 5)
    why = explain(run, POINTS[1], POINTS[0])
    assert any("was detached again from region 0" in sentence for sentence in why.sentences)
    assert why.document()["profiles"]["then"]["values"] == [[-0.1, -0.5], [0.0, -0.5]]


def test_of_two_that_left_a_third_the_first_made_the_difference() -> None:
    tree = family(
        run_of([0, 1, 2, 3], entry("split", 1, 0, 1), entry("split", 4, 0, 2), entry("split", 6, 1, 3))
    )
    assert tree.line(3) == [3, 1, 0]
    assert [member.prototype for member in tree.children(0)] == [1, 2]
    for pair, trial, seen in (
        ((1, 2), 1, (1, 0)),
        ((2, 1), 1, (0, 1)),
        ((2, 3), 1, (0, 1)),
        ((3, 0), 1, (1, 0)),
    ):
        parted = tree.parting(*pair)
        assert parted is not None
        assert (parted.trial, parted.prototypes) == (trial, seen)
    direct = tree.parting(3, 1)
    assert direct is not None
    assert (direct.trial, direct.profiles[0]) == (6, (-0.1 * 3, -0.5))


def test_who_was_given_has_no_parent() -> None:
    run = run_of([0, 1])
    given = run._replace(configuration=run.configuration._replace(prototypes=((0.0, 0.0), (1.0, 1.0))))
    assert [member.came for member in family(given).members] == ["given", "given"]
    assert family(given).parting(0, 1) is None
    assert [member.came for member in family(run).members] == ["first", "found"]
    assert family(given).children(None) == family(given).members


def test_a_split_by_surprise_alone_has_that_for_its_rule() -> None:
    run = run_of([0, 1], entry("split", 3, 0, 1, []))
    (found,) = distinctions(run)
    assert found.rules == ("surprise (section 5.4)",)
    assert family(run).document()[1]["rules"] == ["surprise (section 5.4)"]


def test_a_map_without_prototypes_has_no_family() -> None:
    run = dg.open_run(FOLDERS["puck-7"])
    boxes = run.representation._replace(partition=dg.grid([2, 1], [-2.4, -5.5], [2.4, 5.5]))
    flat = run._replace(representation=boxes, q=np.eye(2), updates=np.ones((2, 2), dtype=int))
    assert family(flat).members == ()
    (found,) = distinctions(flat)
    assert found.is_explained
    assert found.prototypes == (None, None)
    assert found.then is None
