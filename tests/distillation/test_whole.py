"""A distilled run is a run: opened, explained, exported, drawn, proven, condensed; and its figures are true."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from numba import config

import distinguo as dg
from distinguo.agents.regions import RegionObservation
from distinguo.distillation.costs import Questions
from distinguo.distillation.distil import Distilled
from distinguo.distillation.fidelity import DOCUMENT, fidelity_of, gained_by, read_fidelity
from distinguo.distillation.teachers import Teacher
from distinguo.distillation.trials import CompiledTrials
from distinguo.runs.folder import FIDELITY
from distinguo.search.maps import prototype_map
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.task import transition
from distinguo.views.fidelity import fidelity_picture
from tests.distillation.common import CAR, SWINGING, SWINGS, refused
from tests.exports.test_header import STRICT, build, in_c


def folder(small: Distilled) -> Path:
    assert small.run.path is not None
    return small.run.path


# ---- the result ----------------------------------------------------------------------------------------------------


def test_two_prototypes_suffice_to_swing(swung: Distilled) -> None:
    summary = swung.run.summary
    assert swung.kept
    assert summary["prototypes"] == summary["regions"] == 2
    assert [one.size for one in swung.dial] == sorted({one.size for one in swung.dial}, reverse=True)
    assert swung.dial[0].size >= 3
    assert summary["score"] == swung.fidelity.map.mean >= swung.bar
    assert summary["teacher_score"] == swung.fidelity.teacher.mean
    assert summary["fidelity"] == swung.fidelity.on_map > 0.85
    lines = repr(swung).splitlines()
    assert len(lines) == 3
    assert lines[0].startswith(
        "swing on MountainCar-v0: 2 prototypes; 95% of the teacher's return, start by start,"
    )


def test_the_run_acts_as_the_map_does(swung: Distilled) -> None:
    chosen = next(one for one in swung.dial if one.size == 2)
    rows = np.random.default_rng(0).uniform([-1.2, -0.07], [0.6, 0.07], (200, 2))
    names = swung.run.configuration.spec.actions
    assert [swung.run.action(row) for row in rows] == [names[a] for a in chosen.map.choose(rows)]


def test_the_folder_is_opened_again(swung: Distilled) -> None:
    again = dg.open_run(folder(swung))
    assert again.summary == swung.run.summary
    np.testing.assert_array_equal(again.q, swung.run.q)
    assert again.configuration == swung.run.configuration
    assert again.reasons == swung.run.reasons
    assert again.summary["teacher"] == again.configuration.learner.teacher == "swing"


def test_the_dial_is_written(swung: Distilled) -> None:
    rows = list(csv.DictReader((folder(swung) / "dial.csv").read_text().splitlines()))
    assert [int(row["prototypes"]) for row in rows] == [one.size for one in swung.dial]


def test_a_held_puck_is_solved(held: Distilled) -> None:
    assert held.run.solved
    assert held.kept
    assert (held.bar, held.run.summary["score"]) == (2_000.0, 2_000.0)


# ---- how true it is ------------------------------------------------------------------------------------------------


def test_figures_are_those_of_a_slow_loop() -> None:
    trials = CompiledTrials(task_spec(CAR), 200)
    questions = Questions(Teacher("swing", SWINGS.predict), trials, True, np.random.default_rng(0))
    other = prototype_map(SWINGING.prototypes + np.array([0.1, 0.004]), SWINGING.actions, SWINGING.scale)
    starts = [21, 22, 23]
    taught, own = trials.follow_teacher(SWINGS.predict, [1, 2]), trials.follow(other, starts)
    fidelity = fidelity_of(other, questions, taught, own, starts)
    same, confusion = 0, np.zeros((3, 3), dtype=int)
    for row, taken in zip(own.seen, own.taken, strict=True):
        said = 2 if row[1] > 0 else 0
        same += said == taken
        confusion[said, taken] += 1
    assert 0 < same < len(own.taken)
    assert fidelity.on_map == same / len(own.taken)
    assert fidelity.confusion.tolist() == confusion.tolist()
    agreed = [other.choose(row[None])[0] == (2 if row[1] > 0 else 0) for row in taught.seen]
    assert fidelity.on_teacher == sum(agreed) / len(agreed)
    assert (fidelity.map.mean, fidelity.teacher.mean) == (own.returns.mean(), taught.returns.mean())
    assert (fidelity.map.trials, fidelity.teacher.trials) == (3, 2)
    rows = np.flatnonzero(SWINGS.predict(own.seen) != own.taken)
    known = questions.costs(own, starts, rows)
    assert known is not None
    assert fidelity.regret == pytest.approx(known[0].mean())
    assert fidelity.free == pytest.approx((known[0] <= 0.05 * known[1]).mean())
    assert fidelity.per == "trials that go on with the teacher"
    trials.close()


def test_the_interval_holds_the_mean() -> None:
    gained = gained_by(np.arange(100.0))
    assert gained.low < gained.mean == 49.5 < gained.high
    assert 8 < gained.high - gained.low < 14  # 2 · 1.96 · 28.9 / 10
    assert str(gained_by(np.array([3.0, 3.0]))) == "3 (3 to 3)"


def test_fidelity_is_written_and_read(swung: Distilled) -> None:
    known = read_fidelity(folder(swung) / FIDELITY)
    assert set(known) == set(DOCUMENT)
    assert known == json.loads(json.dumps(swung.fidelity.document()))
    assert np.sum(known["confusion"]) > len(known["seen"]) > 100


@pytest.mark.parametrize("change", [None, [], {}, "cut", "short"])
def test_damaged_fidelity_is_told(swung: Distilled, change: Any, tmp_path: Path) -> None:
    text = (folder(swung) / FIDELITY).read_text()
    broken = json.dumps(change)
    if change == "cut":
        broken = text[:-100]
    if change == "short":
        broken = json.dumps(json.loads(text) | {"agreed": [True]})
    (tmp_path / FIDELITY).write_text(broken)
    refused(lambda: read_fidelity(tmp_path / FIDELITY), FIDELITY)


# ---- what can be done with it --------------------------------------------------------------------------------------


def test_two_states_are_explained_with_a_price(swung: Distilled) -> None:
    words = repr(dg.explain(swung.run, (-0.5, 0.03), (-0.5, -0.03)))
    assert "right" in words
    assert "left" in words
    prices = [reason for reason in swung.run.reasons if reason["event"] == "price"]
    assert len(prices) == 1
    assert prices[0]["lost"] > 10
    assert f"{prices[0]['lost']:.3g}" in words


def test_the_header_does_the_same(swung: Distilled, tmp_path: Path) -> None:
    dg.export(swung.run, tmp_path / "own.h")
    program = build(tmp_path, (tmp_path / "own.h").read_text(), 2, [*STRICT, "-O2"])
    states = np.random.default_rng(0).uniform([-1.2, -0.07], [0.6, 0.07], (5_000, 2))
    chosen = next(one for one in swung.dial if one.size == 2)
    actions = in_c(program, states)[:, 1]
    np.testing.assert_array_equal(actions, chosen.map.choose(states))
    assert set(actions.tolist()) == {0, 2}


@pytest.mark.parametrize("view", ["partition", "dial", "fidelity"])
def test_it_is_drawn(swung: Distilled, view: str, tmp_path: Path) -> None:
    dg.show(swung.run, view, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 5_000
    dg.show(folder(swung), view)


def test_the_picture_tells_where_they_disagree(swung: Distilled) -> None:
    picture = fidelity_picture(swung.run)
    known = read_fidelity(folder(swung) / FIDELITY)
    assert len(picture.disagreed) == known["agreed"].count(False)
    assert len(picture.agreed) == known["agreed"].count(True)
    assert picture.actions == ("left", "none", "right")
    for counts, shares in zip(known["confusion"], picture.shares, strict=True):
        assert sum(shares) == pytest.approx(1.0 if sum(counts) else 0.0)
    assert picture.title == "swing: where the map does otherwise"
    assert f"agree in {swung.fidelity.on_map:.1%} of the map's states" in picture.note


def test_a_run_that_was_not_distilled_has_no_fidelity(swung: Distilled) -> None:
    refused(lambda: dg.show(swung.run._replace(path=None), "fidelity"), "This run has no fidelity")


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="many cells")
def test_a_held_puck_is_proven(held: Distilled, tmp_path: Path) -> None:
    proof = dg.verify(held.run, cells=40_000, out=tmp_path)
    assert proof.holds
    assert proof.checked
    assert proof.share > 0.5


def test_it_is_audited_by_trials_that_go_on_with_it(swung: Distilled) -> None:
    audit = dg.audit(swung.run, visits=300)
    spec, map_ = swung.run.configuration.spec, next(n.map for n in swung.dial if n.size == 2)
    for n in (0, 40, 120, 299):
        for a in range(3):
            s, gained, terminal = transition(spec.task, tuple(audit.states[n]), a)
            steps = 1
            while not terminal and steps < spec.limit:
                s, reward, terminal = transition(spec.task, s, int(map_.choose(np.array([s]))[0]))
                gained, steps = gained + reward, steps + 1
            assert audit.q1[n, a] == gained
        taken = int(map_.choose(audit.observations[n : n + 1])[0])
        assert audit.regret[n] == pytest.approx(audit.q1[n].max() - audit.q1[n, taken])
    assert audit.epsilon == pytest.approx(0.05 * audit.stakes.mean())
    assert audit.policy_failures == (audit.regret > audit.epsilon).sum() < 300
    assert audit.value_failures == 0
    strict, mild = (dg.audit(swung.run, visits=300, epsilon=epsilon) for epsilon in (0.0, 1e3))
    assert strict.adequate <= audit.adequate <= mild.adequate == 1.0
    refused(lambda: dg.audit(swung.run, epsilon=-1.0), "epsilon of an audit should be a finite number from 0")


def test_its_regions_are_observations_for_others(swung: Distilled) -> None:
    env = RegionObservation(gymnasium.make(CAR), folder(swung))
    assert env.observation_space == gymnasium.spaces.Discrete(2)
    fast, back = (env.observation(np.array([-0.5, v], dtype=np.float32)) for v in (0.05, -0.05))
    assert {int(fast), int(back)} == {0, 1}


def test_it_is_condensed(swung: Distilled) -> None:
    condensed = dg.condense(swung.run)
    assert len(condensed.controller.partition.prototypes) <= 2
    assert condensed.dial[0].size == 2


def test_it_is_reported(swung: Distilled, tmp_path: Path) -> None:
    page = dg.report(swung.run, tmp_path / "report.html").read_text()
    assert "MountainCar-v0" in page
    assert "Kept: distilled from swing, whose mean return is" in page
    assert "Where the map does what its teacher does" in page
    assert "The mean return of the best map of every size" in page
    assert "Not solved within the budget" not in page
    assert "no trials to show" not in page
    assert "Traceback" not in page
