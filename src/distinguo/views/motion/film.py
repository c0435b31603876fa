"""A trial as a film: which moments are shown, for how long, and where each is on the map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from distinguo.errors import DistinguoError, shown
from distinguo.representations.partition import has_labels, regions_of
from distinguo.representations.planes import Pair
from distinguo.runs.run import Run
from distinguo.study.rollout import LEFT, Rollout
from distinguo.tasks.spec import CATEGORIES, TaskSpec
from distinguo.views.motion.images import Images, images_of
from distinguo.views.motion.scenes import scene_for, seconds_of_step
from distinguo.views.motion.shapes import Scene
from distinguo.views.pictures import PartitionPicture, partition_picture
from distinguo.views.tiles import OTHER, squares_of, tiles_of

FRAMES_PER_SECOND = 20.0
MOST_FRAMES = 600  #: of a film; a longer trial is shown with fewer of its steps, and so faster
STEP_OF_CATEGORIES, STEP_OF_OTHERS = 0.4, 1 / 30  #: seconds of a step of tasks that have no time of their own
ACROSS, UPWARDS = 120, 90  #: places of a slice of the map


class FilmFrame(NamedTuple):
    """A state of a trial, with what is done there; at the end nothing is."""

    step: int
    place: Pair | None  #: on the map; none for a state that the map does not show
    action: int | None
    region: int | None
    gained: float  #: until then


class Film(NamedTuple):
    """A trial to be looked at.

    >>> import distinguo
    >>> run = distinguo.learn("puck", seed=1)
    >>> film = film_of(run, distinguo.rollout(run, steps=100))
    >>> len(film.moments), film.moments[-1].step, round(film.seconds, 2)
    (51, 100, 2.04)
    """

    run: Run
    trial: Rollout
    picture: PartitionPicture
    moments: tuple[FilmFrame, ...]
    places: np.ndarray  #: (steps + 1, 2) the whole way over the map; NaN where the map does not show it
    seconds_of_frame: float
    images: Images = ()  #: what the environment drew, one for every state

    @property
    def seconds(self) -> float:
        """Return how long it takes."""
        return len(self.moments) * self.seconds_of_frame

    @property
    def is_sliced(self) -> bool:
        """Tell whether the map has more dimensions than two: then a slice through the present state is shown."""
        partition = self.run.representation.partition
        return len(self.run.representation.dimensions) > 2 and not has_labels(partition)

    def scene(self, moment: FilmFrame) -> Scene | None:
        """Return the system at a moment, if its task has one."""
        drawn = scene_for(self.run.configuration.spec)
        return None if drawn is None else drawn(self.trial.observations[moment.step].tolist(), moment.action)

    def slice_through(self, moment: FilmFrame) -> np.ndarray:
        """Return the policy in the plane of the map through the present state, from the bottom row up."""
        at = tuple(self.trial.observations[moment.step].tolist())
        plane = self.picture.plane._replace(at=at)
        (x0, y0), (x1, y1) = self.picture.low, self.picture.high
        xs, ys = np.linspace(x0, x1, ACROSS).tolist(), np.linspace(y0, y1, UPWARDS).tolist()
        states = np.array([plane.state(x, y) for y in ys for x in xs])
        regions = regions_of(self.run.representation.partition, states)
        return np.asarray(self.run.controller.policy[regions]).reshape(UPWARDS, ACROSS)


def film_of(run: Run, trial: Rollout, speed: float = 1.0, seed: int = 0) -> Film:
    """Return the film of a trial; ``speed`` 1 is the task's own time, and the last moment is the end of the trial."""
    if isinstance(speed, bool) or not isinstance(speed, int | float) or not 0.01 <= speed <= 100.0:
        raise DistinguoError(f"The speed of a film is a number from 0.01 to 100, got {shown(speed)}.")
    spec = run.configuration.spec
    stride, seconds = pace(_seconds(spec), float(speed), len(trial.choices))
    picture = partition_picture(run)
    places = places_on_map(run, picture, trial.observations)
    steps = [*range(0, len(trial.choices), stride), len(trial.choices)]
    gained = np.concatenate([[0.0], np.cumsum(trial.rewards)])
    moments = tuple(_moment(trial, places, float(gained[step]), step) for step in steps)
    drawn = scene_for(spec) is None and spec.interpreted
    images = images_of(spec.task.driver, trial, seed) if drawn else ()
    return Film(run, trial, picture, moments, places, seconds, images)


def pace(seconds: float, speed: float, steps: int) -> tuple[int, float]:
    """Return how many steps a frame stands for, and how long it is seen.

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
    """Return where observations are on the map of a run.

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
    """Return the squares of categories; one without a square is in that of all others, if there is one."""
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
    """Say in a few words how a trial ended, for the last frame.

    >>> import distinguo
    >>> how_it_ended(distinguo.rollout(distinguo.learn("puck", seed=1), (2.0, 3.0)))
    'ended in a terminal state'
    """
    words = {"terminal": "ended in a terminal state", "stopped": "stopped by its time limit"}
    return words.get(trial.ended, "left" if trial.ended == LEFT else trial.ended)
