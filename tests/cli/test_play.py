"""Films of the greedy policy: what is on them, frame by frame, and what is said where there can be none."""

from __future__ import annotations

import base64
import io
import math
import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from PIL import Image, ImageSequence

import distinguo
from distinguo.cli.listing import ABOUT, BOX2D
from distinguo.errors import DistinguoError
from distinguo.runs.run import Run
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.gym.task import DOCUMENTED
from distinguo.tasks.spec import TaskSpec
from distinguo.tasks.task import observe, start
from distinguo.views.motion import film as play_module
from distinguo.views.motion.drawing import FilmFigure, Screen, draw_film
from distinguo.views.motion.film import FRAMES_PER_SECOND, MOST_FRAMES, film_of, pace, places_on_map
from distinguo.views.motion.scenes import PUSH, Disc, Shape, Stroke, Words, scene_for
from distinguo.views.pictures import partition_picture
from tests.cli.test_cli import FAST, Call, call  # noqa: F401 - a fixture
from tests.views.runs import made_up


@pytest.fixture(scope="module")
def puck() -> Run:
    return distinguo.learn("puck", seed=1, settings={"stage.cap": 2000, "stage.hold": 2000})


def frames(path: Path) -> list[np.ndarray]:
    with Image.open(path) as film:
        return [np.asarray(frame.convert("RGB"), dtype=int) for frame in ImageSequence.Iterator(film)]


def test_a_film_moves_and_ends_where_the_trial_ends(puck: Run, tmp_path: Path) -> None:
    film = distinguo.play(puck, tmp_path / "film.gif", start=(2.0, 3.0))
    shown = frames(tmp_path / "film.gif")
    assert film.trial.ended == "terminal"
    assert film.moments[-1].step == len(film.trial.choices) == 7
    assert len(shown) == len(film.moments) == 5
    for one, next_one in pairwise(shown):
        assert abs(one - next_one).max() > 100
    # the last frame is the end of the trial, drawn alone
    again = distinguo.play(puck, tmp_path / "whole.gif", start=(2.0, 3.0), speed=0.1)
    assert [moment.step for moment in again.moments] == list(range(8))
    assert abs(frames(tmp_path / "whole.gif")[-1] - shown[-1]).mean() < 1.0


def test_films_of_other_trials_differ(puck: Run, tmp_path: Path) -> None:
    for name, first in (("one", (0.0, 0.0)), ("two", (1.0, -1.0))):
        distinguo.play(puck, tmp_path / f"{name}.gif", start=first, steps=2)
    one, two = (frames(tmp_path / f"{name}.gif") for name in ("one", "two"))
    assert abs(one[0] - two[0]).max() > 100


