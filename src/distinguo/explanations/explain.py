"""Why? ``explain(run, state)`` and ``explain(run, state, other)``: sentences first, figures second.

>>> import distinguo
>>> run = distinguo.learn("puck", seed=1)
>>> print(explain(run, (0.5, 1.0), (-0.5, -1.0)).sentences[0])
Kept apart now: ...
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distinguo.criteria import incremental_regret, state_value
from distinguo.explanations.choices import (
    LEARNED,
    NOTHING,
    NOW,
    THEN,
    ProfileRow,
    amount,
    profile_row,
    tied_best,
    written_amounts,
)
from distinguo.explanations.distinctions import BY_LEARNER, GIVEN_RULE, Distinction, Inquiry
from distinguo.explanations.family import FIRST, GIVEN, Member
from distinguo.explanations.investigation import MINI_TRIALS, STARTS, TRIALS, ActionProfile
from distinguo.explanations.subject import BY_SURPRISE as SURPRISE
from distinguo.explanations.subject import (
    DETACH,
    MERGE,
    Asked,
    PriceEntry,
    ReasonEvent,
    asked_about,
    checked_state,
)
from distinguo.learners.economy.memory import RULES
from distinguo.runs.run import Run
from distinguo.tasks.amounts import amounts_of, law_in_words, laws_of
from distinguo.tasks.spec import CATEGORIES, TaskSpec
from distinguo.tasks.vocabulary import acting, label_in_words, labels_of


class StateFacts(NamedTuple):
    """What is known of one state."""

    state: tuple[float, ...]
    region: int
    prototype: int | None  #: the nearest one
    action: str  #: the preferred one; the first of tied ones
    actions: tuple[str, ...]  #: all that are preferred
    learned: tuple[float, ...] | None  #: the action values of its region; None if they only name its action
    value: float | None  #: of its region; by trials if the map's values are not rewards
    profile: ActionProfile  #: what each action is worth here, now
    loss: float | None  #: reward lost here by the action of the region (section 2.2); None if unknown
    primary: Member | None  #: the primary prototype of the region, with its origin
    amounts: tuple[tuple[str, float], ...] = ()  #: what the law of the preferred action says, if it is one

    def document(self) -> dict[str, Any]:
        """Return the facts as plain values."""
        return {
            "state": list(self.state),
            "region": self.region,
            "prototype": self.prototype,
            "action": self.action,
            "actions": list(self.actions),
            **({"amounts": dict(self.amounts)} if self.amounts else {}),
            "value": self.value,
            "profile": self.profile.document(),
            "loss": self.loss,
            "born": self.primary.document() if self.primary else None,
        }


class Explanation(NamedTuple):
    """An explanation: sentences, and all figures."""

    sentences: tuple[str, ...]
    facts: StateFacts
    other: StateFacts | None
    distinction: Distinction | None  #: between the two states, if there were two
    notes: tuple[str, ...]  #: sentences on what could not be read or done
    action_names: tuple[str, ...]
    delta: float = 0.0  #: learned values this close to the best are tied

    def __repr__(self) -> str:
        return "\n".join([*self.sentences, *self.notes, "", *self.figures()])

    @property
    def table(self) -> tuple[ProfileRow, ...]:
        """What each action was or is worth, for each state: then, by the learned values, and now."""
        sides = [side for side in (self.facts, self.other) if side is not None]
        rows = []
        for n, side in enumerate(sides):
            of = f"region {side.region}"
            found = self.distinction
            if found is not None and found.then is not None:
                then = found.then
                rows.append(profile_row(THEN, f"prototype {then.prototypes[n]}", then.profiles[n]))
            if side.learned is not None:
                rows.append(profile_row(LEARNED, of, side.learned, self.delta))
            profile = found.profiles[n] if found else side.profile
            if profile.source == NOW:
                rows.append(profile_row(NOW, of, profile.values))
        return tuple(rows)

    def figures(self) -> list[str]:
        """Return the figures as lines of text."""
        rows = self.table
        cells = [cell for row in rows for cell in row.written]
        width = max([8, *map(len, self.action_names), *map(len, cells)]) + 2
        lines = [_row(f"{row.source}, {row.of}", row.written, width) for row in rows]
        return [_row("", self.action_names, width), *lines] if lines else []

    def document(self) -> dict[str, Any]:
        """Return everything as plain values, as ``distinguo explain --json`` prints it."""
        content = {
            **self.facts.document(),
            "reason": self.sentences[0],
            "sentences": list(self.sentences),
            "notes": list(self.notes),
            "action_names": list(self.action_names),
            "table": [row.document() for row in self.table],
        }
        if self.other is not None and self.distinction is not None:
            content |= {"other": self.other.document(), **self.distinction.document()}
        return content


def _row(head: str, cells: Iterable[str], width: int) -> str:
    return f"{head:24}" + "".join(f"{cell:>{width}}" for cell in cells)


def explain(
    run: Run | Asked | str | Path,
    state: Sequence[float],
    other: Sequence[float] | None = None,
    *,
    carried: bool = False,
) -> Explanation:
    """Explain why a state is treated as it is or, for two states, why they are kept apart or together.

    ``run`` is a run or its folder; it is not changed. States are given as observations. If the state of the task can
    be set, they are investigated again with the settings of the run. ``carried`` asks about the map for fresh
    learners, if the run has one.

    >>> import distinguo
    >>> why = explain(distinguo.learn("puck", seed=1), (0.5, 1.0))
    >>> why.facts.region, why.facts.action, round(why.facts.profile.values[1], 2)
    (3, 'left', -0.84)
    """
    inquiry = Inquiry(asked_about(run, carried))
    return answered(inquiry, state, other)


def answered(inquiry: Inquiry, state: Sequence[float], other: Sequence[float] | None = None) -> Explanation:
    """Explain states; the investigations of one map are shared between calls."""
    asked = inquiry.asked
    facts = _facts(inquiry, checked_state(asked, state))
    if other is None:
        said, second, found = _about_one(inquiry, facts), None, None
    else:
        second = _facts(inquiry, checked_state(asked, other))
        found = inquiry.distinction(facts.state, second.state)
        said = _about_two(inquiry, facts, second, found)
    sentences = tuple(sentence for sentence in said if sentence)
    delta = asked.controller.delta
    return Explanation(sentences, facts, second, found, _notes(asked), asked.spec.actions, delta)


def _facts(inquiry: Inquiry, s: tuple[float, ...]) -> StateFacts:
    asked, controller = inquiry.asked, inquiry.asked.controller
    j, profile, names = inquiry.region(s), inquiry.profile(s), inquiry.asked.spec.actions
    chosen = tied_best(controller.q[j], controller.delta)
    primary = inquiry.primary(j)
    seen = profile.source == NOW
    laws, box = laws_of(asked.spec), asked.spec.amounts
    said = zip(box.names, amounts_of(laws, chosen[0], s), strict=True) if box and laws else ()
    value: float | None = controller.value(s)
    if asked.values_name_actions:
        value = state_value(profile.q1) if seen else None
    return StateFacts(
        state=s,
        region=j,
        prototype=inquiry.nearest(s),
        action=names[chosen[0]],
        actions=tuple(names[a] for a in chosen),
        learned=inquiry.learned(j),
        value=value,
        profile=profile,
        loss=incremental_regret(controller.q[j], profile.q1, controller.delta) if seen else None,
        primary=None if primary is None else inquiry.family.members[primary],
        amounts=tuple(said),
    )


def _about_one(inquiry: Inquiry, facts: StateFacts) -> list[str]:
    asked = inquiry.asked
    fallen = None if facts.prototype is None else inquiry.family.members[facts.prototype]
    return [
        _end_sentence(asked, facts, "here"),
        f"{place(asked.spec, facts.state)} lies in region {facts.region}: {_preference(asked, facts)}.",
        _law(asked, facts),
        worth_sentence(asked, facts),
        birth_sentence(asked, facts.region, facts.primary),
        merged_sentence(fallen),
        now_sentence(asked, [facts.profile], inquiry.investigator.obstacle),
    ]


def _about_two(inquiry: Inquiry, facts: StateFacts, second: StateFacts, found: Distinction) -> list[str]:
    asked = inquiry.asked
    why = together_sentence(asked, found) if found.same_region else apart_sentence(asked, found)
    own, others = (
        side._replace(profile=profile) for side, profile in zip((facts, second), found.profiles, strict=True)
    )
    return [
        "These are the same state." if facts.state == second.state else "",
        why,
        _end_sentence(asked, own, "here"),
        _end_sentence(asked, others, "there"),
        f"Here is {place(asked.spec, own.state)}, in region {own.region}: {_preference(asked, own)}.",
        _law(asked, own),
        f"There is {place(asked.spec, others.state)}, in region {others.region}: {_preference(asked, others)}.",
        _law(asked, others),
        parting_sentence(found),
        epsilon_sentence(asked, found),
        now_sentence(asked, found.profiles, inquiry.investigator.obstacle),
    ]


def _law(asked: Asked, facts: StateFacts) -> str:
    return law_in_words(asked.spec, asked.spec.actions.index(facts.action), facts.state)


def _end_sentence(asked: Asked, facts: StateFacts, where: str) -> str:
    """Whether trials end in a state, so that nothing is done there; empty if not, or if that is unknown."""
    if asked.spec.kind != CATEGORIES or labels_of(asked.spec).is_met(facts.state):
        return ""
    return f"Trials end {where}, so nothing is ever done {where}; the map only guesses."


def _preference(asked: Asked, facts: StateFacts) -> str:
    """What the map does in a state, by its source, and what a look-ahead says now where there is one."""
    spec, chosen = asked.spec, [asked.spec.actions.index(name) for name in facts.actions]
    named = facts.learned is None
    source = "by the map" if named else "by the learned values"
    tied = (
        f", within δ = {amount(asked.controller.delta)}" if asked.controller.delta and len(chosen) > 1 else ""
    )
    if facts.profile.source != NOW:
        return f"{source}, {preference(spec, chosen)}{tied}"
    best = tied_best(facts.profile.values)
    if set(best) == set(chosen):
        return f"{source} and now, {preference(spec, chosen)}{tied}"
    return f"{source}, {preference(spec, chosen)}{tied}; now, {preference(spec, best)}"


def _notes(asked: Asked) -> tuple[str, ...]:
    if "trials" in asked.run.summary or not asked.run.path:
        return asked.notes
    return (*asked.notes, "The run is not finished; this is its map when it was last saved.")


# Reasons in plain sentences: what is lost, since when, by which rule.


_POLICY, _VALUE, _BEST = RULES.values()
#: What it means that a rule was broken when an entry was written.
MEANINGS = {
    _POLICY: "the actions that were good enough differed",
    _VALUE: "they were not worth the same",
    _BEST: "their sets of best actions differed",
    SURPRISE: "a step differed from what the region predicted",
}


def place(spec: TaskSpec, s: Sequence[float]) -> str:
    """Return a state with names and units.

    >>> from distinguo.tasks.catalog import task_spec
    >>> place(task_spec("puck"), (0.5, 1.0))
    '(x 0.5 m, v 1 m/s)'
    """
    if spec.kind == CATEGORIES:
        return f"({label_in_words(spec, s)})"
    units = spec.units or ("",) * len(spec.dimensions)
    parts = zip(spec.dimensions, s, units, strict=True)
    return f"({', '.join(f'{n} {value:.3g} {unit}'.strip() for n, value, unit in parts)})"


def preference(spec: TaskSpec, actions: Sequence[int]) -> str:
    """What is best, in words: one action, or several that are tied.

    >>> from distinguo.tasks.catalog import task_spec
    >>> preference(task_spec("puck"), [1]), preference(task_spec("puck"), [0, 1])
    ('pushing right is best', 'either action will do')
    """
    if len(actions) == 1:
        return f"{acting(spec, actions[0])} is best"
    if len(actions) == len(spec.actions):
        return f"{'either' if len(actions) == 2 else 'any'} action will do"
    names = [acting(spec, a) for a in actions]
    return f"{', '.join(names[:-1])} and {names[-1]} are tied"


def worth_sentence(asked: Asked, facts: StateFacts) -> str:
    """What a state is worth, and what the map's action loses there now."""
    worth = loss = ""
    if facts.value is not None:
        source = "now" if asked.values_name_actions else "by the learned values"
        worth = f"It is worth {amount(facts.value)} {source}."
    if facts.loss is not None:
        subject = "this action loses" if len(facts.actions) == 1 else "the worst of these actions loses"
        lost = "nothing" if facts.loss < NOTHING else f"{amount(facts.loss)} of reward"
        loss = f"Now, {subject} {lost} here (section 2.2)."
    return f"{worth} {loss}".strip()


