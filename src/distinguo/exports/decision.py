"""What a controller decides, written once: tables and a few functions in a small part of Python.

Every language prints these functions from their syntax tree (``language``), so a partition, an arithmetic or a law is
written down here and a language in a file of its own. The functions repeat the arithmetic of
``region(partition, s)`` operation by operation. An observation that is not finite, or beyond ``limit``, is a *fault*:
the safe action is taken.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from functools import singledispatch
from textwrap import indent
from typing import Any, NamedTuple

import numpy as np

from distinguo.errors import DistinguoError, attempt, did_you_mean, shown
from distinguo.exports.tables import LabelledController
from distinguo.representations.boxes import Boxes
from distinguo.representations.categories import Categories
from distinguo.representations.partition import has_labels, lacking
from distinguo.representations.voronoi import Voronoi

#: How numbers are kept: in 64 bits as in Python, in 32 bits, or as whole numbers (counts).
ARITHMETICS = ("double", "float", "fixed")
LARGEST_INPUT = {"double": 1e100, "float": 1e12}
LARGEST_NUMBER = {"double": 1e307, "float": 1e37}
LARGEST_COUNT = 2**31 - 1
UNBOUNDED = 1e30  #: spaces of Gymnasium write the largest float for infinity
MOST_COUNTS = 2**14 - 1  #: of an input that is multiplied
LONGEST_SUM = 8  #: coordinates of an inequality that is written out
ROOM = 2.0  #: counts reach so many times as far as the observations that are known

Tables = dict[str, np.ndarray]


class Inequality(NamedTuple):
    """The border of two prototypes: the second is nearer where ``normal @ s > offset``; in widths of the metric."""

    normal: np.ndarray
    offset: float


class Decision(NamedTuple):
    """What a controller decides, in one arithmetic."""

    named: LabelledController
    arithmetic: str
    limit: float  #: coordinates beyond are faults; a count if numbers are counts
    per_unit: np.ndarray  #: counts in a unit of each coordinate; ones unless numbers are counts
    amounts_per_unit: np.ndarray  #: the same of each amount
    safe_action: int
    safe_amounts: tuple[float, ...]
    tables: Tables
    source: str  #: of the functions
    inequality: Inequality | None  #: if there are two prototypes
    own: bool = False  #: whether the partition is one's own, which may say what it is in C
    said: str = ""  #: the arithmetic in words, with what was measured of it

    @property
    def dimensions(self) -> int:
        """The number of coordinates."""
        return len(self.named.dimensions)

    @property
    def safe(self) -> str:
        """What is done at a fault, in words."""
        if self.named.laws is not None:
            return f"the amounts {', '.join(map(repr, self.safe_amounts))}"
        return f"{self.safe_action} = {self.named.actions[self.safe_action]}"

    @property
    def number(self) -> type:
        """The class of NumPy's numbers that has this arithmetic."""
        return {"double": np.float64, "float": np.float32, "fixed": np.int64}[self.arithmetic]

    def read(self, states: np.ndarray) -> np.ndarray:
        """Observations as the exported program is given them."""
        with np.errstate(all="ignore"):
            if self.arithmetic != "fixed":
                return states.astype(self.number)
            counts = np.rint(states * self.per_unit)
        worst = 2.0**31 - 1  # what is not a number cannot be given as a count
        return np.clip(np.nan_to_num(counts, nan=worst), -worst, worst).astype(np.int64)


