"""A run as text: a coarse map for the terminal, and tables of its regions and reasons."""

from __future__ import annotations

import string
from collections.abc import Sequence

import numpy as np

from distinguo.representations.partition import (
    has_labels,
    prototypes_of,
    region,
    region_numbers,
    regions_of,
)
from distinguo.runs.run import Run
from distinguo.views.sheets import COLUMNS, ROWS, Sheet, sheet_of

__all__ = ["COLUMNS", "ROWS", "letters_of", "reasons_table", "regions_table", "text_map"]

TIED, NAMELESS = ".", "*"
MOST_NAMES = 12  #: actions that are all explained, whether they occur or not
MOST_REGIONS = 30  #: in a table
NARROW = 4  #: coordinates that a table has room for with all decimals


def text_map(run: Run) -> str:
    """Return the policy, one letter per place; '.' where actions are tied.

    The first coordinate grows to the right, the second upwards. Of a space of more dimensions a slice is shown, of
    categories one letter for each.

    >>> import distinguo
    >>> print(text_map(distinguo.learn("puck", seed=1)).splitlines()[0])
    v  greedy action: l = left, r = right
    """
    spec = run.configuration.spec
    if run.representation.regions == 1:
        return f"(no map: all is one region, where {_everywhere(run)})"
    sheet = sheet_of(run.representation, spec)
    names = letters_of(spec.actions)
    policy = run.controller.policy
    lines = [_letters(run, policy, states, names) for _, states in sheet.rows]
    beside = max(7, *(len(place) for place, _ in sheet.rows))
    head = [f"({sheet.note})"] if sheet.note else []
    head.append(f"{sheet.axes[1]}  greedy action: {_legend(spec.actions, names, lines)}".lstrip())
    body = [f"{place:>{beside}} |{line}" for (place, _), line in zip(sheet.rows, lines, strict=True)]
    return "\n".join([*head, *body, _below(sheet, beside, len(lines[0]))])


def _everywhere(run: Run) -> str:
    """Say what is done in the only region, whichever prototype stands for it."""
    anywhere = (0.0,) * len(run.representation.dimensions)
    action = run.controller.policy[region(run.representation.partition, anywhere)]
    if action < 0:
        return "several actions are tied"
    return f"the greedy action is {run.configuration.spec.actions[action]}"


def _below(sheet: Sheet, beside: int, width: int) -> str:
    ends = f"{sheet.left}{sheet.right:>{max(width - len(sheet.left), 0)}}"
    return f"{'':{beside + 2}}{ends.rstrip()}  {sheet.axes[0]}".rstrip()


def _letters(run: Run, policy: np.ndarray, states: Sequence[tuple[float, ...]], names: str) -> str:
    regions = regions_of(run.representation.partition, np.array(states, dtype=float))
    actions = policy[regions].tolist()
    return "".join(TIED if action < 0 else names[action] for action in actions)


def letters_of(actions: Sequence[str]) -> str:
    """Return a letter for each action: its first one if that tells them apart, else its number.

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
    """Explain the letters: all of them, or if they are many those that occur."""
    shown = set(names) if len(actions) <= MOST_NAMES else set("".join(lines))
    words = [f"{n} = {a}" for n, a in zip(names, actions, strict=True) if n in shown and n != NAMELESS]
    if NAMELESS in shown:
        words.append(f"{NAMELESS} = one of the last {names.count(NAMELESS)}")
    if TIED in "".join(lines):
        words.append(f"{TIED} = tied")
    return ", ".join(words)


def regions_table(run: Run, most: int = MOST_REGIONS) -> str:
    """Return the regions: the primary prototype, how many prototypes, the action, the value, the updates.

    Of very many regions those are shown that were updated most; where there are no prototypes, nothing of them.
    """
    every = region_numbers(run.representation.partition).tolist()
    numbers = every
    if len(every) > most:
        numbers = sorted(every, key=lambda j: (-run.updates[j].sum(), j))[:most]
    columns = [["region", *map(str, numbers)], *_places(run, numbers), *_learned(run, numbers)]
    lines = _aligned(list(zip(*columns, strict=True)))
    if len(every) > len(numbers):
        lines.append(f"… and {len(every) - len(numbers)} more regions, which were updated less.")
    return "\n".join(lines)


def _places(run: Run, numbers: Sequence[int]) -> list[list[str]]:
    """Return the columns of the primary prototypes, and of how many prototypes each region has."""
    prototypes = prototypes_of(run.representation.partition)
    if prototypes is None:
        return []
    rows = prototypes.points[list(numbers)]
    places = [
        [name, *(_coordinate(run, value) for value in column)]
        for name, column in zip(run.configuration.spec.dimensions, rows.T.tolist(), strict=True)
    ]
    counts = np.bincount(prototypes.primary)[list(numbers)]
    return [*places, ["prototypes", *map(str, counts.tolist())]]


def _learned(run: Run, numbers: Sequence[int]) -> list[list[str]]:
    """Return the columns of the action, the value and the updates."""
    policy, actions = run.controller.policy, run.configuration.spec.actions
    return [
        ["action", *("tied" if policy[j] < 0 else actions[policy[j]] for j in numbers)],
        ["value", *(f"{run.q[j].max():.4f}" for j in numbers)],
        ["updates", *(str(int(run.updates[j].sum())) for j in numbers)],
    ]


def _coordinate(run: Run, value: float) -> str:
    if has_labels(run.representation.partition):
        return f"{value:.6g}"
    return f"{value:.4f}" if len(run.representation.dimensions) <= NARROW else f"{value:.3g}"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows as lines, with every column as wide as its widest word."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(f"{word:>{w}}" for word, w in zip(row, widths, strict=True)) for row in rows]


def reasons_table(run: Run, most: int = 12) -> str:
    """Return the latest splits, merges and detachments, each with the rule that fired and the reward at stake."""
    if not run.reasons:
        return "Nothing was split, merged or detached."
    rows = [["trial", "event", "prototypes", "at stake"]]
    for reason in run.reasons[-most:]:
        first, second = reason["prototypes"]
        rows.append([str(reason["trial"]), reason["event"], f"{first} / {second}", f"{reason['regret']:.4f}"])
    rules = ["rules", *(", ".join(reason["rules"]) or "compatible" for reason in run.reasons[-most:])]
    lines = [f"{line}  {rule}" for line, rule in zip(_aligned(rows), rules, strict=True)]
    if len(run.reasons) > most:
        lines.insert(1, f"  ({len(run.reasons) - most} earlier ones are in reasons.jsonl)")
    return "\n".join(lines)