def apart_sentence(asked: Asked, found: Distinction) -> str:
    """Return why two states are kept apart, or that nothing would be lost if they were merged now.

    The reason is the price that was measured by trials or, without one, what is lost at a visit.
    """
    if found.price is not None:
        return _by_price(asked, found.price)
    if found.regret is None:
        return "Kept apart by the learner; what that is worth is unknown without the task."
    here, there = (profile.q1 for profile in found.profiles)
    losses = incremental_regret(there, here, 0.0), incremental_regret(here, there, 0.0)
    values = state_value(here), state_value(there)
    rules, source = found.rules_now, _source(found)
    if _BEST in rules and (_VALUE not in rules or max(losses) >= abs(values[0] - values[1])):
        at_first = losses[0] >= losses[1]
        at, other = ("here", "there") if at_first else ("there", "here")
        q, q1 = (there, here) if at_first else (here, there)
        good = tied_best(q)
        wrong = acting(asked.spec, min(good, key=lambda a: q1[a])) if len(good) > 1 else "it"
        return (
            f"Kept apart {source}: {preference(asked.spec, good)} {other}, but {at} {wrong} loses "
            f"{amount(max(losses))} of reward{_each(found)}."
        )
    if _VALUE in rules:
        own, others = written_amounts(*values)
        return (
            f"Kept apart {source}: they are not worth the same, {own} here and {others} there; one value for both "
            f"would be wrong by {amount(abs(values[0] - values[1]))}{_each(found)}."
        )
    if _POLICY in rules:
        return _good_in_one_only(asked, found)
    return _without_rule(asked, found)


