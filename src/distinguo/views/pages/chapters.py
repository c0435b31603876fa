"""What a report says of one run: sentences, tables and pictures; where one is missing it is said why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_type_hints

import numpy as np
from markupsafe import Markup
from pydantic.fields import FieldInfo

from distinguo.errors import DistinguoError, call_user_code, one_line
from distinguo.explanations.distinctions import Inquiry, distinctions
from distinguo.explanations.sentences import amount, apart_sentence, epsilon_sentence
from distinguo.explanations.subject import Asked
from distinguo.representations.partition import prototypes_of
from distinguo.runs.command import learn_command
from distinguo.runs.configuration import TABLES, Configuration, values_by_table
from distinguo.runs.folder import is_finished
from distinguo.runs.run import Run
from distinguo.study.certificates import cited_in
from distinguo.views.descriptions.regions import regions_in_words
from distinguo.views.drawing.colours import hue_of
from distinguo.views.pages.fragments import inline_figure, left_out
from distinguo.views.pages.wanted import views_of
from distinguo.views.words import outcome_sentence, why_nothing

MOST_REGIONS, MOST_REASONS = 40, 24  #: rows
BUSIEST = 8  #: regions of a larger map whose distinctions are told
REGRET = "What the grouping costs: the reward lost at a visit, as the audit finds it."


class Budget:
    """The bytes that pictures may still take, so that a page stays small whatever is in it."""

    def __init__(self, size: int) -> None:
        self.left = size

    def spend(self, picture: Markup) -> Markup:
        """Return a picture if there is room for it, else a sentence."""
        if len(picture) > self.left:
            return left_out("This picture was left out to keep the page small; distinguo show draws it.")
        self.left -= len(picture)
        return picture


class Chapter(NamedTuple):
    """The content of a report on one run."""

    number: int
    title: str
    verdict: str
    notes: list[str]
    figures: list[tuple[str, str]]
    pictures: list[tuple[str, Markup]]
    regions: list[dict[str, Any]]
    reasons: list[tuple[str, str]]
    settings: list[tuple[str, list[tuple[str, str, str, bool]]]]
    proof: list[str]
    commands: list[tuple[str, str]]


class Reader:
    """Collects what can be said of a run, and notes what cannot."""

    def __init__(self, asked: Asked, number: int, budget: Budget) -> None:
        self.asked, self.run, self.number, self.budget = asked, asked.run, number, budget
        self.notes = [*asked.notes]

    def tried(self, what: str, work: Callable[[], Any], otherwise: Any) -> Any:
        """Return what some work comes to; if it fails, note why and go on."""
        try:
            return call_user_code(what, work)
        except DistinguoError as error:
            self.notes.append(one_line(str(error), 400))
            return otherwise

    def picture(self, view: str, words: str) -> Iterator[tuple[str, Markup]]:
        """Give the picture of a view, or nothing."""
        from distinguo.views.show import show

        figure = self.tried(f"The view '{view}'", lambda: show(self.run, view), None)
        if figure is not None:
            yield words, self.budget.spend(inline_figure(figure, f"p{self.number}{view}", words))


def chapter(asked: Asked, number: int, budget: Budget, alone: bool, audit: bool) -> Chapter:
    """Put together what is known of a run; beside others it is told in short."""
    reader, run = Reader(asked, number, budget), asked.run
    configuration = run.configuration
    wanted = views_of(asked, alone)
    pictures = [one for view, words in wanted.items() for one in reader.picture(view, words)]
    if alone:
        pictures += list(_history(reader))
    if audit:
        pictures += list(reader.picture("regret", REGRET))
    return Chapter(
        number=number,
        title=f"{configuration.spec.name}, seed {configuration.seed}",
        verdict=reader.tried("The verdict", lambda: _verdict(run), "It is not known how this run ended."),
        notes=reader.notes,
        figures=_figures(run),
        pictures=pictures,
        regions=reader.tried("The words for regions", lambda: _regions(run), []),
        reasons=reader.tried("The reasons", lambda: _reasons(asked), []) if alone else [],
        settings=_settings(configuration),
        proof=reader.tried("The proof", lambda: _proof(run), []),
        commands=reader.tried("The commands", lambda: _commands(run), []),
    )


def _verdict(run: Run) -> str:
    if run.path is not None and not is_finished(run.path):
        size = f"{run.representation.regions} regions"
        return f"Not finished: {size} so far. Go on with: {learn_command(run.configuration, run.path)}"
    if "trials" not in run.summary:
        return "It is not known how this run ended."
    return " ".join([outcome_sentence(run), *why_nothing(run)])


def _figures(run: Run) -> list[tuple[str, str]]:
    names = (
        "score",
        "bar",
        "teacher_score",
        "trials",
        "environment_steps",
        "investigation_steps",
        "confirmation_trials",
        "seconds",
    )
    known = [(name.replace("_", " "), _count(run.summary[name])) for name in names if name in run.summary]
    return [
        ("task", run.configuration.spec.name),
        ("seed", str(run.configuration.seed)),
        ("learner", run.configuration.learner_name),
        ("preset", run.configuration.preset),
        ("solved", "yes" if run.solved else "no"),
        *([("return kept", "yes" if run.summary["kept"] else "no")] if "kept" in run.summary else []),
        ("regions", f"{run.representation.regions:,}"),
        ("prototypes", f"{run.representation.prototypes:,}"),
        *known,
        *([] if run.path is None else [("folder", str(run.path))]),
    ]


def _count(number: float) -> str:
    """Return a number as people read it: whole, or with one decimal.

    >>> _count(500000), _count(64.4941), _count(475.0)
    ('500,000', '64.5', '475')
    """
    return f"{number:,.0f}" if float(number).is_integer() else f"{number:,.1f}"


def _history(reader: Reader) -> Iterator[tuple[str, Markup]]:
    """Give the maps on the way, one for every new number of regions, if the folder kept them."""
    from distinguo.views.kinds.history import history_figure

    if not len(reader.run.history):
        reader.notes.append("This folder has no history.jsonl, so the maps on the way are not shown.")
        return
    figure = reader.tried("The history", lambda: history_figure(reader.run), None)
    if figure is not None:
        words = "The map on the way, each time it had more or fewer regions."
        yield words, reader.budget.spend(inline_figure(figure, f"p{reader.number}history", words))


def _regions(run: Run) -> list[dict[str, Any]]:
    prototypes = prototypes_of(run.representation.partition)
    policy = run.controller.policy
    rows = []
    for one in regions_in_words(run)[:MOST_REGIONS]:
        count = 0 if prototypes is None else int((prototypes.regions == one.region).sum())
        rows.append(
            {
                "number": one.region,
                "where": one.where,
                "action": one.action,
                "colour": hue_of(int(policy[one.region])),
                "value": amount(float(run.q[one.region].max())),
                "prototypes": count or "",
                "updates": f"{int(run.updates[one.region].sum()):,}",
            }
        )
    return rows


def _reasons(asked: Asked) -> list[tuple[str, str]]:
    """Return the distinctions that matter most, each with its sentences."""
    inquiry = Inquiry(asked)
    found = sorted(distinctions(asked, _pairs(asked.run)), key=lambda one: -(one.regret or 0.0))[
        :MOST_REASONS
    ]
    told = []
    for one in found:
        said = [apart_sentence(inquiry.asked, one), epsilon_sentence(inquiry.asked, one)]
        told.append((f"regions {one.regions[0]} and {one.regions[1]}", " ".join(s for s in said if s)))
    return told


def _pairs(run: Run) -> list[tuple[int, int]] | None:
    """Return which pairs of regions to ask about: all that a reader would, of a large map the busiest regions."""
    if run.representation.regions <= MOST_REGIONS:
        return None
    busiest = np.argsort(-run.updates.sum(axis=1), kind="stable")[:BUSIEST].tolist()
    return list(combinations(sorted(busiest), 2))


def _settings(configuration: Configuration) -> list[tuple[str, list[tuple[str, str, str, bool]]]]:
    """Return each setting: its name, its value, what it is and where it comes from, and whether it was changed."""
    tables = []
    for name, (kind, values) in zip(TABLES, values_by_table(configuration), strict=True):
        hints, usual = get_type_hints(kind, include_extras=True), getattr(kind, "_field_defaults", {})
        rows = [
            (key, _written(value), _source(hints.get(key)), key in usual and usual[key] != value)
            for key, value in values.items()
        ]
        if rows:
            tables.append((name, rows))
    return tables


def _written(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else one_line(str(value), 200)


def _source(hint: Any) -> str:
    notes = [
        note.description for note in get_args(hint)[1:] if isinstance(note, FieldInfo) and note.description
    ]
    return notes[0] if notes else ""


def _proof(run: Run) -> list[str]:
    if run.path is None:
        return []
    cited = cited_in(run.path, run.controller, run.configuration.spec.task)
    said = [*cited.refused]
    if cited.certificate is not None:
        one = cited.certificate
        said.insert(
            0, f"{one.file} was checked for this report and holds: {one.domain}. SHA-256 {one.sha256}."
        )
    return said


def _commands(run: Run) -> list[tuple[str, str]]:
    """Return the commands that make this again, and those that ask more of it."""
    place = run.path or Path("runs") / "mine"
    learn = learn_command(run.configuration, place)
    quoted = learn.rpartition("--out ")[2]
    first = ",".join(f"{c:g}" for c in _a_state(run))
    return [
        ("learn it again", learn),
        ("ask why", f"distinguo explain {quoted} --state={first}"),
        ("prove it", f"distinguo verify {quoted}"),
        ("see what it costs", f"distinguo audit {quoted}"),
        ("write this page", f"distinguo report {quoted}"),
    ]


def _a_state(run: Run) -> list[float]:
    prototypes = prototypes_of(run.representation.partition)
    state: list[float] = (
        [0.0] * len(run.configuration.spec.dimensions)
        if prototypes is None
        else prototypes.points[0].tolist()
    )
    return state
