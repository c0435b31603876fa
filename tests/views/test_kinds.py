"""Pictures beside the plain map agree with the definitions of what they show."""

from __future__ import annotations

from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest

import distinguo
from distinguo.errors import DistinguoError
from distinguo.explanations.family import family
from distinguo.runs.run import Run
from distinguo.tasks.puck.analysis import MUST_PUSH_LEFT, MUST_PUSH_RIGHT, classify
from distinguo.tasks.puck.puck import Puck
from distinguo.tasks.task import transition
from distinguo.views.curves import dial_of
from distinguo.views.family import family_picture, frame_pictures, frames_of
from distinguo.views.pictures import partition_picture, plane_of, votes_of
from distinguo.views.plots import draw, rendered
from distinguo.views.states import critical_picture, phase_picture, regret_picture, visited_regret
from tests.views.runs import EIGHT, made_up


@pytest.fixture(scope="module")
def learned() -> Run:
    return distinguo.learn("puck", seed=1, settings={"stage.cap": 2000, "stage.hold": 2000})


# The two coordinates that matter.


@pytest.mark.parametrize("seed", range(3))
def test_the_coordinates_shown_are_those_that_incompatible_pairs_differ_along_most(seed: int) -> None:
    run = made_up("CartPole-v1", 12, seed)
    partition, controller = run.representation.partition, run.controller
    counts = np.zeros(4, dtype=int)
    for j, k in combinations(range(run.representation.regions), 2):
        if set(np.flatnonzero(controller.action_sets[j])) == set(np.flatnonzero(controller.action_sets[k])):
            continue
        rows = partition.prototypes[partition.primaries[[j, k]]] / partition.scale
        squares = (rows[0] - rows[1]) ** 2
        counts += squares >= squares.sum() / 4
    votes = votes_of(run.representation, controller)
    assert votes is not None
    assert np.floor(votes).tolist() == counts.tolist()  # what is left of them decides between equal ones
    shown = partition_picture(run).plane.axes
    others = [n for i, n in enumerate(counts) if i not in shown]
    assert min(counts[list(shown)]) >= max(others)


def test_a_map_that_turns_on_two_coordinates_is_shown_by_them() -> None:
    """The prototypes are spread most along x and v, but only angle and its speed change what is done."""
    run = made_up("CartPole-v1", 60, merged=0.0)
    partition = run.representation.partition
    points = partition.prototypes
    points[::2, :2] = 10 * points[1::2, :2]  # pairs far apart in x and v …
    right = points[:, 2] / partition.scale[2] + points[:, 3] / partition.scale[3] > 0
    points[:, :2] = np.where(right[:, None], points[:, :2] * 0 + 0.1, points[:, :2] * 0)
    steered = run._replace(q=np.where(right[:, None], [0.0, 1.0], [1.0, 0.0]))
    assert plane_of(steered.representation, run.configuration.spec, steered.controller).axes == (2, 3)


# The phase plane.


def test_arrows_are_the_steps_of_the_greedy_policy(learned: Run) -> None:
    picture = phase_picture(learned)
    for arrow in picture.arrows[::7]:
        after, _, _ = transition(Puck(), arrow.at, learned.controller.action(arrow.at))
        assert np.allclose(np.add(arrow.at, arrow.by), after)
    for trail in picture.trails:
        for here, there in pairwise(trail[:5]):
            assert transition(Puck(), here, learned.controller.action(here))[0] == pytest.approx(there)
    assert len(draw(picture).axes) == 1


def test_where_states_cannot_be_set_there_are_trials_but_no_arrows() -> None:
    picture = phase_picture(made_up(EIGHT, 5))
    assert picture.arrows == ()
    assert len(picture.trails) == 5
    assert "trials leave the slice" in picture.partition.note


def test_categories_have_no_phase_plane() -> None:
    with pytest.raises(DistinguoError, match="needs a task that observes at least two numbers"):
        phase_picture(made_up("FrozenLake-v1", 4))


# Critical states.


