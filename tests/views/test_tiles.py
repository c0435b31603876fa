"""Categories as squares, and everything as text: what is shown is what the policy does."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import distinguo
from distinguo.representations.categories import categories
from distinguo.representations.file import Representation
from distinguo.representations.partition import region
from distinguo.runs.run import Run
from distinguo.tasks.catalog import task_spec
from distinguo.views import text
from distinguo.views.colours import HUES, hue_of
from distinguo.views.pictures import MOST_PROTOTYPES, partition_picture, tiles_of
from distinguo.views.plots import draw_partition, save_figure
from distinguo.views.text import sheet_of
from tests.views.runs import EIGHT, made_up

SMALL = {"stage.steps": 2000, "stage.confirm": 5}
TASKS = {
    "puck": 12,
    "MountainCar-v0": 30,
    "CartPole-v1": 14,
    "Pendulum-v1": 30,
    "Acrobot-v1": 60,
    EIGHT: 200,
    "FrozenLake-v1": 9,
    "Blackjack-v1": 60,
    "Taxi-v4": 120,
}


@pytest.mark.parametrize("task", ["FrozenLake-v1", "Blackjack-v1", "Taxi-v4"])
def test_every_square_has_the_action_of_its_category(task: str) -> None:
    run = made_up(task, TASKS[task])
    tiles, picture = tiles_of(run.representation, run.configuration.spec), partition_picture(run)
    for n, (square, cell) in enumerate(zip(tiles.squares, picture.cells, strict=True)):
        assert cell.region == region(run.representation.partition, square.state)
        assert cell.action == (-1 if n in dict(picture.ends) else run.controller.policy[cell.region])
        assert np.mean(cell.outline, axis=0).tolist() == [square.x, square.y]


def test_few_categories_are_all_shown_as_one_reads() -> None:
    run = made_up("FrozenLake-v1", 5)
    picture = partition_picture(nameless(run))
    assert [label.text for label in picture.labels] == [
        f"{n}\n({cell.region})" for n, cell in enumerate(picture.cells)
    ]
    assert [(label.x, round(label.y)) for label in picture.labels[:5]] == [
        (0, 3),
        (1, 3),
        (2, 3),
        (3, 3),
        (0, 2),
    ]
    assert (picture.ticks, picture.note) == (((), ()), "in brackets the region")


def nameless(run: Run) -> Run:
    """Return a run of a task of labels that is not known."""
    spec = run.configuration.spec._replace(name="tests/Own-v0")
    return run._replace(configuration=run.configuration._replace(spec=spec))


def test_a_grid_shows_arrows_and_where_trials_end() -> None:
    run = made_up("FrozenLake-v1", 9, merged=0.0)
    picture, lake = partition_picture(run), "SFFFFHFHFFFHHFFG"
    assert picture.ends == tuple((n, letter) for n, letter in enumerate(lake) if letter in "HG")
    words = {"H": "hole", "G": "goal"}
    for n, (label, cell) in enumerate(zip(picture.labels, picture.cells, strict=True)):
        assert label.text == words.get(lake[n], f"{n} ({cell.region})")
    ways = {0: (-1, 0), 1: (0, -1), 2: (1, 0), 3: (0, 1)}
    for at, by in picture.arrows:
        n = round(3 - at[1]) * 4 + round(at[0])
        assert lake[n] not in "HG"
        assert by == ways[run.controller.action((float(n),))]
    policy = run.controller.policy
    shown = [n for n, cell in enumerate(picture.cells) if lake[n] not in "HG" and policy[cell.region] >= 0]
    assert len(picture.arrows) == len(shown)


def test_the_town_of_the_taxi_is_shown_once_for_every_passenger_and_destination() -> None:
    run = made_up("Taxi-v4", 50)
    tiles, picture = tiles_of(run.representation, run.configuration.spec), partition_picture(run)
    assert len(tiles.squares) == 400  # a passenger is not where they want to go
    assert len({(square.x, square.y) for square in tiles.squares}) == 400
    at = {square.state[0]: (square.x, square.y) for square in tiles.squares}
    north, south = at[((1 * 5 + 2) * 5 + 0) * 4 + 3], at[((2 * 5 + 2) * 5 + 0) * 4 + 3]
    assert north == (south[0], south[1] + 1)
    assert [word for word in picture.ticks[1] or () if word] == ["blue", "yellow", "green", "red"]


def test_of_many_categories_those_with_a_prototype_are_shown_and_one_for_all_others() -> None:
    run = nameless(made_up("Taxi-v4", 50))
    picture = partition_picture(run)
    shown = [label.text.splitlines()[0] for label in picture.labels]
    own = sorted(run.representation.partition.prototypes[:, 0].tolist())
    assert shown == [*(f"{value:.0f}" for value in own), "other"]
    without = next(n for n in range(500) if n not in own)
    assert picture.cells[-1].region == region(run.representation.partition, (float(without),))
    assert len(picture.prototypes) == len(own)


def test_very_many_prototypes_are_cut_short() -> None:
    wide = task_spec("Taxi-v4")._replace(high=(9999.0,))
    partition = categories(np.arange(1000.0)[:, None])
    tiles = tiles_of(Representation(partition, wide.dimensions), wide)
    assert len(tiles.squares) == MOST_PROTOTYPES + 1
    assert "400" in tiles.note


def test_categories_of_several_coordinates_are_a_plane_through_a_prototype() -> None:
    run = made_up("Blackjack-v1", 60)
    tiles = tiles_of(run.representation, run.configuration.spec)
    assert (tiles.columns, tiles.rows, len(tiles.squares)) == (32, 11, 352)
    assert tiles.axes == ("sum", "dealer")
    assert tiles.note in ("slice at ace = 0", "slice at ace = 1")
    held = {square.state[2] for square in tiles.squares}
    rows = run.representation.partition.prototypes
    assert len(held) == 1
    assert len(partition_picture(run).prototypes) == (rows[:, 2] == held.pop()).sum() > 0


# Pixels.


@pytest.mark.parametrize("task", TASKS)
def test_every_kind_of_task_can_be_drawn(task: str, tmp_path: Path) -> None:
    assert_drawn(made_up(task, TASKS[task]), tmp_path)


def assert_drawn(run: Run, tmp_path: Path) -> None:
    figure = draw_partition(partition_picture(run))
    save_figure(figure, tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 5000
    named = [entry.get_text() for entry in figure.legends[0].get_texts()]
    assert named[: len(run.configuration.spec.actions)] == list(run.configuration.spec.actions)


def test_a_single_region_of_many_dimensions_can_be_drawn(tmp_path: Path) -> None:
    for task in (EIGHT, "Blackjack-v1", "MountainCar-v0"):
        run = made_up(task, 1)
        assert "1 region" in partition_picture(run).title
        save_figure(draw_partition(partition_picture(run)), tmp_path / "a.png")
        text.text_map(run)


def test_hues_are_distinct_and_names_are_not_formulas(tmp_path: Path) -> None:
    assert len(set(HUES)) == len(HUES) == 10
    assert hue_of(-1) not in HUES
    run = made_up("FrozenLake-v1", 9)
    odd = run.configuration.spec._replace(name="$\\frac{", dimensions=("$x_$",), actions=tuple("$a$$"))
    run = run._replace(configuration=run.configuration._replace(spec=odd))
    save_figure(draw_partition(partition_picture(run)), tmp_path / "a.png")


# Text.


def letters(run: Run) -> list[str]:
    """Return the rows of letters of a map."""
    return [line.split("|")[1] for line in text.text_map(run).splitlines() if "|" in line]


@pytest.mark.parametrize("task", TASKS)
def test_the_letters_are_the_actions_whatever_the_task(task: str) -> None:
    assert_letters_are_actions(made_up(task, TASKS[task]))


def assert_letters_are_actions(run: Run) -> None:
    actions = run.configuration.spec.actions
    names = dict(zip(text.letters_of(actions), actions, strict=True))
    assert len(names) == len(actions)
    rows = sheet_of(run.representation, run.configuration.spec).rows
    for shown, (_, states) in zip(letters(run), rows, strict=True):
        assert len(shown) == len(states)
        for letter, state in list(zip(shown, states, strict=True))[::7]:
            assert letter == "." or names[letter] == run.action(state)


def test_a_map_of_a_slice_says_where_it_is() -> None:
    shown = text.text_map(made_up("CartPole-v1", 14)).splitlines()
    assert shown[0].startswith("(slice at ")
    assert "greedy action: l = left, r = right" in shown[1]


@pytest.mark.parametrize(
    ("actions", "expected"),
    [
        (("left", "none", "right"), "lnr"),
        (("-1", "0", "+1"), "-0+"),
        (("-2", "-1", "+0", "+1", "+2"), "01234"),
        (("a0", "a1"), "01"),
        ((".x", "y"), "01"),
        (("", "y"), "01"),
        ((" x", "y"), "01"),
        (tuple(f"a{n}" for n in range(12)), "0123456789ab"),
    ],
)
def test_every_action_has_a_letter_of_its_own(actions: tuple[str, ...], expected: str) -> None:
    assert text.letters_of(actions) == expected


def test_very_many_actions_share_the_last_letter() -> None:
    named = text.letters_of([f"a{n}" for n in range(100)])
    assert len(named) == 100
    assert named.count("*") == 38


def test_the_table_of_regions_shows_labels_as_they_are() -> None:
    head, first, *_ = text.regions_table(made_up("Blackjack-v1", 10)).splitlines()
    assert head.split() == ["region", "sum", "dealer", "ace", "prototypes", "action", "value", "updates"]
    assert all(word.isdigit() for word in first.split()[:5])


def test_the_table_of_very_many_regions_shows_those_that_were_updated_most() -> None:
    run = made_up(EIGHT, 300)
    _, *rows, last = text.regions_table(run).splitlines()
    assert len(rows) == text.MOST_REGIONS
    updates = [int(row.split()[-1].replace(",", "")) for row in rows]
    assert updates == sorted(updates, reverse=True)
    assert f"{run.representation.regions - text.MOST_REGIONS} more regions" in last
    assert max(len(row) for row in rows) < 120


# What learners really make.


@pytest.mark.parametrize("task", ["FrozenLake-v1", "Blackjack-v1", EIGHT])
def test_what_was_learned_is_shown(task: str, tmp_path: Path) -> None:
    run = distinguo.learn(task, seed=2, settings=SMALL)
    save_figure(draw_partition(partition_picture(run)), tmp_path / "a.png")
    assert letters(run) or run.representation.regions == 1  # which is said in a sentence
    assert "region" in text.regions_table(run)
    assert text.reasons_table(run)


def test_a_category_that_nobody_has_is_none_of_them() -> None:
    partition = categories([[3.0], [1.0]])
    assert region(partition, (math.nan,)) == 0
