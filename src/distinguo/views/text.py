"""A run as text: a coarse map for the terminal, and tables of its regions and reasons."""

from __future__ import annotations

import math
import string
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import counted
from distinguo.explanations.subject import (
    MERGE,
    KeptEntry,
    PriceEntry,
    Reason,
    ReasonEvent,
    belongs_to,
    understood,
)
from distinguo.representations.file import Representation
from distinguo.representations.partition import has_labels, prototypes_of, region, regions_of
from distinguo.runs.run import Run
from distinguo.tasks.amounts import law_formula
from distinguo.tasks.spec import TaskSpec
from distinguo.views.pictures import (
    MOST_NAMES,
    category_name,
    frame_of,
    names_of,
    note_of,
    plane_of,
    tiles_of,
)
from distinguo.views.terminal import columns_of, fitted_lines, painted_letters, table_with_remarks
from distinguo.views.words import presentable, values_name_actions

# The places of a coarse map: rows of states, with the words beside and below them.


COLUMNS, ROWS = 64, 20
FEWEST_COLUMNS = 8
BESIDE = 7  #: cells of the words beside the rows, at the least
MOST_DECIMALS = 9

State = tuple[float, ...]


class Sheet(NamedTuple):
    """Rows of states from the top, each with its label, and the labels below them.

    >>> from distinguo.representations.voronoi import voronoi
    >>> from distinguo.tasks.catalog import task_spec
    >>> sheet = sheet_of(Representation(voronoi([[0.0, 0.0]], [4.8, 11.0]), ("x", "v")), task_spec("puck"))
    >>> sheet.rows[0][0], sheet.rows[0][1][0], sheet.left, sheet.right
    ('5.50', (-2.4, 5.5), '-2.40', '2.40')
    """

    axes: tuple[str, str]
    rows: tuple[tuple[str, tuple[State, ...]], ...]
    left: str  #: below the first column
    right: str  #: below the last one
    note: str  #: the part that is shown, if not all


def sheet_of(
    representation: Representation,
    spec: TaskSpec,
    columns: int = COLUMNS,
    controller: Controller | None = None,
) -> Sheet:
    """Return the places of a map of any partition; ``columns`` limits the width if coordinates are numbers."""
    if has_labels(representation.partition):
        return _of_categories(representation, spec, controller)
    plane = plane_of(representation, spec, controller)
    (x0, y0), (x1, y1) = frame_of(representation, spec, plane)
    names = names_of(plane, spec.dimensions)
    xs = np.linspace(x0, x1, columns).tolist()
    ys = np.linspace(y1, y0, ROWS).tolist() if names[1] else [0.5]
    rows = tuple((_number(y, y1 - y0) if names[1] else "", tuple(plane.state(x, y) for x in xs)) for y in ys)
    return Sheet(names, rows, _number(x0, x1 - x0), _number(x1, x1 - x0), note_of(plane, spec.dimensions))


def _number(value: float, width: float) -> str:
    """Write a coordinate with as many digits as its axis needs.

    >>> _number(5.5, 11.0), _number(-0.0663, 0.14)
    ('5.50', '-0.066')
    """
    if width >= 1e7:
        return f"{value:z.3g}"
    decimals = min(max(2, 2 - math.floor(math.log10(width))), MOST_DECIMALS)
    return f"{value:z.{decimals}f}"


def _of_categories(representation: Representation, spec: TaskSpec, controller: Controller | None) -> Sheet:
    tiles = tiles_of(representation, spec, controller)
    states: dict[int, list[State]] = {}
    for square in sorted(tiles.squares, key=lambda square: square.x):
        states.setdefault(square.y, []).append(square.state)
    columns, beside = tiles.ticks
    rows = tuple(
        (beside[y] if beside else _from_to(states[y]), tuple(states[y])) for y in sorted(states, reverse=True)
    )
    left, right = (columns[0], columns[-1]) if columns else ("", "")
    return Sheet(tiles.axes, rows, left, right, tiles.note)


def _from_to(states: list[State]) -> str:
    """Name a row of categories by its ends.

    >>> _from_to([(0.0,), (1.0,), (2.0,)]), _from_to([(468.0,)])
    ('0…2', '468')
    """
    first, last = category_name(states[0][0]), category_name(states[-1][0])
    return first if first == last else f"{first}…{last}"


# The policy of a run as a map of letters.


TIED, NAMELESS = ".", "*"


