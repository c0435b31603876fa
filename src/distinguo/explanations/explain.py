"""Why? ``explain(run, state)`` and ``explain(run, state, other)``: sentences first, figures second.

>>> import distinguo
>>> run = distinguo.learn("puck", seed=1)
>>> print(explain(run, (0.5, 1.0), (-0.5, -1.0)).sentences[0])
Told apart because ...
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distinguo.criteria import incremental_regret, state_value
from distinguo.explanations.distinctions import Distinction, Inquiry
from distinguo.explanations.family import Member
from distinguo.explanations.investigation import VALUES, ActionProfile
from distinguo.explanations.sentences import (
    acting,
    amount,
    apart_sentence,
    birth_sentence,
    epsilon_sentence,
    merged_sentence,
    now_sentence,
    parting_sentence,
    place,
    together_sentence,
)
from distinguo.explanations.subject import Asked, asked_about, checked_state
from distinguo.runs.run import Run


class StateFacts(NamedTuple):
    """What is known of one state."""

    state: tuple[float, ...]
    region: int
    prototype: int | None  #: that it falls to
    action: str  #: preferred; of tied ones the first
    actions: tuple[str, ...]  #: all that are preferred
    value: float | None  #: of its region; by trials if the map's values are no rewards
    profile: ActionProfile  #: what each action is worth here, now
    loss: float | None  #: reward that is lost here by the choice of the region (section 2.2), None if unknown
    primary: Member | None  #: the prototype that stands for the region, with where it came from

    def document(self) -> dict[str, Any]:
        """Return the facts as plain values."""
        return {
            "state": list(self.state),
            "region": self.region,
            "prototype": self.prototype,
            "action": self.action,
            "actions": list(self.actions),
            "value": self.value,
            "profile": self.profile.document(),
            "loss": self.loss,
            "born": self.primary.document() if self.primary else None,
        }


class Explanation(NamedTuple):
    """The answer to a why: sentences for people, and all figures."""

    sentences: tuple[str, ...]
    facts: StateFacts
    other: StateFacts | None
    distinction: Distinction | None  #: between the two states, if there were two
    notes: tuple[str, ...]  #: what could not be read or done, in sentences
    action_names: tuple[str, ...]

    def __repr__(self) -> str:
        return "\n".join([*self.sentences, *self.notes, "", *self.figures()])

    def figures(self) -> list[str]:
        """Return the figures as lines of text."""
        sides = [side for side in (self.facts, self.other) if side is not None]
        width = max(8, *map(len, self.action_names)) + 2
        lines = [_row("", self.action_names, width)]
        then = self.distinction.then if self.distinction else None
        for n, side in enumerate(sides):
            if then is not None:
                lines.append(
                    _row(f"then, prototype {then.prototypes[n]}", map(amount, then.profiles[n]), width)
                )
            if self.distinction is not None and self.distinction.learned is not None:
                values = map(amount, self.distinction.learned[n])
                lines.append(_row(f"learned, region {side.region}", values, width))
            profile = self.distinction.profiles[n] if self.distinction else side.profile
            lines.append(_row(f"now, region {side.region}", map(amount, profile.values), width))
        return lines

    def document(self) -> dict[str, Any]:
        """Return everything as plain values, as ``distinguo explain --json`` prints it."""
        content = {
            **self.facts.document(),
            "reason": self.sentences[0],
            "sentences": list(self.sentences),
            "notes": list(self.notes),
            "action_names": list(self.action_names),
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
    """Explain why a state is treated as it is or, of two states, why they are kept apart or together.

    ``run`` is a run or the folder of one; it is not changed. States are given as the task is observed. Both are
    investigated again where the task can be put into them, with the settings of the run. ``carried`` asks about the
    map for other learners, where it is not the one that acts.

    >>> import distinguo
    >>> why = explain(distinguo.learn("puck", seed=1), (0.5, 1.0))
    >>> why.facts.region, why.facts.action, round(why.facts.profile.values[1], 2)
    (3, 'left', -0.84)
    """
    inquiry = Inquiry(asked_about(run, carried))
    return answered(inquiry, state, other)


def answered(inquiry: Inquiry, state: Sequence[float], other: Sequence[float] | None = None) -> Explanation:
    """Explain states to somebody who asks many questions about one map."""
    asked = inquiry.asked
    facts = _facts(inquiry, checked_state(asked, state))
    if other is None:
        said, second, found = _about_one(inquiry, facts), None, None
    else:
        second = _facts(inquiry, checked_state(asked, other))
        found = inquiry.distinction(facts.state, second.state)
        said = _about_two(inquiry, facts, second, found)
    sentences = tuple(sentence for sentence in said if sentence)
    return Explanation(sentences, facts, second, found, _notes(asked), asked.spec.actions)


def _facts(inquiry: Inquiry, s: tuple[float, ...]) -> StateFacts:
    asked, controller = inquiry.asked, inquiry.asked.controller
    j, profile, names = inquiry.region(s), inquiry.profile(s), inquiry.asked.spec.actions
    preferred = np.flatnonzero(controller.preferred(s)).tolist()
    primary = inquiry.primary(j)
    seen = profile.way != VALUES
    value: float | None = controller.value(s)
    if asked.values_name_actions:
        value = state_value(profile.q1) if seen else None
    return StateFacts(
        state=s,
        region=j,
        prototype=inquiry.nearest(s),
        action=names[preferred[0]],
        actions=tuple(names[a] for a in preferred),
        value=value,
        profile=profile,
        loss=incremental_regret(controller.q[j], profile.q1, controller.delta) if seen else None,
        primary=None if primary is None else inquiry.family.members[primary],
    )


def _about_one(inquiry: Inquiry, facts: StateFacts) -> list[str]:
    asked = inquiry.asked
    spec, names = asked.spec, asked.spec.actions
    doing = " or ".join(acting(spec, names.index(name)) for name in facts.actions)
    worth = "" if facts.value is None else f", and it is worth {amount(facts.value)}"
    loss = "" if facts.loss is None else f" That loses {amount(facts.loss)} of reward here (section 2.2)."
    fallen = None if facts.prototype is None else inquiry.family.members[facts.prototype]
    return [
        f"{place(spec, facts.state)} lies in region {facts.region}, where {doing} is preferred{worth}.{loss}",
        birth_sentence(asked, facts.region, facts.primary),
        merged_sentence(fallen),
        now_sentence(asked, [facts.profile], inquiry.investigator.obstacle),
    ]


def _about_two(inquiry: Inquiry, facts: StateFacts, second: StateFacts, found: Distinction) -> list[str]:
    asked = inquiry.asked
    why = together_sentence(asked, found) if found.same_region else apart_sentence(asked, found)
    return [
        why,
        _side("Here", asked, facts),
        _side("There", asked, second),
        parting_sentence(found),
        epsilon_sentence(asked, found),
        now_sentence(asked, found.profiles, inquiry.investigator.obstacle),
    ]


def _side(word: str, asked: Asked, facts: StateFacts) -> str:
    doing = " or ".join(acting(asked.spec, asked.spec.actions.index(name)) for name in facts.actions)
    return f"{word} is {place(asked.spec, facts.state)}, in region {facts.region}: {doing} is preferred."


def _notes(asked: Asked) -> tuple[str, ...]:
    if "trials" in asked.run.summary or not asked.run.path:
        return asked.notes
    return (*asked.notes, "The run is not finished; this is how its map was when it was last written down.")
