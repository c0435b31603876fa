"""The agenda against a slow one in plain Python: the same events, the same region due."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distinguo.learners.agent import fields_of
from distinguo.seam import kernel
from distinguo_lab.learners.scheduling.agenda import (
    ALL,
    NONE,
    SCHEDULERS,
    WAYS,
    Agenda,
    agenda_with_room,
    check_agenda,
    due_action,
    empty_agenda,
    forget_ways,
    fresh_agenda,
    next_due,
    note_change,
    note_state,
    note_surprise,
    note_transition,
    note_update,
    waiting_regions,
)
from tests.nightly import so_many

REGIONS, ACTIONS = 5, 2
GAMMA, LEAST = 0.5, 0.01
SEE, SURPRISE, TRANSITION, UPDATE, CHANGE, DUE, FORGET = range(7)
EVENTS = st.lists(
    st.tuples(
        st.integers(SEE, FORGET),
        st.integers(0, REGIONS - 1),
        st.integers(0, ACTIONS - 1),
        st.integers(0, REGIONS - 1),
        st.integers(1, 64).map(lambda n: n / 64),
    ),
    max_size=60,
)
FEW = settings(max_examples=so_many(40, nightly=1000), deadline=None)


class Slow:
    """The same, with lists and dictionaries, and a search through everything."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.clock = 0
        self.stack: list[int] = []
        self.seen: set[int] = set()
        self.updated = {(j, a): 0 for j in range(REGIONS) for a in range(ACTIONS)}
        self.passed: dict[tuple[int, int, int], int] = {}
        self.tries: dict[tuple[int, int], int] = {}
        self.urgency: dict[int, float] = {}

    def see(self, j: int) -> None:
        self.clock += 1
        self.seen.add(j)

    def surprise(self, j: int, change: float) -> None:
        self.see(j)
        self.stack = [k for k in self.stack if k != j] + [j]
        if self.kind == "sweeping":
            self.urgency[j] = max(change, self.urgency.get(j, 0.0))

    def transition(self, j: int, a: int, k: int) -> None:
        self.tries[j, a] = self.tries.get((j, a), 0) + 1
        self.passed[j, a, k] = self.passed.get((j, a, k), 0) + 1

    def update(self, j: int, a: int) -> None:
        self.clock += 1
        self.updated[j, a] = self.clock

    def change(self, k: int, change: float) -> None:
        for (j, a, to), count in self.passed.items():
            urgency = GAMMA * change * count / max(self.tries.get((j, a), 0), 1)
            if self.kind == "sweeping" and to == k and urgency > LEAST and j in self.seen:
                self.urgency[j] = max(urgency, self.urgency.get(j, 0.0))

    def forget(self, j: int) -> None:
        self.passed = {pair: count for pair, count in self.passed.items() if j not in (pair[0], pair[2])}
        self.tries = {pair: count for pair, count in self.tries.items() if pair[0] != j}

    def due(self, rng: np.random.Generator) -> int:
        due = self.choose(rng)
        self.stack = [k for k in self.stack if k != due]
        self.urgency.pop(due, None)
        return due

    def choose(self, rng: np.random.Generator) -> int:
        if self.kind in ("stack", "rout"):
            return self.stack[-1] if self.stack else NONE
        if self.kind == "sweeping":
            return min(self.urgency, key=lambda j: (-self.urgency[j], j)) if self.urgency else NONE
        seen = sorted(self.seen)
        if self.kind == "dyna":
            which = int(rng.random() * len(seen))
            return seen[which] if seen else NONE
        oldest = {j: min(self.updated[j, a] for a in range(ACTIONS)) for j in seen}
        return min(oldest, key=lambda j: (oldest[j], j)) if oldest else NONE


def apply(agenda: Any, rng: Any, event: int, j: int, a: int, k: int, amount: float) -> int:
    if event == SEE:
        note_state(agenda, j, (amount,))
    elif event == SURPRISE:
        note_surprise(agenda, j, (amount,), amount)
    elif event == TRANSITION:
        note_transition(agenda, j, a, k)
    elif event == UPDATE:
        note_update(agenda, j, a)
    elif event == CHANGE:
        note_change(agenda, k, -amount, GAMMA, LEAST)
    elif event == FORGET:
        forget_ways(agenda, j)
    else:
        return next_due(agenda, REGIONS, rng)
    return NONE


