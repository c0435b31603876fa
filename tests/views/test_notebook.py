"""Results in a notebook: cells are executed by a real kernel, without a display, and their outputs looked into."""

from __future__ import annotations

import base64
import html
import re
from pathlib import Path
from typing import Any

import pytest
from tools.notebook import Piece

RUNS = Path(__file__).parents[1] / "golden" / "formats" / "runs"
SETUP = f"""\
import distinguo as dg
from distinguo.progress import show_progress, notice
run = dg.open_run({str(RUNS / "puck-8")!r})._replace(path=None)
lake = dg.open_run({str(RUNS / "cliff-6")!r})"""
#: What is executed, by name, in this order.
CELLS = {
    "setup": SETUP,
    "run": "run",
    "plot": "run.plot()",
    "show": 'dg.show(run, view="values", figsize=(6, 2))',
    "own figure": "from matplotlib.figure import Figure\nFigure()\nrun.plot(lambda run: Figure(figsize=(2, 2)))",
    "explain": "run.explain((0.2, 0.8), (-0.2, -0.8))",
    "play": "run.play(steps=6)",
    "labels": "lake.play(steps=3)",
    "report": 'run.report("here.html")',
    "compare": 'dg.compare(["diagonal", "grid:2x1"], runs=2, steps=2_000, cap=100)',
    "verify": "run.verify(cells=20_000)",
    "not last": "run.plot().show()\nrun.play(steps=2).show()\nrun.report('here.html').show()\nprint('done')",
    "quick": "with show_progress('Counting'):\n    pass",
    "slow": """\
import time
with show_progress("Counting") as tell:
    for n in range(40):
        tell(f"Counting: {n + 1} of 40")
        with show_progress("Within") as tell_within:
            tell_within("never seen")
        time.sleep(0.05)""",
    "compiling": """\
with show_progress("Learning"):
    notice.begin()
    time.sleep(2.2)
    notice.end()""",
    "said": """\
notice.wanted = True  # as in a new kernel, where nothing was compiled yet
notice.begin()
time.sleep(1.6)
notice.end()""",
    "axes": """\
from matplotlib import pyplot as plt
figure, (left, right) = plt.subplots(1, 2)
run.plot(ax=left)
run.plot("values", ax=right)
len(left.collections) + len(right.collections)""",
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """What every cell shows, with lines of progress and messages about them in between."""
    import nbformat
    from nbclient import NotebookClient

    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS.values()])
    folder = tmp_path_factory.mktemp("notebook")
    client = NotebookClient(book, timeout=600, resources={"metadata": {"path": str(folder)}})
    updates: list[str] = []
    process = client.process_message

    def listened(message: Any, cell: Any, index: int) -> Any:
        if message["header"]["msg_type"] == "update_display_data":
            updates.append(message["content"]["data"]["text/plain"])
        return process(message, cell, index)

    client.process_message = listened  # type: ignore[method-assign]
    client.execute()
    return {name: cell.outputs for name, cell in zip(CELLS, book.cells, strict=True)} | {"updates": updates}


def data(outputs: dict[str, list[Any]], name: str) -> dict[str, str]:
    """The value of a cell, without lines of progress."""
    (one,) = [o for o in outputs[name] if o.get("metadata", {}).get("distinguo") is None]
    assert one["output_type"] == "execute_result", one
    return dict(one["data"])


def sized(png: str) -> tuple[int, int]:
    """The width and the height of an image, and that it is one."""
    content = base64.b64decode(png)
    assert content.startswith(b"\x89PNG")
    return int.from_bytes(content[16:20]), int.from_bytes(content[20:24])


def test_figures_are_images(outputs: dict[str, list[Any]]) -> None:
    assert sized(data(outputs, "plot")["image/png"]) == (770, 660)
    assert sized(data(outputs, "show")["image/png"]) == (1320, 440)
    assert sized(data(outputs, "own figure")["image/png"]) == (440, 440)
    assert data(outputs, "plot")["text/plain"] == "<Figure size 350x300 with 2 Axes>"


