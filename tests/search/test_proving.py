"""Learn until proven: disturbed trials against a plain simulation, the race against eigenvalues, whole runs."""

import json
import math
import sys
from typing import NamedTuple

import numpy as np
import pytest
from benchmarks.proven_laws import DrivenCart, HeldPendulum

import distinguo as dg
from distinguo.cli import main
from distinguo.errors import DistinguoError
from distinguo.proof.certificate import read_certificate
from distinguo.proof.declared.sliding import sliding
from distinguo.proof.number.program import program_of
from distinguo.proof.verify import refusal_in, refusal_of
from distinguo.runs.configuration import configure, to_be_proven
from distinguo.runs.learn import learn_configured
from distinguo.search import proving
from distinguo.search.maps import controller_of, prototype_map, set_action
from distinguo.search.margins import (
    KICK,
    PATTERN,
    WORLDS,
    PushedTrials,
    pushed_score,
    pushes_for,
    worlds_within,
)
from distinguo.search.proving import Verdict, learn_until_proven
from distinguo.tasks.amounts import with_laws
from distinguo.tasks.cart_pole import CartPole
from distinguo.tasks.catalog import spec_of, task_spec
from distinguo.tasks.task import start, transition
from distinguo.views.words import _PARTS, proof_sentence
from tests.search.plants import Sled

POLE = CartPole()
#: Found by the learner probation: its trials reach the time limit, and it drifts away slowly.
DRIFTS = prototype_map([[0.02, 0.05, -0.02, -0.25], [-0.03, -0.1, 0.05, 0.3]], [0, 1], [2.0, 1.3, 0.35, 1.5])


def _plain(first, cap, pushes, size, n):
    """The same disturbed trial, in plain Python; also the shortest distance between the two prototypes' distances."""
    noise, at = pushes.noise, int(pushes.phase[n])
    s = tuple(float(x) for x in first + KICK * size * noise[at])
    for length in range(1, cap + 1):
        seen = np.array([float(np.float32(x)) for x in s])
        nearest = (((seen - DRIFTS.prototypes) * DRIFTS.partition.weight) ** 2).sum(axis=1).argmin()
        s, _, terminal = transition(POLE, s, int(DRIFTS.actions[nearest]))
        if terminal:
            return length
        push = size * (pushes.lean[n] + noise[(at + length) % PATTERN])
        s = tuple(float(x) for x in np.array(s) + push)
    return cap


def test_disturbed_trials_are_those_of_a_plain_simulation():
    rng = np.random.default_rng(3)
    first = np.array([start(POLE, rng) for _ in range(8)])
    pushes, worlds = pushes_for(8, 4, rng), worlds_within(POLE, {}, 4, 4, rng)
    for scale in (0.0, 0.003, 0.02):
        size = scale * np.array([1.0, 1.0, 0.2, 1.0])
        lengths = [_plain(first[n], 300, pushes, size, n) for n in range(8)]
        score, steps = pushed_score(worlds, DRIFTS, PushedTrials(first, 300, True), pushes, size)
        assert steps == sum(lengths)
        assert score == pytest.approx(sum(lengths) / 2400, abs=1e-12)
        saved = sum(300 - length if length < 300 else 0 for length in lengths)
        ended, _ = pushed_score(worlds, DRIFTS, PushedTrials(first, 300, False), pushes, size)
        assert ended == pytest.approx(saved / 2400, abs=1e-12)