def apply_slowly(slow: Slow, rng: Any, event: int, j: int, a: int, k: int, amount: float) -> int:
    if event == SEE:
        slow.see(j)
    elif event == SURPRISE:
        slow.surprise(j, amount)
    elif event == TRANSITION:
        slow.transition(j, a, k)
    elif event == UPDATE:
        slow.update(j, a)
    elif event == CHANGE:
        slow.change(k, amount)
    elif event == FORGET:
        slow.forget(j)
    else:
        return slow.due(rng)
    return NONE


def fresh(kind: str) -> Agenda:
    return fresh_agenda(kind, REGIONS, ACTIONS, 1)


@FEW
@given(kind=st.sampled_from(SCHEDULERS), events=EVENTS)
def test_the_same_is_due_as_in_a_slow_agenda(kind: str, events: list[Any]) -> None:
    agenda, slow = fresh(kind), Slow(kind)
    here, there = np.random.default_rng(1), np.random.default_rng(1)
    for event in [*events, *[(DUE, 0, 0, 0, 0.0)] * (REGIONS + 1)]:
        assert apply(agenda, here, *event) == apply_slowly(slow, there, *event)
        assert waiting_regions(agenda, REGIONS) == len(slow.stack)
    check_agenda(agenda, REGIONS, ACTIONS, 1)


@kernel
def replay(agenda: Any, rng: Any, events: Any, amounts: Any, due: Any) -> None:
    """Apply events in compiled code, and write down what was due."""
    for n in range(len(events)):
        event, j, a, k = events[n]
        due[n] = NONE
        if event == SEE:
            note_state(agenda, j, (amounts[n],))
        elif event == SURPRISE:
            note_surprise(agenda, j, (amounts[n],), amounts[n])
        elif event == TRANSITION:
            note_transition(agenda, j, a, k)
        elif event == UPDATE:
            note_update(agenda, j, a)
        elif event == CHANGE:
            note_change(agenda, k, -amounts[n], GAMMA, LEAST)
        elif event == FORGET:
            forget_ways(agenda, j)
        else:
            due[n] = next_due(agenda, REGIONS, rng)
            if due[n] != NONE:
                due[n] += 10 * due_action(agenda, due[n], rng)


@pytest.mark.parametrize("kind", SCHEDULERS)
def test_compiled_equals_interpreted(kind: str) -> None:
    made = np.random.default_rng(2)
    count = 3000
    events = np.stack([made.integers(0, n, count) for n in (FORGET + 1, REGIONS, ACTIONS, REGIONS)], axis=1)
    amounts = made.random(count)
    both = []
    for function in (replay, replay.py_func):
        agenda, due = fresh(kind), np.zeros(count, dtype=np.int64)
        function(agenda, np.random.default_rng(3), events, amounts, due)
        both.append((agenda, due))
    assert np.array_equal(both[0][1], both[1][1])
    assert len(set(both[0][1].tolist())) > REGIONS  # every region was due, and not always the same action
    for name in fields_of(Agenda):
        assert np.array_equal(getattr(both[0][0], name), getattr(both[1][0], name)), name


def on_a_chain(kind: str) -> Agenda:
    """Return the agenda after one pass through a chain of regions, 0 to 4, that ended with a surprise."""
    agenda = fresh(kind)
    for j in range(REGIONS):
        note_update(agenda, j, 0)
        note_update(agenda, j, 1)
        note_surprise(agenda, j, (float(j),), 1.0 if j == REGIONS - 1 else 0.0)
        if j + 1 < REGIONS:
            note_transition(agenda, j, 0, j + 1)
    return agenda


