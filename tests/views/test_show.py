"""Views by name and of one's own, the files that they are drawn into, and a run in a notebook."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import distinguo
from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.representations.declare import FunctionPartition
from distinguo.representations.file import Representation
from distinguo.runs.run import Run
from distinguo.views import text
from distinguo.views.curves import Series, SeriesPicture, trials_picture
from distinguo.views.notebook import run_html
from distinguo.views.pictures import ValuePicture, partition_picture, representation_picture
from distinguo.views.plots import draw
from distinguo.views.report import ReportPage
from distinguo.views.show import draw_run, show, view
from tests.views.runs import made_up

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_view.py"
BEGINS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("runs") / "puck"
    return distinguo.learn("puck", seed=1, settings={"stage.cap": 2000, "stage.hold": 2000}, out=folder)


@pytest.mark.parametrize("name", ["partition", "values", "trials"])
@pytest.mark.parametrize("suffix", BEGINS)
def test_every_view_is_drawn_into_every_kind_of_file(
    learned: Run, name: str, suffix: str, tmp_path: Path
) -> None:
    for path in (tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"):
        assert isinstance(show(learned.path or "", view=name, path=path), Figure)
        assert path.read_bytes().startswith(BEGINS[suffix])
    assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()


def test_a_view_is_found_by_its_name_or_is_a_function(learned: Run) -> None:
    @view("twice the updates")
    def twice(run: Run) -> SeriesPicture:
        updates = 2.0 * run.updates.sum(axis=1)
        return SeriesPicture("t", "region", tuple(range(len(updates))), (Series("u", tuple(updates)),))

    for what in ("twice the updates", twice):
        (panel,) = show(learned, view=what).axes
        assert panel.lines[0].get_ydata().tolist() == (2.0 * learned.updates.sum(axis=1)).tolist()
    assert draw_run(learned, "twice the updates").name == "twice_the_updates.png"


def test_a_figure_is_a_picture_too(learned: Run) -> None:
    figure = Figure()
    assert show(learned, view=lambda run: figure) is figure


def test_what_cannot_be_shown_is_said_in_a_sentence(learned: Run, tmp_path: Path) -> None:
    with pytest.raises(DistinguoError, match="Unknown view 'trails'; did you mean 'trials'"):
        show(learned, view="trails")
    with pytest.raises(DistinguoError, match="A dict is not a picture; a view returns one of ours"):
        show(learned, view=lambda run: {})
    with pytest.raises(DistinguoError, match=r"cannot be written as .*a\.gif'; known: \.pdf, \.png, \.svg\."):
        show(learned, path=tmp_path / "a.gif")
    with pytest.raises(DistinguoError, match="Cannot write"):
        show(learned, path=tmp_path / "no" / "a.png")
    with pytest.raises(
        DistinguoError, match="no trials to show: it was distilled, or its history was not kept"
    ):
        show(made_up("puck", 3), view="trials")


def test_values_are_coloured_by_value_alone() -> None:
    run = made_up("puck", 12, merged=0.0)
    (collection,) = draw(ValuePicture(partition_picture(run))).axes[0].collections
    colours = [tuple(colour) for colour in collection.get_facecolors()]
    by_value: dict[float, set[Any]] = {}
    for value, colour in zip(run.q.max(axis=1).tolist(), colours, strict=True):
        by_value.setdefault(value, set()).add(colour)
    assert {len(same) for same in by_value.values()} == {1}
    assert len(set(colours)) == len(by_value)


def test_trials_are_those_of_the_run(learned: Run) -> None:
    picture = trials_picture(learned)
    assert picture.places == tuple(float(trial.trial) for trial in learned.trials)
    assert picture.series[0].values == tuple(float(trial.length) for trial in learned.trials)
    assert picture.series[1].values[-1] == learned.representation.regions


def test_actions_that_are_nearly_as_good_are_tied_where_the_learner_says_so() -> None:
    run = made_up("puck", 2, merged=0.0)._replace(q=np.array([[0.0, -0.05], [0.0, -1.0]]))
    learner = run.configuration.learner._replace(delta=0.1)
    tied = run._replace(configuration=run.configuration._replace(learner=learner))
    assert [cell.action for cell in partition_picture(run).cells] == [0, 0]
    assert [cell.action for cell in partition_picture(tied).cells] == [-1, 0]
    assert "tied" in text.regions_table(tied)


# Sizes, frames and windows.


def test_a_figure_has_the_size_that_was_asked_for(learned: Run) -> None:
    for name in ("partition", "trials"):
        assert show(learned, name, figsize=(6, 2.5)).get_size_inches().tolist() == [6.0, 2.5]
    assert show(learned, lambda run: Figure(), figsize=(2, 3)).get_size_inches().tolist() == [2.0, 3.0]
    assert show(learned).get_size_inches().tolist() == [3.5, 3.0]
    square = {
        label.get_fontsize() for label in show(made_up("CliffWalking-v1", 40), figsize=(20, 20)).axes[0].texts
    }
    small = {
        label.get_fontsize() for label in show(made_up("CliffWalking-v1", 40), figsize=(3, 3)).axes[0].texts
    }
    assert max(small) < max(square)


@pytest.mark.parametrize("name", ["partition", "values", "phase", "family", "dial"])
def test_a_view_of_one_panel_is_drawn_into_a_frame_of_ones_own(learned: Run, name: str) -> None:
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert learned.plot(name, ax=left) is left
    alone = learned.plot(name).axes[0]
    assert (left.get_xlabel(), left.get_xlim()) == (alone.get_xlabel(), alone.get_xlim())
    assert (len(left.lines), len(left.collections)) == (len(alone.lines), len(alone.collections))
    assert left.get_title()
    assert not right.has_data()


def test_a_frame_is_written_with_its_whole_figure(learned: Run, tmp_path: Path) -> None:
    figure = Figure(figsize=(4, 2))
    left, right = figure.subplots(1, 2)
    right.set_xlabel("mine")
    learned.plot(ax=left, path=tmp_path / "both.svg")
    assert b"mine" in (tmp_path / "both.svg").read_bytes()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"view": "trials", "ax": Figure().add_subplot()},
            "This view has 3 panels, which do not fit into one",
        ),
        ({"ax": Figure().add_subplot(), "figsize": (3, 3)}, "Give ax or figsize, not both"),
        ({"ax": Figure()}, "ax should be one Axes of matplotlib, got <Figure"),
        ({"view": lambda run: Figure(), "ax": Figure().add_subplot()}, "returns a figure of its own"),
        *(({"figsize": size}, "figsize should be a width and a height") for size in (3, "ab", (1, -1), (1,))),
        ({"figsize": (1e9, 1)}, "at most 100"),
        ({"figsise": (1, 1)}, "did you mean 'figsize'"),
    ],
)
def test_sizes_and_frames_that_make_no_sense_are_refused(
    learned: Run, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(DistinguoError, match=words):
        show(learned, **options)
    assert show(learned).get_size_inches().tolist() == [3.5, 3.0]  # nothing is left of what was asked


def test_a_script_opens_a_window_or_is_told_that_there_is_none(learned: Run) -> None:
    """The window is of a backend without a screen, which matplotlib takes for one that has."""
    with pytest.raises(DistinguoError, match=r"no display to show the figure on.*savefig"):
        learned.plot().show()
    script = """
