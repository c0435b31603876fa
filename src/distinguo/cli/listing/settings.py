"""``distinguo settings``: every constant, with its default, its range and its source."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import typer

from distinguo.cli.completion import complete_setting
from distinguo.cli.listing.words import matching, nothing_found

BOUNDS = {"gt": "above {}", "ge": "from {}", "lt": "below {}", "le": "to {}"}


class SettingLine(NamedTuple):
    """A setting in a line."""

    key: str  #: as ``--set`` takes it
    owner: str  #: the learner, the task or the stage that has it
    default: Any
    presets: dict[str, Any]  #: other values, by preset, or by the kind of task that they suit
    range: str
    about: str
    source: str  #: "ours", or where in the paper


def settings_command(
    word: Annotated[
        str | None,
        typer.Argument(
            help="Only those with this in their name, owner or line.", autocompletion=complete_setting
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """List the settings that --set changes: default, presets, range, and where each comes from.

    Settings of learners and the stage are for learn, those of the tester for test, those of tasks for both.

    Examples:
      distinguo settings

      distinguo settings epsilon

      distinguo settings tester --json
    """
    from distinguo.cli.console import answer, output_for
    from distinguo.views.terminal.layout import listed
    from distinguo.views.terminal.paint import HEAD

    word = word and word.rstrip("=")
    lines = matching(word, setting_lines(), lambda line: f"{line.key} {line.owner}", lambda line: line.about)
    if not lines:
        keys = [line.key for line in setting_lines()]
        raise nothing_found("setting", word or "", [*(key.partition(".")[2] for key in keys), *keys])
    output = output_for(as_json)
    for number, owner in enumerate(dict.fromkeys(line.owner for line in lines)):
        head = owner + _about(owner)
        output.tell(head if number == 0 else f"\n{head}", HEAD)
        own = [line for line in lines if line.owner == owner]
        for text in listed(
            [[f"  {line.key}", setting_text(line.default), _facts(line)] for line in own], output.width
        ):
            output.tell(text)
    answer({"settings": [line._asdict() for line in lines]}, as_json)


def setting_lines() -> Iterator[SettingLine]:
    """Yield all settings, owner by owner."""
    from distinguo.learners.learner import all_learners
    from distinguo.settings import StageSettings, TesterSettings
    from distinguo.tasks.catalog import OWN
    from distinguo.tasks.declare import declared_spec
    from distinguo.tasks.noise import NoiseParameters

    for learner in all_learners():
        yield from _of("learner", f"learner {learner.name}", learner.settings)
    yield from _of("stage", "stage of learning", StageSettings)
    yield from _of("tester", "tester", TesterSettings)
    seen = set()
    for kind in OWN:
        name = f"task {declared_spec(kind, {}).name}"
        for line in _of("task", name, kind):
            if (name, line.key) not in seen:
                seen.add((name, line.key))
                yield _without_noise(line)
    for line in _of("task", "task, any compiled one", NoiseParameters):
        yield _without_noise(line)


def _about(owner: str) -> str:
    """Return what a learner does, to follow its name."""
    from distinguo.learners.learner import learner_or_absent

    what, _, name = owner.partition(" ")
    about = learner_or_absent(name, {}).about if what == "learner" else ""
    return f": {about}" if about else ""


def _without_noise(line: SettingLine) -> SettingLine:
    """Return a setting of a task as it is where it is not given: there is no noise then."""
    from distinguo.runs.configuration import NOISES

    is_noise = line.key.removeprefix("task.") in NOISES
    return line._replace(default=0.0, presets={}) if is_noise else line


def _of(table: str, owner: str, kind: Any) -> Iterator[SettingLine]:
    """Yield the settings of a class, by the annotations of its fields."""
    hints = get_type_hints(kind, include_extras=True)
    for name, default in kind._field_defaults.items():
        field = next(iter(getattr(hints[name], "__metadata__", ())), None)
        if field is None or name == "rng":  # a generator is nothing to be set
            continue
        about, source = about_and_source(field.description or "")
        by_preset = _by_preset(table, owner, name, default)
        usual = by_preset.pop("default")
        others = {where: value for where, value in by_preset.items() if value != usual}
        yield SettingLine(f"{table}.{name}", owner, usual, others, range_of(hints[name]), about, source)


def _by_preset(table: str, owner: str, name: str, own: Any) -> dict[str, Any]:
    """Return the values of a setting in the presets, where ``own`` is that of its class, and for kinds of tasks."""
    from distinguo.presets import BY_RETURN, DEFAULT, PRESETS, TESTER_PRESETS
    from distinguo.settings import TESTER_BY_RETURN, TESTER_OF_CATEGORIES

    key = f"{table}.{name}"
    if table == "tester":
        presets = {where: values.get(name, own) for where, values in TESTER_PRESETS.items()}
        suited = {"by return": TESTER_BY_RETURN, "labels": TESTER_OF_CATEGORIES}
        return {**presets, **{where: values[name] for where, values in suited.items() if name in values}}
    if owner not in ("learner economy", "stage of learning"):
        return {DEFAULT: own}
    presets = {where: values.get(key, own) for where, values in PRESETS.items()}
    return {**presets, **({"by return": BY_RETURN[key]} if key in BY_RETURN else {})}


def about_and_source(description: str) -> tuple[str, str]:
    """Take a description apart: what a setting is, and where it comes from.

    >>> about_and_source("learning rate; ours"), about_and_source("m/s^2 (paper, section 4)")
    (('learning rate', 'ours'), ('m/s^2', 'paper, section 4'))
    """
    match = re.fullmatch(r"(.*\S)(?:; | \()(.*?)\)?", description)
    return (match[1], match[2]) if match else (description, "")


def range_of(hint: Any) -> str:
    """Say which values a field takes.

    >>> from pydantic import Field
    >>> range_of(Annotated[float, Field(gt=0, le=1)]), range_of(Annotated[bool, Field()])
    ('above 0 to 1', 'true or false')
    """
    kind, field = get_args(hint)[:2]
    if kind is bool:
        return "true or false"
    if get_origin(kind) is Literal:
        return f"one of {', '.join(get_args(kind))}"
    if kind is str:
        return "a text"
    limits = [(mark, getattr(one, mark)) for one in field.metadata for mark in BOUNDS if hasattr(one, mark)]
    return " ".join(BOUNDS[mark].format(setting_text(value)) for mark, value in limits)


def setting_text(value: Any) -> str:
    """Write a value as ``--set`` takes it, in short.

    >>> setting_text(True), setting_text(10**12), setting_text(1e-05), setting_text(5000)
    ('true', '1e12', '1e-05', '5000')
    """
    if isinstance(value, bool):
        return str(value).lower()
    digits = len(str(value)) - 1
    if isinstance(value, int) and value >= 10**6 and value == 10**digits:
        return f"1e{digits}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _facts(line: SettingLine) -> str:
    others = [f"{where} {setting_text(value)}" for where, value in line.presets.items()]
    facts = [line.about, *([f"({', '.join(others)})"] if others else [])]
    return f"{' '.join(facts)}; {'; '.join(part for part in (line.range, line.source) if part)}"