def decision_of(named: LabelledController, arithmetic: str = "double", safe: str | None = None) -> Decision:
    """Write down what a controller decides; ``safe`` is the action for faults, or amounts if actions are laws.

    >>> from distinguo.controller import Controller
    >>> from distinguo.representations.voronoi import voronoi
    >>> two = Controller(voronoi([[1.0], [-1.0]], [1.0]), np.array([[0.0, -1.0], [-1.0, 0.0]]))
    >>> decision = decision_of(LabelledController(two, ("x",), ("left", "right")), safe="right")
    >>> decision.safe_action, decision.limit, decision.inequality.normal.tolist()
    (1, 1e+100, [-1.0])
    """
    if arithmetic not in ARITHMETICS:
        raise DistinguoError(f"Unknown arithmetic '{arithmetic}'; {did_you_mean(arithmetic, ARITHMETICS)}")
    partition = named.controller.partition
    safe_action, safe_amounts = _safe(named, safe)
    limit, per_unit = _inputs(named, arithmetic)
    amounts_per_unit = np.ones(len(safe_amounts))
    laws: Tables = {}
    found = ""
    if safe_amounts:
        amounts_per_unit, laws, found = _amounts(named, arithmetic, limit, per_unit, safe_amounts)
    tables, region = _region(partition, arithmetic, per_unit)
    if not region and arithmetic != "double":
        raise lacking(partition, f"cannot be written in {arithmetic} arithmetic", "take double")
    actions, choice = _choice(named.controller.greedy)
    decision = Decision(
        named,
        arithmetic,
        limit,
        per_unit,
        amounts_per_unit,
        safe_action,
        safe_amounts,
        tables | actions | laws,
        _FAULT.format(n=len(named.dimensions))
        + region
        + _ACTION.format(choice=indent(choice, " " * 8))
        + found,
        inequality_of(partition),
        not region,
    )
    if arithmetic == "float":
        _check_float(decision)
    return decision


def functions_of(decision: Decision) -> dict[str, ast.FunctionDef]:
    """The functions of a decision by their names, in the order in which they need each other."""
    return {node.name: node for node in ast.parse(decision.source).body if isinstance(node, ast.FunctionDef)}


_FAULT = """
def fault(s):
    '''Whether an observation is no good: a coordinate is not a number, or beyond the limit.'''
    bad: int = 0
    for i in range({n}):
        if not (s[i] >= -LIMIT and s[i] <= LIMIT):
            bad = 1
    return bad
"""

_ACTION = """
def action(s):
    '''The action to take at an observation: the safe one if it is a fault.'''
    chosen: int = SAFE_ACTION
    if fault(s) == 0:
{choice}
    return chosen
"""

_LAWS = """
def amount(s, i):
    '''Amount i to take at an observation: offset + gains * s, cut to its range; the safe one if it is a fault.'''
    row: int = {row}
    total: number = safe_amounts[i]
    if fault(s) == 0:
        total = laws[row][{n}]
        for j in range({n}):
            total += laws[row][j] * s[j]
        if total < lowest[i]:
            total = lowest[i]
        if total > highest[i]:
            total = highest[i]
    return total
"""

_LEVELS = """
def amount(s, i):
    '''Number i of the action to take at an observation, in the units of the task.'''
    return levels[action(s)][i]
"""

_REGION = "\ndef region(s):\n    '''The region that an observation falls in.'''\n"

_NEAREST = """
def distance(s, p):
    '''The squared distance of an observation from a prototype.'''
    total: number = 0{point}
    for i in range({n}):
        d: number = {difference}
        total += d * d
    return total
"""

_SEVERAL = """\
    least: number = distance(s, 0)
    for p in range(1, {count}):
        here: number = distance(s, p)
        if here < least:
            best = p
            least = here
"""

_TWO = """\
    if {nearer}:
        best = 1
"""

_ALIKE = """\
    best: int = 0
    least: int = {n} + 1
    for p in range({count}):
        different: int = 0
        for i in range({n}):
            if s[i] != prototypes[p][i]:
                different += 1
        if different < least:
            best = p
            least = different
"""

_WALK = """\
    node: int = 0
    while axis[node] >= 0:
        if s[axis[node]] < cut[node]:
            node = below[node]
        else:
            node = above[node]
    return below[node]
"""


@singledispatch
def _region(partition: Any, arithmetic: str, per_unit: np.ndarray) -> tuple[Tables, str]:
    """The tables of a partition and its function ``region``; of one's own, nothing is known here."""
    return {}, ""