def test_critical_states_are_those_of_the_analysis(learned: Run) -> None:
    picture = critical_picture(learned, across=30, upwards=60)
    kinds = {(0,): MUST_PUSH_LEFT, (1,): MUST_PUSH_RIGHT}
    assert {state.saving for state in picture.states} == set(kinds)
    for state in picture.states:
        assert classify(Puck(), state.at) == kinds[state.saving]
    wide, tall = picture.pitch
    low = picture.partition.low
    grid = [(low[0] + (i + 0.5) * wide, low[1] + (j + 0.5) * tall) for i in range(30) for j in range(60)]
    critical = sum(classify(Puck(), place) in kinds.values() for place in grid)
    assert critical == len(picture.states)
    assert len(picture.partition.trail) == 301


def test_a_task_that_does_not_say_what_can_be_held_has_none() -> None:
    with pytest.raises(DistinguoError, match="does not say which states can be held"):
        critical_picture(made_up("MountainCar-v0", 3))


# The regret map.


def test_the_regret_map_is_the_audit(learned: Run) -> None:
    one = learned._replace(q=learned.q[:, ::-1].copy())  # does the opposite everywhere
    picture = regret_picture(one)
    findings = distinguo.audit(one, states=picture.places)
    assert picture.regrets == tuple(findings.regret.tolist())
    assert max(picture.regrets) > 0.5
    assert all(classify(Puck(), place) for place in picture.places)  # none is doomed
    assert (
        picture.partition.note == f"{findings.adequate:.1%} of {len(picture.places)} states are 0.1-adequate"
    )
    visits = distinguo.audit(one, visits=50)
    assert visited_regret(one, visits).places == tuple(map(tuple, visits.observations.tolist()))
    draw(picture)


# The family.


def test_the_family_tree_is_that_of_the_reasons(learned: Run) -> None:
    picture, known = family_picture(learned), family(learned)
    assert sorted(branch.row for branch in picture.branches) == list(range(len(known.members)))
    for branch in picture.branches:
        member = known.members[branch.prototype]
        assert (branch.parent, branch.region) == (member.parent, member.region)
        assert branch.born == (member.event.trial if member.event else 0)
    rows = {branch.prototype: branch.row for branch in picture.branches}
    assert all(rows[b.parent] < b.row for b in picture.branches if b.parent is not None)
    assert draw(picture).axes[0].get_xlabel() == "trial"


# The dial.


def test_the_dial_counts_regions_by_epsilon(learned: Run) -> None:
    picture = dial_of(learned)
    assert picture.by_epsilon[0] == (0.0, learned.representation.regions)
    assert [n for _, n in picture.by_epsilon] == sorted((n for _, n in picture.by_epsilon), reverse=True)
    draw(picture)


def test_the_dial_of_a_condensed_run_is_the_table_in_its_folder(learned: Run, tmp_path: Path) -> None:
    run = made_up("CartPole-v1", 3)._replace(path=tmp_path)
    table = tmp_path / "dial.csv"
    table.write_text(
        "prototypes,mean_return,standard_error,trials,chosen\n3,490.0,1.0,100,0\n2,480.0,2.0,100,1\n1,30.0,1.0,100,0\n"
    )
    picture = dial_of(run)
    assert (picture.sizes, picture.chosen, picture.bar) == ((1, 2, 3), 2, 475.0)
    for odd in (
        "prototypes\n3\n",
        "prototypes,mean_return,standard_error,trials,chosen\n3,nan,1,100,1\n",
        "",
    ):
        table.write_text(odd)
        with pytest.raises(DistinguoError, match=r"dial\.csv is damaged"):
            dial_of(run)


# The history.


def test_maps_on_the_way_are_those_of_the_frames(learned: Run) -> None:
    frames, pictures = frames_of(learned.history), frame_pictures(learned)
    counts = [frame.representation.regions for frame in frames]
    assert all(one != other for one, other in pairwise(counts))
    assert counts[-1] == learned.representation.regions
    for frame, picture in zip(frames, pictures, strict=True):
        assert len({cell.region for cell in picture.cells}) == frame.representation.regions


def test_drawings_are_the_same_every_time(learned: Run) -> None:
    picture = family_picture(learned)
    one, other = (rendered(draw(picture), ".svg") for _ in range(2))
    assert one == other
    assert b"<dc:date>" not in one