def test_a_film_for_a_player_is_written_by_ffmpeg(
    puck: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(play_module.shutil, "which", lambda name: None)
    with pytest.raises(DistinguoError, match="needs the program ffmpeg, which is not on this machine"):
        distinguo.play(puck, tmp_path / "film.mp4", steps=2)
    monkeypatch.undo()
    if play_module.shutil.which("ffmpeg") is None:
        pytest.skip("ffmpeg is not on this machine")
    distinguo.play(puck, tmp_path / "film.mp4", steps=4)
    assert (tmp_path / "film.mp4").read_bytes()[4:8] == b"ftyp"


def test_what_cannot_be_written_or_kept_is_refused_before_it_is_drawn(
    puck: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(play_module, "film_of", lambda *_: pytest.fail("it was drawn"))
    (tmp_path / "folder.gif").mkdir()
    for name, why in (("folder.gif", "it is a folder"), ("none/film.gif", "there is no folder")):
        with pytest.raises(DistinguoError, match=why):
            distinguo.play(puck, tmp_path / name, steps=2)
        with pytest.raises(DistinguoError, match=why):
            distinguo.report(puck, tmp_path / name)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(DistinguoError, match="files cannot be made in the folder"):
        distinguo.play(puck, tmp_path / "film.gif", steps=2)
    monkeypatch.undo()
    for steps in (0, -1, 10**6 + 1, 10**18, 2.5, True):
        with pytest.raises(DistinguoError, match="steps should be a whole number from 1 to 1000000, got"):
            distinguo.rollout(puck, steps=steps)
    assert [one.name for one in tmp_path.iterdir()] == ["folder.gif"]


@pytest.mark.parametrize("speed", [0, -1, math.nan, math.inf, 1000, True, "fast"])
def test_a_speed_that_is_none_is_refused(puck: Run, tmp_path: Path, speed: float) -> None:
    with pytest.raises(DistinguoError, match=r"The speed of a film is a number from 0\.01 to 100"):
        distinguo.play(puck, tmp_path / "film.gif", steps=2, speed=speed)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("seconds", [0.001, 0.02, 0.05, 0.4])
@pytest.mark.parametrize("speed", [0.1, 1.0, 10.0])
def test_a_film_takes_the_time_of_its_task(seconds: float, speed: float) -> None:
    stride, shown = pace(seconds, speed, 500)
    assert 1.0 / shown <= 2 * FRAMES_PER_SECOND + 1e-9
    if stride > 1:
        assert stride * seconds / speed == pytest.approx(shown)
    assert -(-(10**6) // pace(seconds, speed, 10**6)[0]) <= MOST_FRAMES


def test_the_dot_is_in_the_region_that_acts(puck: Run) -> None:
    """For two dimensions; of more, the slice goes through the present state."""
    film = film_of(puck, distinguo.rollout(puck, (1.0, -1.0), steps=40))
    for moment in film.moments[:-1]:
        assert puck.controller.region(moment.place) == moment.region
    pole = made_up("CartPole-v1", 12)
    film = film_of(pole, distinguo.rollout(pole, steps=3))
    assert film.is_sliced
    assert np.array_equal(film.places, film.trial.observations[:, list(film.picture.plane.axes)])
    for moment in film.moments[:-1]:
        policy, (low, high) = film.slice_through(moment), (film.picture.low, film.picture.high)
        place = moment.place
        assert place is not None
        column, row = (
            round((place[i] - low[i]) / (high[i] - low[i]) * (policy.shape[1 - i] - 1)) for i in (0, 1)
        )
        assert policy[row, column] == pole.controller.policy[moment.region]


def test_the_way_over_labels_is_from_square_to_square() -> None:
    lake = made_up("FrozenLake-v1", 9)
    places = places_on_map(lake, partition_picture(lake), np.array([[0.0], [3.0], [12.0]]))
    assert places.tolist() == [[0.0, 3.0], [3.0, 3.0], [0.0, 0.0]]


TASKS = ("puck", "CartPole-v1", "MountainCar-v0", "Acrobot-v1", "Pendulum-v1")


def points(name: str, a: int | None) -> Iterator[tuple[float, float]]:
    """Yield the places of a scene of a start of a task, and see that they are in its frame."""
    spec = task_spec(name)
    drawn = scene_for(spec)
    assert drawn is not None
    scene = drawn(observe(spec.task, start(spec.task, np.random.default_rng(1))), a)
    for shape in scene.shapes:
        yield from (shape.centre,) if isinstance(shape, Disc) else shape.places


@pytest.mark.parametrize("name", TASKS)
def test_every_system_of_ours_is_seen_whole_with_its_push(name: str) -> None:
    spec = task_spec(name)
    drawn = scene_for(spec)
    assert drawn is not None
    rng = np.random.default_rng(2)
    for a in (None, *range(len(spec.actions))):
        scene = drawn(observe(spec.task, start(spec.task, rng)), a)
        for x, y in points(name, a):
            assert scene.low[0] <= x <= scene.high[0]
            assert scene.low[1] <= y <= scene.high[1]
        pushes = [s for s in scene.shapes if s.role == PUSH]
        idle = a is None or spec.actions[a] in ("none", "0", "+0")
        assert (pushes == []) == idle


def test_the_arrow_points_where_the_push_goes() -> None:
    for name, wanted in (("puck", 1.0), ("CartPole-v1", 1.0), ("MountainCar-v0", 1.0)):
        spec = task_spec(name)
        drawn = scene_for(spec)
        assert drawn is not None
        for a, side in ((0, -wanted), (len(spec.actions) - 1, wanted)):
            shapes = drawn((-0.5, 0.0, 0.0, 0.0)[: len(spec.dimensions)], a).shapes
            shaft = next(s for s in shapes if s.role == PUSH and isinstance(s, Stroke))
            assert (shaft.places[1][0] - shaft.places[0][0]) * side > 0


def test_the_acrobot_is_over_its_line_when_its_trial_ends() -> None:
    """Straight up, the tip is two lengths over the bar; hanging down, two below."""
    drawn = scene_for(task_spec("Acrobot-v1"))
    assert drawn is not None
    for cosine, height in ((-1.0, 2.0), (1.0, -2.0)):
        link = [s for s in drawn((cosine, 0.0, 1.0, 0.0, 0.0, 0.0), None).shapes if isinstance(s, Stroke)][2]
        assert link.places[1] == pytest.approx((0.0, height))


def test_an_environment_that_draws_itself_is_shown(tmp_path: Path) -> None:
    env = Blinking()
    run = distinguo.learn(env, learner="economy", settings={"stage.steps": 30, "stage.confirm": 1})
    film = distinguo.play(run, tmp_path / "film.gif", steps=4, task=env)
    assert len(film.images) == len(film.trial.observations)
    assert [int(image[0, 0, 0]) for image in film.images] == [int(40 * o[0]) for o in film.trial.observations]
    first = frames(tmp_path / "film.gif")[0]
    assert (first == [40, 0, 0]).all(axis=2).any() or (first == [0, 0, 0]).all(axis=2).any()


class Blinking(gymnasium.Env[int, int]):
    """Counts up to five, and is painted redder with every step."""

    render_mode = "rgb_array"
    observation_space = gymnasium.spaces.Discrete(6)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: object = None) -> tuple[int, dict[str, object]]:
        super().reset(seed=seed)
        self.count = 0
        return self.count, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, object]]:
        self.count += 1
        return self.count, float(action), self.count == 5, False, {}

    def render(self) -> np.ndarray:  # type: ignore[override]
        return np.full((4, 4, 3), (40 * self.count, 0, 0), dtype=np.uint8)