@_region.register(Voronoi)
def _(partition: Voronoi, arithmetic: str, per_unit: np.ndarray) -> tuple[Tables, str]:
    count, n = partition.prototypes.shape
    fixed = arithmetic == "fixed"
    places = np.rint(partition.prototypes * per_unit).astype(np.int64) if fixed else partition.prototypes
    nearer = _second_is_nearer(partition, per_unit, arithmetic)
    tables, measure = {}, ""
    if count > 1 and not nearer:
        tables = {"prototypes": places} if fixed else {"weight": partition.weight, "prototypes": places}
        difference = "s[i] - prototypes[p][i]" if fixed else "(s[i] - prototypes[p][i]) * weight[i]"
        measure = _NEAREST.format(n=n, point="" if fixed else ".0", difference=difference)
    body = _SEVERAL.format(count=count) if count > 2 else ""
    if count == 2:
        body = _TWO.format(nearer=nearer or "distance(s, 1) < distance(s, 0)")
    if fixed and body:  # beyond the limit counts would overflow: that is in the first region
        body = "    if fault(s) == 0:\n" + indent(body, "    ")
    answers, answer = _answer(partition)
    return tables | answers, measure + _REGION + "    best: int = 0\n" + body + answer


def _written_out(partition: Any, arithmetic: str) -> Inequality | None:
    """The inequality that is the code of two prototypes; in double their distances are, whose bits are Python's."""
    border = inequality_of(partition)
    short = border is not None and len(border.normal) <= LONGEST_SUM
    return border if short and arithmetic != "double" else None


def _second_is_nearer(partition: Voronoi, per_unit: np.ndarray, arithmetic: str) -> str:
    """Whether the second of two prototypes is nearer, as an inequality; empty if it is not to be one."""
    border = _written_out(partition, arithmetic)
    if border is None:
        return ""
    normal, offset = border.normal, np.array(border.offset)
    if arithmetic == "fixed":  # sums of products stay below 2^31
        per_count = normal / per_unit
        scale = (LARGEST_COUNT - MOST_COUNTS * len(normal)) / max(
            abs(per_count).sum() * MOST_COUNTS, abs(offset)
        )
        normal, offset = np.rint(per_count * scale).astype(np.int64), np.rint(offset * scale).astype(np.int64)
    terms = " + ".join(f"{k!r} * s[{i}]" for i, k in enumerate(normal.tolist()) if k)
    return f"{terms} > {offset.item()!r}"


