"""Every distinction of every map has a rule or a price, a profile of both states, and what is at stake."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from distinguo.explanations.distinctions import Distinction, distinctions, representative_states
from distinguo.explanations.explain import explain
from distinguo.explanations.investigation import MOST_STEPS
from distinguo.explanations.subject import Asked, asked_about
from distinguo.runs.run import Run
from tests.explanations.maps import FOLDERS, MAPS

_made: dict[str, Run] = {}


@pytest.fixture(params=list(MAPS))
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    name = request.param
    if name not in _made:
        _made[name] = MAPS[name](tmp_path_factory.mktemp("map"))
    return _made[name]


def check_complete(asked: Asked, found: list[Distinction]) -> None:
    actions = len(asked.spec.actions)
    for one in found:
        assert one.is_explained
        assert one.rules
        assert all(isinstance(rule, str) and rule for rule in one.rules)
        assert one.regret is not None
        assert 0.0 <= one.regret < math.inf
        for profile in one.profiles:
            assert len(profile.values) == len(profile.reliable) == actions
            assert np.isfinite(profile.values).all()
            assert profile.steps <= MOST_STEPS
        assert json.loads(json.dumps(one.document(), allow_nan=False)) == one.document()


def test_every_distinction_is_explained(run: Run) -> None:
    asked = asked_about(run)
    assert not asked.notes
    found = distinctions(asked)
    count = run.representation.regions
    states = representative_states(asked)
    assert len(states) == count
    if count * (count - 1) // 2 <= 300:
        assert len(found) == count * (count - 1) // 2
    check_complete(asked, found)


def test_an_explanation_of_two_regions_says_it_in_sentences(run: Run) -> None:
    states = representative_states(asked_about(run))
    if len(states) < 2:
        return
    why = explain(run, states[0], states[1])
    assert why.sentences[0].startswith("Kept apart")
    assert all(sentence.endswith(".") and sentence.isprintable() for sentence in why.sentences)
    assert all(0 < len(sentence) < 500 for sentence in why.sentences)
    content = why.document()
    assert {"state", "region", "action", "actions", "value", "reason", "other", "same_region"} <= set(content)
    assert {"rules", "profiles", "regret", "epsilon"} <= set(content)
    assert content["action"] in run.configuration.spec.actions
    assert content["same_region"] is False
    json.dumps(content, allow_nan=False)
    alone = explain(run, states[0])
    assert f"region {alone.facts.region}" in alone.sentences[0]


@pytest.mark.parametrize("name", ["cart-6", "hill-6", "cliff-6"])
def test_the_map_for_other_learners_is_explained_too(name: str) -> None:
    asked = asked_about(FOLDERS[name], carried=True)
    carried = asked_about(FOLDERS[name]).run.carried
    assert carried is not None
    assert asked.run.representation.regions == carried.regions
    check_complete(asked, distinctions(asked))


def test_only_what_nobody_can_know_is_left_open() -> None:
    """A map whose values only name actions, without prices and without its task: that is said, not made up."""
    run = MAPS["probation, task unknown"](Path())._replace(reasons=[])
    states = representative_states(asked_about(run))
    why = explain(run, states[0], states[1])
    assert why.distinction is not None
    assert why.distinction.regret is None
    assert "unknown without the task" in why.sentences[0]


def test_nothing_of_a_run_is_changed_by_asking(tmp_path: Path) -> None:
    for name, folder in FOLDERS.items():
        before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}
        asked = asked_about(folder)
        q, updates = asked.run.q.copy(), asked.run.updates.copy()
        states = representative_states(asked)
        explain(folder, states[0], states[min(1, len(states) - 1)])
        explain(asked, states[0])
        assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()} == before, (
            name
        )
        assert (asked.run.q == q).all()
        assert (asked.run.updates == updates).all()


def test_the_same_question_has_the_same_answer() -> None:
    for name in ("puck-7", "cart-6", "hill-6"):
        states = representative_states(asked_about(FOLDERS[name]))
        answers = [explain(FOLDERS[name], states[0], states[1]).document() for _ in range(2)]
        assert answers[0] == answers[1]
