"""Whether the settings of a run are whole, in every version of their file.

A setting that is invented later is missing in older files, and only there; the files of version 1 were written while
settings were still added, so that one setting tells which others must be there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from distinguo.errors import DistinguoError, shown
from distinguo.learners.economy.learner import ECONOMY
from distinguo.learners.learner import Learner
from distinguo.learners.probation.learner import PROBATION
from distinguo.settings import StageSettings

#: Settings of the paper's learner and of the stage that were added while version 1 was written.
_ADDED_TO_1 = {
    "learner": (
        *("samples", "confidence", "split_confidence", "active", "investigate_every"),
        *("optimistic", "rescale", "epsilon_share", "surprise_reliable", "review_merged"),
    ),
    "stage": ("restart", "confirm", "confirm_steps"),
}
#: Settings of the stage that a file of version 1 has, by a setting of the learner that was added with or after them.
_ADDED_WITH = {"samples": "confirm", "rescale": "restart", "review_merged": "confirm_steps"}
#: A setting that files of version 1 may have, and what it must be: it is gone, and meant nothing then.
_GONE = ("initial", 0.0)


def end_of(content: Mapping[str, Any]) -> dict[str, int]:
    """Return the last table of a file since version 2: how many settings there are before it.

    >>> end_of({"run": {"seed": 1}, "task": {"beta": 0.3, "mass": 1.0}})
    {'settings': 3}
    """
    return {"settings": sum(len(table) for name, table in content.items() if name != "end")}


def with_missing(
    content: Mapping[str, Any], text: str, learner: Learner, source: str
) -> dict[str, dict[str, Any]]:
    """Return the tables of the learner and of the stage, with what older files cannot have; refuse what was cut."""
    tables = {name: dict(content[name]) for name in ("learner", "stage")}
    first = content["run"]["version"] == 1
    if not text.endswith("\n") if first else "end" not in content:
        raise DistinguoError(f"{source} is cut off: its end is missing; take a whole copy.")
    if first:
        _check_first_version(tables, learner, source)
    elif content["end"] != end_of(content):
        raise DistinguoError(
            f"{source} is damaged: it has {end_of(content)['settings']} settings, but its end says "
            f"{shown(content['end'])}; take a whole copy."
        )
    known = {"learner": _known(learner), "stage": StageSettings._field_defaults}
    return {name: {**known[name], **values} for name, values in tables.items()}


def _check_first_version(tables: dict[str, dict[str, Any]], learner: Learner, source: str) -> None:
    """Refuse a file of version 1 that lacks what it must have had."""
    if tables["learner"].get(_GONE[0]) == _GONE[1]:
        del tables["learner"][_GONE[0]]
    later = _later(tables, learner)
    for name, known in (("learner", _known(learner)), ("stage", StageSettings._fields)):
        check_complete(name, tables[name], [key for key in known if key not in later[name]], source)


def _known(learner: Learner) -> Mapping[str, Any]:
    """Return the settings of one of our learners; somebody's own may have changed since."""
    ours = learner.declared is None and hasattr(learner.settings, "_field_defaults")
    return learner.settings._field_defaults if ours else {}


def _later(tables: Mapping[str, Mapping[str, Any]], learner: Learner) -> dict[str, list[str]]:
    """Return which settings a file of version 1 may lack, as it was written before there were any."""
    late = {name: [key for key in keys if key not in tables[name]] for name, keys in _ADDED_TO_1.items()}
    if learner.name != ECONOMY:
        late["learner"] = [key for key in _known(learner) if key not in tables["learner"]]
        needed = set(_ADDED_TO_1["stage"]) if learner.name == PROBATION else {"restart", "confirm"}
    else:
        needed = {also for key, also in _ADDED_WITH.items() if key in tables["learner"]}
    late["stage"] = [key for key in late["stage"] if key not in needed]
    return late


def check_complete(table: str, given: Mapping[str, Any], needed: Iterable[str], source: str) -> None:
    """Refuse a table that lacks something which is always written."""
    for key in needed:
        if key not in given:
            raise DistinguoError(f"{source} is damaged: {table}.{key} is missing; take a whole copy.")