@_region.register(Categories)
def _(partition: Categories, arithmetic: str, per_unit: np.ndarray) -> tuple[Tables, str]:
    count, n = partition.prototypes.shape
    labels = partition.prototypes
    if arithmetic == "fixed":
        labels = np.rint(labels).astype(np.int64)
        if (labels != partition.prototypes).any() or (abs(labels) > LARGEST_COUNT // 2).any():
            raise DistinguoError("Fixed point carries labels that are whole numbers below 2^30; take double.")
    tables, answer = _answer(partition)
    return {"prototypes": labels, **tables}, _REGION + _ALIKE.format(n=n, count=count) + answer


@_region.register(Boxes)
def _(partition: Boxes, arithmetic: str, per_unit: np.ndarray) -> tuple[Tables, str]:
    cut = partition.cut
    if arithmetic == "fixed":
        cut = np.rint(cut * per_unit[np.maximum(partition.axis, 0)]).astype(np.int64)
    names = {"axis": partition.axis, "cut": cut, "below": partition.below, "above": partition.above}
    return names, _REGION + _WALK


def _answer(partition: Voronoi | Categories) -> tuple[Tables, str]:
    """The region of the prototype ``best``; without a table if each has its own."""
    if (partition.regions == np.arange(len(partition.regions))).all():
        return {}, "    return best\n"
    return {"regions": partition.regions}, "    return regions[best]\n"


@singledispatch
def inequality_of(partition: Any) -> Inequality | None:
    """The border of two prototypes, scaled so that ``normal @ s - offset`` is the distance from it in widths."""
    return None


@inequality_of.register(Voronoi)
def _(partition: Voronoi) -> Inequality | None:
    if len(partition.prototypes) != 2:
        return None
    first, second = partition.prototypes * partition.weight
    length = float(np.linalg.norm(second - first))
    if length == 0.0:
        return None
    normal = (second - first) / length
    return Inequality(normal * partition.weight, float((first + second) @ normal / 2))


def _choice(greedy: np.ndarray) -> tuple[Tables, str]:
    """How the action follows from the region: by a table if there are more than two."""
    if len(greedy) > 2:
        return {"actions": greedy}, "chosen = actions[region(s)]"
    first, last = int(greedy[0]), int(greedy[-1])
    if first == last:
        return {}, f"chosen = {first}"
    return {}, f"chosen = {first}\nif region(s) == 1:\n    chosen = {last}"


# What is given: how large it may be, and its counts.


def known_extent(named: LabelledController) -> np.ndarray:
    """The lowest and highest observations that are known; where there are none, those of the partition."""
    n = len(named.dimensions)
    low, high = (np.array(side or [math.inf] * n, dtype=float) for side in (named.low, named.high))
    known = np.maximum(abs(low), abs(high)) < UNBOUNDED
    reach = _reach(named.controller.partition, n)
    return np.array([np.where(known, low, reach[0]), np.where(known, high, reach[1])])


@singledispatch
def _reach(partition: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and highest coordinates that a partition speaks of."""
    return np.zeros(n), np.ones(n)


@_reach.register(Voronoi)
@_reach.register(Categories)
def _(partition: Voronoi | Categories, n: int) -> tuple[np.ndarray, np.ndarray]:
    width = getattr(partition, "scale", 0.0)
    return partition.prototypes.min(axis=0) - width, partition.prototypes.max(axis=0) + width


@_reach.register(Boxes)
def _(partition: Boxes, n: int) -> tuple[np.ndarray, np.ndarray]:
    cuts = [np.append(partition.cut[partition.axis == i], partition.low[i]) for i in range(n)]
    lowest, highest = np.array([one.min() for one in cuts]), np.array([one.max() for one in cuts])
    return lowest, np.maximum(highest, partition.high)


@singledispatch
def _counts(partition: Any, far: np.ndarray) -> tuple[float, np.ndarray]:
    """The largest count, and the counts in a unit of each coordinate, whose values reach as ``far``."""
    limit = LARGEST_COUNT // 2
    return limit, np.ones(len(far)) if has_labels(partition) else limit / (ROOM * far)


@_counts.register(Voronoi)
def _(partition: Voronoi, far: np.ndarray) -> tuple[float, np.ndarray]:
    if _written_out(partition, "fixed"):
        return MOST_COUNTS, MOST_COUNTS / (ROOM * far)
    limit = int(math.sqrt(LARGEST_COUNT / len(far)) / 2)  # as many squares of differences are below 2^31
    return limit, partition.weight * (limit / (ROOM * float((far * partition.weight).max())))


def _inputs(named: LabelledController, arithmetic: str) -> tuple[float, np.ndarray]:
    """The greatest input, and the counts in a unit of each coordinate."""
    partition, n = named.controller.partition, len(named.dimensions)
    far = np.max([*abs(known_extent(named)), *np.abs(_reach(partition, n)), np.full(n, 1e-300)], axis=0)
    if arithmetic == "fixed":
        return _counts(partition, far)
    steepest = max(1.0, float(np.max(getattr(partition, "weight", 1.0))))
    largest = min(LARGEST_INPUT[arithmetic], math.sqrt(LARGEST_NUMBER[arithmetic] / (4 * n)) / steepest)
    if named.laws is not None:
        largest = min(largest, LARGEST_NUMBER[arithmetic] / max(1.0, float(abs(named.laws.table).sum())))
    power = 10.0 ** math.floor(math.log10(largest) + 1e-9)
    if far.max() > power:
        i = int(far.argmax())
        raise DistinguoError(
            f"{arithmetic.capitalize()} arithmetic carries observations up to {power:g} here, and "
            f"{named.dimensions[i]} reaches {far[i]:g}; "
            + ("take double." if arithmetic == "float" else "scale the observation.")
        )
    return power, np.ones(n)


def _check_float(decision: Decision) -> None:
    """Refuse numbers that 32 bits do not hold."""
    border = decision.inequality
    numbers = decision.tables | (
        {"normal": border.normal, "offset": np.array(border.offset)} if border else {}
    )
    for name, table in numbers.items():
        with np.errstate(over="ignore", under="ignore"):
            short = table.astype(np.float32)
        if not np.isfinite(short).all() or ((short == 0) & (table != 0)).any():
            raise DistinguoError(f"Float arithmetic cannot hold a number of the table {name}; take double.")


# What is done where nothing can be decided, and how much.


def _safe(named: LabelledController, safe: str | None) -> tuple[int, tuple[float, ...]]:
    """The safe action, and its amounts where actions are amounts."""
    if named.laws is not None:
        low, high = named.laws.low, named.laws.high
        given = np.clip(np.zeros(len(low)), low, high)
        if safe is not None:
            words = attempt(lambda: [float(word) for word in safe.split(",")], otherwise=[])
            given = np.array(words)
            if given.shape != low.shape or not ((low <= given) & (given <= high)).all():
                ranges = ", ".join(f"{a:g} .. {b:g}" for a, b in zip(low, high, strict=True))
                raise DistinguoError(f"The safe amounts should be numbers in {ranges}, got {shown(safe)}.")
        return 0, tuple(given.tolist())
    if safe is None or safe in named.actions:
        a = named.actions.index(safe) if safe is not None else 0
    else:
        a = attempt(int, safe, otherwise=-1)
        if not 0 <= a < len(named.actions):
            raise DistinguoError(f"Unknown safe action '{safe}'; {did_you_mean(safe, named.actions)}")
    return a, named.amounts[a] if named.amounts else ()


def _amounts(
    named: LabelledController,
    arithmetic: str,
    limit: float,
    per_unit: np.ndarray,
    safe: Sequence[float],
) -> tuple[np.ndarray, Tables, str]:
    """Counts in a unit of each amount, and the tables and the function of laws or levels."""
    per_amount = np.ones(len(safe))
    if named.laws is None:
        levels = np.array(named.amounts)
        if arithmetic == "fixed":
            per_amount = LARGEST_COUNT // 2 / np.maximum(abs(levels).max(axis=0), 1e-300)
            levels = np.rint(levels * per_amount).astype(np.int64)
        return per_amount, {"levels": levels}, _LEVELS
    table, low, high = named.laws
    count, amounts, affine = table.shape
    least = np.array(safe)
    if arithmetic == "fixed":  # sums of gain * count stay below 2^31
        per_count = table / np.append(per_unit, 1.0)
        sums = (abs(per_count) * np.append(np.full(affine - 1, limit), 1.0)).sum(axis=2).max(axis=0)
        most = np.maximum(np.maximum(abs(low), abs(high)), np.maximum(sums, 1e-300))
        per_amount = (LARGEST_COUNT - limit * affine) / most
        table, low, high, least = (
            np.rint(numbers).astype(np.int64)
            for numbers in (
                per_count * per_amount[:, None],
                low * per_amount,
                high * per_amount,
                least * per_amount,
            )
        )
    tables = {
        "laws": table.reshape(count * amounts, affine),
        "lowest": low,
        "highest": high,
        "safe_amounts": least,
    }
    row = "action(s)" if amounts == 1 else f"action(s) * {amounts} + i"
    return per_amount, tables, _LAWS.format(row=row, n=affine - 1)
