"""A controller for humans: a decision list in Markdown, with as few digits as do.

A rule is a list of inequalities, all of which hold where it applies; the first rule that applies has the action. For
boxes, rules come in the order of a walk that takes the low side first, so that only "below" needs to be said. For
prototypes, a rule says that one is nearer than those with other actions. Where that takes too many rules, and for
labels, the list is a table of prototypes.
"""

from __future__ import annotations

from collections import Counter
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from distinguo import __version__
from distinguo.errors import counted
from distinguo.exports.agreement import (
    Agreement,
    Written,
    agreement_of,
    chosen,
    even_draws,
    farthest_amounts,
)
from distinguo.exports.decision import Decision, decision_of, known_extent
from distinguo.exports.language import certified_in_words, comment
from distinguo.representations.boxes import Boxes
from distinguo.representations.partition import count_regions, has_labels
from distinguo.representations.voronoi import Voronoi

DIGITS = range(3, 11)  #: significant ones, of which the fewest that do are written
MOST_RULES = 12  #: with a prototype each
ENOUGH = 1e-3  #: amounts may differ by so much of their range


class HalfSpace(NamedTuple):
    """An inequality: ``normal @ s > offset``, or with equality, too."""

    normal: np.ndarray
    offset: float
    strict: bool = True

    def holds(self, states: np.ndarray) -> np.ndarray:
        """Whether it holds at each of many observations."""
        found = states @ self.normal
        return np.asarray(found > self.offset if self.strict else found >= self.offset)


class Rule(NamedTuple):
    """Where all conditions hold, and no rule before applies, the action is taken."""

    conditions: list[HalfSpace]
    action: int


@singledispatch
def rules_of(partition: Any, actions: np.ndarray) -> list[Rule]:
    """The decision list of a partition with the action of each region; empty if a table is easier to read."""
    return []


@rules_of.register(Boxes)
def _(partition: Boxes, actions: np.ndarray) -> list[Rule]:
    n = len(partition.low)
    found: list[tuple[dict[int, float], int]] = []  #: where coordinates are below, and the action
    ways: list[tuple[int, dict[int, float]]] = [(0, {})]
    while ways:
        node, below = ways.pop()
        i, cut = int(partition.axis[node]), float(partition.cut[node])
        if i >= 0:
            ways.append((int(partition.above[node]), below))
            ways.append((int(partition.below[node]), {**below, i: min(cut, below.get(i, cut))}))
            continue
        action = int(actions[partition.below[node]])
        while found and found[-1][1] == action and _within(found[-1][0], below):
            found.pop()
        found.append((below, action))
    return [
        Rule([HalfSpace(-np.eye(n)[i], -cut) for i, cut in below.items()], action) for below, action in found
    ]


def _within(inner: dict[int, float], outer: dict[int, float]) -> bool:
    """Whether all that is below the cuts of the one is below those of the other."""
    return all(i in inner and inner[i] <= cut for i, cut in outer.items())


@rules_of.register(Voronoi)
def _(partition: Voronoi, actions: np.ndarray) -> list[Rule]:
    of = actions[partition.regions]
    last = Counter(of.tolist()).most_common(1)[0][0]
    if (of != last).sum() > MOST_RULES or len(of) > 4 * MOST_RULES:
        return []
    rules = []
    for p in np.flatnonzero(of != last).tolist():
        needed = _needed([_nearer(partition, p, other) for other in np.flatnonzero(of != of[p]).tolist()])
        if needed is not None:
            rules.append(Rule(needed, int(of[p])))
    return [*rules, Rule([], last)]


def _nearer(partition: Voronoi, p: int, other: int) -> HalfSpace:
    """Where one prototype is nearer than another, or equally near and before it."""
    here, there = partition.prototypes[p] * partition.weight, partition.prototypes[other] * partition.weight
    normal = here - there
    return HalfSpace(normal * partition.weight, float((here + there) @ normal / 2), p > other)


def _needed(conditions: list[HalfSpace]) -> list[HalfSpace] | None:
    """The conditions that do not follow from the others; None if one cannot hold."""
    kept = [one for one in conditions if one.normal.any()]
    if any(one.strict for one in conditions if not one.normal.any()):  # the second of two in one place
        return None
    for one in list(kept):
        others = [other for other in kept if other is not one]
        if others and _follows(one, others):
            kept = others
    return kept


def _follows(one: HalfSpace, others: list[HalfSpace]) -> bool:
    """Whether a condition holds wherever the others do."""
    from scipy.optimize import linprog  # it takes a while, and other formats do without

    normals = np.array([other.normal for other in [one, *others]])
    offsets = np.array([other.offset for other in [one, *others]])
    lengths = np.linalg.norm(normals, axis=1)
    normals, offsets = normals / lengths[:, None], offsets / lengths
    found = linprog(normals[0], A_ub=-normals[1:], b_ub=-offsets[1:], bounds=(None, None))
    return bool(found.status == 0 and found.fun > offsets[0] + 1e-9 * (1 + abs(offsets[0])))


