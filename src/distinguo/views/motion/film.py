"""A trial as a film, played in a window or written to a file."""

from __future__ import annotations

import base64
import shutil
import tempfile
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distinguo.errors import DistinguoError, attempt, checks_names, path_from, reason_of, shown
from distinguo.progress import displayed, is_notebook, show_progress
from distinguo.reading.files import read_bytes
from distinguo.representations.geometry import Pair
from distinguo.representations.partition import has_labels, regions_of
from distinguo.runs.folder import as_run
from distinguo.runs.rollout import LEFT, Rollout, rollout
from distinguo.runs.run import Run
from distinguo.tasks.gym.driver import Driver, trial_seed
from distinguo.tasks.spec import CATEGORIES, TaskSpec
from distinguo.views.motion.scenes import Scene, scene_for, seconds_of_step
from distinguo.views.pictures import OTHER, PartitionPicture, partition_picture, squares_of, tiles_of
from distinguo.views.plots import has_window
from distinguo.writing import check_file_place, write_atomically

# A trial as a film: which moments are shown, for how long, and where each is on the map.


FRAMES_PER_SECOND = 20.0
MOST_FRAMES = 600  #: of a film; of a longer trial some steps are left out, so it looks faster
STEP_OF_CATEGORIES, STEP_OF_OTHERS = 0.4, 1 / 30  #: seconds per step, for tasks that define none
ACROSS, UPWARDS = 120, 90  #: places of a slice of the map
VISIBLE = 0.01  #: of the width of the map; less is not seen as movement


class FilmFrame(NamedTuple):
    """A state of a trial and the action taken there; the last state has none."""

    step: int
    place: Pair | None  #: on the map; None for a state that the map does not show
    action: int | None
    region: int | None
    gained: float  #: return so far


class Film(NamedTuple):
    """A trial as a sequence of moments.

    >>> import distinguo
    >>> run = distinguo.learn("puck", seed=1)
    >>> film = film_of(run, distinguo.rollout(run, steps=100))
    >>> len(film.moments), film.moments[-1].step, round(film.seconds, 2)
    (51, 100, 2.04)
    >>> film
    Film of puck: 2.0 s, 51 frames; Rollout of puck: 100 steps, return 0; still running when stopped after 100 steps
    """

    run: Run
    trial: Rollout
    picture: PartitionPicture
    moments: tuple[FilmFrame, ...]
    places: np.ndarray  #: (steps + 1, 2) the whole path over the map; NaN where the map does not show it
    seconds_of_frame: float
    images: Images = ()  #: what the environment drew, one for every state

    @property
    def seconds(self) -> float:
        """The duration of the film."""
        return len(self.moments) * self.seconds_of_frame

    @property
    def actions(self) -> tuple[str, ...]:
        """The names of the actions."""
        return self.run.configuration.spec.actions

    @property
    def has_system(self) -> bool:
        """Whether the system is shown beside the map: by a scene, or by what its environment renders."""
        return bool(self.images) or scene_for(self.run.configuration.spec) is not None

    @property
    def is_sliced(self) -> bool:
        """Whether the map has more than two dimensions, so that a slice through the present state is shown."""
        partition = self.run.representation.partition
        return len(self.run.representation.dimensions) > 2 and not has_labels(partition)

    def __repr__(self) -> str:
        return f"Film of {self.trial.task}: {self.seconds:.1f} s, {len(self.moments)} frames; {self.trial!r}"

    def _repr_html_(self) -> str:
        """Return the film as HTML that loads nothing, for notebooks."""
        return film_html(self)

    def show(self) -> None:
        """Play the film: below the cell of a notebook, or in a window, until it is closed."""
        if not displayed(self):
            _check_window()
            _show(self)

    def scene(self, moment: FilmFrame) -> Scene | None:
        """Return the scene of a moment, if the task has one."""
        drawn = scene_for(self.run.configuration.spec)
        return None if drawn is None else drawn(self.trial.observations[moment.step].tolist(), moment.action)

    def slice_through(self, moment: FilmFrame) -> np.ndarray:
        """Return the policy in the plane of the map through the present state, from the bottom row up."""
        (x0, y0), (x1, y1) = self.picture.low, self.picture.high
        xs, ys = np.meshgrid(np.linspace(x0, x1, ACROSS), np.linspace(y0, y1, UPWARDS))
        states = np.tile(self.trial.observations[moment.step], (xs.size, 1))
        states[:, list(self.picture.plane.axes)] = np.column_stack([xs.ravel(), ys.ravel()])
        regions = regions_of(self.run.representation.partition, states)
        return np.asarray(self.run.controller.policy[regions]).reshape(UPWARDS, ACROSS)


