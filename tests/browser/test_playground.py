"""The playground in a real browser: it learns what the package learns, and its controls do what they say."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import distinguo
from distinguo.explanations.choices import amount
from distinguo.explanations.distinctions import merging_epsilon
from distinguo.learners.economy.memory import RULES
from distinguo.presets import PRESETS
from distinguo.runs.configuration import configure
from tests.playground.traces import NAMES, SHORT, SUITED, Case, cases, cases_of, differences, learned, trace

PAGE = (Path(__file__).parents[2] / "docs" / "playground.html").as_uri()
#: What these tasks do not need is off in every preset, so the playground does not have it.
LEFT_OUT = {
    "samples": 1,
    "split_confidence": 0.0,
    "active": True,
    "investigate_every": 0,
    "optimistic": False,
    "rescale": False,
    "epsilon_share": 0.0,
    "steps": 10**12,
    "refine_steps": 0,
    "prove_steps": 0,
    "prove_ranges": "",
}
Open = Callable[..., Any]


@pytest.fixture
def opened(new_page: Open) -> Iterator[Open]:
    """Open the page at a link, and see to it that nothing was asked of the network."""
    asked: list[str] = []

    def open_page(hash_: str = "", **options: Any) -> Any:
        page = new_page(**options)
        page.on("request", lambda request: asked.append(request.url))
        page.goto(PAGE + hash_)
        page.wait_for_function("globalThis.playground && playground.app.picture")
        return page

    yield open_page
    assert {url.partition("#")[0] for url in asked if not url.startswith("data:")} == {PAGE}


def learn_fast(page: Any, changes: dict[str, Any] = SHORT) -> None:
    """Learn to the end at full speed, with trials that are long enough at 2,000 steps."""
    page.evaluate("changes => Object.assign(playground.app.player.stage.settings, changes)", changes)
    page.locator("#speed").fill("4")
    page.click("#play")
    page.wait_for_function("playground.app.player.isOver")


def shown_trace(page: Any) -> Any:
    """Return what was learned in view so far."""
    return json.loads(page.evaluate("JSON.stringify(playground.app.player.stage.trace())"))


def place(page: Any, x: float, v: float) -> tuple[float, float]:
    """Return where a state is on the screen."""
    page.evaluate("document.getElementById('map').scrollIntoView({block: 'center'})")
    across, down = page.evaluate("s => playground.app.map.frame.place(s)", [x, v])
    box = page.locator("#map").bounding_box()
    return box["x"] + across, box["y"] + down


def test_it_learns_what_the_package_learns(opened: Open) -> None:
    """Same prototypes, regions, values, trials and reasons for 20 seeds, all presets and other settings."""
    page, asked = opened(), cases()
    traces = page.evaluate(
        """cases => JSON.stringify(cases.map(([choice, changes]) =>
             playground.learnt({...choice, seed: BigInt(choice.seed)}, changes).trace()))""",
        [[case.choice(), case.changes] for case in asked],
    )
    made = json.loads(traces)
    found = {str(case): differences(case, theirs) for case, theirs in zip(asked, made, strict=True)}
    assert {case: what for case, what in found.items() if what} == {}
    assert max(one["attempts"] for one in made) > 1
    events = {reason["event"] for one in made for reason in one["reasons"]}
    assert events == {"split", "merge", "detach"}


def test_presets_are_those_of_the_package(opened: Open) -> None:
    """Every setting of every preset, but for those that are off for the puck."""
    presets = opened().evaluate("playground.PRESETS_OF")
    theirs = presets["puck"]
    assert set(theirs) == set(PRESETS)
    for name in PRESETS:
        configuration = configure("puck", preset_name=name)
        ours = {**configuration.learner._asdict(), **configuration.stage._asdict()}
        del ours["many"]  # coordinates; the puck has two
        assert {**theirs[name], **LEFT_OUT} == ours
    for task in ("car", "lake"):
        assert presets[task] == {"default": {**theirs["fast"], **SUITED[task]}}


@pytest.mark.second_stage
@pytest.mark.parametrize("task", ["car", "lake"])
def test_other_tasks_are_learned_as_the_package_learns_them(opened: Open, task: str) -> None:
    """Same prototypes, regions, values, trials, returns, verdicts and reasons for 20 seeds."""
    page, asked = opened(), cases_of(task)
    made = json.loads(
        page.evaluate(
            """cases => JSON.stringify(cases.map((one) =>
                 playground.learnt({...one, seed: BigInt(one.seed)}).trace()))""",
            [case.choice() for case in asked],
        )
    )
    found = {case.seed: differences(case, theirs) for case, theirs in zip(asked, made, strict=True)}
    assert {seed: what for seed, what in found.items() if what} == {}
    scores = sorted(one["score"] for one in made)
    if task == "lake":
        assert all(one["solved"] for one in made)
    else:  # nobody arrives by chance
        assert scores[10] > -160
        assert scores[-1] > -130


@pytest.mark.second_stage
@pytest.mark.parametrize("link", ["#task=lake&seed=3&epsilon=0.05", "#task=car&seed=2"])
def test_the_command_that_is_shown_learns_the_same(opened: Open, tmp_path: Path, link: str) -> None:
    """Word for word, in a process of its own."""
    page = opened(link)
    learn_fast(page, {})
    words = shlex.split(page.inner_text("#command"))
    assert words[:2] == ["distinguo", "learn"]
    command = [sys.executable, "-m", *words, "--out", str(tmp_path / "run")]
    assert subprocess.run(command, capture_output=True, check=False).returncode in (0, 3)  # 3: not solved
    assert trace(distinguo.open_run(tmp_path / "run")) == shown_trace(page)


@pytest.mark.second_stage
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_another_task_is_chosen_by_keyboard(opened: Open, size: tuple[int, int], scheme: str) -> None:
    """The address carries it; it has its own words, actions, drawing and map; one can take it, ask and come back."""
    page = opened("#seed=2", viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
    seen = {}
    for key in ("car", "lake", "puck"):
        page.focus("[name=task]:checked")
        page.keyboard.press("ArrowRight")
        page.wait_for_function("key => playground.app.task.key === key && playground.app.picture", arg=key)
        assert page.evaluate("location.hash") == ("#seed=2" if key == "puck" else f"#task={key}&seed=2")
        assert page.inner_text("#command").startswith(f"distinguo learn {NAMES[key]} --seed 2")
        page.evaluate(
            "Object.assign(playground.app.player.stage.settings, {trials: 40, cap: 2000, hold: 2000})"
        )
        page.locator("#speed").fill("4")
        page.locator("#play").press("Enter")
        page.wait_for_function("playground.app.player.isOver")
        seen[key] = {
            "lead": page.inner_text("#lead"),
            "status": page.inner_text("#status"),
            "guide": page.inner_text("#guide"),
            "hues": page.inner_text("#hues"),
            "scene": page.evaluate("document.getElementById('hill').toDataURL()"),
        }
        for move in ("ArrowLeft", "ArrowUp") * 3:
            page.locator("#hill").press(move)
        page.wait_for_function("document.getElementById('status').textContent.startsWith('In your hand at')")
        page.locator("#hill").press("Enter")
        page.wait_for_function(
            "playground.app.player.way.length > 1"
            " || !document.getElementById('status').textContent.startsWith('In your hand')"
        )
        page.locator("#map").press("ArrowUp")
        assert "region" in page.inner_text("#hover")
        page.locator("#map").press("Enter")
        actions = page.evaluate("playground.app.task.actions.length")
        assert page.locator("#answer th[scope=col]").count() == actions
        assert page.locator("#hues li").count() == actions + 1
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    for part in ("lead", "status", "guide", "hues", "scene"):
        assert len({one[part] for one in seen.values()}) == 3, part
    assert seen["puck"]["status"].startswith("Solved after")


@pytest.mark.second_stage
def test_the_lake_shows_a_field_as_the_package_knows_it(opened: Open) -> None:
    """Its region, its values and what is best: at the pointer, on the map, and as arrows on the ice."""
    page = opened("#task=lake&seed=1")
    learn_fast(page, {})
    controller = learned(Case(seed=1, task="lake", changes={})).controller
    ways = page.evaluate("playground.app.ways()")
    cells = page.evaluate("playground.app.picture.cells")
    for field in range(16):
        region = controller.region((float(field),))
        assert cells[field]["region"] == region
        assert ways[field] == controller.policy[region]
        page.mouse.move(*place(page, field % 4, 3 - field // 4))
        best = ("left", "down", "right", "up")[int(controller.policy[region])]
        said = page.inner_text("#hover")
        assert said.startswith(f"field {field}: row {field // 4}, column {field % 4}: region {region}, ")
        assert f"going {best} is best (left " in said
    page.mouse.move(*place(page, 0, 3))
    page.mouse.down()
    page.mouse.move(*place(page, 1, 2), steps=3)
    page.mouse.up()
    page.wait_for_function(
        "document.getElementById('status').textContent.startsWith('Trials end on this field')"
    )
    page.mouse.click(*place(page, 0.3, 2.8))
    assert page.evaluate("playground.app.why.marks") == [[0, 0]]
    page.wait_for_function("JSON.stringify(playground.app.map.picture.marks) === '[[0,3]]'")


def test_start_pause_step_trial_and_restart(opened: Open) -> None:
    """The buttons do what they say, and the puck is only pushed while it learns."""
    page = opened()
    counts = "({...playground.app.player.stage.learner.counts})"
    page.click("#step")
    assert page.evaluate(counts)["length"] == 1
    page.click("#trial")
    page.wait_for_function("playground.app.player.stage.trials.length === 1")
    page.wait_for_function("document.getElementById('play').textContent === 'Go on'")
    assert page.inner_text("#status").startswith("It hit the wall after ")
    page.locator("#speed").fill("3")
    page.click("#play")
    page.wait_for_function("playground.app.player.stage.trials.length > 1")
    page.click("#play")
    paused = page.evaluate(counts)
    page.wait_for_timeout(120)
    assert page.evaluate(counts) == paused
    assert page.inner_text("#play") == "Go on"
    page.click("#restart")
    assert page.evaluate(counts)["trials"] == 0
    page.wait_for_function("document.getElementById('count-trials').textContent === '0'")


def test_learning_in_view_gives_the_same_map(opened: Open) -> None:
    """Slices, pauses and drawing change nothing; and a frame is short enough for 30 in a second."""
    page = opened("#seed=7")
    page.evaluate(
        """() => { const {app} = playground, frame = app.frame.bind(app); globalThis.spent = [];
        app.frame = (now) => {
          const began = performance.now(); frame(now); spent.push(performance.now() - began); }; }"""
    )
    learn_fast(page, {})
    assert differences(Case(seed=7, changes={}), shown_trace(page)) == []
    assert sorted(page.evaluate("spent"))[page.evaluate("spent.length") // 2] < 33
    page.wait_for_function("document.getElementById('status').textContent.startsWith('Solved after')")
    assert page.locator("#guide li.done").count() == 3
    trials = page.evaluate("playground.app.player.stage.trials.length")
    assert page.locator("#lengths").get_attribute("aria-label").endswith(f"500k at trial {trials}")
    regions = page.evaluate("playground.app.player.stage.regions")
    assert f": {regions} regions over" in page.locator("#map").get_attribute("aria-label")


def test_sliders_change_the_question_and_the_link(opened: Open) -> None:
    """A slider restarts with another epsilon, which the link carries to another reader."""
    page = opened()
    page.click("#trial")
    page.wait_for_function("playground.app.player.stage.trials.length === 1")
    page.locator("#epsilon").fill("-2")
    page.locator("#epsilon").dispatch_event("change")
    page.locator("#gamma").focus()
    page.keyboard.press("Home")
    page.select_option("#start", "seeds")
    page.fill("#seed", "9")
    page.keyboard.press("Enter")
    assert page.evaluate("playground.app.player.stage.trials.length") == 0
    settings = page.evaluate("playground.app.player.stage.settings")
    assert (settings["epsilon"], settings["gamma"]) == (0.01, 0.499)
    assert page.inner_text("#command") == (
        "distinguo learn puck --seed 9 --from seeds --set learner.epsilon=0.01 --set learner.gamma=0.499"
    )
    link = page.evaluate("location.hash")
    other = opened(link)
    assert other.evaluate("playground.app.player.stage.settings") == settings
    assert other.input_value("#seed") == "9"
    assert shown_trace(other)["prototypes"] == [[0.268, 0.62], [-0.268, -0.62]]
    page.click("#copy")
    page.wait_for_function("document.getElementById('copied').textContent")
    assert page.inner_text("#copied") in ("Copied.", PAGE + link)


def test_a_reload_keeps_the_settings(opened: Open) -> None:
    """In the middle of a trial, too; learning begins again."""
    page = opened("#seed=4&preset=fast")
    page.click("#play")
    page.wait_for_function("playground.app.player.stage.learner.counts.length > 0")
    page.reload()
    page.wait_for_function("globalThis.playground && playground.app.picture")
    assert (page.input_value("#seed"), page.input_value("#preset")) == ("4", "fast")
    learn_fast(page)
    assert differences(Case("fast", 4), shown_trace(page)) == []


BAD = {
    "#epsilon=-1": "epsilon should be a number above 0",
    "#seed=abc&gamma=0.9": "seed should be a whole number",
    "#preset=<script>alert(1)</script>": "preset should be default, fast or paper",
    "#task=moon": "task should be puck, car or lake",
    "#start=toString": "start should be scratch or seeds",
    "#toString=1": "it knows no “toString”",
}


def test_a_bad_link_is_said_and_the_usual_is_taken(opened: Open) -> None:
    """Everything else in the link counts; at the first visit and when a reader follows another link."""
    page = opened("#task=lake&preset=paper")
    assert "preset should be default, not “paper”" in page.inner_text("#problem")
    assert page.evaluate("playground.app.task.key") == "lake"
    for link, problem in BAD.items():
        page.evaluate("link => { location.hash = link; }", link)
        page.wait_for_function(
            "word => document.getElementById('problem').textContent.includes(word)", arg=problem
        )
        settings = page.evaluate("playground.app.player.stage.settings")
        assert (settings["epsilon"], settings["gamma"]) == (0.1, 0.9 if "gamma" in link else 0.99)
    page.fill("#seed", "twelve")
    page.keyboard.press("Enter")
    assert "seed should be a whole number" in page.inner_text("#problem")
    page.fill("#seed", "12")
    page.keyboard.press("Enter")
    assert page.locator("#problem").is_hidden()


def test_the_puck_is_taken_and_let_go(opened: Open) -> None:
    """On the hill it starts at rest where it was put; on the map any state can be given to it."""
    page = opened()
    learn_fast(page)
    box = page.locator("#hill").bounding_box()
    middle = box["x"] + box["width"] / 2
    page.mouse.move(middle, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(middle - 40, box["y"] + 60, steps=3)
    page.wait_for_timeout(150)
    assert page.inner_text("#status").startswith("In your hand at x = −0.")
    page.mouse.up()
    page.wait_for_function("playground.app.player.free.steps > 5")
    first = page.evaluate("playground.app.player.way[0]")
    assert -1 < first[0] < -0.1
    assert first[1] == 0
    page.mouse.move(*place(page, 0, 0))
    page.mouse.down()
    page.mouse.move(*place(page, 2.0, 4.0), steps=4)
    page.mouse.up()
    page.wait_for_function("document.getElementById('status').textContent.startsWith('It hit the wall')")
    assert page.evaluate("playground.app.player.way[0]") == pytest.approx([2.0, 4.0], abs=0.05)
    assert page.locator("#guide [data-step=drag]").get_attribute("class") == "done"


def test_clicks_ask_why(opened: Open) -> None:
    """One state, two states, and what is said agrees with what is known."""
    page = opened()
    page.click("#example")
    assert "has been there from the beginning" in page.inner_text("#answer")
    page.click("#clear")
    assert page.inner_text("#answer") == ""
    learn_fast(page)
    one, other = page.evaluate("playground.app.player.stage.learner.reasons.at(-1).states")
    page.mouse.click(*place(page, *one))
    assert page.inner_text("#answer .verdict").startswith(
        "A (x = 0.00 m, v = 0.00 m/s) lies in region 0: by the learned values, pushing right is best"
    )
    page.mouse.click(*place(page, *other))
    found = page.evaluate("(() => { const {app} = playground; return app.why.answer(app.player.stage); })()")
    said = page.inner_text("#answer")
    regions = [about["region"] for about in found["states"]]
    assert said.startswith("Kept apart now: ")
    assert f"{found['regret']:.3g} of reward" in said
    assert [f"in region {region}: by the learned values" in said for region in regions] == [True, True]
    assert f"Their families parted in trial {found['then']['trial']}" in said
    assert page.locator("#answer tr").count() == 7


def test_a_region_of_two_cells_looks_like_one(opened: Open) -> None:
    """Borders are drawn between regions only, and everywhere there; every area has its number."""
    page = opened("#seed=1")
    learn_fast(page)
    case = Case(seed=1)
    controller = learned(case).controller
    assert len(controller.q) < len(controller.partition.prototypes)
    page.wait_for_function("playground.app.map.ground.picture.cells === playground.app.picture.cells")
    segments = page.evaluate("playground.app.map.ground.segments")
    weight = controller.partition.weight
    for segment in segments:
        middle = np.mean(segment, axis=0)
        apart = (((middle - controller.partition.prototypes) * weight) ** 2).sum(axis=1)
        one, other = np.argsort(apart)[:2]
        assert apart[one] == pytest.approx(apart[other], rel=1e-6)
        assert controller.partition.regions[one] != controller.partition.regions[other]
    texts = page.evaluate("playground.app.map.ground.labels.map(label => label.text)")
    arrows = [f"{region} {'←→'[action]}" for region, action in enumerate(controller.policy)]
    assert sorted(texts) == sorted(arrows)


def test_reasons_are_those_of_the_package(opened: Open) -> None:
    """Regions, profiles now and then, broken rules, regret and epsilon are what ``explain`` says."""
    page = opened("#seed=1")
    learn_fast(page)
    run = learned(Case(seed=1))
    points = [(0.0, 0.0), (0.2, 0.75), (-0.5, -1.0), (1.0, 3.5), (-1.0, 3.0), (2.2, 0.5)]
    for one, other in combinations(points, 2):
        found = page.evaluate(
            """([one, other]) => { const {app} = playground; app.why.clear(); app.ask(one); app.ask(other);
               const {states, rules, then, regret, epsilon} = app.why.answer(app.player.stage);
               return [states.map(about => about.region), states.map(about => about.now.q1), rules,
                       then && [then.trial, then.profiles], regret, epsilon === Infinity ? null : epsilon]; }""",
            [one, other],
        )
        said = distinguo.explain(run, one, other).document()
        broken = sum(bit for bit, name in RULES.items() if name in said["rules_now"])
        then = said["profiles"]["then"] and [
            said["profiles"]["then"]["trial"],
            said["profiles"]["then"]["values"],
        ]
        now = [profile["values"] for profile in said["profiles"]["now"]]
        *exact, epsilon = found
        assert exact == [said["regions"], now, broken, then, said["regret"]], (one, other)
        assert epsilon == pytest.approx(said["epsilon"], rel=1e-12) if epsilon else said["epsilon"] == epsilon


def test_the_epsilon_that_merges_is_that_of_the_package(opened: Open) -> None:
    """For any two profiles, of two or three actions."""
    rng = np.random.default_rng(5)
    pairs = [np.round(rng.random((2, actions)), 2).tolist() for actions in (2, 3) for _ in range(100)]
    theirs = opened().evaluate(
        """pairs => pairs.map(([one, other]) => {
             const epsilon = playground.mergingEpsilon(one, other);
             return epsilon === Infinity ? null : epsilon; })""",
        pairs,
    )
    ours = [merging_epsilon(np.array(one), np.array(other)) for one, other in pairs]
    assert [epsilon is None for epsilon in theirs] == [epsilon is None for epsilon in ours]
    known = [(a, b) for a, b in zip(theirs, ours, strict=True) if b is not None]
    assert len(known) > 50
    assert all(a == pytest.approx(b, rel=1e-12) for a, b in known)


def test_the_keyboard_reaches_everything(opened: Open) -> None:
    """Tab comes to every control; keys move the puck and ask about states."""
    page = opened()
    reached = []
    for _ in range(26):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.localName"))
    wanted = (
        "a a a task-puck hill play step trial restart speed map newest example clear epsilon gamma seed another "
        "preset start copy duel-epsilon-0 duel-map-0 duel-epsilon-1 duel-map-1 duel-learn"
    )
    assert reached == wanted.split()
    learn_fast(page)
    page.focus("#map")
    for key in ("ArrowRight", "ArrowUp", "Enter", "ArrowLeft", "ArrowLeft", "Enter"):
        page.keyboard.press(key)
    marks = page.evaluate("playground.app.why.marks")
    assert marks[0] == pytest.approx([0.12, 0.275])
    assert marks[1] == pytest.approx([-0.12, 0.275])
    assert page.inner_text("#spoken").startswith("x = −0.12 m")
    page.keyboard.press("Shift+Enter")
    assert page.evaluate("playground.app.player.mode") == "free"
    page.focus("#hill")
    for key in ("ArrowLeft", "ArrowLeft", "Enter"):
        page.keyboard.press(key)
    assert page.evaluate("playground.app.player.way[0][1]") == 0


def test_hovering_shows_region_values_and_what_is_best(opened: Open) -> None:
    """What the controller of the package says, at the pointer and at the keyboard's cursor."""
    page = opened("#seed=1")
    learn_fast(page)
    controller = learned(Case(seed=1)).controller
    for point in ((-1.0, 2.0), (0.6, 0.9), (1.5, 4.0)):
        page.mouse.move(*place(page, *point))
        region = controller.region(point)
        action = ("left", "right")[int(controller.policy[region])]
        left, right = (amount(value).replace("-", "−") for value in controller.q[region])
        assert page.inner_text("#hover").endswith(
            f": region {region}, pushing {action} is best (left {left}, right {right})"
        )
    page.mouse.move(5, 5)
    assert page.inner_text("#hover") == ""
    page.focus("#map")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#spoken") == page.inner_text("#hover") != ""


