"""Results in notebooks: each as HTML that loads nothing, and one line for the progress of long work."""

from __future__ import annotations

import base64
import contextvars
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

from distinguo.comparison.plan import Comparison
from distinguo.errors import DistinguoError, visible
from distinguo.explanations.explain import Explanation
from distinguo.explanations.subject import Asked
from distinguo.progress import ProgressPlace, Tell, notice
from distinguo.runs.run import Run
from distinguo.tasks.spec import CATEGORIES
from distinguo.verification import Proof
from distinguo.views.show import show
from distinguo.views.words import presentable, why_nothing

DPI = 150
LEFT = 'style="text-align:left"'


def run_html(run: Run) -> str:
    """Return the map of a run's regions beside its figures, as HTML that loads nothing."""
    rows = "".join(
        f"<tr><th {LEFT}>{escape(name)}</th><td {LEFT}>{escape(visible(text))}</td></tr>"
        for name, text in _figures(presentable(run))
    )
    style = "display:flex;flex-wrap:wrap;gap:1.5em;align-items:center"
    said = "".join(f"<p>{escape(visible(sentence))}</p>" for sentence in _remarks(run))
    return f'<div style="{style}"><table>{rows}</table>{_map(run)}</div>{said}'


def _remarks(run: Run) -> list[str]:
    """Return why a run came to little, and what to do."""
    if run.representation.regions > 1:
        return why_nothing(run)
    alone = "The map has one region: no difference between states has mattered so far. "
    if run.solved:
        return [alone + "One action is enough for this task, so there is nothing to tell apart."]
    return [alone + "Learn longer, with another seed, or with a smaller ε.", *why_nothing(run)]


def _figures(run: Run) -> list[tuple[str, str]]:
    """Return the facts of a run, each with its name."""
    configuration, result = run.configuration, run.summary
    names = ("score", "trials", "environment_steps", "investigation_steps", "seconds")
    return [
        ("task", f"{configuration.spec.name}, seed {configuration.seed}"),
        ("solved", "yes" if run.solved else "no"),
        ("regions", f"{run.representation.regions:,}"),
        ("prototypes", f"{run.representation.prototypes:,}"),
        *((name.replace("_", " "), f"{result[name]:,}") for name in names if name in result),
        *([] if run.path is None else [("folder", str(run.path))]),
    ]


def _map(what: Run | Comparison | Proof, words: str = "the regions of the run") -> str:
    """Return the picture of a result as an image within the page, or why there is none."""
    from distinguo.views.plots import rendered

    try:
        image = rendered(show(what), dpi=DPI)
    except DistinguoError as error:
        return f"<p>{escape(str(error))}</p>"
    code = base64.b64encode(image).decode()
    return f'<img alt="{words}" src="data:image/png;base64,{code}">'


def explanation_html(why: Explanation) -> str:
    """Return the sentences of an explanation, the first in bold, over the table of its figures."""
    first, *others = [escape(visible(sentence)) for sentence in (*why.sentences, *why.notes)]
    said = "".join(f"<p>{sentence}</p>" for sentence in (f"<b>{first}</b>", *others))
    return f"<div>{said}<pre>{escape(visible(chr(10).join(why.figures())))}</pre></div>"


def comparison_html(comparison: Comparison) -> str:
    """Return the ends of the learning curves as a table over their picture."""
    head, _, *rows = [_cells(line) for line in comparison.markdown().splitlines()]
    table = _row(head, "th") + "".join(_row(row, "td") for row in rows)
    return f"<div><table>{table}</table>{_map(comparison, 'learning curves')}</div>"


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def _row(cells: list[str], kind: str) -> str:
    inner = "".join(f"<{kind} {LEFT}>{escape(visible(cell))}</{kind}>" for cell in cells)
    return f"<tr>{inner}</tr>"


def proof_html(proof: Proof) -> str:
    """Return the sentences of a proof over its picture."""
    said = "".join(f"<p>{escape(visible(line))}</p>" for line in repr(proof).splitlines())
    return f"<div>{said}{_map(proof, 'what is proven of every start')}</div>"


# One line of progress below a cell, which is rewritten and then says how long it took.


SHOWN_AFTER, EVERY = 1.0, 0.25  #: seconds before a line appears, and between two states of it


