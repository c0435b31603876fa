"""No sentence disagrees with the table below it, with the criteria, or with another sentence: all are read back."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

import distinguo as dg
from distinguo.criteria import POLICY, VALUE, compatible, incompatibility, stake, state_value
from distinguo.explanations import explain as saying
from distinguo.explanations.choices import LEARNED, NOW, THEN, amount, written_amounts
from distinguo.explanations.distinctions import Inquiry, representative_states
from distinguo.explanations.explain import Explanation, acting, answered
from distinguo.explanations.subject import Asked, asked_about
from distinguo.runs.run import Run
from distinguo.tasks.spec import TaskSpec
from distinguo.views.report import _reasons
from tests.explanations.maps import MAPS
from tests.nightly import NIGHTLY, so_many

SOURCES = {"now": NOW, "by the learned values": LEARNED}
SOURCE = r"(now|by the learned values)"
MOST_PAIRS = so_many(40, nightly=400)


def number(text: str) -> float:
    return float(text.replace(",", ""))


class Reader:
    """Reads the sentences of one explanation of two states and checks each against the table as it is printed."""

    def __init__(self, asked: Asked, why: Explanation) -> None:
        assert why.distinction is not None
        assert why.other is not None
        self.asked, self.why, self.found = asked, why, why.distinction
        self.spec: TaskSpec = asked.spec
        self.rows = [{row.source: row for row in half} for half in halves(why)]

    def printed(self, side: int, source: str) -> list[str]:
        """The cells of a row, from the text that a user sees."""
        row = self.rows[side][source]
        line = next(
            line
            for line in self.why.figures()[1:]
            if line.startswith(f"{row.source}, {row.of} ")
            and line.split()[-len(row.values) :] == list(row.written)
        )
        return line.split()[-len(row.values) :]

    def best(self, side: int, source: str, tolerance: float = 0.0) -> set[int]:
        """The best actions, by the printed numbers alone."""
        cells = self.printed(side, source)
        top = max(map(number, cells))
        if tolerance:
            values = self.rows[side][source].values
            return {a for a, value in enumerate(values) if value >= max(values) - tolerance}
        return {a for a, cell in enumerate(cells) if number(cell) == top}

    def action(self, words: str) -> int:
        return [acting(self.spec, a) for a in range(len(self.spec.actions))].index(words)

    def actions(self, words: str) -> set[int]:
        if words.endswith(" action will do"):
            assert words.startswith("either" if len(self.spec.actions) == 2 else "any")
            return set(range(len(self.spec.actions)))
        if words.endswith(" is best"):
            return {self.action(words.removesuffix(" is best"))}
        return {self.action(part) for part in re.split(r", | and ", words.removesuffix(" are tied"))}

    def check(self) -> None:
        for sentence in self.why.sentences:
            kinds = [name for name, pattern in PATTERNS.items() if re.fullmatch(pattern, sentence)]
            assert len(kinds) == 1, (kinds, sentence)
            found = re.fullmatch(PATTERNS[kinds[0]], sentence)
            assert found is not None
            getattr(self, kinds[0])(*found.groups())

    # Each method checks one kind of sentence; its arguments are the parts of the pattern.

    def policy(self, source: str, best: str, other: str, at: str, loss: str, *_: str) -> None:
        (action,) = self.actions(best)
        self.loses(source, {action}, other, at, action, loss)

    def tie(self, source: str, tied: str, other: str, at: str, action: str, loss: str, *_: str) -> None:
        assert len(self.actions(tied)) > 1
        self.loses(source, self.actions(tied), other, at, self.action(action), loss)

    def loses(self, source: str, best: set[int], other: str, at: str, a: int, loss: str) -> None:
        there, here = side_of(other), side_of(at)
        assert there != here
        assert a in best == self.best(there, SOURCES[source])
        assert a not in self.best(here, SOURCES[source])
        values = self.rows[here][SOURCES[source]].values
        assert loss == amount(max(values) - values[a]) != "0"

    def value(self, source: str, own: str, others: str, wrong: str, *_: str) -> None:
        values = [max(self.rows[n][SOURCES[source]].values) for n in range(2)]
        assert number(own) != number(others)
        assert (own, others) == written_amounts(*values)
        assert wrong == amount(abs(values[0] - values[1]))
        assert self.asked.epsilon is None or abs(values[0] - values[1]) > self.asked.epsilon

    def good(self, source: str, action: str, epsilon: str, other: str, at: str, loss: str, *_: str) -> None:
        a, there, here = self.action(action), side_of(other), side_of(at)
        assert self.asked.epsilon is not None
        lost = [max(row[SOURCES[source]].values) - row[SOURCES[source]].values[a] for row in self.rows]
        assert lost[there] <= self.asked.epsilon < lost[here]
        assert number(loss) > number(epsilon)

    def earlier(self, source: str, cost: str) -> None:
        values = [row[SOURCES[source]].values for row in self.rows]
        assert cost == "nothing" or number(cost.split()[2]) == number(amount(stake(*map(np.array, values))))
        assert self.best(0, SOURCES[source]) == self.best(1, SOURCES[source])
        self.no_rule_now()

    def no_rule_now(self) -> None:
        q1, q2 = (profile.q1 for profile in self.found.profiles)
        if self.asked.epsilon is not None:
            assert compatible(q1, q2, self.asked.epsilon, self.asked.epsilon)

    def price(self, word: str, verb: str, lost: str, *_: str) -> None:
        assert self.found.price is not None
        assert (self.found.price.lost > 0.0) == (verb == "loses") == (word == "Kept apart")
        assert number(lost) > 0.0

    def free(self, *_: str) -> None:
        assert self.found.price is not None
        assert amount(self.found.price.lost) == "0"

    def unknown(self) -> None:
        assert self.found.regret is None

    def place(
        self, word: str, region: str, source: str, chosen: str, delta: str | None, now: str | None
    ) -> None:
        side = side_of(word.lower())
        facts = (self.why.facts, self.why.other)[side]
        assert facts is not None
        assert int(region) == facts.region
        actions = self.actions(chosen)
        assert actions == {self.spec.actions.index(name) for name in facts.actions}
        if not source.startswith("by the map"):
            assert actions == self.best(side, LEARNED, self.asked.controller.delta)
        assert (delta is not None) == (self.asked.controller.delta > 0.0 and len(actions) > 1)
        if source.endswith("and now"):
            assert now is None
            assert self.best(side, NOW) == actions
        elif now is not None:
            assert self.actions(now) == self.best(side, NOW) != actions
        else:
            assert NOW not in self.rows[side]

    def parting(self, *words: str) -> None:
        rules = words[-2]
        if self.found.then is None:
            raise AssertionError("nothing is known of then")
        q1, q2 = (np.array(profile) for profile in self.found.then.profiles)
        if "sets of best actions differed" in rules:
            assert self.best(0, THEN) != self.best(1, THEN)
        if "not worth the same" in rules:
            tops = [max(self.printed(n, THEN), key=number) for n in range(2)]
            assert state_value(q1) != state_value(q2)
            assert tops[0] != tops[1] or written_amounts(state_value(q1), state_value(q2))[0] != tops[0]
        assert ("(value" in rules) == ("value (Eq. 4)" in self.found.then.rules)
        assert ("(best action" in rules) == ("best action (Eq. 6)" in self.found.then.rules)
        assert words[-1] == amount(self.found.then.regret)

    def merging(self, source: str, at: str, _: str | None, though: str | None) -> None:
        q1, q2 = (profile.q1 for profile in self.found.profiles)
        assert self.best(0, SOURCES[source.lower()]) == self.best(1, SOURCES[source.lower()])
        assert self.found.epsilon is not None
        assert compatible(q1, q2, self.found.epsilon, self.found.epsilon)
        if self.asked.epsilon is not None and self.found.epsilon <= self.asked.epsilon:
            together = compatible(q1, q2, self.asked.epsilon, self.asked.epsilon)
            assert together == (though is None)
        assert (
            at == written_amounts(*(e for e in (self.found.epsilon, self.asked.epsilon) if e is not None))[0]
        )

    def never(self, source: str, *_: str) -> None:
        assert self.best(0, SOURCES[source.lower()]) != self.best(1, SOURCES[source.lower()])

    def investigated(self) -> None:
        assert all(NOW in row for row in self.rows)

    def by_values(self) -> None:
        assert not any(NOW in row for row in self.rows)

    def together(self, _: str, cost: str | None) -> None:
        assert self.found.same_region
        if cost and "treating them alike" in cost:
            source = LEARNED if "By the learned" in cost else NOW
            chosen = [self.spec.actions.index(name) for name in self.why.facts.actions]
            rows = [row[source].values for row in self.rows]
            lost = max(max(row) - min(row[a] for a in chosen) for row in rows)
            lost = max(lost, abs(max(rows[0]) - max(rows[1])))
            assert ("costs nothing" in cost) == (amount(lost) == "0")
            if self.asked.epsilon is not None and amount(lost) != "0":
                assert ("within" in cost) == (lost <= self.asked.epsilon)

    def ends(self, _: str) -> None:
        assert self.spec.kind == "categories"

    def same(self) -> None:
        assert self.why.other is not None
        assert self.why.facts.state == self.why.other.state


def side_of(word: str) -> int:
    return {"here": 0, "there": 1}[word]


def halves(why: Explanation) -> Iterable[Any]:
    table = why.table
    assert len(table) % 2 == 0
    return table[: len(table) // 2], table[len(table) // 2 :]


_EACH = r"( in a trial)?"
_SIDE = "(here|there)"
_LOSES = rf"but {_SIDE} it loses (\S+) of reward{_EACH}\."
_TRIALS = r"\d+ trials with and without it when (?:it was distilled|the run had solved its task)"
_EARLIER = "(?:a difference was found earlier|the run began with both|the learner '.+' made them two regions)"
_RUN = r"( \(this run: \S+\))?"
_BY = "(by the learned values(?: and now)?|by the map(?: and now)?)"
_WHO = r"(Region \d+ \(prototype \d+\)|Their families parted when prototype \d+)"
_LATER = "(Now|By the learned values)"
PATTERNS = {
    "policy": rf"Kept apart {SOURCE}: (.+ is best) {_SIDE}, {_LOSES}",
    "tie": rf"Kept apart {SOURCE}: (.+ are tied|(?:either|any) action will do) {_SIDE}, "
    rf"but {_SIDE} (.+) loses (\S+) of reward{_EACH}\.",
    "value": rf"Kept apart {SOURCE}: they are not worth the same, (\S+) here and (\S+) there; one value for both "
    rf"would be wrong by (\S+?){_EACH}\.",
    "good": rf"Kept apart {SOURCE}: (.+) is within ε = (\S+) of the best {_SIDE}, {_LOSES}",
    "earlier": rf"Kept apart because {_EARLIER}; {SOURCE}, merging them would cost (.+)\.",
    "price": r"(Kept apart|Kept apart by the learner): without this distinction a trial (loses|gains) (\S+) of "
    rf"reward, by {_TRIALS}\.",
    "free": rf"Kept apart by the learner: this distinction made no difference to {_TRIALS}\.",
    "unknown": r"Kept apart by the learner; what that is worth is unknown without the task\.",
    "together": r"Together in region (\d+): (.+)",
    "place": rf"(Here|There) is \(.+\), in region (\d+): {_BY}, ((?:(?!; now, ).)+?)(, within δ = \S+)?"
    r"(?:; now, (.+))?\.",
    "parting": rf"{_WHO} (?:was split from|was detached again from) (.+?) at trial [\d,]+ \(step [\d,]+\): (.+); "
    r"(\S+) of reward was at stake\.",
    "merging": rf"{_LATER}, these two states would be merged (?:even )?at ε = (\S+?)"
    rf"(?:{_RUN}|(, though not at the \S+ of this run))\.",
    "never": rf"{_LATER}, no ε would merge them{_RUN}: Eq\. 6 merges only states with the same set of best actions"
    r"; only with δ = ε/2, by Eq\. 5, would they be merged, at \S+\.",
    "ends": r"Trials end (here|there), so nothing is ever done \1; the map only guesses\.",
    "same": r"These are the same state\.",
    "investigated": r"(?:Investigated now by .+|.+ So trials were run from the start, .+)",
    "by_values": r".+ So the learned values of the regions are used\.",
}


def read_back(run: Run, seed: int = 0, carried: bool = False) -> int:
    """Read all sentences on pairs of regions, and on two states of one region; return how many."""
    asked = asked_about(run, carried)
    inquiry, states = Inquiry(asked), representative_states(asked)
    numbers = sorted(states)
    pairs = [(j, k) for j in numbers for k in numbers if j != k]
    chosen = np.random.default_rng(seed).permutation(len(pairs))[:MOST_PAIRS]
    for n in chosen:
        j, k = pairs[n]
        why = answered(inquiry, states[j], states[k])
        Reader(asked, why).check()
        check_document(why)
    for j in numbers[:3]:  # two states of one region, and one state twice
        s = states[j]
        near = tuple(0.999 * x for x in s) if asked.spec.kind != "categories" else s
        for other in {s, near}:
            if inquiry.region(other) == j:
                Reader(asked, answered(inquiry, s, other)).check()
    return len(chosen)


def check_document(why: Explanation) -> None:
    """JSON has the same table, and the same answer to what is best."""
    content = why.document()
    assert [row["written"] for row in content["table"]] == [list(row.written) for row in why.table]
    for row in content["table"]:
        exact = row["source"] != LEARNED
        top = max(map(number, row["written"]))
        if exact or why.delta == 0.0:
            assert row["best"] == [a for a, cell in enumerate(row["written"]) if number(cell) == top]


@pytest.mark.parametrize("name", list(MAPS))
def test_sentences_agree_with_the_table_and_the_criteria(name: str, tmp_path: Any) -> None:
    read_back(MAPS[name](tmp_path))


#: Learners that would have to be compiled for a test by day.
BY_NIGHT: list[dict[str, Any]] = [
    {"task": "CartPole-v1"},
    {"task": "MountainCar-v0"},
    {"task": "Acrobot-v1"},
    {"task": "puck", "learner": "model", "settings": {"stage.trials": 40}},
    {"task": "FrozenLake-v1", "settings": {"stage.steps": 3_000}},
]
WAYS: list[dict[str, Any]] = [
    {"task": "puck"},
    {"task": "puck", "preset": "fast"},
    {"task": "puck", "settings": {"learner.delta": 0.05}},
    {"task": "puck", "learner": "surprise", "settings": {"stage.cap": 5_000, "stage.hold": 5_000}},
    *(BY_NIGHT if NIGHTLY else ()),
]


@pytest.mark.parametrize("way", range(len(WAYS)))
def test_sentences_of_many_maps(way: int) -> None:
    count = so_many(8, nightly=40)
    pairs = sum(read_back(dg.learn(seed=seed, **WAYS[way]), seed) for seed in range(count))
    assert pairs > count


@pytest.mark.parametrize("name", ["economy", "economy, from three", "folder puck-7"])
def test_a_report_says_the_same(name: str, tmp_path: Any) -> None:
    run = MAPS[name](tmp_path)
    asked = asked_about(run)
    inquiry, states = Inquiry(asked), representative_states(asked)
    said = _reasons(asked)
    assert said
    for head, text in said:
        j, k = map(int, re.findall(r"\d+", head))
        why = answered(inquiry, states[j], states[k])
        assert text.startswith(why.sentences[0])
        assert all(sentence in why.sentences for sentence in re.split(r"(?<=\.) (?=Now|By the|Kept)", text))


def test_a_lie_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test itself can fail: ties called best, a wrong loss, a preference from another source."""
    run = dg.learn("puck", seed=0)
    read_back(run)
    for name, lie in {
        "tied_best": lambda values, tolerance=0.0: (int(np.argmin(values)),),
        "amount": lambda value: "0.123",
        "_source": lambda found: "by the learned values",
    }.items():
        with monkeypatch.context() as broken:
            broken.setattr(saying, name, lie)
            with pytest.raises((AssertionError, KeyError)):
                read_back(run)


