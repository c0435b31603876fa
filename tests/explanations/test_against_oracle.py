"""Explanations of maps of the puck beside a slow and literal transcription of the paper."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import distinguo
from distinguo.explanations.distinctions import distinctions, representative_states
from distinguo.explanations.explain import explain
from distinguo.explanations.family import family
from distinguo.explanations.subject import asked_about
from distinguo.representations.partition import prototypes_of
from distinguo.runs.run import Run
from distinguo.tasks.puck.puck import Puck
from distinguo.tasks.task import transition
from tests.oracle import Oracle, pref, v

GOLDEN = Path(__file__).parent.parent / "golden"
BROAD = GOLDEN / "formats" / "runs" / "puck-1"  #: fifteen regions


def oracle_of(run: Run) -> Oracle:
    """Return the paper's agent with the map and the values of a run."""
    known = prototypes_of(run.representation.partition)
    assert known is not None
    task = run.configuration.spec.task
    agent = Oracle(
        lambda s, a: transition(task, s, a),
        lambda: (0.0, 0.0),
        2,
        [tuple(row) for row in known.points.tolist()],
        run.representation.partition.scale.tolist(),
        run.configuration.learner,
        None,
    )
    agent.primary = known.primaries[known.regions].tolist()
    for j, p in enumerate(known.primaries.tolist()):
        agent.q[p], agent.updates[p] = run.q[j].tolist(), run.updates[j].tolist()
    return agent


def lost(acting: Sequence[float], here: Sequence[float]) -> float:
    """Section 2.2: what is lost here by an action that is best elsewhere, at worst."""
    return v(here) - min(here[a] for a in pref(acting, 0.0))


def seen(values: Sequence[float]) -> list[float]:
    """A look-ahead to nine decimals: less is noise."""
    return [round(value, 9) for value in values]


def broken_rules(one: Sequence[float], other: Sequence[float], epsilon: float) -> list[str]:
    rules = []
    if pref(one, epsilon) != pref(other, epsilon):
        rules.append("policy (Eq. 3)")
    if not abs(v(one) - v(other)) <= epsilon:
        rules.append("value (Eq. 4)")
    if pref(one, 0.0) != pref(other, 0.0):
        rules.append("best action (Eq. 6)")
    return rules


@pytest.fixture(scope="module", params=["puck-1", "puck-7", "seeds", "paper"])
def run(request: pytest.FixtureRequest) -> Run:
    if request.param == "seeds":
        return distinguo.learn("puck", seed=3, prototypes=[[0.27, 0.62], [-0.27, -0.62], [1.0, 1.0]])
    if request.param == "paper":
        return distinguo.learn("puck", seed=2, preset="paper", settings={"stage.trials": 400})
    return distinguo.open_run(GOLDEN / "formats" / "runs" / request.param)


def test_profiles_rules_and_regret_of_every_pair_of_regions(run: Run) -> None:
    agent, epsilon = oracle_of(run), run.configuration.learner.epsilon
    states = representative_states(asked_about(run))
    found = {one.regions: one for one in distinctions(run)}
    assert set(found) == set(combinations(range(len(states)), 2))
    for (j, k), one in found.items():
        profile = agent.investigate(states[j])
        here, there = seen(profile.values), seen(agent.investigate(states[k]).values)
        assert one.profiles[0].values == tuple(here)
        assert one.profiles[1].values == tuple(there)
        assert one.profiles[0].reliable == tuple(profile.reliable)
        assert list(one.rules_now) == broken_rules(here, there, epsilon)
        policy = max(lost(there, here), lost(here, there))
        assert one.regret == max(policy, abs(v(here) - v(there)))


def test_states_anywhere(run: Run) -> None:
    agent, rng = oracle_of(run), np.random.default_rng(5)
    for s in rng.uniform([-2.4, -5.5], [2.4, 5.5], (40, 2)).tolist():
        facts = explain(run, s).facts
        p = agent.region(tuple(s))
        assert facts.prototype == agent.nearest(tuple(s))
        assert facts.region == sorted(set(agent.primary)).index(p)
        assert facts.profile.values == tuple(seen(agent.investigate(tuple(s)).values))
        assert facts.value == v(agent.q[p])
        wanted = sorted(pref(agent.q[p], run.configuration.learner.delta))
        assert facts.actions == tuple(("left", "right")[a] for a in wanted)
        shared = pref(agent.q[p], run.configuration.learner.delta)
        assert facts.loss == max(facts.profile.values) - min(facts.profile.values[a] for a in shared)


def apart_since(path: Path, p: int, q: int) -> dict[str, Any]:
    """Return the entry that a reader of the log by hand would point at: when two families parted."""
    births = {}
    for line in (path / "reasons.jsonl").read_text().splitlines():
        entry = json.loads(line)
        if entry["event"] in ("split", "detach"):
            births[entry["prototypes"][1]] = entry
    ways = []
    for one in (p, q):
        way = [one]
        while way[-1] in births:
            way.append(births[way[-1]]["prototypes"][0])
        ways.append(way[::-1])
    shared = sum(1 for a, b in zip(*ways, strict=False) if a == b)
    heads = [way[shared] for way in ways if len(way) > shared]
    return min((births[head] for head in heads), key=lambda entry: (entry["trial"], entry["step"]))


def test_what_the_log_said_then() -> None:
    tree = family(BROAD)
    for one in distinctions(BROAD):
        p, q = one.prototypes
        assert p is not None
        assert q is not None
        entry = apart_since(BROAD, p, q)
        assert one.then is not None
        assert (one.then.trial, one.then.step) == (entry["trial"], entry["step"])
        assert list(one.rules) == entry["rules"]
        assert one.then.regret == entry["regret"]
        assert sorted(one.then.prototypes) == sorted(entry["prototypes"])
        side = entry["prototypes"].index(one.then.prototypes[0])
        assert list(one.then.profiles[0]) == entry["profiles"][side]
        assert list(one.then.states[1]) == entry["states"][1 - side]
        assert one.then.prototypes[0] in tree.line(p)
        assert one.then.prototypes[1] in tree.line(q)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_log_played_again_ends_in_the_map(seed: int) -> None:
    """Merged, detached and split: the numbers of the log are those of the prototypes of the map."""
    changed = {"learner.merge_interval": 1, "learner.review_merged": True, "learner.explore": 0.1}
    run = distinguo.learn("puck", seed=seed, preset="fast", settings={**changed, "stage.trials": 100})
    assert {reason["event"] for reason in run.reasons} == {"split", "merge", "detach"}
    known, tree = prototypes_of(run.representation.partition), family(run)
    assert known is not None
    assert len(tree.events) == len(run.reasons)
    *_, (_, primaries) = tree.replayed()
    assert list(primaries.values()) == known.primaries[known.regions].tolist()
    for one, other in combinations(range(len(known.points)), 2):
        joined = tree.joining(one, other)
        assert (joined is not None) == (known.regions[one] == known.regions[other])


def test_the_puck_of_the_tests_is_that_of_the_runs() -> None:
    assert distinguo.open_run(BROAD).configuration.spec.task == Puck()