def test_the_time_slider_shows_earlier_maps_and_no_marks_of_now(opened: Open) -> None:
    """The map after every trial is that of the package; asking there leads to the newest map."""
    page = opened("#seed=1")
    assert page.is_disabled("#time")
    learn_fast(page)
    history = learned(Case(seed=1)).history
    assert page.evaluate("playground.app.player.maps.length") == len(history)
    page.mouse.click(*place(page, -1.0, 2.0))
    assert page.evaluate("playground.app.why.marks.length") == 1
    for moment in (0, 5, len(history) - 1):
        page.locator("#time").fill(str(moment))
        page.wait_for_function(
            "moment => playground.app.moment === moment && playground.app.picture", arg=moment
        )
        frame, shown = history[moment], page.evaluate("playground.app.map.picture")
        assert shown["prototypes"] == frame.representation.partition.prototypes.tolist()
        assert max(cell["region"] for cell in shown["cells"]) + 1 == frame.representation.regions
        values = "(({memory}) => memory.primaries().map((p) => memory.q[p]))(playground.app)"
        assert page.evaluate(values) == frame.q.tolist()
        assert shown["marks"] == []
        assert "now" not in shown
        assert page.inner_text("#moment").startswith(f"after trial {moment + 1}: ")
        assert page.inner_text("#answer") == ""
    page.mouse.click(*place(page, -1.0, 2.0))
    assert f"This is the map after trial {len(history)}. Press Newest to ask why." in page.inner_text(
        "#answer"
    )
    page.click("#newest")
    page.wait_for_function("playground.app.map.picture.now")
    assert page.inner_text("#answer") == ""
    assert page.inner_text("#moment") == "newest"