def test_the_pair_of_the_first_hour() -> None:
    """Puck, seed 0: a tie now, where the learned values are not tied."""
    why = dg.learn("puck", seed=0).explain((-0.3288, -1.633), (-0.2154, -0.7619))
    assert "by the learned values, pushing right is best; now, either action will do" in why.sentences[1]
    assert why.sentences[0] == (
        "Kept apart now: either action will do here, but there pushing left loses 0.807 of reward."
    )


def test_eq_3_alone_has_a_sentence_of_its_own() -> None:
    """The same action is best in both, and the other is good enough in one only: nothing is lost by the best."""
    asked = asked_about(dg.learn("puck", seed=1))
    inquiry, states = Inquiry(asked), representative_states(asked)
    found = inquiry.distinction(states[0], states[1])
    values = (0.0, -asked.epsilon - 0.0004), (0.0, -asked.epsilon + 0.01)  # type: ignore[operator]
    profiles = tuple(p._replace(values=v) for p, v in zip(found.profiles, values, strict=True))
    rules = incompatibility(profiles[0].q1, profiles[1].q1, asked.epsilon, asked.epsilon)
    assert rules & POLICY
    assert not rules & VALUE
    changed = found._replace(profiles=profiles, rules_now=("policy (Eq. 3)",))
    sentence = saying.apart_sentence(asked, changed)
    parts = re.fullmatch(PATTERNS["good"], sentence)
    assert parts is not None
    assert parts.groups()[1:6] == ("pushing right", "0.1", "there", "here", "0.1004")