def test_parameters_in_ranges_are_held_or_changed_at_each_step():
    """Trials with the values of a world are those of a task with these values."""
    rng, ranges = np.random.default_rng(5), {"push": (1.2, 2.8)}
    worlds = worlds_within(Sled(), ranges, 2, 2, rng)
    first = rng.uniform(-0.9, 0.9, (40, 2))
    pushes, still = pushes_for(40, 2, rng, one_world=False), np.zeros(2)
    assert set(pushes.stays.tolist()) <= {-1, *range(WORLDS)}
    assert 12 <= (pushes.stays < 0).sum() <= 28
    given = prototype_map([[0.15, 0.5], [-0.15, -0.5]], [1, 0], [1.0, 1.0])  # pushes to the wall
    ends = ranges["push"]  # the first worlds are the corners

    def plain(s, pushed_at):
        for length in range(40):
            action = int(((s - [0.15, 0.5]) ** 2).sum() <= ((s - [-0.15, -0.5]) ** 2).sum())
            after, _, terminal = transition(Sled(push=pushed_at(length)), tuple(s), action)
            s = np.array(after)
            if terminal:
                return length + 1
        return 40

    asked, scores = PushedTrials(first, 40, True), []
    for world, end in enumerate(ends):
        one = pushes._replace(stays=np.full(40, world))
        scores.append(pushed_score(worlds, given, asked, one, still)[0])
        lengths = [plain(s, lambda _, end=end: end) for s in first]
        assert scores[-1] == pytest.approx(np.mean(lengths) / 40, abs=1e-12)
    both = pushes._replace(stays=np.full(40, -1), which=rng.integers(2, size=PATTERN))
    score, _ = pushed_score(worlds, given, asked, both, still)
    at = [lambda k, begin=begin: ends[both.which[(begin + k) % PATTERN]] for begin in pushes.phase]
    assert score == pytest.approx(
        np.mean([plain(*one) for one in zip(first, at, strict=True)]) / 40, abs=1e-12
    )
    assert len({*scores, score}) == 3


def test_trials_are_given_up_only_when_a_score_cannot_be_reached():
    rng = np.random.default_rng(3)
    asked = PushedTrials(np.array([start(POLE, rng) for _ in range(20)]), 500, True)
    pushes, worlds = pushes_for(20, 4, rng), worlds_within(POLE, {}, 4, 4, rng)
    size = 0.02 * np.array([1.0, 1.0, 0.2, 1.0])
    whole, steps = pushed_score(worlds, DRIFTS, asked, pushes, size)
    assert 0.0 < whole < 1.0
    assert pushed_score(worlds, DRIFTS, asked, pushes, size, whole - 1e-9) == (whole, steps)
    given_up, fewer = pushed_score(worlds, DRIFTS, asked, pushes, size, whole + 0.1)
    assert given_up < whole + 0.1
    assert fewer < steps


@pytest.mark.second_stage
def test_the_race_finds_a_map_whose_sliding_contracts():
    """The race knows nothing of eigenvalues, and no trial of it is long enough to show the drift as a failure."""
    spec, program = task_spec("CartPole-v1"), program_of(POLE)
    before = sliding(program, controller_of(DRIFTS, 2))
    assert before is not None
    asked = []

    def contracts(controller):
        found = sliding(program, controller)
        asked.append(1.0 if found is None else found.modulus)
        return Verdict(asked[-1] < 0.995, 0.0)

    made = learn_until_proven(
        spec, controller_of(DRIFTS, 2), seed=0, most_steps=10**9, hold=500, prove=contracts
    )
    assert asked[0] > 1.0
    assert made.verdict.proven
    assert made.changed
    assert asked[-1] < 0.995
    assert made.proofs == len(asked)
    assert len(made.controller.partition.prototypes) <= 4
    rng = np.random.default_rng(99)
    worlds = worlds_within(POLE, {}, 4, 4, rng)
    fresh = PushedTrials(np.array([start(POLE, rng) for _ in range(100)]), 500, True)
    found = prototype_map(
        made.controller.partition.prototypes, [0] * len(made.controller.partition.regions), [1.0] * 4
    )
    assert found.size == len(made.controller.partition.prototypes)
    score, _ = pushed_score(
        worlds, proving.map_of(made.controller), fresh, pushes_for(100, 4, rng), np.zeros(4)
    )
    assert score == 1.0  # the return target is kept


def test_a_budget_ends_the_race_and_the_first_map_stays():
    spec, refused = task_spec("CartPole-v1"), Verdict(False, 0.0)
    first = controller_of(DRIFTS, 2)
    made = learn_until_proven(
        spec, first, seed=0, most_steps=10**6, hold=500, prove=lambda controller: refused
    )
    assert not made.verdict.proven
    assert made.controller is first
    assert 10**6 <= made.steps < 10**6 + 2 * proving.TRIALS * proving.CAP


def test_a_map_that_loses_the_target_is_not_put_to_the_prover(monkeypatch):
    spec = task_spec("CartPole-v1")
    asked = []

    def never(controller):
        asked.append(controller)
        return Verdict(False, 0.0)

    monkeypatch.setattr(proving.ProvingRace, "keeps_target", lambda self, hold: False)
    made = learn_until_proven(spec, controller_of(DRIFTS, 2), seed=0, most_steps=10**7, hold=500, prove=never)
    assert len(asked) == 1 == made.proofs