def _by_price(asked: Asked, price: PriceEntry) -> str:
    when = "it was distilled" if asked.run.is_distilled else "the run had solved its task"
    trials = f"{price.starts} trials with and without it when {when}"
    if amount(price.lost) == "0":
        return f"Kept apart by the learner: this distinction made no difference to {trials}."
    verb = "loses" if price.lost > 0.0 else "gains"
    word = "Kept apart" if price.lost > 0.0 else "Kept apart by the learner"
    return (
        f"{word}: without this distinction a trial {verb} {amount(abs(price.lost))} of reward, by {trials}."
    )


def _good_in_one_only(asked: Asked, found: Distinction) -> str:
    """The same action is best in both, and another is good enough in one of them only (Eq. 3)."""
    assert asked.epsilon is not None
    lost = [state_value(profile.q1) - profile.q1 for profile in found.profiles]
    good = [loss <= asked.epsilon for loss in lost]
    costs = [np.where(good[1 - n] & ~good[n], lost[n], -np.inf) for n in range(2)]
    n = int(costs[1].max() > costs[0].max())
    wrong = int(costs[n].argmax())
    at, other = ("here", "there") if n == 0 else ("there", "here")
    loss, epsilon = written_amounts(float(lost[n][wrong]), asked.epsilon)
    return (
        f"Kept apart {_source(found)}: {acting(asked.spec, wrong)} is within ε = {epsilon} of the best {other}, but "
        f"{at} it loses {loss} of reward{_each(found)}."
    )


