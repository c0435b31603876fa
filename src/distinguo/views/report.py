"""Reports: one self-contained page on a run, or on several side by side, made from their folders alone."""

from __future__ import annotations

import base64
import re
import shlex
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_type_hints
from xml.etree import ElementTree

import numpy as np
from jinja2 import Environment, PackageLoader
from markupsafe import Markup, escape
from matplotlib.figure import Figure
from pydantic.fields import FieldInfo

from distinguo.errors import (
    DistinguoError,
    call_user_code,
    checks_names,
    counted,
    one_line,
    path_from,
    shown,
    visible,
)
from distinguo.explanations.choices import amount
from distinguo.explanations.distinctions import Inquiry, distinctions
from distinguo.explanations.explain import apart_sentence, epsilon_sentence
from distinguo.explanations.subject import Asked, asked_about
from distinguo.progress import displayed
from distinguo.proof.verify import cited_in
from distinguo.reading.files import MEBIBYTE, read_bytes, read_text
from distinguo.representations.partition import prototypes_of
from distinguo.runs.configuration import TABLES, Configuration, flat, learn_command, values_by_table
from distinguo.runs.folder import is_finished
from distinguo.runs.run import Run
from distinguo.versions import software
from distinguo.views.colours import INK, hue_of
from distinguo.views.curves import runs_picture
from distinguo.views.descriptions import regions_in_words
from distinguo.views.notebook import views_of
from distinguo.views.plots import draw, rendered
from distinguo.views.words import outcome_sentence, presentable, values_name_actions, why_nothing
from distinguo.writing import check_file_place, write_atomically

NAME = "report.html"
PICTURES = 1_400_000  #: bytes of all pictures together, so that a page stays below two megabytes
MOST_RUNS = 40
MARK, LARGEST_PAGE = "– distinguo</title>".encode(), 64 * MEBIBYTE  #: in every report, and the bytes of any

AnyRun = Run | str | Path
_Path: Any = type(Path())  # of this system: in Python 3.11 a subclass of Path has no system


class ReportPage(_Path):  # type: ignore[misc]
    """The place of a report, which shows the page in a notebook."""

    def _repr_html_(self) -> str:
        page = escape(read_text(self, LARGEST_PAGE))
        return f'<iframe style="width:100%;height:36em;border:1px solid #8888" srcdoc="{page}"></iframe>'

    def show(self) -> None:
        """Show the page: below the cell of a notebook, or in the browser."""
        if not displayed(self) and not webbrowser.open(self.resolve().as_uri()):
            raise DistinguoError(f"There is no browser to show the report in; open {self} in one.")


@checks_names()
def report(runs: AnyRun | Sequence[AnyRun], out: str | Path | None = None, *, audit: bool = False) -> Path:
    """Write one HTML file on a run, or on several compared, and return where; in a notebook it is shown, too.

    A run is a ``Run`` or its folder. Without ``out`` the page is ``report.html`` in the folder of the only run, or in
    the current folder. If something cannot be read or drawn, the page says so and contains the rest. ``audit``
    measures what the grouping of states costs, which takes a while.

    >>> import distinguo, tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     page = report(distinguo.learn("puck", seed=1), f"{place}/puck.html").read_text()
    >>> "push right" in page, len(page) < 2_000_000
    (True, True)
    """
    given = [runs] if isinstance(runs, Run | str | Path) else list(runs)
    if not given or len(given) > MOST_RUNS:
        raise DistinguoError(f"A report is about 1 to {MOST_RUNS} runs, got {len(given)}.")
    target = _target(given, out)
    write_atomically(target, page_of(given, audit))
    return ReportPage(target)


def _target(given: Sequence[Any], out: str | Path | None) -> Path:
    if out is not None:
        place = path_from(out)
        check_file_place(place)
        return place
    if len(given) > 1:
        here = Path(NAME)
        if here.exists() and MARK not in read_bytes(here, LARGEST_PAGE):
            raise DistinguoError(
                f"{here} exists and is not a report of distinguo; name another file with --out."
            )
        return here
    only = given[0].path if isinstance(given[0], Run) else path_from(given[0])
    if only is None:
        raise DistinguoError("This run has no folder to write a report into; say where with out=….")
    return Path(only) / NAME