def test_a_map_proven_as_it_comes_is_raced_for_a_margin_and_then_widened_from_there(monkeypatch):
    """A margin that costs proven states is given up; what was proven is still widened."""
    first = controller_of(prototype_map([[0.15, 0.5], [-0.15, -0.5]], [0, 1], [1.0, 1.0]), 2)
    monkeypatch.setattr(proving, "PATIENCE", 3)
    answers, maps, sizes = iter([0.5, 0.4, 0.6, 0.6]), [], []

    def prove(controller):
        maps.append(controller)
        return Verdict(True, 1.0, held=next(answers))

    begin = proving.ProvingRace.go_on

    def go_on(self, latest, watch):
        before = self.size, self.map
        more = begin(self, latest, watch)
        sizes.append((*before, self.size))
        return more

    monkeypatch.setattr(proving.ProvingRace, "go_on", go_on)
    made = learn_until_proven(spec_of(Sled()), first, seed=0, most_steps=10**9, hold=100, prove=prove)
    assert made.verdict.held == 0.6
    assert made.controller is maps[2]
    assert made.proofs == 4
    (_, _, grown), (again, from_map, after), _ = sizes
    assert grown > proving.SIZE == again == after
    assert from_map.prototypes.tolist() == first.partition.prototypes.tolist()


def test_once_the_target_was_lost_it_comes_before_any_margin():
    """The corners of the starts are among the trials that show it."""
    spec = task_spec("CartPole-v1")
    good = prototype_map([[0.01, 0.02, 0.2, 0.04], [-0.01, -0.02, -0.2, -0.04]], [1, 0], [1.0] * 4)
    work = proving.ProvingRace(spec, good, seed=0, lasts=True, most_steps=10**9)
    assert np.abs(work.target.first).max(axis=0) == pytest.approx([0.05] * 4)
    falls = good.changed(set_action, 0, 1 - int(good.actions[0]))
    work.size = 0.02
    keeps, loses = work._scored(good), work._scored(falls)
    assert loses < keeps <= 1.0
    work.most_steps = 0
    assert not work.go_on(Verdict(False, 0.0, why=proving.LOST), lambda _: None)
    work.size = 0.02
    assert work._scored(good) == pytest.approx(keeps + proving.COUNTS, abs=1e-12)
    assert work._scored(falls) < loses + 0.2 * proving.COUNTS
    assert work._scored(falls, proving.COUNTS) < 0.2 * proving.COUNTS  # given up early


@pytest.mark.second_stage
def test_of_maps_that_are_proven_the_one_that_holds_more_is_kept():
    """The first map is proven from all starts, and gives up many states that others hold."""
    spec = spec_of(Sled())
    careless = prototype_map([[0.15, 0.5], [-0.15, -0.5], [-1.0, -1.0]], [0, 1, 0], [1.0, 1.0])
    first = proving.ask_prover(spec, controller_of(careless, 2), seed=0)
    assert first.proven
    made = learn_until_proven(spec, controller_of(careless, 2), seed=0, most_steps=10**9, hold=20_000)
    assert made.verdict.proven
    assert made.verdict.held > 1.05 * first.held
    states = np.random.default_rng(1).uniform(spec.low, spec.high, (1_000, 2))
    held = [float(one.finding.attempt.holds(states).mean()) for one in (first, made.verdict)]
    assert held[1] > held[0]
    assert held == pytest.approx([first.held, made.verdict.held], abs=0.05)


@pytest.mark.second_stage
def test_what_does_not_hold_yet_is_changed_until_it_is_proven():
    settings = {"stage.steps": 300, "stage.cap": 20_000, "stage.hold": 20_000}
    run = dg.learn(Sled(), seed=0, learner="probation", prove=True, settings=settings)
    assert run.summary["final_trial_steps"] == 0  # the learner did not hold it
    assert run.solved
    assert run.summary["score"] == 20_000
    assert run.summary["proven"]
    assert "not_solved" not in run.summary


# ---- whole runs ----------------------------------------------------------------------------------------------------


def _files(path):
    names = ("representation.json", "values.npz", "certificate.json", "reasons.jsonl", "history.jsonl")
    result = json.loads((path / "result.json").read_text())
    timed = ("seconds", "proof_seconds", "prover_seconds")
    return {name: (path / name).read_bytes() for name in names}, {
        name: value for name, value in result.items() if name not in timed
    }