def test_two_learners_side_by_side(opened: Open) -> None:
    """Both learn what the package learns with their ε; the address carries both."""
    page = opened("#seed=2")
    page.click("#duel-learn")
    assert page.evaluate("location.hash") == "#seed=2&compare=0.02%2C0.5"
    other = opened("#seed=2&compare=0.02%2C0.5")
    for one in (page, other):
        one.wait_for_function("playground.app.duel.sides.every((side) => side.player.isOver)")
        one.wait_for_function(
            "playground.app.duel.sides.every((side) => side.words.textContent.startsWith('solved'))"
        )
        for n, epsilon in enumerate((0.02, 0.5)):
            trace = json.loads(
                one.evaluate(f"JSON.stringify(playground.app.duel.sides[{n}].player.stage.trace())")
            )
            assert differences(Case(seed=2, epsilon=epsilon, changes={}), trace) == []
    assert page.inner_text("#duel-words-0") == "solved: 15 trials, 5 regions, 5 prototypes"
    assert page.inner_text("#duel-words-1") == "solved: 15 trials, 3 regions, 5 prototypes"
    page.fill("#duel-epsilon-1", "much")
    page.click("#duel-learn")
    assert "not “0.02,much”" in page.inner_text("#duel-problem")
    page.fill("#duel-epsilon-1", "0.1")
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#seed=2&compare=0.02%2C0.1"
    assert page.inner_text("#duel-problem") == ""
    assert other.evaluate("playground.app.player.stage.settings.epsilon") == 0.1