def text_map(run: Run, width: int | None = None, colours: bool = False) -> str:
    """Return the policy, one letter per place; '.' where actions are tied.

    The first coordinate grows to the right, the second upwards. A space of more dimensions is shown by a slice,
    categories by one letter each. The map fits lines of ``width`` cells; with colours, each action has its hue.
    Control characters in names are shown as escapes.

    >>> import distinguo
    >>> print(text_map(distinguo.learn("puck", seed=1)).splitlines()[0])
    v  greedy action: l = left, r = right
    """
    run = presentable(run)
    spec = run.configuration.spec
    if run.representation.regions == 1:
        return "\n".join([f"(no map: all is one region, where {_everywhere(run)})", *_formulas(run, width)])
    sheet = sheet_of(run.representation, spec, _columns(width, spec.dimensions[0]), run.controller)
    names = letters_of(spec.actions)
    policy = run.controller.policy
    lines = [_letters(run, policy, states, names) for _, states in sheet.rows]
    beside = max(BESIDE, *(len(place) for place, _ in sheet.rows))
    head = [f"({sheet.note})"] if sheet.note else []
    head.append(f"{sheet.axes[1]}  greedy action: {_legend(spec.actions, names, lines)}".lstrip())
    shown = [painted_letters(line, names, spec.actions) if colours else line for line in lines]
    body = [f"{place:>{beside}} |{line}" for (place, _), line in zip(sheet.rows, shown, strict=True)]
    below = _below(sheet, beside, len(lines[0]))
    return "\n".join([*(fitted_lines(line, width) for line in head), *body, below, *_formulas(run, width)])


def _formulas(run: Run, width: int | None) -> list[str]:
    """The laws of a run, a line each; none if its actions are no laws."""
    spec = run.configuration.spec
    laws = [(name, law_formula(spec, a)) for a, name in enumerate(spec.actions)]
    return [fitted_lines(f"{name}: {law}", width) for name, law in laws if law]


def _columns(width: int | None, name: str) -> int:
    """Return the number of letters that fit in a line, besides the label and the name of the axis."""
    if width is None:
        return COLUMNS
    return max(FEWEST_COLUMNS, min(COLUMNS, width - BESIDE - len(" |") - len(f"  {name}")))


def _everywhere(run: Run) -> str:
    """Describe the action of the only region."""
    anywhere = (0.0,) * len(run.representation.dimensions)
    action = run.controller.policy[region(run.representation.partition, anywhere)]
    if action < 0:
        return "several actions are tied"
    return f"the greedy action is {run.configuration.spec.actions[action]}"


def _below(sheet: Sheet, beside: int, width: int) -> str:
    ends = f"{sheet.left} {sheet.right:>{max(width - len(sheet.left) - 1, 0)}}"
    return f"{'':{beside + 2}}{ends.rstrip()}  {sheet.axes[0]}".rstrip()


def _letters(run: Run, policy: np.ndarray, states: Sequence[tuple[float, ...]], names: str) -> str:
    regions = regions_of(run.representation.partition, np.array(states, dtype=float))
    actions = policy[regions].tolist()
    return "".join(TIED if action < 0 else names[action] for action in actions)


def letters_of(actions: Sequence[str]) -> str:
    """Return a letter for each action: its first letter if these are all different, otherwise its number.

    >>> letters_of(("left", "right")), letters_of(("-1", "0", "+1")), letters_of(("a0", "a1"))
    ('lr', '-0+', '01')
    """
    first = "".join(action[:1] for action in actions)
    distinct = len(set(first)) == len(actions) and TIED not in first
    if distinct and first.isprintable() and " " not in first:
        return first
    numbers = string.digits + string.ascii_letters
    return numbers[: len(actions)].ljust(len(actions), NAMELESS)


def _legend(actions: Sequence[str], names: str, lines: Sequence[str]) -> str:
    """Explain the letters: all of them or, if there are many, those that occur."""
    shown = set(names) if len(actions) <= MOST_NAMES else set("".join(lines))
    words = [f"{n} = {a}" for n, a in zip(names, actions, strict=True) if n in shown and n != NAMELESS]
    if NAMELESS in shown:
        words.append(f"{NAMELESS} = one of the last {names.count(NAMELESS)}")
    if TIED in "".join(lines):
        words.append(f"{TIED} = tied")
    return ", ".join(words)


# The regions of a run as a table.


MOST_REGIONS = 30  #: in a table
NARROW = 4  #: coordinates; a table with more rounds them