def film_of(run: Run, trial: Rollout, speed: float = 1.0, seed: int = 0) -> Film:
    """Return the film of a trial; ``speed`` 1 is the task's own time. The first moment is
    just before something moves, the last one the end of the trial.
    """
    if isinstance(speed, bool) or not isinstance(speed, int | float) or not 0.01 <= speed <= 100.0:
        raise DistinguoError(f"The speed of a film is a number from 0.01 to 100, got {shown(speed)}.")
    spec = run.configuration.spec
    stride, seconds = pace(_seconds(spec), float(speed), len(trial.choices))
    picture = partition_picture(run)
    places = places_on_map(run, picture, trial.observations)
    steps = [*range(_first_move(places, picture), len(trial.choices), stride), len(trial.choices)]
    gained = np.concatenate([[0.0], np.cumsum(trial.rewards)])
    moments = tuple(_moment(trial, places, float(gained[step]), step) for step in steps)
    drawn = scene_for(spec) is None and spec.interpreted
    images = images_of(spec.task.driver, trial, seed) if drawn else ()
    return Film(run, trial, picture, moments, places, seconds, images)


def _first_move(places: np.ndarray, picture: PartitionPicture) -> int:
    """Return the last step before something is seen to move, so that no film begins with a still picture."""
    size = np.subtract(picture.high, picture.low)
    with np.errstate(invalid="ignore"):
        moved = (np.abs(places - places[0]) >= VISIBLE * size).any(axis=1)
    return max(int(np.argmax(moved)) - 1, 0)


