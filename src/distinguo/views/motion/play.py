"""Playing a run: in a window where there is one, or to a file."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from distinguo.errors import DistinguoError, checks_names, path_from, reason_of
from distinguo.runs.folder import as_run
from distinguo.runs.run import Run
from distinguo.study.rollout import rollout
from distinguo.views.motion.film import Film, film_of
from distinguo.writing.atomic import write_atomically

GIF, MP4 = ".gif", ".mp4"
STEPS = 500  #: of a trial that nothing else ends
DPI = 80
SILENT = ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template")  #: backends of matplotlib without a window


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
    """Animate the greedy policy of a run, or of the run in a folder: in a window, or to a ``.gif`` or ``.mp4``.

    The trial is that of :func:`distinguo.rollout` with the same ``start``, ``steps``, ``seed`` and ``task``, 500
    steps by default; at ``speed`` 1 it takes the task's own time. A task that we have no scene of is shown by what
    its environment renders, or by its way over the map alone. ``watch`` is told how many frames are drawn, of how
    many.

    >>> import distinguo, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     film = play(distinguo.learn("puck", seed=1), f"{folder}/puck.gif", steps=10)
    >>> len(film.moments), film.trial
    (6, Rollout of puck: 10 steps, gained 0, left after 10 steps)
    """
    path = None if out is None else _checked_path(path_from(out))
    opened = as_run(run, task)
    if path is None:
        _check_window()
    trial = rollout(
        opened, start, steps=opened.configuration.spec.cap(STEPS) if steps is None else steps, seed=seed
    )
    film = film_of(opened, trial, speed, seed)
    if path is None:
        _show(film)
    else:
        _save(film, path, watch)
    return film


def _checked_path(path: Path) -> Path:
    if path.suffix.lower() not in (GIF, MP4):
        raise DistinguoError(f"A film is written as {GIF} or {MP4}, got {path.name}; name such a file.")
    if path.suffix.lower() == MP4 and shutil.which("ffmpeg") is None:
        raise DistinguoError(
            f"{MP4} needs the program ffmpeg, which is not on this machine; install it, or write a {GIF}."
        )
    return path


def _check_window() -> None:
    if not has_window():
        raise DistinguoError(
            "There is no display to play on; have the film written to a file instead, such as --out film.gif."
        )


def has_window() -> bool:
    """Tell whether matplotlib can open a window here."""
    import matplotlib as mpl

    backend = mpl.get_backend().lower()  # settles on one: with a window, if there is a display
    return backend not in SILENT and "inline" not in backend


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
    del animation  # it lives as long as the window


def _save(film: Film, path: Path, watch: Callable[[int, int], None] | None) -> None:
    """Draw a film into a file, which is there when it is whole."""
    from matplotlib.animation import FFMpegWriter, PillowWriter
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from distinguo.views.motion.drawing import Screen, draw_film

    figure = Figure()
    FigureCanvasAgg(figure)
    screen = Screen(film, figure)
    kind: Any = PillowWriter if path.suffix.lower() == GIF else FFMpegWriter
    writer = kind(fps=1.0 / film.seconds_of_frame)
    with tempfile.TemporaryDirectory() as folder:
        aside = Path(folder) / f"film{path.suffix.lower()}"
        with writer.saving(figure, str(aside), DPI):
            draw_film(film, screen, writer, watch)
        write_atomically(path, aside.read_bytes())