def order(kind: str, learned: float = 0.0) -> list[int]:
    """Return the regions in the order in which they are due; each changes by some share of what was expected."""
    agenda, rng, due = on_a_chain(kind), np.random.default_rng(0), []
    for n in range(REGIONS):
        due.append(next_due(agenda, REGIONS, rng))
        for a in range(ACTIONS):
            note_update(agenda, due[-1], a)
        note_change(agenda, due[-1], learned * GAMMA**n, GAMMA, LEAST)
    return due


def test_the_stack_works_backwards_from_the_end() -> None:
    assert order("stack") == [4, 3, 2, 1, 0]
    assert order("rout") == [4, 3, 2, 1, 0]


def test_sweeping_follows_the_change_of_value() -> None:
    assert order("sweeping", learned=1.0) == [4, 3, 2, 1, 0]
    assert order("sweeping", learned=0.0)[:2] == [
        4,
        0,
    ]  # nothing changed: what else waits, in order of number


def test_the_oldest_comes_first() -> None:
    assert order("dyna-oldest") == [0, 1, 2, 3, 4]


def test_dyna_takes_any_known_pair() -> None:
    agenda, rng = on_a_chain("dyna"), np.random.default_rng(0)
    agenda.seen_at[2] = 0  # not known
    drawn = [next_due(agenda, REGIONS, rng) for _ in range(400)]
    counts = np.bincount(drawn, minlength=REGIONS)
    assert counts[2] == 0
    assert (counts[[0, 1, 3, 4]] > 60).all()
    assert {due_action(agenda, 0, rng) for _ in range(40)} == {0, 1}
    assert due_action(on_a_chain("stack"), 0, rng) == ALL


def test_sweeping_weighs_a_predecessor_by_how_often_it_leads_there() -> None:
    agenda, rng = fresh("sweeping"), np.random.default_rng(0)
    for j, times in ((0, 1), (1, 3)):
        note_state(agenda, j, (0.0,))
        for n in range(4):
            note_transition(agenda, j, 0, 4 if n < times else 3)
    note_change(agenda, 4, 1.0, GAMMA, LEAST)
    assert agenda.urgency[:2].tolist() == [GAMMA / 4, GAMMA * 3 / 4]
    assert next_due(agenda, REGIONS, rng) == 1


def test_what_is_settled_is_never_due_again() -> None:
    agenda, rng = on_a_chain("rout"), np.random.default_rng(0)
    agenda.settled[4] = True
    empty_agenda(agenda)
    note_surprise(agenda, 4, (0.0,), 1.0)
    assert next_due(agenda, REGIONS, rng) == NONE
    note_surprise(agenda, 3, (0.0,), 1.0)
    assert next_due(agenda, REGIONS, rng) == 3


def test_ways_are_bounded_and_the_rarest_is_forgotten() -> None:
    agenda = fresh_agenda("sweeping", WAYS + 2, 1, 1)
    for j in range(WAYS):
        for _ in range(1 if j == 3 else 2):
            note_transition(agenda, j, 0, 0)
    note_transition(agenda, WAYS + 1, 0, 0)
    assert agenda.way_from[0].tolist() == [WAYS + 1 if j == 3 else j for j in range(WAYS)]
    assert agenda.way_count[0, 3] == 1


def test_more_room_keeps_what_waits() -> None:
    agenda, rng = agenda_with_room(on_a_chain("stack"), 9), np.random.default_rng(0)
    assert [next_due(agenda, 9, rng) for _ in range(6)] == [4, 3, 2, 1, 0, NONE]
    assert agenda.counters["clock"][0] == on_a_chain("stack").counters["clock"][0]


@pytest.mark.parametrize(
    ("name", "place", "value"), [("queue", 0, 99), ("place", 3, 0), ("way_from", (0, 0), REGIONS * ACTIONS)]
)
def test_an_agenda_that_leads_astray_is_refused(name: str, place: Any, value: int) -> None:
    agenda = on_a_chain("sweeping")
    check_agenda(agenda, REGIONS, ACTIONS, 1)
    getattr(agenda, name)[place] = value
    with pytest.raises(ValueError, match="agenda"):
        check_agenda(agenda, REGIONS, ACTIONS, 1)
