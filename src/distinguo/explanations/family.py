"""The family of the regions: which prototype was split from which, when, by which rule, and what was merged again.

Prototypes keep their numbers while a learner works, and its map lists them in that order. So the numbers of the log
are those of the map if the states logged with them agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distinguo.explanations.subject import MERGE, Asked, ReasonEvent, ReasonLog, asked_about, belongs_to
from distinguo.representations.partition import prototypes_of
from distinguo.runs.run import Run

FIRST, GIVEN, FOUND = "first", "given", "found"  #: the origin of a prototype that was not split from another


class Member(NamedTuple):
    """A prototype in its family."""

    prototype: int
    state: tuple[float, ...]
    region: int  #: its region now
    primary: bool  #: whether it is the primary one there
    came: str  #: its origin: "first", "given", "found", or "split" or "detach" by the log
    event: ReasonEvent | None  #: when it last got its own region, and why
    merges: tuple[ReasonEvent, ...]  #: when its region joined another

    @property
    def parent(self) -> int | None:
        """The prototype that it was split or detached from."""
        return self.event.prototypes[0] if self.event else None

    def document(self) -> dict[str, Any]:
        """Return the member as plain values."""
        event = self.event
        return {
            "prototype": self.prototype,
            "state": list(self.state),
            "region": self.region,
            "primary": self.primary,
            "came": self.came,
            "parent": self.parent,
            "trial": event.trial if event else None,
            "step": event.step if event else None,
            "rules": list(event.rules) if event else [],
            "regret": event.regret if event else None,
            "merges": [{"trial": one.trial, "into": one.prototypes[0]} for one in self.merges],
        }


class Family(NamedTuple):
    """All prototypes of a map, by their numbers; parents always have smaller ones."""

    members: tuple[Member, ...]
    events: tuple[ReasonEvent, ...] = ()  #: of the log, as far as it is about these prototypes

    def children(self, p: int | None) -> tuple[Member, ...]:
        """Return the prototypes that were split from one; for None, those that were not split from any."""
        return tuple(member for member in self.members if member.parent == p)

    def line(self, p: int) -> list[int]:
        """Return a prototype, the one it was split from, and so on to the first."""
        line = [p]
        while (parent := self.members[line[-1]].parent) is not None:
            line.append(parent)
        return line

    def parting(self, p: int, other: int) -> ReasonEvent | None:
        """Return the event by which the families of two prototypes parted; None if they never were one family.

        The first prototype is named first in it. If both were split from a third, the earlier split counts: the other
        one still belonged to the third then.
        """
        lines = self.line(p), self.line(other)
        shared = next((one for one in lines[0] if one in lines[1]), None)
        if shared is None or p == other:
            return None
        heads = [
            line[line.index(shared) - 1] for line in lines if line[0] != shared
        ]  # those split from the common ancestor
        parted = [(event, head) for head in heads if (event := self.members[head].event)]
        event, head = min(parted, key=lambda pair: pair[0].place)
        return event.seen_from(head if head in lines[0] else shared)

    def joining(self, p: int, other: int) -> ReasonEvent | None:
        """Return the last merge that joined two prototypes, with the first named first."""
        before, side, found, together = p, p, None, False
        for event, primaries in self.replayed():
            now = primaries[p] == primaries[other]
            if now and not together:
                side, found = before, event
            before, together = primaries[p], now
        return found.seen_from(side) if found and together else None

    def replayed(self) -> Iterator[tuple[ReasonEvent, dict[int, int]]]:
        """Replay the log: yield every event with the primary of each prototype after it.

        A merge moves all prototypes of a region. A prototype that does not exist yet is its own primary. The same
        dictionary is yielded every time.
        """
        primaries = {member.prototype: member.prototype for member in self.members}
        regions = {p: {p} for p in primaries}
        for event in self.events:
            older, younger = event.prototypes
            if event.event == MERGE:
                joined, regions[younger] = regions[younger], set()
                regions[older] |= joined
                primaries |= dict.fromkeys(joined, older)
            else:
                regions[primaries[younger]].discard(younger)
                regions[younger].add(younger)
                primaries[younger] = younger
            yield event, primaries

    def document(self) -> list[dict[str, Any]]:
        """Return the family as plain values."""
        return [member.document() for member in self.members]


def family(run: Run | Asked | str | Path) -> Family:
    """Return the family of the regions of a run, or of the run in a folder; empty for a map without prototypes.

    >>> import distinguo
    >>> tree = family(distinguo.learn("puck", seed=1))
    >>> [(member.prototype, member.parent, member.came) for member in tree.members]
    [(0, None, 'first'), (1, 0, 'split'), (2, 0, 'split'), (3, 0, 'split'), (4, 0, 'split')]
    """
    return family_of(asked_about(run))


def family_of(asked: Asked) -> Family:
    """Return the family of the regions of a map, by its log."""
    known = prototypes_of(asked.partition)
    if known is None:
        return Family(())
    events = _about(asked.log, known.points, len(asked.spec.actions))
    births = {event.prototypes[1]: event for event in events if event.event != MERGE}
    merges: dict[int, list[ReasonEvent]] = {}
    for event in events:
        if event.event == MERGE:
            merges.setdefault(event.prototypes[1], []).append(event)
    primary, members = known.is_primary, []
    for p, point in enumerate(known.points.tolist()):
        birth = births.get(p)
        members.append(
            Member(
                prototype=p,
                state=tuple(point),
                region=int(known.regions[p]),
                primary=bool(primary[p]),
                came=birth.event if birth else _came(asked, p),
                event=birth,
                merges=tuple(merges.get(p, ())),
            )
        )
    return Family(tuple(members), events)


def _about(log: ReasonLog, points: np.ndarray, actions: int) -> tuple[ReasonEvent, ...]:
    """Return the events that are about these prototypes; the older one is always named first."""
    return tuple(
        event
        for event in log.events
        if event.prototypes[0] < event.prototypes[1]
        and belongs_to(points, event)
        and all(len(profile) == actions for profile in event.profiles)
    )


def _came(asked: Asked, p: int) -> str:
    """Return the origin of a prototype whose birth is not in the log."""
    if not asked.grows_by_splits:
        return FOUND
    if asked.given_prototypes:
        return GIVEN if p < asked.given_prototypes else FOUND
    return FIRST if p == 0 else FOUND