def _asked():
    changes = {"stage.hold": 20_000, "stage.cap": 20_000}
    return to_be_proven(configure(spec_of(Sled()), seed=0, changes=changes, learner="probation"))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return learn_configured(_asked(), tmp_path_factory.mktemp("proven") / "run")


def test_a_run_is_learned_until_it_is_proven(run):
    summary = run.summary
    assert run.solved
    assert summary["proven"] is True
    assert summary["proven_share"] == 1.0
    assert summary["proof_steps"] > 0
    assert summary["total_steps"] == sum(summary.get(name, 0) for name in _PARTS)
    data = (run.path / summary["certificate"]).read_bytes()
    assert refusal_of(data, run.controller, Sled()) is None
    opened = dg.open_run(run.path, task=Sled())
    assert refusal_of(data, opened.controller, Sled()) is None


def test_a_run_that_is_stopped_while_it_is_proven_ends_the_same(run, tmp_path):
    class Stopped(Exception):
        pass

    def stop(stage):
        if stage.proving:
            raise Stopped

    path = tmp_path / "run"
    with pytest.raises(Stopped):
        learn_configured(_asked(), path, stop)
    assert (path / "representation.json").exists()  # what is solved is kept
    assert not (path / "result.json").exists()
    learn_configured(_asked(), path)
    assert _files(path) == _files(run.path)


@pytest.mark.second_stage
def test_a_changed_map_has_its_own_values_and_no_reasons_of_another(monkeypatch, tmp_path):
    real, refused = proving.ask_prover, []

    def second(spec, controller, seed, ranges):
        if len(refused) < 1:
            refused.append(controller)
            return Verdict(False, 0.0)
        return real(spec, controller, seed, ranges)

    monkeypatch.setattr(proving, "ask_prover", second)
    made = learn_configured(_asked(), tmp_path / "run")
    assert made.summary["proofs"] >= 2  # a proven map is raced on for one that holds more
    assert made.summary["proven"]
    opened = dg.open_run(made.path, task=Sled())
    before, after = refused[0].partition, opened.controller.partition
    assert not (
        before.prototypes.shape == after.prototypes.shape
        and (before.prototypes == after.prototypes).all()
        and (before.weight == after.weight).all()
    )
    assert {reason["event"] for reason in opened.reasons} == {"price"}
    assert refusal_of((made.path / "certificate.json").read_bytes(), opened.controller, Sled()) is None
    assert opened.history[-1].representation.partition.prototypes.tolist() == after.prototypes.tolist()


def test_a_solved_run_that_is_not_proven_says_so(monkeypatch):
    refused = Verdict(False, 0.25, why="No.")
    monkeypatch.setattr(proving, "ask_prover", lambda spec, controller, seed, ranges: refused)
    settings = {"stage.hold": 20_000, "stage.cap": 20_000, "stage.prove_steps": 1}
    run = dg.learn(Sled(), seed=0, learner="probation", prove=True, settings=settings)
    assert run.solved
    assert not run.summary["proven"]
    assert run.summary["proven_share"] == 0.25
    assert "certificate" not in run.summary


@pytest.mark.parametrize(("proven", "code"), [(True, 0), (False, 6)])
def test_the_exit_code_and_a_sentence_say_whether_it_is_proven(proven, code, monkeypatch, tmp_path, capsys):
    verdict = Verdict(proven, 1.0 if proven else 0.5, why="" if proven else "Too close to the wall.")
    monkeypatch.setattr(proving, "ask_prover", lambda spec, controller, seed, ranges: verdict)
    words = ["puck", "--seed", "1", "--prove", "--range", "mass=0.99:1.01", "--out", str(tmp_path / "run")]
    short = ["stage.cap=2000", "stage.hold=2000", "stage.prove_steps=1"]
    words += [word for setting in short for word in ("--set", setting)]
    monkeypatch.setattr(sys, "argv", ["distinguo", "learn", *words])
    try:
        main()
        end = 0
    except SystemExit as error:
        end = error.code
    assert (end or 0) == code
    said = " ".join(capsys.readouterr().out.split())
    assert ("Proven from every start, for mass from 0.99 to 1.01 at each step" in said) == proven
    assert ("only 50.0% of the starts are" in said and "Too close to the wall." in said) != proven