# ---- with few digits


class RoundedList(NamedTuple):
    """A decision with numbers of few digits, as it is written down: rules or a table, and laws."""

    decision: Decision  #: with rounded prototypes and laws
    rules: list[Rule]
    digits: int

    def answers(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """The actions, and the amounts of laws, that one would read off at many observations."""
        if not 0 < len(self.rules) <= 4 * MOST_RULES:  # of boxes, whose cuts are rounded, too
            found = chosen(self.decision, states)
        else:
            found = np.full(len(states), self.rules[-1].action)
            for rule in reversed(self.rules[:-1]):
                holds = np.logical_and.reduce([one.holds(states) for one in rule.conditions])
                found = np.where(holds, rule.action, found)
        laws = self.decision.named.laws
        if laws is None:
            return found, None
        affine = np.append(states, np.ones((len(states), 1)), axis=1)
        with np.errstate(all="ignore"):
            amounts = np.einsum("kaj,kj->ka", laws.table[found], affine)
        return found, np.clip(amounts, laws.low, laws.high)


def rounded_list(decision: Decision) -> tuple[RoundedList, Agreement | None]:
    """Round as far as the actions at observations drawn evenly stay, and say what was measured."""
    rules = rules_of(decision.named.controller.partition, decision.named.controller.greedy)
    width = np.maximum(np.diff(known_extent(decision.named), axis=0)[0], 1e-300)
    exact = decision_of(decision.named)
    states = even_draws(exact)
    expected = chosen(exact, states)
    for digits in DIGITS:
        sheet = RoundedList(
            _with_digits(decision, digits), [_rounded(rule, width, digits) for rule in rules], digits
        )
        found, amounts = sheet.answers(states)
        if (found == expected).all() and farthest_amounts(exact, states, amounts) <= ENOUGH:
            break
    return sheet, agreement_of(decision, program=sheet.answers)


def _shorter(numbers: np.ndarray, digits: int) -> np.ndarray:
    return np.array([float(f"{number:.{digits}g}") for number in numbers.ravel()]).reshape(numbers.shape)


def _rounded(rule: Rule, width: np.ndarray, digits: int) -> Rule:
    """Conditions whose weightiest coordinate has the factor 1 or -1."""
    conditions = []
    for normal, offset, strict in rule.conditions:
        weights = abs(normal) * width
        normal = np.where(weights >= weights.max() * 0.1**digits, normal, 0.0)
        unit = abs(normal[weights.argmax()])
        offset = float(_shorter(np.array(offset / unit), digits))
        conditions.append(HalfSpace(_shorter(normal / unit, digits), offset, strict))
    return Rule(conditions, rule.action)


def _with_digits(decision: Decision, digits: int) -> Decision:
    named = decision.named
    laws = named.laws
    if laws is not None:
        laws = laws._replace(table=_shorter(laws.table, digits))
    controller = named.controller._replace(partition=_short_partition(named.controller.partition, digits))
    return decision_of(named._replace(controller=controller, laws=laws))


@singledispatch
def _short_partition(partition: Any, digits: int) -> Any:
    """A partition with numbers of few digits; labels are exact."""
    return partition


@_short_partition.register(Voronoi)
def _(partition: Voronoi, digits: int) -> Voronoi:
    scale, places = _shorter(partition.scale, digits), _shorter(partition.prototypes, digits)
    return partition._replace(prototypes=places, scale=scale, weight=1 / scale)


@_short_partition.register(Boxes)
def _(partition: Boxes, digits: int) -> Boxes:
    return partition._replace(cut=_shorter(partition.cut, digits))


# ---- as text


def to_markdown(decision: Decision) -> Written:
    r"""Return a decision as a decision list, and how often it gives Python's action.

    >>> from distinguo.controller import Controller
    >>> from distinguo.exports.tables import LabelledController
    >>> from distinguo.representations.voronoi import voronoi
    >>> two = Controller(voronoi([[1.0], [-1.0]], [1.0]), np.array([[0.0, -1.0], [-1.0, 0.0]]))
    >>> text = to_markdown(decision_of(LabelledController(two, ("x",), ("left", "right")))).content
    >>> print("\n".join(text.splitlines()[4:9]))
    Take the action of the first line that applies:
    <BLANKLINE>
    1. A coordinate is not a number, infinite, or beyond ±1e+100: **left**, the safe action
    2. `x < 0`: **right**
    3. Otherwise: **left**
    """
    sheet, found = rounded_list(decision)
    named = decision.named
    assert found is not None
    digits = f"numbers of {sheet.digits} digits"
    if has_labels(named.controller.partition) and named.laws is None:
        digits = "exact labels"
    said = f"{digits}: {found.words}"
    regions = counted(count_regions(named.controller.partition), "region")
    lines = [
        f"# A controller of {regions}" + (f" for {unmarked(named.task)}" if named.task else ""),
        "",
        f"Exported by distinguo {__version__}. Coordinates are as the task gives them, unscaled.",
        "",
        *(_list(decision, sheet) if sheet.rules else _table(decision, sheet)),
        *_amounts(decision, sheet),
        "",
        f"This list has {said}",
        *_proven(decision),
    ]
    return Written("\n".join(lines) + "\n", decision._replace(said=said))


def unmarked(text: str) -> str:
    """A name without what Markdown would read as signs."""
    return "".join(c if c.isprintable() and c not in "`|*<>[]\\" else "?" for c in text)


def _list(decision: Decision, sheet: RoundedList) -> list[str]:
    lines = ["Take the action of the first line that applies:", "", f"1. {_fault(decision)}"]
    for n, rule in enumerate(sheet.rules, 2):
        texts = [f"`{_inequality(one, decision.named.dimensions, sheet.digits)}`" for one in rule.conditions]
        where = " and ".join(texts) or "Otherwise"
        lines.append(f"{n}. {where}: **{unmarked(decision.named.actions[rule.action])}**")
    return lines


def _fault(decision: Decision) -> str:
    safe = f"**{unmarked(decision.named.actions[decision.safe_action])}**, the safe action"
    if decision.named.laws is not None:
        safe = f"the safe amounts {', '.join(f'**{one:g}**' for one in decision.safe_amounts)}"
    return f"A coordinate is not a number, infinite, or beyond ±{decision.limit:g}: {safe}"


def _inequality(condition: HalfSpace, names: tuple[str, ...], digits: int) -> str:
    normal, offset, strict = condition
    sign = ">" if strict else ">="
    if -1.0 in normal and 1.0 not in normal:  # the weightiest coordinate has the factor 1
        normal, offset, sign = -normal, -offset, sign.replace(">", "<")
    return f"{_sum(normal, names, digits)} {sign} {offset + 0.0:.{digits}g}"


def _sum(factors: np.ndarray, names: tuple[str, ...], digits: int, constant: float = 0.0) -> str:
    terms = [
        (f"{k:.{digits}g} " if abs(k) != 1.0 else "-" if k < 0 else "") + unmarked(name)
        for k, name in zip(factors.tolist(), names, strict=True)
        if k
    ]
    if constant or not terms:
        terms.append(f"{constant:.{digits}g}")
    return " + ".join(terms).replace("+ -", "- ")


def _table(decision: Decision, sheet: RoundedList) -> list[str]:
    named, partition = decision.named, sheet.decision.named.controller.partition
    numbers = [*map(unmarked, named.dimensions)]
    lines = [f"{_fault(decision)}. Otherwise take the action of the line with the fewest different labels."]
    rows = [[_full(x) for x in row] for row in partition.prototypes.tolist()]
    widths = []
    if not has_labels(partition):
        lines = [
            f"{_fault(decision)}. Otherwise take the action of the nearest line. The distance: divide the "
            "difference of each coordinate by its width, and add the squares."
        ]
        rows = [[f"{x:.{sheet.digits}g}" for x in row] for row in partition.prototypes.tolist()]
        widths = [_row([*(f"{x:.{sheet.digits}g}" for x in partition.scale.tolist()), "(width)"])]
    lines += ["If several lines fit equally, the first counts.", "", _row([*numbers, "action"])]
    lines += [_row(["---"] * (len(numbers) + 1)), *widths]
    actions = named.controller.greedy[partition.regions]
    return lines + [
        _row([*row, unmarked(named.actions[a])]) for row, a in zip(rows, actions.tolist(), strict=True)
    ]


def _full(number: float) -> str:
    """All digits of a number."""
    return repr(number).removesuffix(".0")


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _amounts(decision: Decision, sheet: RoundedList) -> list[str]:
    """The amounts of laws or levels."""
    named, laws = decision.named, sheet.decision.named.laws
    if not decision.safe_amounts:
        return []
    words = [f"amount {i}" for i in range(len(decision.safe_amounts))]
    rows = [[_full(one) for one in level] for level in named.amounts]
    about = "Each action stands for amounts:"
    if laws is not None:
        about = "Each action is a law. Cut its amounts to their ranges:"
        ends = zip(words, laws.low.tolist(), laws.high.tolist(), strict=True)
        words = [f"{word}, from {_full(low)} to {_full(high)}" for word, low, high in ends]
        rows = [
            [f"`{_sum(row[:-1], named.dimensions, sheet.digits, float(row[-1]))}`" for row in law]
            for law in laws.table
        ]
    head = ["", about, "", _row(["action", *words]), _row(["---"] * (len(words) + 1))]
    return head + [_row([unmarked(name), *row]) for name, row in zip(named.actions, rows, strict=True)]


def _proven(decision: Decision) -> list[str]:
    lines = [comment(line) for line in certified_in_words(decision)]
    if decision.named.certificates.certificate is not None:
        lines.append("It speaks of the numbers in full, not of the rounded ones.")
    return [text for line in lines for text in ("", unmarked(" ".join(line.split())))]