# On the command line.


def test_play_writes_a_film_and_nothing_into_the_run(call: Call, tmp_path: Path) -> None:  # noqa: F811
    call("learn", "puck", "--seed", "1", "--out", "run", *FAST)
    before = {path: path.stat().st_mtime_ns for path in Path("run").rglob("*")}
    played = call("play", "run", "--state", "2,3", "--out", "film.gif", "--json")
    assert played.content == {
        "run": "run",
        "task": "puck",
        "steps": 7,
        "gained": -1.0,
        "ended": "terminal",
        "frames": 5,
        "film": "film.gif",
    }
    assert len(frames(Path("film.gif"))) == 5
    assert {path: path.stat().st_mtime_ns for path in Path("run").rglob("*")} == before
    assert (
        "Film: film.gif (5 frames, 0.2 s)" in call("play", "run", "--state", "2,3", "--out", "film.gif").out
    )


def test_without_a_display_play_says_what_to_do(
    call: Call,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(play_module, "has_window", lambda: False)
    call("learn", "puck", "--seed", "1", "--out", "run", *FAST)
    played = call("play", "run")
    assert (played.code, played.out) == (2, "")
    assert "no display" in played.err
    assert "--out film.gif" in played.err
    for state, words in (
        ("1,2,3", "2 finite numbers (x (m), v (m/s))"),
        ("left", "2 numbers with commas between them, x (m), v (m/s)"),
        ("100,0", "x (m) of puck lies between -2.4 and 2.4, got 100; start within."),
    ):
        wrong = call("play", "run", "--state", state, "--out", "film.gif")
        assert (wrong.code, wrong.out) == (2, "")
        assert words in wrong.err
    assert not Path("film.gif").exists()


def test_a_film_within_a_page_needs_no_ffmpeg(puck: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    film = film_of(puck, distinguo.rollout(puck, steps=4))
    monkeypatch.setattr("shutil.which", lambda name: None)
    shown = film._repr_html_()
    assert shown.startswith('<img alt="Film of puck: ')
    content = base64.b64decode(shown.partition("data:image/gif;base64,")[2].partition('"')[0])
    with Image.open(io.BytesIO(content)) as image:
        assert getattr(image, "n_frames", 1) == len(film.moments) == 3
    with pytest.raises(DistinguoError, match=r'no display to play on.*in Python out="film\.gif"'):
        film.show()


def test_a_film_begins_with_movement() -> None:
    run = distinguo.learn("puck", seed=1)
    still = np.vstack([np.zeros((41, 2)), np.linspace(0.0, 1.0, 60)[:, None] * (1.0, 1.0)])
    trial = distinguo.rollout(run, steps=100)._replace(observations=still)
    film = film_of(run, trial)
    moved = [abs(film.moments[n + 1].place[0] - film.moments[n].place[0]) for n in range(5)]  # type: ignore[index]
    assert 40 <= film.moments[0].step <= 44  # just before one hundredth of the map
    assert min(moved) > 0.0
    assert film_of(run, trial._replace(observations=np.zeros((101, 2)))).moments[0].step == 0


def test_frames_are_what_a_whole_drawing_gives() -> None:
    """What does not change is drawn once; a frame has the pixels of a figure that is drawn whole."""
    run = distinguo.learn("CartPole-v1", seed=1)
    film = film_of(run, distinguo.rollout(run, steps=12))
    drawn: list[np.ndarray] = []

    class Writer:
        def grab_frame(self) -> None:
            drawn.append(np.array(figure.pixels.buffer_rgba()))

    figure = FilmFigure(dpi=80)
    draw_film(film, Screen(film, figure), Writer())
    whole = FilmFigure(dpi=80)
    screen = Screen(film, whole)
    screen.show(film.moments[-1])
    whole.pixels.draw()
    apart = np.abs(np.array(whole.pixels.buffer_rgba(), dtype=int) - drawn[-1]).max(axis=2)
    assert (apart > 40).mean() < 0.005  # but for lines on the edge of the map
    assert (np.abs(drawn[0].astype(int) - drawn[-1]).max(axis=2) > 40).mean() > 0.001


def test_a_task_without_a_drawing_says_so(
    call: Call,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    call("learn", "puck", "--seed", "1", "--out", "run", *FAST)
    asked = ["play", "run", "--steps", "3", "--out", "film.gif"]
    assert "no drawing" not in call(*asked).err
    monkeypatch.setattr(play_module, "scene_for", lambda spec: None)
    told = call(*asked)
    assert told.code == 0
    assert "puck has no drawing, so only its path over the map is shown" in told.err


def without_package(name: str) -> TaskSpec:
    """Describe a task as the documentation does, whether or not its package is installed."""
    names = DOCUMENTED[name]
    like, width = task_spec("MountainCarContinuous-v0", {"levels": 3}), len(names.dimensions)
    sides = {"low": (-1.0,) * width, "high": (1.0,) * width}
    actions = names.actions or ("-1/-1", "+1/+1")
    return like._replace(name=name, dimensions=names.dimensions, actions=actions, units=names.units, **sides)


@pytest.mark.parametrize("name", sorted(ABOUT))
def test_every_listed_task_has_a_drawing_that_shows_what_is_done(name: str) -> None:
    spec = without_package(name) if name in BOX2D else task_spec(name)
    draw_scene = scene_for(spec)
    assert draw_scene is not None
    low, high = (np.clip(side, -1.0, 1.0) for side in (spec.low, spec.high))
    rng = np.random.default_rng(0)
    if spec.kind == "categories":
        low, high = np.array(spec.low), np.array(spec.high)
        rows = rng.integers(low, high + 1, (20, len(low))).astype(float)
    else:
        rows = rng.uniform(low, high, (20, len(low)))
    shown = [draw_scene(row.tolist(), 0) for row in rows]
    assert len(set(shown)) > 10  # it depends on the state
    places = [place for scene in shown for shape in scene.shapes for place in places_of_shape(shape)]
    assert np.isfinite(places).all()
    pictures = {draw_scene(rows[0].tolist(), a) for a in range(min(len(spec.actions), 4))}
    assert len(pictures) > 1 or name == "BipedalWalker-v3"  # four torques at once have no arrow


def places_of_shape(shape: Shape) -> list[tuple[float, float]]:
    return list(shape.places) if isinstance(shape, Stroke) else [shape.centre]


def test_special_fields_are_named_where_they_are() -> None:
    lake = scene_for(task_spec("FrozenLake-v1"))
    assert lake is not None
    words = {shape.centre: shape.text for shape in lake((0.0,), 1).shapes if isinstance(shape, Words)}
    assert words == {
        (0.0, 3.0): "start",
        **dict.fromkeys([(1.0, 2.0), (3.0, 2.0), (3.0, 1.0), (0.0, 0.0)], "hole"),
        (3.0, 0.0): "goal",
    }
    walker = [shape for shape in lake((6.0,), 1).shapes if isinstance(shape, Disc)]
    assert [disc.centre for disc in walker] == [(2.0, 2.0)]