def _source(found: Distinction) -> str:
    """Where the values of a distinction come from."""
    return "now" if found.profiles[0].source == NOW else "by the learned values"


def _each(found: Distinction) -> str:
    return " in a trial" if found.per == "trial" else ""


def _without_rule(asked: Asked, found: Distinction) -> str:
    assert found.regret is not None
    most = (
        "nothing" if found.regret < NOTHING else f"at most {amount(found.regret)} of reward per {found.per}"
    )
    cost = f"{_source(found)}, merging them would cost {most}"
    if GIVEN_RULE in found.rules:
        return f"Kept apart because the run began with both; {cost}."
    if BY_LEARNER in found.rules:
        name = asked.run.configuration.learner_name
        return f"Kept apart because the learner '{name}' made them two regions; {cost}."
    return f"Kept apart because a difference was found earlier; {cost}."


def together_sentence(asked: Asked, found: Distinction) -> str:
    """Return why two states are in one region."""
    cost = "" if found.regret is None else f" {_cost_together(asked, found)}"
    if found.then is not None:
        joined = found.then
        return (
            f"Together in region {found.regions[0]}: prototypes {joined.prototypes[0]} and {joined.prototypes[1]} "
            f"were merged at trial {joined.trial:,} (step {joined.step:,}) as no rule kept them apart then.{cost}"
        )
    return f"Together in region {found.regions[0]}: no difference between them has mattered so far.{cost}"


