"""The reasons of a run as a table."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from distinguo.representations.partition import prototypes_of
from distinguo.runs.run import Run
from distinguo.views.terminal.layout import fitted_lines, table_with_remarks


def reasons_table(run: Run, most: int = 12, width: int | None = None) -> str:
    """Return the latest reasons: splits, merges and detachments with their rule, or changes that paid and prices.

    Reasons name prototypes, which keep their numbers; beside them are the regions that these belong to now.
    """
    count, known = 0, deque[dict[str, Any]](maxlen=most)
    for reason in run.reasons:
        if reason["event"] in _REASONS:
            count += 1
            known.append(reason)
    if not known:
        return "Nothing was split, merged or detached."
    rows, remarks = [["trial", "event", "prototypes", "regions", "at stake"]], ["why"]
    for reason in known:
        numbers, stake, remark = _REASONS[reason["event"]](reason)
        rows.append(
            [str(reason.get("trial", "")), reason["event"], numbers, _regions_now(run, reason), stake]
        )
        remarks.append(remark)
    lines = table_with_remarks(rows, remarks, width)
    if count > most:
        lines.insert(1, fitted_lines(f"  ({count - most:,} earlier ones are in reasons.jsonl)", width))
    return "\n".join(lines)


def _regions_now(run: Run, reason: Mapping[str, Any]) -> str:
    """Return the regions of the prototypes of a reason; nothing if the map has others by now."""
    known = prototypes_of(run.representation.partition)
    if known is None or "states" not in reason:
        return (
            " / ".join(map(str, reason["regions"])) if "prototypes" in reason and "regions" in reason else ""
        )
    named = list(zip(reason["prototypes"], reason["states"], strict=True))
    if not all(p < len(known.points) and known.points[p].tolist() == state for p, state in named):
        return ""
    return " / ".join(str(known.regions[p]) for p, _ in named)


def _by_rule(reason: Mapping[str, Any]) -> tuple[str, str, str]:
    return _pair(reason["prototypes"]), f"{reason['regret']:.4f}", ", ".join(reason["rules"]) or "compatible"


def _by_trial(reason: Mapping[str, Any]) -> tuple[str, str, str]:
    before, after = reason["prototypes"]
    old, new = reason["worst_start"]
    change = " and ".join(reason["changes"]) or "a drift"
    remark = f"{change}: {old:g} became {new:g} on the worst start"
    return f"{before} -> {after}", f"{reason['gain']:g}", remark


def _by_price(reason: Mapping[str, Any]) -> tuple[str, str, str]:
    pair = reason.get("prototypes", reason["regions"])  # earlier versions gave them a wrong name
    return _pair(pair), f"{reason['lost']:g}", "the mean return that would be lost if they were one"


def _pair(numbers: Sequence[int]) -> str:
    return " / ".join(map(str, numbers))


#: How each kind of reason is told: the cells of its row, and a remark.
_REASONS = {
    "split": _by_rule,
    "merge": _by_rule,
    "detach": _by_rule,
    "kept": _by_trial,
    "price": _by_price,
}