def test_links_lead_to_files_of_the_repository(opened: Open) -> None:
    """Installation, documentation and the paper."""
    links = opened().evaluate(
        "[...document.querySelectorAll('nav a')].map((link) => link.getAttribute('href'))"
    )
    assert len(links) == 3
    docs = Path(__file__).parents[2] / "docs"
    assert [link for link in links if not (docs / link).is_file()] == []


def test_links_on_the_site_lead_to_its_pages(new_page: Open) -> None:
    """There every document has a folder of its own."""
    page = new_page()
    text = (Path(__file__).parents[2] / "docs" / "playground.html").read_text(encoding="utf-8")
    page.route("http://site.example/**", lambda route: route.fulfill(body=text, content_type="text/html"))
    page.goto("http://site.example/docs/playground.html")
    links = page.evaluate("[...document.querySelectorAll('nav a')].map((link) => link.href)")
    site = "http://site.example/docs/"
    assert links == [site, site, f"{site}paper-explained/"]


def test_the_first_drawing_comes_within_a_second(opened: Open) -> None:
    """Of a busy machine the best of three counts."""
    taken = []
    for _ in range(3):
        page = opened()
        taken.append(page.evaluate("performance.getEntriesByName('first drawing')[0].startTime"))
    assert min(taken) <= 1000, taken


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_action_on_every_screen(opened: Open, size: tuple[int, int], scheme: str) -> None:
    """All buttons and sliders by keyboard alone; nothing is wider than the screen; the console stays silent."""
    page = opened("#seed=1", viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
    presses = {"speed": "End", "play": "Enter"}
    for name, key in presses.items():
        page.focus(f"#{name}")
        page.keyboard.press(key)
    page.wait_for_function("playground.app.player.isOver")
    for name in ("example", "clear", "another", "restart", "step", "trial", "newest", "copy", "duel-learn"):
        page.focus(f"#{name}")
        page.keyboard.press("Enter")
        page.wait_for_timeout(30)
    page.wait_for_function("playground.app.player.maps.length")
    for name, key in (("time", "Home"), ("epsilon", "ArrowLeft"), ("gamma", "ArrowLeft"), ("map", "ArrowUp")):
        page.focus(f"#{name}")
        page.keyboard.press(key)
    page.wait_for_function(
        "playground.app.duel.sides.every((side) => side.player.stage.settings.gamma < 0.99)"
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]


def test_it_fits_a_phone_and_the_night(opened: Open) -> None:
    """Nothing is wider than the screen; dark is dark; touch drags on the map."""
    page = opened(viewport={"width": 390, "height": 844}, color_scheme="dark", has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 19, 24)"
    page.touchscreen.tap(*place(page, -1.0, 2.0))
    page.wait_for_function("playground.app.why.marks.length === 1")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