def _cost_together(asked: Asked, found: Distinction) -> str:
    """What one region for both states costs: by the action of the region, or by one value for both."""
    q, delta = asked.controller.q[found.regions[0]], asked.controller.delta
    losses = [incremental_regret(q, profile.q1, delta) for profile in found.profiles]
    values = [state_value(profile.q1) for profile in found.profiles]
    lost = max(*losses, abs(values[0] - values[1]))
    source = _source(found).capitalize()
    if lost < NOTHING:
        return f"{source}, treating them alike costs nothing."
    if asked.epsilon is None:
        return f"{source}, treating them alike costs at most {amount(lost)} of reward per {found.per}."
    cost, epsilon = written_amounts(lost, asked.epsilon)
    within = "within" if lost <= asked.epsilon else "more than"
    return (
        f"{source}, treating them alike costs at most {cost} of reward per {found.per}, {within} the ε of {epsilon} "
        "that may be lost."
    )


def parting_sentence(found: Distinction) -> str:
    """Return when two regions parted, by which rule, and what was at stake; empty if no log says so."""
    event = found.then
    if event is None or found.same_region:
        return ""
    older, younger = sorted(event.prototypes)
    verb = "was detached again from" if event.event == DETACH else "was split from"
    direct = set(event.prototypes) == set(found.prototypes)
    region = found.regions[found.prototypes.index(younger)] if direct else None
    who = (
        f"Region {region} (prototype {younger})"
        if direct
        else f"Their families parted when prototype {younger}"
    )
    whom = (
        f"region {found.regions[1 - found.prototypes.index(younger)]} (prototype {older})" if direct else ""
    )
    return (
        f"{who} {verb} {whom or f'prototype {older}'} at trial {event.trial:,} (step {event.step:,}): "
        f"{by_rules(event)}; {amount(event.regret)} of reward was at stake."
    )


def by_rules(event: ReasonEvent) -> str:
    """Return the meanings of an entry's rules, each with its name.

    >>> from distinguo.explanations.subject import read_log
    >>> rows = {"states": [[0.0], [1.0]], "profiles": [[0.0], [1.0]], "prototypes": [0, 1]}
    >>> entry = {"event": "split", "trial": 1, "step": 9, **rows, "rules": ["value (Eq. 4)"], "regret": 1.0}
    >>> by_rules(read_log([entry]).events[0])
    'they were not worth the same (value, Eq. 4)'
    """
    return " and ".join(f"{MEANINGS.get(rule, 'as the log says')} ({_name(rule)})" for rule in event.rules)


def _name(rule: str) -> str:
    return rule.replace(" (", ", ").removesuffix(")")


def epsilon_sentence(asked: Asked, found: Distinction) -> str:
    """Return at which ε two states would be merged; empty if that is unknown."""
    if found.same_region or found.epsilon_half is None:  # no rewards are known
        return ""
    source = _source(found).capitalize()
    written = written_amounts(*(one for one in (found.epsilon, asked.epsilon) if one is not None))
    used = "" if asked.epsilon is None else f" (this run: {written[-1]})"
    if found.epsilon is not None:
        if asked.epsilon is not None and found.rules_now and found.epsilon <= asked.epsilon:
            used = f", though not at the {written[-1]} of this run"  # with a larger ε, more actions count as good
        least = "even at ε = 0" if found.epsilon == 0.0 else f"at ε = {written[0]}"
        return f"{source}, these two states would be merged {least}{used}."
    looser = f"; only with δ = ε/2, by Eq. 5, would they be merged, at {amount(found.epsilon_half)}"
    rule = "Eq. 6 merges only states with the same set of best actions"
    return f"{source}, no ε would merge them{used}: {rule}{looser}."