class ProgressLine:
    """A line below a cell, written by a thread, so that it stays alive while compiled code runs."""

    def __init__(self, text: str) -> None:
        self.text, self._began, self._ended = text, time.monotonic(), threading.Event()
        self._compiled, self._shown = 0.0, False
        self._handle = _handle()
        work = contextvars.copy_context().run  # the cell that an output belongs to is known by context
        self._thread = threading.Thread(target=work, args=[self._tick], name="notebook line", daemon=True)
        self._thread.start()

    def _tick(self) -> None:
        while not self._ended.wait(EVERY):
            seconds = notice.seconds
            if seconds is not None:
                self._compiled += EVERY
            if time.monotonic() - self._began >= SHOWN_AFTER:
                self._write(
                    self.text if seconds is None else f"{self.text}: compiling for this machine, once"
                )

    def end(self) -> None:
        """Stop, and leave what was done in how many seconds; short work leaves nothing."""
        self._ended.set()
        self._thread.join(EVERY * 4)
        if self._shown:
            compiled = f", {self._compiled:.0f} of them compiling" if self._compiled >= 1.0 else ""
            self._write(self.text, compiled)

    def _write(self, text: str, more: str = "") -> None:
        line = f"{text}, {time.monotonic() - self._began:.0f} s{more}"
        (self._handle.update if self._shown else self._handle.display)(
            _plain(line), raw=True, metadata=MARKED
        )
        self._shown = True


MARKED = {"distinguo": "progress"}  #: of the outputs that are lines of progress


def _handle() -> Any:
    from IPython.display import DisplayHandle

    return DisplayHandle()  # type: ignore[no-untyped-call]


def _plain(line: str) -> dict[str, str]:
    return {"text/plain": line, "text/html": f"<small>{escape(visible(line))}</small>"}


@contextmanager
def _line(text: str) -> Iterator[Tell]:
    """Open the line of some work; work within it writes nothing of its own."""
    if _line_is_open.is_set():
        yield lambda _: None
        return
    notice.wanted = False  # the line says it
    notice.forget()
    _line_is_open.set()
    line = ProgressLine(text)

    def tell(now: str) -> None:
        line.text = now

    try:
        yield tell
    finally:
        line.end()
        _line_is_open.clear()


_line_is_open = threading.Event()

#: What is shown of results whose rooms know nothing of notebooks, by module and name.
_SHOWN: dict[tuple[str, str], Callable[[Any], str]] = {
    ("distinguo.explanations.explain", "Explanation"): explanation_html,
    ("distinguo.comparison.plan", "Comparison"): comparison_html,
    ("distinguo.verification", "Proof"): proof_html,
}


def attach() -> None:
    """Show our results and the progress of our work in the notebook of this process."""
    from IPython import get_ipython

    html = get_ipython().display_formatter.formatters["text/html"]
    for (module, name), function in _SHOWN.items():
        html.for_type_by_name(module, name, function)
    ProgressPlace.line = _line
    ProgressPlace.say = staticmethod(lambda text: _handle().display(_plain(text), raw=True, metadata=MARKED))


# Which pictures a report has of a run, and what is said under each.


LARGE = 300  #: prototypes; a larger map is shown only once
#: The views in a report on one run, each with its caption.
VIEWS = {
    "partition": "The regions. The number in each area is its region, the colour what is done there.",
    "critical": "A greedy trial over the critical states: where one wrong action is the end.",
    "phase": "Where the greedy policy leads: arrows for single steps, lines for trials.",
    "values": "What the states are worth.",
    "trials": "How it was learned: length of trials, regions and prototypes.",
    "family": "Which region came from which, when and why.",
    "dial": "How many regions are left if values this close count as one.",
    "fidelity": "Where the map does what its teacher does, and which actions it takes instead.",
}
WRITTEN_DIAL = (
    "The mean return of the best map of every size: which of its distinctions are worth their price."
)


def views_of(asked: Asked, alone: bool) -> dict[str, str]:
    """Return the views worth showing for a run, each with its caption; in a comparison only the first."""
    wanted = dict(VIEWS) if alone else {name: VIEWS[name] for name in ("partition", "trials")}
    for view in _pointless(asked):
        wanted.pop(view, None)
    if "dial" in wanted and _has(asked.run, "dial.csv"):
        wanted["dial"] = WRITTEN_DIAL
    return wanted


def _pointless(asked: Asked) -> list[str]:
    """Return the views that would show nothing of this run."""
    views = [] if asked.spec.controllable else ["critical"]
    if not asked.grows_by_splits:
        views.append("family")
    if asked.values_name_actions:  # no values: there is no dial unless condense wrote one
        views += ["values"] if _has(asked.run, "dial.csv") else ["values", "dial"]
    views += ["trials"] if asked.run.is_distilled else ["fidelity"]
    if asked.spec.kind == CATEGORIES:
        views.append("phase")
    if asked.run.representation.prototypes > LARGE:
        views += ["critical", "phase", "values", "family"]
    return views


def _has(run: Run, name: str) -> bool:
    return run.path is not None and (run.path / name).is_file()
