"""The palette is told apart by eyes that see no difference between red and green."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from PIL import Image

import distinguo
import distinguo.views
from distinguo.errors import DistinguoError
from distinguo.tasks.catalog import SPECS, task_spec
from distinguo.views.colours import (
    DARK,
    FEW,
    HUES,
    PALEST,
    PRINT,
    STYLES,
    UNDECIDED,
    hatch_of,
    hues_of,
    shaded,
)
from distinguo.views.plots import rendered
from distinguo.views.proof import COLOURS, LINES, HoldPicture, draw_hold
from distinguo.views.show import show
from tests.views.runs import made_up

#: Machado, Oliveira and Fernandes (2009): deuteranopia, for linear red, green and blue.
DEUTERANOPIA = np.array(
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
)
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = TO_XYZ.sum(axis=1)


def linear(rgb: tuple[float, ...]) -> np.ndarray:
    values = np.array(rgb)
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    x, y, z = np.cbrt(TO_XYZ @ rgb / WHITE)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def distance(one: tuple[float, ...], other: tuple[float, ...], seen: np.ndarray) -> float:
    """Return how far two colours are apart in CIELAB, as these eyes see them."""
    a, b = (lab(np.clip(seen @ linear(colour), 0, 1)) for colour in (one, other))
    return float(np.hypot(np.hypot(*(a - b)[:2]), (a - b)[2]))


def test_the_simulation_confuses_what_such_eyes_confuse() -> None:
    red, green = (0.75, 0.25, 0.1), (0.42, 0.42, 0.1)
    assert distance(red, green, np.eye(3)) > 45
    assert distance(red, green, DEUTERANOPIA) < 15


def test_hues_are_told_apart_by_colour_blind_eyes() -> None:
    for one, other in combinations([*HUES, UNDECIDED], 2):
        assert distance(to_rgb(one), to_rgb(other), DEUTERANOPIA) > 10, (one, other)
    for one, other in combinations(HUES[:FEW], 2):
        assert distance(to_rgb(one), to_rgb(other), DEUTERANOPIA) > 15, (one, other)


def test_the_two_actions_of_most_tasks_are_told_apart_even_when_pale() -> None:
    pale = [shaded(hue, PALEST) for hue in HUES[:2]]
    assert distance(pale[0], pale[1], DEUTERANOPIA) > 15


def test_an_action_has_one_hue_in_all_tasks() -> None:
    names = [("left", "right"), ("left", "none", "right"), ("up", "right", "down", "left"), ("left", "none")]
    names += [("left", "down", "right", "up"), ("none", "left", "main", "right"), ("Left", "RIGHT")]
    hues: dict[str, set[str]] = {}
    for actions in names:
        assert len(set(hues_of(actions))) == len(actions)
        for name, hue in zip(actions, hues_of(actions), strict=True):
            hues.setdefault(name.lower(), set()).add(hue)
    assert {name: len(found) for name, found in hues.items()} == dict.fromkeys(hues, 1)
    for actions in (task_spec(name).actions for name in SPECS):
        for word, hue in (("left", HUES[0]), ("right", HUES[1]), ("-1", HUES[0]), ("+1", HUES[1])):
            assert word not in actions or len(actions) > 4 or hues_of(actions)[actions.index(word)] == hue


def test_names_that_mean_the_same_or_nothing_have_hues_of_their_own() -> None:
    for actions in (
        ("left", "west", "none", "down"),
        tuple(f"a{n}" for n in range(10)),
        ("-1", "-2", "-3", "4"),
    ):
        assert len(set(hues_of(actions))) == len(actions)
    assert hues_of(tuple(f"a{n}" for n in range(10))) == HUES
    assert len(hues_of(tuple(str(n) for n in range(25)))) == 25


def test_a_proof_cannot_be_taken_for_a_map() -> None:
    """What is proven and undecided is far from every shade of the usual hues, and distinct in grey, too."""
    shades = [shaded(hue, share) for hue in HUES[:FEW] for share in (PALEST, 0.5, 0.75, 1.0)]
    for colour in COLOURS[1:]:
        for eyes in (np.eye(3), DEUTERANOPIA):
            assert min(distance(to_rgb(colour), shade, eyes) for shade in shades) > 15, colour
    light = sorted(lab(linear(to_rgb(colour)))[0] for colour in COLOURS)
    assert min(np.diff(light)) > 15


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
@pytest.mark.parametrize(
    "actions", [("left", "none", "right"), ("-2", "-1", "+0", "+1", "+2"), ("a0", "up", "a2")]
)
def test_the_browser_gives_the_same_hues(actions: tuple[str, ...]) -> None:
    source = Path(distinguo.views.__file__).parent / "studio" / "page" / "view" / "colours.js"
    made = f"JSON.stringify(colours.huesOf({json.dumps(actions)}))"
    script = f"import({json.dumps(source.as_uri())}).then((colours) => console.log({made}))"
    told = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True)
    assert tuple(json.loads(told.stdout)) == hues_of(actions)


# Styles.


def pixels(figure: Figure) -> np.ndarray:
    return np.array(Image.open(io.BytesIO(rendered(figure, dpi=100))).convert("RGB"), dtype=float)


def styled(style: str, actions: str = "MountainCar-v0") -> np.ndarray:
    return pixels(show(made_up(actions, 12), style=style))


def test_print_needs_no_colours_and_dark_is_dark() -> None:
    light, dark, print_ = (styled(style) for style in STYLES)
    assert np.ptp(print_, axis=2).max() < 6.0  # ink is not quite grey
    assert np.ptp(light, axis=2).max() > 100.0
    assert light[0, 0].min() > 250.0
    assert dark[0, 0].max() < 40.0
    assert (dark[:30].min(axis=2) > 150.0).any()  # the title can be read


def test_in_print_every_action_has_a_pattern_of_its_own() -> None:
    for actions in (("left", "right"), ("left", "none", "right"), ("left", "down", "right", "up")):
        assert len({hatch_of(a, actions) for a in range(len(actions))}) == len(actions)
    assert hatch_of(1, ("left", "right")) == hatch_of(2, ("left", "none", "right"))


@pytest.mark.parametrize("view", ["partition", "values", "trials", "family", "phase"])
def test_a_style_leaves_nothing_behind(view: str) -> None:
    run = distinguo.learn("puck", seed=1)
    before = rendered(show(run, view), dpi=60)
    for style in (DARK, PRINT):
        assert rendered(show(run, view, style=style), dpi=60) != before
    assert rendered(show(run, view), dpi=60) == before


def test_an_unknown_style_gets_an_offer() -> None:
    with pytest.raises(DistinguoError, match="did you mean 'print'"):
        show(made_up("puck", 3), style="pirnt")


def test_what_is_undecided_in_a_proof_is_hatched() -> None:
    codes = np.zeros((161, 161), dtype=int)
    codes[:80] = 1
    line = np.linspace(-1.0, 1.0, 161)
    figure = draw_hold(HoldPicture("half", ("x", "v"), line, line, codes, ()))
    plain = draw_hold(HoldPicture("half", ("x", "v"), line, line, codes * 2, ()))
    for one in (figure, plain):
        one.legends[0].remove()  # it has a hatched square of its own
    grey, none = (
        np.abs(pixels(one) - 255.0 * np.array(to_rgb(LINES))).max(axis=2) < 10.0 for one in (figure, plain)
    )
    assert (grey & ~none).sum() > 1_000