def regions_table(run: Run, most: int = MOST_REGIONS, width: int | None = None) -> str:
    """Return the regions: the primary prototype, how many prototypes, the action, the value, the updates.

    If there are very many, the most updated ones are shown. A map without prototypes has no columns for them, and one
    of a learner that only finds actions has none for values and updates.
    """
    count = run.representation.regions
    numbers = (
        np.argsort(-run.updates.sum(axis=1), kind="stable")[:most].tolist() if count > most else range(count)
    )
    columns = [["region", *map(str, numbers)], *_places(run, numbers), *_learned(run, numbers)]
    lines = columns_of(list(zip(*columns, strict=True)), width)
    if count > len(numbers):
        which = ", which were updated less" if run.updates.any() else ""
        lines.append(f"… and {counted(count - len(numbers), 'more region')}{which}.")
    return "\n".join(lines)


def _places(run: Run, numbers: Sequence[int]) -> list[list[str]]:
    """Return the columns of the primary prototypes and of the number of prototypes in each region."""
    prototypes = prototypes_of(run.representation.partition)
    if prototypes is None:
        return []
    rows = prototypes.points[prototypes.primaries[list(numbers)]]
    places = [
        [name, *(_coordinate(run, value) for value in column)]
        for name, column in zip(run.configuration.spec.dimensions, rows.T.tolist(), strict=True)
    ]
    counts = np.bincount(prototypes.regions)[list(numbers)]
    return [*places, ["prototypes", *map(str, counts.tolist())]]


def _learned(run: Run, numbers: Sequence[int]) -> list[list[str]]:
    """Return the columns of the action, and of the value and the updates if the learner has them."""
    policy, actions = run.controller.policy, run.configuration.spec.actions
    columns = [
        ["action", *("tied" if policy[j] < 0 else actions[policy[j]] for j in numbers)],
    ]
    if not values_name_actions(run):
        columns.append(["value", *(f"{run.q[j].max():z.4f}" for j in numbers)])
    if run.updates.any():
        columns.append(["updates", *(f"{int(run.updates[j].sum()):,}" for j in numbers)])
    return columns


def _coordinate(run: Run, value: float) -> str:
    if has_labels(run.representation.partition):
        return f"{value:z.6g}"
    return f"{value:z.4f}" if len(run.representation.dimensions) <= NARROW else f"{value:z.3g}"


# The reasons of a run as a table.


def reasons_table(run: Run, most: int = 12, width: int | None = None) -> str:
    """Return the latest reasons: splits, merges and detachments with their rule, or changes that paid and prices.

    Reasons name prototypes, which keep their numbers; the regions they belong to now are beside them.
    """
    count, known = 0, deque[Reason](maxlen=most)
    for entry in run.reasons:
        if (reason := understood(entry)) is not None:
            count += 1
            known.append(reason)
    if not known:
        return "Nothing was split, merged or detached."
    rows, remarks = [["trial", "event", "prototypes", "regions", "at stake"]], ["why"]
    for reason in known:
        *cells, remark = _told(run, reason)
        rows.append(cells)
        remarks.append(remark)
    lines = table_with_remarks(rows, remarks, width)
    if count > most:
        lines.insert(1, fitted_lines(f"  ({count - most:,} earlier ones are in reasons.jsonl)", width))
    return "\n".join(lines)


def _told(run: Run, reason: Reason) -> tuple[str, ...]:
    """Return the cells of the row of a reason, and a remark."""
    if isinstance(reason, KeptEntry):
        (before, after), (old, new) = reason.prototypes, reason.worst_start
        change = " and ".join(reason.changes) or "a drift"
        remark = f"{change}: {old:zg} became {new:zg} on the worst start"
        return str(reason.trial), "kept", f"{before} -> {after}", "", f"{reason.gain:zg}", remark
    pair = " / ".join(map(str, reason.prototypes))
    if isinstance(reason, PriceEntry):
        regions = " / ".join(map(str, reason.regions or ()))
        remark = "the mean return that would be lost if they were one"
        return "", "price", pair, regions, f"{reason.lost:zg}", remark
    remark = "compatible" if reason.event == MERGE and not reason.rules else ", ".join(reason.rules)
    return str(reason.trial), reason.event, pair, _regions_now(run, reason), f"{reason.regret:z.4f}", remark


def _regions_now(run: Run, event: ReasonEvent) -> str:
    """Return the regions of an event's prototypes; empty if the map has other prototypes now."""
    known = prototypes_of(run.representation.partition)
    if known is None or not belongs_to(known.points, event):
        return ""
    return " / ".join(str(known.regions[p]) for p in event.prototypes)


# A run as text: a coarse map for the terminal, and tables of its regions and reasons.


__all__ = [
    "COLUMNS",
    "MOST_REGIONS",
    "ROWS",
    "letters_of",
    "reasons_table",
    "regions_table",
    "sheet_of",
    "text_map",
]