def pace(seconds: float, speed: float, steps: int) -> tuple[int, float]:
    """Return the number of steps per frame, and the seconds that a frame is shown.

    >>> pace(0.02, 1.0, 500), pace(0.4, 1.0, 10)
    ((2, 0.04), (1, 0.4))
    """
    apart = seconds / speed
    stride = max(1, int(1.0 / (FRAMES_PER_SECOND * apart)))
    shown_for = stride * apart
    return max(stride, -(-steps // MOST_FRAMES)), max(shown_for, 1.0 / FRAMES_PER_SECOND / 2)


def _seconds(spec: TaskSpec) -> float:
    own = seconds_of_step(spec)
    if own is not None:
        return own
    return STEP_OF_CATEGORIES if spec.kind == CATEGORIES else STEP_OF_OTHERS


def _moment(trial: Rollout, places: np.ndarray, gained: float, step: int) -> FilmFrame:
    x, y = places[step].tolist()
    is_last = step == len(trial.choices)
    return FilmFrame(
        step,
        None if np.isnan(x) else (x, y),
        None if is_last else int(trial.choices[step]),
        None if is_last else int(trial.regions[step]),
        gained,
    )


def places_on_map(run: Run, picture: PartitionPicture, observations: np.ndarray) -> np.ndarray:
    """Return the places of observations on the map of a run.

    >>> import distinguo
    >>> run = distinguo.learn("puck", seed=1)
    >>> places_on_map(run, partition_picture(run), np.array([[0.5, -1.0]])).tolist()
    [[0.5, -1.0]]
    """
    representation, spec = run.representation, run.configuration.spec
    if has_labels(representation.partition):
        return _on_tiles(tiles_of(representation, spec, run.controller), observations)
    columns = [observations[:, i] for i in picture.plane.axes]
    middle = np.full(len(observations), 0.5)
    return np.column_stack([*columns, middle][:2])


def _on_tiles(tiles: Any, observations: np.ndarray) -> np.ndarray:
    """Return the squares of categories; one without its own is in the square of all others, if there is one."""
    found = squares_of(tiles, observations)
    states: Sequence[Any] = [square.state for square in tiles.squares]
    others = [
        (square.x, square.y)
        for square, state in zip(tiles.squares, states, strict=True)
        if any(np.isnan(c) for c in state)
    ]
    otherwise = others[-1] if others else (OTHER, OTHER)
    return np.array([otherwise if place is None else place for place in found], dtype=float)


def how_it_ended(trial: Rollout) -> str:
    """Return a few words on how a trial ended, for the last frame.

    >>> import distinguo
    >>> how_it_ended(distinguo.rollout(distinguo.learn("puck", seed=1), (2.0, 3.0)))
    'ended in a terminal state'
    """
    words = {"terminal": "ended in a terminal state", "stopped": "stopped by its time limit"}
    return words.get(trial.ended, "left" if trial.ended == LEFT else trial.ended)


# Pictures rendered by an environment, for tasks without a scene.


RGB = "rgb_array"
Images = Sequence[np.ndarray]


def images_of(driver: Driver, trial: Rollout, seed: int) -> Images:
    """Return the rendered pictures of a trial, before each step and after the last; empty if there are none.

    The trial is repeated with the same seed in an environment that renders. If its observations differ, the pictures
    would be of another trial, and none are returned.
    """
    env = attempt(_drawing, driver, otherwise=None)
    if env is None:
        return ()
    images = attempt(_gone_through, env, driver, trial, seed, otherwise=())
    if driver.source.env is None:  # a copy is only dropped: to close it may close the original
        attempt(env.close, otherwise=None)
    return images if len(images) == len(trial.observations) else ()


def _drawing(driver: Driver) -> Any:
    """Return an environment like the driver's that renders to arrays."""
    import gymnasium

    if driver.source.env is None:
        source = driver.source
        return source._replace(arguments={**source.arguments, "render_mode": RGB}).make()
    drawn: gymnasium.Env[Any, Any] = driver.again(0).checked_env.env
    if (
        drawn is driver.checked_env.env or drawn.render_mode != RGB
    ):  # the user's own is neither used nor closed
        return None
    return drawn


def _gone_through(env: Any, driver: Driver, trial: Rollout, seed: int) -> Images:
    checked = driver.checked_env
    view = checked.view
    seen, _ = env.reset(seed=trial_seed(seed, 0))
    images = [np.asarray(env.render())]
    for step, a in enumerate(trial.choices.tolist()):
        if view.flatten(seen) != tuple(trial.observations[step].tolist()):
            return ()
        seen, *_ = env.step(a + checked.choices.first)
        images.append(np.asarray(env.render()))
    return images


# Playing a run: in a window, or to a file.


GIF, MP4 = ".gif", ".mp4"
STEPS = 500  #: the default limit of a trial
DPI = 80
LARGEST_FILM = 2**32  #: bytes


@checks_names()
def play(
    run: Run | str | Path,
    out: str | Path | None = None,
    *,
    start: Sequence[float] | None = None,
    steps: int | None = None,
    seed: int = 0,
    speed: float = 1.0,
    task: Any = None,
    watch: Callable[[int, int], None] | None = None,
) -> Film:
    """Animate the greedy policy of a run, or of the run in a folder: in a notebook, a window, a ``.gif`` or ``.mp4``.

    The trial is that of :func:`distinguo.rollout` with the same ``start``, ``steps``, ``seed`` and ``task``, 500
    steps by default; at ``speed`` 1 it takes the task's own time. A task without a scene is shown by what its
    environment renders, or by its path over the map alone. ``watch`` is called with the number of frames drawn and
    the number of all frames. In a notebook, and without ``out``, the film plays below its cell.

    >>> import distinguo, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     film = play(distinguo.learn("puck", seed=1), f"{folder}/puck.gif", steps=10)
    >>> len(film.moments), film.trial
    (6, Rollout of puck: 10 steps, return 0; still running when stopped after 10 steps)
    """
    path = None if out is None else _checked_path(path_from(out))
    opened = as_run(run, task)
    beside_cell = path is None and is_notebook()
    if path is None and not beside_cell:
        _check_window()
    trial = rollout(
        opened, start, steps=opened.configuration.spec.cap(STEPS) if steps is None else steps, seed=seed
    )
    film = film_of(opened, trial, speed, seed)
    if path is not None:
        _save(film, path, watch)
    elif not beside_cell:  # there, it is shown as the value of the cell
        _show(film)
    return film


def _checked_path(path: Path) -> Path:
    if path.suffix.lower() not in (GIF, MP4):
        raise DistinguoError(
            f"A film is written as {GIF} or {MP4}, got {path.name}; use one of these suffixes."
        )
    if path.suffix.lower() == MP4 and shutil.which("ffmpeg") is None:
        raise DistinguoError(
            f"{MP4} needs the program ffmpeg, which is not on this machine; install it, or write a {GIF}."
        )
    check_file_place(path)
    return path


def _check_window() -> None:
    if not has_window():
        raise DistinguoError(
            "There is no display to play on; write the film to a file instead, such as --out film.gif, or in Python "
            'out="film.gif".'
        )


def _show(film: Film) -> None:
    """Play a film in a window until it is closed."""
    from matplotlib import pyplot as plt
    from matplotlib.animation import FuncAnimation

    from distinguo.views.motion.drawing import Screen

    try:
        figure = plt.figure()
    except Exception as error:  # whatever the toolkit of the window raises
        raise DistinguoError(
            f"No window could be opened ({reason_of(error)}); write a film instead, such as --out film.gif."
        ) from error
    screen = Screen(film, figure)
    animation = FuncAnimation(
        figure,
        screen.show,
        frames=film.moments,
        interval=1000.0 * film.seconds_of_frame,
        repeat=True,
        repeat_delay=1000,
        cache_frame_data=False,
    )
    plt.show()
    del animation  # it must live as long as the window


def _save(film: Film, path: Path, watch: Callable[[int, int], None] | None) -> None:
    """Write a film to a file, whole or not at all."""
    from matplotlib.animation import FFMpegWriter

    from distinguo.views.motion.drawing import FilmFigure, GifWriter, Screen, draw_film

    figure = FilmFigure(dpi=DPI)
    screen = Screen(film, figure)
    kind: Any = GifWriter if path.suffix.lower() == GIF else FFMpegWriter
    writer = kind(fps=1.0 / film.seconds_of_frame)
    with tempfile.TemporaryDirectory() as folder:
        aside = Path(folder) / f"film{path.suffix.lower()}"
        with writer.saving(figure, str(aside), DPI):
            draw_film(film, screen, writer, watch)
        write_atomically(path, read_bytes(aside, LARGEST_FILM))


def film_html(film: Film) -> str:
    """Return a film within a page: with controls if ffmpeg is here, otherwise as a moving image."""
    suffix = GIF if shutil.which("ffmpeg") is None else MP4
    text = f"Drawing the film of {film.trial.task}"
    with show_progress(text) as tell, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"film{suffix}"
        _save(film, path, lambda done, every: tell(f"{text}: {done} of {every} frames"))
        code = base64.b64encode(read_bytes(path, LARGEST_FILM)).decode()
    words = escape(repr(film))
    if suffix == GIF:
        return f'<img alt="{words}" style="max-width:100%" src="data:image/gif;base64,{code}">'
    return (
        f'<video controls autoplay loop muted playsinline aria-label="{words}" style="max-width:100%" '
        f'src="data:video/mp4;base64,{code}"></video>'
    )