import sys, types
from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg

class Manager(FigureManagerBase):
    @classmethod
    def pyplot_show(cls, *, block=None):
        from matplotlib import pyplot as plt
        figure, = [plt.figure(n) for n in plt.get_fignums()]
        figure.canvas.manager.canvas.draw()
        print(len(figure.canvas.manager.canvas.figure.axes), "axes in a window")

class FigureCanvas(FigureCanvasAgg):
    manager_class = Manager
    required_interactive_framework = None

screen = types.ModuleType("screen")
screen.FigureCanvas, screen.FigureManager = FigureCanvas, Manager
sys.modules["screen"] = screen
import matplotlib
matplotlib.use("module://screen")
import distinguo
distinguo.open_run(sys.argv[1]).plot().show()
"""
    told = subprocess.run(
        [sys.executable, "-c", script, str(learned.path)], capture_output=True, text=True, check=True
    )
    assert told.stdout == "2 axes in a window\n"


def test_a_report_is_opened_in_the_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or len(opened) == 1)
    page = ReportPage(tmp_path / "page.html")
    page.show()
    assert opened == [(tmp_path / "page.html").as_uri()]
    with pytest.raises(DistinguoError, match="There is no browser to show the report in; open"):
        page.show()


# Partitions that know little of themselves.


def unknown() -> tuple[Representation, Any]:
    run = made_up("CartPole-v1", 2)
    made = FunctionPartition(lambda s: int(s[2] > 0), regions=2)
    return Representation(made, run.representation.dimensions), run


def test_a_partition_without_outlines_has_a_map_and_a_table_but_no_picture() -> None:
    representation, run = unknown()
    odd = run._replace(representation=representation, q=np.eye(2), updates=np.ones((2, 2), dtype=int))
    assert "slice at" in text.text_map(odd)
    head, *rows = text.regions_table(odd).splitlines()
    assert head.split() == ["region", "action", "updates"]  # its learner has no values
    assert len(rows) == 2
    with pytest.raises(DistinguoError, match="FunctionPartition cannot be drawn; give it a method outlines"):
        show(odd)
    controller = Controller(representation.partition, np.eye(2))
    with pytest.raises(DistinguoError, match="cannot be drawn"):
        representation_picture(representation, run.configuration.spec, "", controller)
    assert "cannot be drawn" in run_html(odd)


# Notebooks.


class Page(HTMLParser):
    """Checks that every tag is closed, and keeps the words."""

    def __init__(self, content: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.images: list[str] = []
        self.feed(content)
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        if tag == "img":
            self.images.append(dict(attributes)["src"])
        else:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_a_run_in_a_notebook_is_its_map_and_its_figures(learned: Run) -> None:
    content = run_html(learned)
    page = Page(content)
    assert page.words[page.words.index("trials") + 1] == str(learned.summary["trials"])
    assert page.words[page.words.index("regions") + 1] == str(learned.representation.regions)
    assert page.images[0].startswith("data:image/png;base64,")
    assert "http" not in re.sub(r"base64,[^\"]*", "", content)
    assert len(run_html(made_up("Acrobot-v1", 300))) < 300_000


def test_names_cannot_leave_their_place_in_the_page() -> None:
    run = made_up("puck", 3)
    spec = run.configuration.spec._replace(name="<script>alert(1)</script>")
    odd = run._replace(configuration=run.configuration._replace(spec=spec))
    assert "<script>" not in run_html(odd)
    Page(run_html(odd))


def test_a_map_of_one_region_says_so_and_what_to_do() -> None:
    one = made_up("puck", 1)
    lost = one._replace(summary={**one.summary, "solved": False})
    for run, advice in ((one, "One action is enough"), (lost, "Learn longer, with another seed")):
        assert (
            f"The map has one region: no difference between states has mattered so far. {advice}"
            in run_html(run)
        )
    assert "one region" not in run_html(made_up("puck", 3))
    with pytest.raises(DistinguoError, match=r"one region, so it makes no distinction.*smaller epsilon"):
        show(one, "dial")
    assert repr(one).endswith("not finished, 1 region so far")


# The example.


def test_the_example_runs(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(EXAMPLE)], cwd=tmp_path, check=True)
    assert (tmp_path / "experience.png").read_bytes().startswith(BEGINS[".png"])


def test_the_example_is_shown_by_the_command_line(learned: Run, tmp_path: Path) -> None:
    target = tmp_path / "mine.svg"
    words = ["show", str(learned.path), "--view", f"{EXAMPLE}:experience", "--out", str(target)]
    subprocess.run([sys.executable, "-m", "distinguo", *words], cwd=tmp_path, check=True)
    assert b"What the regions rest on" in target.read_bytes()
