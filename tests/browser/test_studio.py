"""The studio in a real browser, as a reader uses it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import distinguo
from tests.views.studio.served import Served, serving

Open = Callable[..., Any]
SLOW = "1 × (50 steps/s)"
#: Count what is drawn on the map: one image, the ground, at every drawing.
COUNT_FRAMES = """
const draw = CanvasRenderingContext2D.prototype.drawImage;
window.frames = 0;
CanvasRenderingContext2D.prototype.drawImage = function (...given) {
  window.frames += 1;
  return draw.apply(this, given);
};
"""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("runs")
    for seed in (1, 2):
        settings = {"stage.cap": 1000, "stage.hold": 1000}
        distinguo.learn("puck", seed=seed, settings=settings, out=base / f"seed-{seed}")
    return base


@pytest.fixture(scope="module")
def studio(base: Path) -> Iterator[Served]:
    with serving(base) as served:
        yield served


def entered(page: Any, studio: Served) -> Any:
    page.goto(studio.origin)
    page.wait_for_selector(".pane:not(.is-empty) .state")
    return page


def learning(page: Any, speed: str = "10 ×") -> Any:
    """Begin to learn the puck, and wait until something was learned."""
    page.select_option("#speed", label=speed)
    page.click("#learn .primary")
    wait_for(page, ".words", r"^Trial [1-9]")
    return page


def words(page: Any, selector: str = ".words") -> str:
    return str(page.inner_text(selector))


def wait_for(page: Any, selector: str, pattern: str) -> str:
    """Wait until an element says something that a pattern finds, and return all of it."""
    end = time.monotonic() + 40
    while not re.search(pattern, said := str(page.text_content(selector))):
        assert time.monotonic() < end, said
        page.wait_for_timeout(30)
    return said


def steps_so_far(page: Any) -> int:
    found = re.search(r"([\d,]+) in all", words(page))
    assert found, words(page)
    return int(found[1].replace(",", ""))


def place(page: Any, across: float, down: float, selector: str = ".map canvas") -> tuple[float, float]:
    box = page.locator(selector).first.bounding_box()
    return box["x"] + across * box["width"], box["y"] + down * box["height"]


def test_a_finished_run_is_replayed_through_its_history(new_page: Open, studio: Served) -> None:
    page = entered(new_page(), studio)
    page.click("text=seed-1")
    wait_for(page, ".name", "^seed-1$")
    assert words(page, ".state") == "solved"
    last = words(page, ".moment")
    slider = page.locator(".slider")
    slider.focus()
    page.keyboard.press("Home")
    wait_for(page, ".moment", r", 1 region$")
    page.wait_for_selector(".map canvas[aria-label^='1 region:']")
    assert page.get_attribute(".newest", "aria-pressed") == "false"
    page.keyboard.press("End")
    wait_for(page, ".moment", f"^{last}$")
    page.click(".newest")
    page.wait_for_selector(".newest[aria-pressed=true]")


def test_regions_are_born_while_one_watches(new_page: Open, studio: Served) -> None:
    page = learning(entered(new_page(), studio))
    seen = set()
    end = time.monotonic() + 60
    while "3 regions" not in seen and time.monotonic() < end:
        seen.add(words(page, ".moment").rpartition(", ")[2])
        page.wait_for_timeout(20)
    assert {"1 region", "2 regions", "3 regions"} <= seen
    page.select_option(".pace select", label="full")
    page.wait_for_selector(".state[data-state=solved]")
    assert re.search(r"Solved: .* holds", words(page))
    assert page.is_enabled(".keep")


def test_it_draws_thirty_frames_a_second_while_it_learns(new_page: Open, studio: Served) -> None:
    page = new_page()
    page.add_init_script(COUNT_FRAMES)
    learning(entered(page, studio), SLOW)
    rates = [0.0]
    while max(rates) < 30 and len(rates) < 6:  # of a busy machine the best second counts
        began, before = time.monotonic(), page.evaluate("window.frames")
        page.wait_for_timeout(1000)
        rates.append((page.evaluate("window.frames") - before) / (time.monotonic() - began))
    assert words(page, ".state") == "learning"
    assert max(rates) >= 30, rates


def test_pause_step_trial_and_restart(new_page: Open, studio: Served) -> None:
    page = learning(entered(new_page(), studio), SLOW)
    page.click(".toggle")
    page.wait_for_selector(".state[data-state=paused]")
    before = steps_so_far(page)
    page.wait_for_timeout(300)
    assert steps_so_far(page) == before
    page.click(".step")
    wait_for(page, ".words", f" {before + 1} in all")
    page.click(".trial")
    wait_for(page, ".words", f"^(?!.* {before + 1} in all)")
    page.wait_for_selector(".state[data-state=paused]")
    page.fill("#epsilon", "-0.3")
    assert "is-due" in page.get_attribute(".restart", "class")
    assert words(page, "#epsilon-out") == "ε = 0.5"
    page.click(".restart")
    page.wait_for_selector(".state[data-state=learning]")
    assert steps_so_far(page) <= before + 60
    page.click("#suited")
    assert words(page, "#epsilon-out") == "as suits"


def test_a_setting_that_cannot_be_is_said(new_page: Open, studio: Served) -> None:
    page = entered(new_page(), studio)
    page.fill("#task", "nothing-v0")
    page.click("#learn .primary")
    page.wait_for_selector("#trouble:not([hidden])")
    assert "Unknown task 'nothing-v0'" in words(page, "#trouble p")
    page.click("#trouble button")
    page.click("text=seed-2")
    wait_for(page, ".name", "^seed-2$")


def test_a_click_and_another_ask_why(new_page: Open, studio: Served) -> None:
    page = entered(new_page(), studio)
    page.mouse.click(*place(page, 0.7, 0.2))
    wait_for(page, ".told", "lies in region")
    page.mouse.click(*place(page, 0.4, 0.75))
    wait_for(page, ".told", r"^Kept apart|^Kept together|same region")
    assert page.locator(".told table th:has-text('lost per visit')").count() == 1
    assert page.locator(".told table tr").first.inner_text().split() == ["A", "B"]


def test_the_keyboard_reaches_everything(new_page: Open, studio: Served) -> None:
    page = learning(entered(new_page(), studio), SLOW)
    page.focus(".map canvas")
    page.keyboard.press("Space")
    page.wait_for_selector(".state[data-state=paused]")
    for key in ("ArrowRight", "ArrowUp", "ArrowUp"):
        page.keyboard.press(key)
    wait_for(page, "#said", r"region 0")
    page.keyboard.press("Enter")
    wait_for(page, ".told", r"lies in region 0")
    page.keyboard.press("Shift+Enter")
    wait_for(page, "#said", r"Let go at x 0.12 m, v 0.55 m/s")
    page.keyboard.press("Space")
    page.wait_for_selector(".state[data-state=learning]")
    page.evaluate(
        "window.reached = []; addEventListener('focusin', (event) => reached.push(event.target.id || "
        "event.target.className))"
    )
    page.focus(".skip")
    for _ in range(45):
        page.keyboard.press("Tab")
    reached = set(page.evaluate("window.reached"))
    assert {"toggle", "step", "trial", "restart", "again", "slider", "newest"} <= reached
    assert {"task", "seed", "speed", "epsilon", "gamma", "regions", "suited", "beside", "primary"} <= reached


def test_the_system_is_dragged_and_let_go(new_page: Open, studio: Served) -> None:
    page = entered(new_page(), studio)
    sent: list[Any] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(json.loads(frame))))
    page.reload()
    wait_for(page, ".course", r"greedy trial")
    page.mouse.move(*place(page, 0.5, 0.3, ".scene canvas"))
    page.mouse.down()
    page.mouse.move(*place(page, 0.8, 0.5, ".scene canvas"), steps=5)
    page.mouse.up()
    wait_for(page, ".course", r"ended after")
    [state] = [one["state"] for one in sent if one["do"] == "drive" and one.get("state", [0, 1])[1] == 0]
    assert 1.0 < state[0] < 2.4
    page.mouse.move(*place(page, 0.5, 0.5))
    page.mouse.down()
    page.mouse.move(*place(page, 0.3, 0.3), steps=5)
    assert words(page, ".course").startswith("Let go at x ")
    page.mouse.up()
    wait_for(page, "#said", r"Let go at")
    drives = [one for one in sent if one["do"] == "drive" and "observation" in one]
    assert len(drives) == 1
    assert drives[0]["observation"][0] < 0 < drives[0]["observation"][1]


def test_a_reload_in_the_middle_and_a_second_tab(new_page: Open, studio: Served) -> None:
    page = learning(entered(new_page(), studio), SLOW)
    before = steps_so_far(page)
    page.reload()
    wait_for(page, ".words", "in all")
    assert steps_so_far(page) >= before
    page.click(".toggle")
    page.wait_for_selector(".state[data-state=paused]")
    other = new_page()
    other.goto(page.url)
    other.wait_for_selector(".state[data-state=paused]")
    assert words(other) == words(page)
    other.click(".toggle")
    page.wait_for_selector(".state[data-state=learning]")
    page.click(".toggle")
    other.wait_for_selector(".state[data-state=paused]")


def test_two_runs_side_by_side(new_page: Open, studio: Served) -> None:
    page = entered(new_page(), studio)
    page.click("[aria-label='Show seed-1 beside']")
    wait_for(page, ".pane:nth-child(2) .name", "^seed-1$")
    assert page.locator(".pane:not(.is-empty)").count() == 2
    page.reload()
    page.wait_for_function("() => document.querySelectorAll('.pane:not(.is-empty)').length === 2")
    page.locator(".away").nth(1).click()
    page.wait_for_function("() => document.querySelectorAll('.pane').length === 1")


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_the_screen(new_page: Open, studio: Served, size: tuple[int, int], scheme: str) -> None:
    page = entered(new_page(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme), studio)
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    for canvas in page.locator("canvas").all():
        box = canvas.bounding_box()
        assert box["width"] > 150
        assert box["height"] > 90
        assert box["x"] + box["width"] <= size[0]
    unnamed = "button, input, select, canvas"
    nameless = page.evaluate(
        "(what) => [...document.querySelectorAll(what)].filter((one) => !(one.ariaLabel || one.textContent.trim() "
        "|| one.labels?.length)).map((one) => one.outerHTML)",
        unnamed,
    )
    assert nameless == []


def test_from_the_command_to_a_drawn_page(new_page: Open, base: Path) -> None:
    """Two seconds; a busy machine is given three attempts, and five times as long to fail."""
    taken = []
    for _ in range(3):
        page = new_page()
        began = time.monotonic()
        command = [
            sys.executable,
            "-m",
            "distinguo",
            "studio",
            str(base),
            "--port",
            "0",
            "--no-browser",
            "--json",
        ]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as process:
            try:
                assert process.stdout is not None
                page.goto(json.loads(process.stdout.readline())["address"])
                page.wait_for_selector("#runs .open")
                taken.append(time.monotonic() - began)
            finally:
                page.context.close()
                process.kill()
        if taken[-1] <= 2.0:
            return
    assert min(taken) <= 10.0, taken
