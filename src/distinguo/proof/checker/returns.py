"""An independent check of a certificate about returns, by the source of the task, in ball arithmetic (Arb).

Every piece of the starts is followed anew, for as many steps as the certificate says, one way after the other. A set
of states is ``centre + columns e + rest``, and a step encloses it by the mean value theorem. Where a set may go
several ways, each way is followed with the part of the set that may take it. A set that bends too much is halved, and
so is a piece that does not certainly keep the claim; one that fails four times over refutes the certificate.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from flint import arb, arb_mat

from distinguo.errors import DistinguoError
from distinguo.proof.checker.actions import touched_leaves
from distinguo.proof.checker.duals import ZERO, Dual, Unclear
from distinguo.proof.checker.source import Evaluator
from distinguo.proof.schema import PrototypesClaim, ReturnCertificate, TreeClaim

HALVINGS = 4  #: how often a piece of the starts may be halved
BUDGET = 50_000  #: steps of sets that one piece may take
BENT, LOOSE = 0.1, 0.01  #: shares of the reach: of the rest at which a set is halved, and turned into columns
SMALL = 1e-9  #: reach below which a set is not halved
NEARER = arb("1e-12")  #: a squared distance is off by less than this share; floating point has 1e-15
ROOM = 1e-12  #: of plain numbers that say which part of a set goes a way
UNIT = arb(0, 1)
Column = list[Any]
States = tuple[Dual, ...]


class Zonotope(NamedTuple):
    """A set of states: ``centre + columns e + rest``, each coordinate of ``e`` between -1 and 1."""

    centre: Column
    early: list[Column]  #: columns that began as the edges of the piece
    late: list[Column]  #: columns that were added since
    rest: Column  #: the greatest magnitude of each coordinate of the rest
    step: int
    gained: Any  #: the return so far is at least this

    @property
    def columns(self) -> list[Column]:
        """All columns."""
        return [*self.early, *self.late]

    def states(self) -> States:
        """The states as numbers that depend on ``e``."""
        found = []
        for i, centre in enumerate(self.centre):
            slopes = tuple(column[i] for column in self.columns)
            middle = centre + arb(0, self.rest[i])
            reach = sum((abs(slope) for slope in slopes), start=ZERO)
            found.append(Dual(middle, middle + reach * UNIT, slopes))
        return tuple(found)

    def reach(self) -> np.ndarray:
        """How far the columns reach in each coordinate, about."""
        return np.abs(np.array([[float(x) for x in column] for column in self.columns])).sum(axis=0)


class _Window:
    """The part of ``e`` that is left, in plain numbers with room for their rounding."""

    def __init__(self, directions: int) -> None:
        self.low, self.high = np.full(directions, -1.0), np.full(directions, 1.0)

    def narrow(self, number: Dual) -> bool:
        """Keep what may have a number that is not above 0; whether anything is left."""
        slopes = np.array([float(slope.mid()) for slope in number.slopes])
        off = float(number.middle.rad()) + sum(float(slope.rad()) for slope in number.slopes)
        centre = float(number.middle.mid())
        size = abs(centre) + np.abs(slopes).sum() + off
        least = np.minimum(slopes * self.low, slopes * self.high).sum()
        room = off - centre - least + ROOM * size + 1e-300
        if not room >= 0.0:
            return False
        with np.errstate(all="ignore"):
            far = np.where(slopes == 0.0, np.inf, room / np.abs(slopes)) * (1.0 + ROOM) + ROOM
        self.high, self.low = (
            np.where(slopes > 0.0, np.minimum(self.high, self.low + far), self.high),
            np.where(slopes < 0.0, np.maximum(self.low, self.high - far), self.low),
        )
        return True

    def join(self, other: _Window) -> None:
        """Take what is left in either."""
        self.low, self.high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)

    def of(self, zonotope: Zonotope) -> Zonotope:
        """The part of a set."""
        if (self.low <= -1.0).all() and (self.high >= 1.0).all():
            return zonotope
        centre, rest, columns = list(zonotope.centre), list(zonotope.rest), []
        for column, low, high in zip(zonotope.columns, self.low.tolist(), self.high.tolist(), strict=True):
            middle, half = (arb(low) + arb(high)) / 2, (arb(high) - arb(low)) / 2
            centre = [c + x * middle for c, x in zip(centre, column, strict=True)]
            columns.append([x * half for x in column])
        count = len(zonotope.early)
        return _exact(
            zonotope._replace(centre=centre, early=columns[:count], late=columns[count:], rest=rest)
        )


def _exact(zonotope: Zonotope) -> Zonotope:
    """The same set, or a little more, with a centre and columns that are exact numbers."""
    rest = [r + c.rad() for r, c in zip(zonotope.rest, zonotope.centre, strict=True)]
    for column in zonotope.columns:
        rest = [r + x.rad() for r, x in zip(rest, column, strict=True)]
    early, late = ([[x.mid() for x in column] for column in part] for part in (zonotope.early, zonotope.late))
    centre = [c.mid() for c in zonotope.centre]
    return zonotope._replace(centre=centre, early=early, late=late, rest=[r.upper() for r in rest])


class ReturnChecker:
    """Follows sets of states under the controller of a certificate."""

    def __init__(self, certificate: ReturnCertificate) -> None:
        self.certificate, self.evaluator = certificate, Evaluator(certificate.task, certificate.controller)
        self.done = 0
        if isinstance(claim := certificate.controller, PrototypesClaim):
            self.prototypes = [[arb(number) for number in row] for row in claim.prototypes]
            self.weights = [arb(number) ** 2 for number in claim.weight]

    def keeps(
        self, low: list[float], high: list[float], gain: float, steps: int, halvings: int = HALVINGS
    ) -> bool:
        """Whether all trials from a box of starts certainly gain so much and, if steps are given, end within them."""
        if self._follow(_box(low, high), arb(gain), steps):
            return True
        if not halvings:
            return False
        axis = max(range(len(low)), key=lambda i: high[i] - low[i])
        middle = low[axis] + (high[axis] - low[axis]) / 2
        ends = ([*high[:axis], middle, *high[axis + 1 :]], [*low[:axis], middle, *low[axis + 1 :]])
        return self.keeps(low, ends[0], gain, steps, halvings - 1) and self.keeps(
            ends[1], high, gain, steps, halvings - 1
        )

    def _follow(self, first: Zonotope, gain: Any, steps: int) -> bool:
        todo, limit = [first], self.done + BUDGET
        while todo:
            here = todo.pop()
            if here.step == (steps or self.certificate.limit):
                if steps or not here.gained >= gain:
                    return False
                continue
            self.done += 1
            if self.done > limit:
                return False
            try:
                for after, ended in self._advanced(here):
                    if not ended:
                        todo += _shaped(after)
                    elif not after.gained >= gain:
                        return False
            except Unclear:
                return False
        return True

    def _advanced(self, here: Zonotope) -> list[tuple[Zonotope, bool]]:
        """All that one step may lead to, and whether the trial has ended there."""
        found = []
        self.evaluator.take_directions(len(here.columns))
        for a, window in self._windows(here.states()).items():
            part = window.of(here)
            for state, reward, ended, limits in self.evaluator.outcomes(part.states(), a, True):
                left = _Window(len(here.columns))
                if not all(left.narrow(number) for number in limits):
                    continue
                gained = (here.gained + reward.tightened().range.lower()).lower()
                after = _reached(state, part._replace(step=here.step + 1, gained=gained))
                found.append((after if ended else left.of(after), ended))
        return found

    def _windows(self, state: States) -> dict[int, _Window]:
        """The actions that the controller may take, and in which part of a set."""
        found: dict[int, _Window] = {}
        for seen in self.evaluator.observed(state, True):
            places = self._places(seen)
            same = len({tuple(actions) for actions, _ in places}) == 1
            for actions, limits in places:
                window = _Window(len(state[0].slopes))
                if not same and not all(window.narrow(number) for number in limits):
                    continue
                for a in actions:
                    if a in found:
                        found[a].join(window)
                    else:
                        found[a] = _Window(len(state[0].slopes))
                        found[a].low, found[a].high = window.low, window.high
        return found

    def _places(self, seen: States) -> list[tuple[list[int], list[Dual]]]:
        """The places that a set may touch: the actions of each, and numbers that are not above 0 there."""
        claim = self.certificate.controller
        if isinstance(claim, TreeClaim):
            return touched_leaves(claim, seen)
        near = self._near(seen)
        return [(claim.actions[p], [self._lead(seen, p, q) for q in near if q != p]) for p in near]

    def _near(self, seen: States) -> list[int]:
        """The prototypes that may be the nearest somewhere."""
        far = []
        for place in self.prototypes:
            terms = (w * (s.middle.mid() - p) ** 2 for w, s, p in zip(self.weights, seen, place, strict=True))
            far.append(float(sum(terms, start=ZERO).mid()))
        best = int(np.argmin(far))
        near = [best]
        for p in range(len(far)):
            if p != best:
                lead = self._lead(seen, p, best)
                if not lead.middle - sum((abs(slope) for slope in lead.slopes), start=ZERO) > 0:
                    near.append(p)
        return near

    def _lead(self, seen: States, p: int, q: int) -> Dual:
        """By how much a prototype is farther than another, squared, less what rounding may hide."""
        middle, size, slopes = ZERO, arb(1), [ZERO] * len(seen[0].slopes)
        for w, s, x, y in zip(self.weights, seen, self.prototypes[p], self.prototypes[q], strict=True):
            factor = 2 * w * (y - x)
            middle += factor * (s.middle - (x + y) / 2)
            slopes = [total + factor * slope for total, slope in zip(slopes, s.slopes, strict=True)]
            size += w * ((s.range - x).abs_upper() ** 2 + (s.range - y).abs_upper() ** 2)
        middle -= (NEARER * size).upper()
        return Dual(middle, middle, tuple(slopes))

    def holds_starts(self) -> bool:
        """Whether every start certainly lies in one of the boxes."""
        starts = self.certificate.starts
        self.evaluator.take_directions(self.evaluator.dimensions)
        return all(
            any(
                all(
                    arb(a) <= x.lower() and x.upper() <= arb(z)
                    for x, a, z in zip(start, low, high, strict=True)
                )
                for low, high in zip(starts.low, starts.high, strict=True)
            )
            for start in self.evaluator.starts()
        )


def _box(low: list[float], high: list[float]) -> Zonotope:
    """A box of starts."""
    centre = [(arb(a) + arb(z)) / 2 for a, z in zip(low, high, strict=True)]
    half = [(arb(z) - arb(a)) / 2 for a, z in zip(low, high, strict=True)]
    wide = [j for j in range(len(low)) if high[j] > low[j]] or [0]
    early = [[half[i] if i == j else ZERO for i in range(len(low))] for j in wide]
    return _exact(Zonotope(centre, early, [], [ZERO] * len(low), 0, ZERO))


def _reached(state: States, before: Zonotope) -> Zonotope:
    """The set around what a step led to; a coordinate that is known better by its range is that range."""
    centre, rest, columns = [], [], [list(column) for column in before.columns]
    for i, number in enumerate(state):
        spread = sum((abs(slope) for slope in number.slopes), start=ZERO)
        short = number.range.rad() < 0.7 * (float(spread.upper()) + float(number.middle.rad()))
        ball = number.range if short else number.middle
        centre.append(ball)
        rest.append(ZERO)
        for column, slope in zip(columns, number.slopes, strict=True):
            column[i] = ZERO if short else slope
    count = len(before.early)
    return _exact(before._replace(centre=centre, early=columns[:count], late=columns[count:], rest=rest))


def _shaped(zonotope: Zonotope) -> list[Zonotope]:
    """A set in a shape that can be followed further; one that bends too much as its halves."""
    rest, reach = np.array([float(r) for r in zonotope.rest]), zonotope.reach()
    if not (rest > LOOSE * reach).any():
        return [zonotope]
    turned = _absorbed(zonotope)
    if not (rest > BENT * (reach + rest) + SMALL).any():
        return [turned]
    length = [sum(float(x) ** 2 for x in column) for column in turned.columns]
    longest, parts = int(np.argmax(length)), []
    for low, high in ((-1.0, 0.0), (0.0, 1.0)):
        window = _Window(len(length))
        window.low[longest], window.high[longest] = low, high
        parts.append(window.of(turned))
    return parts


def _absorbed(zonotope: Zonotope) -> Zonotope:
    """Turn the rest into columns along axes that fit; all columns, if the first are outweighed by the others."""
    d = len(zonotope.centre)
    boxed = [[zonotope.rest[i] if i == j else ZERO for i in range(d)] for j in range(d)]
    parts = [*zonotope.late, *boxed]
    weights = [sum(float(x) ** 2 for column in part for x in column) for part in (parts, zonotope.early)]
    if weights[0] > weights[1]:
        columns, lost = _in_axes([*zonotope.early, *parts], d)
        return _exact(zonotope._replace(early=columns, late=[], rest=lost))
    columns, lost = _in_axes(parts, d)
    return _exact(zonotope._replace(late=columns, rest=lost))


def _in_axes(parts: list[Column], d: int) -> tuple[list[Column], Column]:
    """A box, along axes that fit the longest of some columns, around all of them; and what it leaves out."""
    plain = np.array([[float(x) for x in column] for column in parts]).T
    scale = np.abs(plain).sum(axis=1) + 1e-30
    scaled = plain / scale[:, None]
    order = np.argsort(-(scaled * scaled).sum(axis=0), kind="stable")[:d]
    axes = np.linalg.qr(scaled[:, order])[0]
    guess = arb_mat((axes * scale[:, None]).tolist())
    inverse = arb_mat((axes.T / scale[None, :]).tolist())
    matrix = arb_mat([[column[i] for column in parts] for i in range(d)])
    turned = inverse * matrix
    left = matrix - guess * turned
    widths = [sum((abs(turned[i, j]) for j in range(len(parts))), start=ZERO).upper() for i in range(d)]
    lost = [sum((abs(left[i, j]) for j in range(len(parts))), start=ZERO).upper() for i in range(d)]
    return [[guess[i, j] * widths[j] for i in range(d)] for j in range(d)], lost


def check_returns(certificate: ReturnCertificate) -> tuple[int, int]:
    """Verify every proven piece of the starts, or raise: how many there are, and how many steps of sets it took."""
    checker, starts = ReturnChecker(certificate), certificate.starts
    claim, observed = certificate.controller, "observe" in certificate.task.functions
    if isinstance(claim, PrototypesClaim) and not observed and len(claim.weight) != len(starts.low[0]):
        raise DistinguoError("The certificate is wrong: its prototypes have another number of coordinates.")
    if certificate.all_starts and not checker.holds_starts():
        raise DistinguoError("The certificate is wrong: a start may lie outside of its pieces.")
    for (low, high), number in starts.pieces():
        if number < 0:
            continue
        gain, steps = starts.returns[number], starts.steps[number]
        if not checker.keeps(low, high, gain, steps):
            ends = f" and end within {steps} steps" if steps else ""
            where = " and ".join("(" + ", ".join(f"{x:.4f}" for x in corner) + ")" for corner in (low, high))
            raise DistinguoError(
                f"The certificate is wrong: a trial from a start between {where} may not gain {gain:g}{ends}."
            )
    return len(starts.returns), checker.done
