"""Following pieces of the starts forward, step by step, through a controller and the task's own program.

A piece that lies on the border of two regions goes on as two, each cut off at the border as far as its shape allows.
So does one that the program's own comparisons leave undecided. A piece that bends too much in a step is halved.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from distinguo.proof.declared.flow import Flow
from distinguo.proof.declared.pieces import (
    Pieces,
    Window,
    absorbed,
    boxes,
    halves,
    looked_at,
    of_forms,
    renewed,
)
from distinguo.proof.declared.places import ROOM, States, actions_near, places_in, rows_of_places
from distinguo.proof.number.form import LARGEST, Form
from distinguo.proof.number.paths import Path, TooManyPathsError, paths
from distinguo.proof.number.program import Parameters

#: A piece is halved if a step, where it is not linear, adds more than this share of its reach, and of the scale.
BENT, SPARE = 0.1, 1e-6
MOST_EACH = 256  #: pieces that one piece of the starts may become
MOST_WORK = 300_000  #: steps of pieces after which starts that are still running are given up


class PieceBounds(NamedTuple):
    """What is known of each piece of the starts."""

    returns: np.ndarray  #: the return is at least this; minus infinity if the piece could not be followed
    steps: np.ndarray  #: all of it has ended after at most so many steps; 0 if it may still be running
    work: int  #: pieces times steps


class PieceFollower:
    """Follows pieces of starts under one controller."""

    def __init__(self, flow: Flow, scale: np.ndarray, steps: int) -> None:
        self.flow, self.scale, self.steps = flow, scale, steps
        assert flow.controller is not None
        self.partition = flow.controller.partition
        self.sets = np.asarray(flow.controller.action_sets)[
            rows_of_places(self.partition)
        ]  # (places, actions)

    def follow(self, low: np.ndarray, high: np.ndarray) -> PieceBounds:
        """Follow boxes of starts, a row each, all together."""
        count = len(low)
        self.returns, self.last = np.full(count, np.inf), np.zeros(count, dtype=np.int64)
        self.failed = np.zeros(count, dtype=bool)
        pieces, work, step = boxes(low, high), 0, 0
        while len(pieces.owner) and step < self.steps and work <= MOST_WORK:
            work += len(pieces.owner)
            step += 1
            pieces = self._kept(self._advanced(pieces, step), count)
            if work > MOST_WORK:
                self.failed[pieces.owner] = True
        np.minimum.at(self.returns, pieces.owner, pieces.gained)
        self.last[pieces.owner] = 0
        returns = np.where(self.failed, -np.inf, self.returns)
        return PieceBounds(returns, np.where(self.failed, 0, self.last), work)

    def _kept(self, pieces: Pieces, count: int) -> Pieces:
        """Drop the pieces of starts that have spread too far."""
        narrow = (pieces.reach < self.scale).all(axis=1) & (np.abs(pieces.centre) < LARGEST).all(axis=1)
        self.failed[pieces.owner[~narrow]] = True
        self.failed |= np.bincount(pieces.owner, minlength=count) > MOST_EACH
        return pieces.at(np.flatnonzero(~self.failed[pieces.owner]))

    # ---- one step --------------------------------------------------------------------------------------------------

    def _advanced(self, pieces: Pieces, step: int) -> Pieces:
        """All pieces one step later; what ends is noted."""
        found: list[Pieces] = []
        for a, rows, window in self._taken(pieces):
            found += self._stepped(looked_at(pieces.at(rows), window), a, step)
        if not found:
            return pieces.at(np.zeros(0, dtype=np.int64))
        return self._shaped(Pieces.joined(found))

    def _shaped(self, pieces: Pieces) -> Pieces:
        """Give pieces shapes that can be followed further."""
        bent = (pieces.rest > BENT * pieces.reach + SPARE * self.scale).any(axis=1)
        pieces = absorbed(pieces, self.scale)
        length = ((pieces.columns / self.scale[:, None]) ** 2).sum(axis=1)
        if bent.any():
            cut = halves(pieces.at(np.flatnonzero(bent)), length[bent].argmax(axis=1))
            pieces = Pieces.joined([pieces.at(np.flatnonzero(~bent)), cut])
            length = ((pieces.columns / self.scale[:, None]) ** 2).sum(axis=1)
        d = len(self.scale)
        old = length[:, d:].sum(axis=1) > length[:, :d].sum(axis=1)
        if not old.any():
            return pieces
        new = renewed(pieces.at(np.flatnonzero(old)), self.scale)
        return Pieces.joined([pieces.at(np.flatnonzero(~old)), new])

    def _stepped(self, pieces: Pieces, a: int, step: int) -> list[Pieces]:
        """Where pieces go on by an action; what ends is noted."""
        found = []
        try:
            for path in self._ways(pieces, self._once(a)):
                state, reward, ended = path.result
                owner = pieces.owner[path.rows]
                gained = added_down(pieces.gained[path.rows], reward.low[path.kept])
                if ended:
                    self._end(owner, gained, step)
                    continue
                after = of_forms(state, path.kept, owner, gained)
                window = limited(path, after.columns.shape[2])
                keep = np.flatnonzero(~window.empty)
                after = looked_at(after.at(keep), window.at(keep))
                found.append(after)
        except TooManyPathsError:
            self.failed[pieces.owner] = True
        return found

    def _end(self, owner: np.ndarray, gained: np.ndarray, step: int) -> None:
        """Note that pieces have ended."""
        np.minimum.at(self.returns, owner, gained)
        self.last[owner] = step

    def _once(self, a: int) -> Callable[[Parameters, States], tuple[States, Form, bool]]:
        def once(fields: Parameters, here: States) -> tuple[States, Form, bool]:
            after, reward, terminal = self.flow.program.step(fields, here, a)
            ended = bool(terminal)
            return tuple(here[0].like(number) for number in after), here[0].like(reward), ended

        return once

    def _ways(self, pieces: Pieces, once: Callable[[Parameters, States], Any]) -> Any:
        """Every path of a part of the program that some piece may go; pieces that are lost have failed."""
        state = pieces.forms()
        directions = len(state[0].gradient)

        def run(rows: np.ndarray) -> Any:
            fields = Parameters(self.flow.program.parameters, self.flow.ranges, (directions, len(rows)))
            return once(fields, tuple(form.at(rows) for form in state))

        with np.errstate(all="ignore"):
            for path in paths(run, len(pieces.owner)):
                self.failed[pieces.owner[path.lost]] = True
                if len(path.rows):
                    yield path

    # ---- what the controller does ----------------------------------------------------------------------------------

    def _taken(self, pieces: Pieces) -> list[tuple[int, np.ndarray, Window]]:
        """The actions that may be taken, each with its pieces and the part of them in which it may be."""
        n, _, m = pieces.columns.shape
        found = [Window(np.zeros((n, m)), np.zeros((n, m)), np.ones(n, dtype=bool)) for _ in self.sets.T]
        for rows, seen in self._observed(pieces):
            places = places_in(self.partition, seen)
            alike = actions_near(places.near, self.sets).sum(axis=0) == 1
            for p, near in enumerate(places.near):
                if not near.any():
                    continue
                window = Window.whole(len(rows), m)
                window.empty[:] = ~near
                part = np.flatnonzero(near & ~alike)
                if len(part):
                    left = window.at(part)
                    for limit in places.limits(p, part):
                        left = left.within(*limit)
                    for whole, new in zip(window, left, strict=True):
                        whole[part] = new
                for a in np.flatnonzero(self.sets[p]):
                    both = found[a].at(rows).hull(window)
                    for whole, new in zip(found[a], both, strict=True):
                        whole[rows] = new
        return [
            (a, rows, window.at(rows))
            for a, window in enumerate(found)
            if len(rows := np.flatnonzero(~window.empty))
        ]

    def _observed(self, pieces: Pieces) -> list[tuple[np.ndarray, States]]:
        """What is observed, in every way that ``observe`` may go: the pieces, and what is seen of them."""
        observe = self.flow.program.observe
        if observe is None:
            return [(np.arange(len(pieces.owner)), pieces.forms())]
        ways = self._ways(
            pieces, lambda fields, here: tuple(here[0].like(number) for number in observe(fields, here))
        )
        return [(path.rows, tuple(form.at(path.kept) for form in path.result)) for path in ways]


def limited(path: Path, columns: int) -> Window:
    """The part of the pieces that may go a way, by the comparisons that it passed."""
    window = Window.whole(len(path.kept), columns)
    for less, more in path.limits:
        centre = less.centre[path.kept] - more.centre[path.kept]
        slope = (less.gradient[:, path.kept] - more.gradient[:, path.kept]).T
        size = less.size[path.kept] + more.size[path.kept]
        window = window.within(centre, slope, less.radius[path.kept] + more.radius[path.kept] + ROOM * size)
    return window


def added_down(total: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Sums that are not above the exact ones; exact where nothing is rounded.

    >>> added_down(np.array([1.0, 0.1]), np.array([1.0, 0.2])).tolist()
    [2.0, 0.3]
    """
    found = total + number
    part = found - total
    off = (total - (found - part)) + (number - part)
    return np.where(off < 0.0, np.nextafter(found, -np.inf), found)
