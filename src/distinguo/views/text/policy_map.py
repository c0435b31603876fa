"""The policy of a run as a map of letters."""

from __future__ import annotations

import string
from collections.abc import Sequence

import numpy as np

from distinguo.representations.partition import region, regions_of
from distinguo.runs.run import Run
from distinguo.views.terminal.layout import fitted_lines
from distinguo.views.terminal.paint import painted_letters
from distinguo.views.text.sheet import BESIDE, COLUMNS, FEWEST_COLUMNS, Sheet, sheet_of

TIED, NAMELESS = ".", "*"
MOST_NAMES = 12  #: actions that are all explained, whether they occur or not


def text_map(run: Run, width: int | None = None, colours: bool = False) -> str:
    """Return the policy, one letter per place; '.' where actions are tied.

    The first coordinate grows to the right, the second upwards. Of a space of more dimensions a slice is shown, of
    categories one letter for each. The map is made for lines of a width; with colours each action has its hue.

    >>> import distinguo
    >>> print(text_map(distinguo.learn("puck", seed=1)).splitlines()[0])
    v  greedy action: l = left, r = right
    """
    spec = run.configuration.spec
    if run.representation.regions == 1:
        return f"(no map: all is one region, where {_everywhere(run)})"
    sheet = sheet_of(run.representation, spec, _columns(width, spec.dimensions[0]), run.controller)
    names = letters_of(spec.actions)
    policy = run.controller.policy
    lines = [_letters(run, policy, states, names) for _, states in sheet.rows]
    beside = max(BESIDE, *(len(place) for place, _ in sheet.rows))
    head = [f"({sheet.note})"] if sheet.note else []
    head.append(f"{sheet.axes[1]}  greedy action: {_legend(spec.actions, names, lines)}".lstrip())
    shown = [painted_letters(line, names) if colours else line for line in lines]
    body = [f"{place:>{beside}} |{line}" for (place, _), line in zip(sheet.rows, shown, strict=True)]
    below = _below(sheet, beside, len(lines[0]))
    return "\n".join([*(fitted_lines(line, width) for line in head), *body, below])


def _columns(width: int | None, name: str) -> int:
    """Return how many letters there is room for in a line, with the place beside and the name below."""
    if width is None:
        return COLUMNS
    return max(FEWEST_COLUMNS, min(COLUMNS, width - BESIDE - len(" |") - len(f"  {name}")))


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