def page_of(given: Sequence[AnyRun], audit: bool = False) -> str:
    """Return the page on these runs."""
    budget, chapters, failed = Budget(PICTURES), [], []
    opened: list[Asked] = []
    for run in given:
        try:
            asked = asked_about(run)
            opened.append(asked._replace(run=presentable(asked.run)))
        except DistinguoError as error:
            if len(given) == 1:
                raise
            failed.append(f"{one_line(_name(run), 300)} is left out: {error}")
    if not opened:
        raise DistinguoError(f"None of the {len(given)} runs can be opened: {failed[0]}")
    alone = len(opened) == 1
    compared = [] if alone else _compared(opened, budget)
    for number, asked in enumerate(opened, 1):
        chapters.append(chapter(asked, number, budget, alone, audit))
    template = Environment(
        loader=PackageLoader("distinguo.views"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    ).get_template("run_report.html")
    page = template.render(
        title=chapters[0].title if alone else f"{len(chapters)} runs compared",
        chapters=chapters,
        alone=alone,
        compared=compared,
        rows=_rows(chapters),
        differing=_differing(opened),
        failed=failed,
        made_by=", ".join(f"{name} {version}" for name, version in software().items()),
    )
    return visible(page)  # names of folders need not be text


def _name(run: AnyRun) -> str:
    return shown(run.path) if isinstance(run, Run) else str(run)


def _compared(opened: Sequence[Asked], budget: Budget) -> list[tuple[str, Markup]]:
    """Return the pictures that show all runs at once."""
    reader = Reader(opened[0], 0, budget)
    figure = reader.tried("The comparison", lambda: draw(runs_picture([asked.run for asked in opened])), None)
    if figure is None:
        return []
    words = "Length of trials and regions of every run, over its trials."
    return [(words, budget.spend(inline_figure(figure, "p0runs", words)))]


def _rows(chapters: Sequence[Chapter]) -> list[dict[str, str]]:
    """Return the figures of every run, by name."""
    return [dict(one.figures) for one in chapters]


def _differing(opened: Sequence[Asked]) -> list[tuple[str, list[str]]]:
    """Return the settings that are not the same in all runs, with the value in each."""
    tables = [flat(asked.run.configuration) for asked in opened]
    names = dict.fromkeys(name for table in tables for name in table)
    rows = []
    for name in names:
        values = [shown(table[name], 60) if name in table else "–" for table in tables]
        if "." in name and len(set(values)) > 1:
            rows.append((name, values))
    return rows


# A report on one run: sentences, tables and pictures; if one is missing, the page says why.


MOST_REGIONS, MOST_REASONS = 40, 24  #: rows
BUSIEST = 8  #: regions of a larger map whose distinctions are reported
REGRET = "What the grouping costs: the reward lost at a visit, as the audit finds it."


class Budget:
    """The bytes left for pictures, so that every page stays small."""

    def __init__(self, size: int) -> None:
        self.left = size

    def spend(self, picture: Markup) -> Markup:
        """Return a picture if there is room for it, otherwise a sentence."""
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
        """Return the result of some work; if it fails, note why and return None."""
        try:
            return call_user_code(what, work)
        except DistinguoError as error:
            self.notes.append(one_line(str(error), 400))
            return otherwise

    def picture(self, view: str, words: str) -> Iterator[tuple[str, Markup]]:
        """Yield the picture of a view, or nothing."""
        from distinguo.views.show import show

        figure = self.tried(f"The view '{view}'", lambda: show(self.run, view), None)
        if figure is not None:
            yield words, self.budget.spend(inline_figure(figure, f"p{self.number}{view}", words))


def chapter(asked: Asked, number: int, budget: Budget, alone: bool, audit: bool) -> Chapter:
    """Collect what is known of a run; in a comparison, in short."""
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
        size = counted(run.representation.regions, "region")
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
        "confirmation_steps",
        "failed_confirmation_steps",
        "confirmation_trials",
        "total_steps",
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
    """Yield the maps of earlier trials, one for every new number of regions, if the folder has them."""
    from distinguo.views.family import history_figure

    if not len(reader.run.history):
        reader.notes.append("This folder has no history.jsonl, so the maps on the way are not shown.")
        return
    figure = reader.tried("The history", lambda: history_figure(reader.run), None)
    if figure is not None:
        words = "The map on the way, each time it had more or fewer regions."
        yield words, reader.budget.spend(inline_figure(figure, f"p{reader.number}history", words))


def _regions(run: Run) -> list[dict[str, Any]]:
    prototypes = prototypes_of(run.representation.partition)
    policy, named = run.controller.policy, values_name_actions(run)
    rows = []
    for one in regions_in_words(run)[:MOST_REGIONS]:
        count = 0 if prototypes is None else int((prototypes.regions == one.region).sum())
        rows.append(
            {
                "number": one.region,
                "where": one.where,
                "action": one.action,
                "colour": hue_of(int(policy[one.region]), run.configuration.spec.actions),
                "value": "" if named else amount(float(run.q[one.region].max())),
                "prototypes": count or "",
                "updates": "" if named else f"{int(run.updates[one.region].sum()):,}",
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
    """Return the pairs of regions to explain: all pairs, or in a large map those of the busiest regions."""
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
    """Return the commands that repeat this run and those that examine it further."""
    place = run.path or Path("runs") / "mine"
    learn = learn_command(run.configuration, place)
    quoted = shlex.quote(str(place))
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


# Figures as parts of a page: inline SVG in the page's text colour, or an image if the SVG would be large.


LARGEST_DRAWING = 140_000  #: bytes of a drawing; a larger one becomes an image
IMAGE_DPI = 170
#: What an SVG file needs and an inline SVG does not.
_NEEDLESS = ("metadata", "title", "desc", "style")
_REFERENCE = re.compile(r"#([\w.-]+)")


def inline_figure(figure: Figure, name: str, words: str) -> Markup:
    """Return a figure as HTML that loads nothing; ``name`` is unique on the page.

    >>> from distinguo.views.plots import dress, new_figure
    >>> figure = new_figure()
    >>> dress(figure.add_subplot(), "x", "v")
    >>> str(inline_figure(figure, "map", "a <map>"))[:45]
    '<svg class="drawn" role="img" aria-label="a &'
    """
    drawing = _in_ink_of_page(rendered(figure, ".svg", transparent=True), name, words)
    if len(drawing) <= LARGEST_DRAWING:
        return Markup(drawing)  # noqa: S704 # our own drawing: words in it were escaped when it was written
    image = base64.b64encode(rendered(figure, dpi=IMAGE_DPI)).decode()
    return Markup('<img class="image" alt="{}" src="data:image/png;base64,{}">').format(words, image)


def _in_ink_of_page(drawing: bytes, name: str, words: str) -> str:
    """Return a drawing as an element of a page: unique ids, no links, the colour of the surrounding text."""
    root = ElementTree.fromstring(drawing)  # noqa: S314 # written a moment ago by matplotlib
    text = ElementTree.tostring(root, encoding="unicode")
    used = set(_REFERENCE.findall(text))
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        for key, value in list(element.attrib.items()):
            del element.attrib[key]
            if key == "id" and value not in used:
                continue
            plain = key.rpartition("}")[2]
            element.set(plain, _in_page(plain, value, name))
        for child in list(element):
            if child.tag.rpartition("}")[2] in _NEEDLESS:
                element.remove(child)
    head = {"class": "drawn", "role": "img", "aria-label": words, "viewBox": root.get("viewBox", "")}
    root.attrib.clear()
    root.attrib.update(head)
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=False)


def _in_page(key: str, value: str, name: str) -> str:
    if key == "id":
        return f"{name}-{value}"
    if key in ("href", "clip-path", "style"):
        value = _REFERENCE.sub(lambda m: m[0] if _is_colour(m[1]) else f"#{name}-{m[1]}", value)
    return value.replace(INK, "currentColor") if key == "style" else value


def _is_colour(word: str) -> bool:
    """Whether the text after a number sign is a colour.

    >>> _is_colour("1a1b1e"), _is_colour("m0a9")
    (True, False)
    """
    return re.fullmatch(r"[0-9a-f]{6}", word) is not None


def left_out(words: str) -> Markup:
    """Return the sentence shown in place of a picture."""
    return Markup('<p class="note">{}</p>').format(escape(words))