def test_a_run_and_its_reasons_are_html(outputs: dict[str, list[Any]]) -> None:
    assert "data:image/png;base64," in data(outputs, "run")["text/html"]
    why = data(outputs, "explain")
    first = why["text/plain"].splitlines()[0]
    assert f"<b>{html.escape(first)}</b>" in why["text/html"]
    for line in filter(None, why["text/plain"].splitlines()):
        assert html.escape(line.strip()) in why["text/html"]


def test_films_play_within_the_page(outputs: dict[str, list[Any]]) -> None:
    for name, frames in (("play", 4), ("labels", 4)):
        shown = data(outputs, name)
        assert f"{frames} frames" in shown["text/plain"]
        kind, code = re.search(
            r'src="data:(video/mp4|image/gif);base64,([^"]+)"', shown["text/html"]
        ).groups()  # type: ignore[union-attr]
        content = base64.b64decode(code)
        assert content[4:8] == b"ftyp" if kind == "video/mp4" else content.startswith(b"GIF8")


def test_a_report_is_shown_whole_and_cannot_leave_its_frame(outputs: dict[str, list[Any]]) -> None:
    shown = data(outputs, "report")["text/html"]
    inner = re.fullmatch(r'<iframe style="[^"]*" srcdoc="([^"]*)"></iframe>', shown)
    assert inner is not None
    page = html.unescape(inner[1])
    assert page.startswith("<!doctype html>")
    assert page.rstrip().endswith("</html>")


def test_comparisons_and_proofs_have_tables_and_pictures(outputs: dict[str, list[Any]]) -> None:
    compared, proof = data(outputs, "compare")["text/html"], data(outputs, "verify")["text/html"]
    assert compared.count("<tr>") == 3
    assert ">grid:2x1</td>" in compared
    assert "Proven" in proof
    assert all("data:image/png;base64," in shown for shown in (compared, proof))


def test_show_displays_what_is_not_the_last_line(outputs: dict[str, list[Any]]) -> None:
    figure, film, page, printed = [
        o for o in outputs["not last"] if o.get("metadata", {}).get("distinguo") is None
    ]
    assert "image/png" in figure["data"]
    assert "<video" in film["data"]["text/html"] or "image/gif" in film["data"]["text/html"]
    assert "<iframe" in page["data"]["text/html"]
    assert printed["text"] == "done\n"


def test_axes_of_ones_own_are_drawn_into(outputs: dict[str, list[Any]]) -> None:
    value, figure = outputs["axes"]
    assert int(value["data"]["text/plain"]) >= 2
    assert "image/png" in figure["data"]


def test_long_work_is_one_line_that_is_rewritten_and_short_work_none(outputs: dict[str, list[Any]]) -> None:
    assert outputs["quick"] == []
    (line,) = outputs["slow"]
    assert re.fullmatch(r"Counting: 40 of 40, [2-9] s", line["data"]["text/plain"])
    counted = [text for text in outputs["updates"] if text.startswith("Counting")]
    assert len(counted) >= 3
    assert counted == sorted(counted, key=lambda text: int(text.split()[1]))
    assert not any("never seen" in text for text in outputs["updates"])
    (line,) = outputs["compiling"]
    assert re.fullmatch(r"Learning, [2-9] s, [1-9] of them compiling", line["data"]["text/plain"])
    assert "Learning: compiling for this machine, once, 1 s" in outputs["updates"]
    (line,) = outputs["said"]  # where there is no line of work
    assert line["data"]["text/plain"] == "compiling for this machine; this takes some seconds, once …"
    assert not any(
        o["output_type"] == "stream" for name in CELLS for o in outputs[name] if name != "not last"
    )


def test_a_cell_ends_where_something_is_printed() -> None:
    from tools.notebook import pieces

    page = "Look.\n\n```python\n>>> a = 1\n>>> a\n1\n>>> a + 1\n2\n\n```\n\n![Map](images/map.png)\n\nEnd.\n"
    code = [Piece(True, "a = 1\na", "1\n"), Piece(True, "a + 1", "2\n")]
    assert pieces(page) == [Piece(False, "Look."), *code, Piece(False, "End.")]