@dg.task(states=tuple("abcdef"), actions=("left", "right"), low=(-1,) * 6, high=(1,) * 6)
class Six(NamedTuple):
    """Too many dimensions."""

    push: float = 1.0

    def transition(self, s, a):
        v = s[1] + 0.05 * (self.push if a == 1 else -self.push)
        x = s[0] + 0.05 * v
        return (x, v, s[2], s[3], s[4], s[5]), 0.0, math.fabs(x) > 1.0

    def start(self, rng):
        return (rng.uniform(-0.2, 0.2), 0.0, 0.0, 0.0, 0.0, 0.0)


@pytest.mark.second_stage
def test_a_run_is_proven_for_parameters_in_ranges(tmp_path):
    """What holds for the declared push alone is not enough, and the file is what verify writes for the range."""
    ranges = {"push": (1.9, 2.1)}
    settings = {"stage.hold": 20_000, "stage.cap": 20_000}
    run = dg.learn(
        Sled(),
        seed=0,
        learner="probation",
        prove=True,
        ranges=ranges,
        settings=settings,
        out=tmp_path / "run",
    )
    assert run.summary["proven"]
    assert run.summary["certificate"] == "certificate-push-1.9-2.1.json"
    task = read_certificate((run.path / run.summary["certificate"]).read_bytes()).task
    assert (task.low, task.high) == ({"push": 1.9}, {"push": 2.1})
    assert run.configuration.stage.prove_ranges == "push=1.9:2.1"
    assert "for push from 1.9 to 2.1" in proof_sentence(run)
    again = dg.verify(run, ranges=ranges, out=tmp_path / "again")
    assert again.holds
    assert again.filed.path.name == run.summary["certificate"]
    wide = spec_of(Sled())
    only_so = proving.ask_prover(wide, run.controller, 0)
    assert only_so.proven
    assert not proving.ask_prover(wide, run.controller, 0, {"push": (0.0, 2.1)}).proven


@pytest.mark.parametrize(
    ("ranges", "why"),
    [
        ({"pull": (1.9, 2.1)}, "Sled has no parameter pull that can be in a range; known: push"),
        ({"push": (2.1, 2.2)}, "push is 2.0 where Sled is learned, so its range should include that"),
        ({"push": (2.1, 1.9)}, "The range of push should be a pair of numbers"),
        ({"push": (1.9, math.inf)}, "The range of push should be a pair of numbers"),
    ],
)
def test_wrong_ranges_are_refused_before_it_is_learned(ranges, why):
    with pytest.raises(DistinguoError, match=why):
        dg.learn(Sled(), prove=True, ranges=ranges)


def test_ranges_are_for_what_is_proven():
    with pytest.raises(DistinguoError, match="add prove=True"):
        dg.learn(Sled(), ranges={"push": (1.9, 2.1)})
    with pytest.raises(DistinguoError, match=r"set stage\.prove_steps"):
        dg.learn(Sled(), settings={"stage.prove_ranges": "push=1.9:2.1"})
    with pytest.raises(DistinguoError, match="NAME=LOW:HIGH"):
        dg.learn(Sled(), prove=True, settings={"stage.prove_ranges": "push=1.9"})
    with pytest.raises(DistinguoError, match="ranges means nothing for MountainCar-v0"):
        dg.learn("MountainCar-v0", prove=True, ranges={"force": (0.001, 0.002)})


def test_what_cannot_be_proven_is_refused_before_it_is_learned():
    with pytest.raises(DistinguoError, match=r"6 dimensions.*Leave prove out"):
        dg.learn(Six(), prove=True)


@pytest.mark.second_stage
@pytest.mark.parametrize("plant", [DrivenCart(), HeldPendulum()])
def test_a_law_is_proven_as_it_is_learned(plant, tmp_path):
    """The learner is chosen by itself; the certificate in the folder is about the run's laws."""
    run = dg.learn(plant, prove=True, seed=11, out=tmp_path / "run")
    assert run.summary["proven"]
    assert run.summary["solved"]
    assert run.summary["proofs"] == 1
    assert dg.verify(tmp_path / "run", task=plant).holds
    path = tmp_path / "run" / "certificate.json"
    assert refusal_in(path, run.controller, run.configuration.spec.task) is None
    changed = with_laws(run.configuration.spec, run.configuration.spec.task.laws.table * 1.01)
    assert refusal_in(path, run.controller, changed.task) == "The certificate belongs to another controller."