def now_sentence(asked: Asked, profiles: Sequence[ActionProfile], obstacle: str) -> str:
    """Return how the present values of the actions were found."""
    ways, steps = {profile.way for profile in profiles}, sum(profile.steps for profile in profiles)
    if ways == {MINI_TRIALS}:
        sure = "" if all(all(one.reliable) for one in profiles) else _UNSURE
        return (
            f"Investigated now by mini-trials (Figure 3) with the settings of the run, {steps:,} steps.{sure}"
        )
    if ways == {TRIALS}:
        held = "taken once" if asked.spec.kind == CATEGORIES else "held for a few steps"
        return (
            f"Investigated now by trials, {steps:,} steps: each action is {held}, then the map is followed to the "
            f"end; rewards are not discounted.{_roughness(asked, profiles)}"
        )
    if ways == {STARTS}:
        return (
            f"{obstacle} So trials were run from the start, {steps:,} steps; the whole region took each action "
            f"in turn.{_roughness(asked, profiles)}"
        )
    return f"{obstacle} So the learned values of the regions are used."


def _roughness(asked: Asked, profiles: Sequence[ActionProfile]) -> str:
    """Return how rough the figures of a stochastic task are."""
    if asked.spec.stochastic == "no" and profiles[0].way != STARTS:
        return ""
    count = min(profile.samples for profile in profiles)
    return f" {'One trial' if count == 1 else f'{count} trials'} of each action: the figures are rough."


_UNSURE = " Some of these values come from regions with few updates; the learner would not rely on them yet."


def birth_sentence(asked: Asked, j: int, member: Member | None) -> str:
    """Return where a region comes from, by its primary prototype."""
    if member is None:
        return f"Region {j} was made by the learner '{asked.run.configuration.learner_name}'."
    event = member.event
    if event is not None:
        verb = "detached again" if event.event == DETACH else "split"
        return (
            f"Region {j} (prototype {member.prototype}) was {verb} from prototype {event.prototypes[0]} at trial "
            f"{event.trial:,} (step {event.step:,}): {by_rules(event)}; {amount(event.regret)} of reward was at "
            "stake."
        )
    if member.came == FIRST:
        return f"Region {j} (prototype {member.prototype}) is the first one; all others were split from it."
    if member.came == GIVEN:
        return f"Region {j} (prototype {member.prototype}) was given at the start."
    if asked.is_condensed:
        return f"Region {j} was kept when the map was condensed; the reason log is about the earlier map."
    if asked.log.kept:
        count = len(asked.log.kept)
        paid = "1 change was kept because it" if count == 1 else f"{count:,} changes were kept because they"
        price = _highest_price(asked, member)
        return f"Region {j} was found on probation: {paid} paid off.{price}"
    return f"Region {j} (prototype {member.prototype}) was made by the learner, which keeps no log of that."


def _highest_price(asked: Asked, member: Member) -> str:
    """Return the price of a prototype's most valuable distinction, if prices were measured."""
    own = [price for price in asked.log.prices if member.prototype in price.prototypes]
    if not own:
        return ""
    price = max(own, key=lambda one: one.lost)
    other = next(p for p in price.prototypes if p != member.prototype)
    return (
        f" Without the distinction from prototype {other}, a trial would lose {amount(price.lost)} of reward."
    )


def merged_sentence(member: Member | None) -> str:
    """Return how the nearest prototype of a state joined its region, if it is not the primary one."""
    if member is None or member.primary or not member.merges:
        return ""
    last = member.merges[-1]
    assert last.event == MERGE
    return (
        f"The nearest prototype is {member.prototype}, which joined this region at trial {last.trial:,} "
        f"(step {last.step:,})."
    )
