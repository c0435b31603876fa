"""A film as pixels, with matplotlib: the system on the left, its path over the map on the right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.animation import PillowWriter
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Polygon
from PIL import Image

from distinguo.representations.partition import has_labels
from distinguo.tasks.amounts import amounts_of, laws_of
from distinguo.views.colours import hue_of, shaded
from distinguo.views.motion.film import Film, FilmFrame, how_it_ended
from distinguo.views.motion.scenes import (
    BODY,
    CARD,
    GOAL,
    GROUND,
    HOLE,
    ICE,
    LIMIT,
    LINK,
    PUSH,
    Disc,
    Scene,
    Shape,
    Words,
)
from distinguo.views.plots import draw_arrows, with_ends

WIDE, NARROW, TALL = 9.0, 5.4, 4.5  #: inches of a film with the system beside the map, and of the map alone
PALE = 0.45  #: share of the hue of a region, as background of the path
PALETTE_FRAMES = 8  #: in which the colours of a GIF are looked for
MOST_BESIDE, LEGEND = 4, 36  #: actions, and letters, in a line of the legend
LATELY = 60  #: latest steps of the path, drawn with a strong line
COLOURS = {
    GROUND: "#444444",
    BODY: "#d55e00",
    LINK: "#777777",
    GOAL: "#009e73",
    LIMIT: "#b0b0b0",
    PUSH: "#222222",
    ICE: "#d9e8f2",
    HOLE: "#27415c",
    CARD: "#f4f0e4",
}
INKS = {HOLE: "white", GOAL: "white"}  #: of words on shapes of a role; otherwise dark


class Screen:
    """A figure that shows the moments of a film, one after the other."""

    def __init__(self, film: Film, figure: Figure) -> None:
        self.film, self.figure = film, figure
        beside = film.has_system
        figure.set_size_inches(WIDE if beside else NARROW, TALL)
        figure.set_layout_engine("none")
        self._system = figure.add_axes((0.01, 0.12, 0.46, 0.76)) if beside else None
        self._map = figure.add_axes((0.57, 0.2, 0.4, 0.68) if beside else (0.14, 0.2, 0.82, 0.68))
        figure.text(0.02, 0.94, f"{film.trial.task}: the greedy policy", fontsize=12)
        self._caption = figure.text(0.5, 0.03, "", ha="center", fontsize=10, family="monospace")
        self._ground = _draw_map(self._map, film)
        (self._way,) = self._map.plot([], [], color="black", linewidth=0.6, alpha=0.35)
        (self._late,) = self._map.plot([], [], color="black", linewidth=1.6)
        (self._dot,) = self._map.plot(
            [], [], "o", color="white", markeredgecolor="black", markersize=9, clip_on=False
        )
        self._moving: list[Any] = []
        if self._system is not None:
            self._system.set_axis_off()

    @property
    def changing(self) -> list[tuple[Axes | None, Any]]:
        """What is drawn anew for every moment, from the bottom up, each with its axes."""
        ground = [self._ground] if self.film.is_sliced else []
        on_map = [(self._map, artist) for artist in (*ground, self._way, self._late, self._dot)]
        return [*on_map, *((self._system, artist) for artist in self._moving), (None, self._caption)]

    def show(self, moment: FilmFrame) -> None:
        """Draw a moment in place of the previous one."""
        until, film = moment.step + 1, self.film
        self._way.set_data(*film.places[:until].T)
        self._late.set_data(*film.places[max(0, until - LATELY) : until].T)
        self._dot.set_data(*([c] for c in moment.place or (np.nan, np.nan)))
        self._caption.set_text(_caption(film, moment))
        if film.is_sliced:
            self._ground.set_data(_coloured(film.slice_through(moment), film.actions))
        if self._system is not None:
            self._show_system(self._system, moment)

    def _show_system(self, axes: Axes, moment: FilmFrame) -> None:
        for artist in self._moving:
            artist.remove()
        scene = self.film.scene(moment)
        if scene is None:
            self._moving = [axes.imshow(self.film.images[moment.step])]
            return
        hue = "black" if moment.action is None else hue_of(moment.action, self.film.actions)
        self._moving = [_add(axes, shape, hue) for shape in scene.shapes]
        _frame(axes, scene)


def _frame(axes: Axes, scene: Scene) -> None:
    axes.set_xlim(scene.low[0], scene.high[0])
    axes.set_ylim(scene.low[1], scene.high[1])
    axes.set_aspect("equal")


def _add(axes: Axes, shape: Shape, hue: str) -> Any:
    colour = hue if shape.role == PUSH else COLOURS[shape.role]
    if isinstance(shape, Disc):
        return axes.add_patch(Circle(shape.centre, shape.radius, facecolor=colour, edgecolor="black"))
    if isinstance(shape, Words):
        ink = INKS.get(shape.role, "#222222")
        return axes.text(*shape.centre, shape.text, color=ink, ha="center", va="center", fontsize=9, zorder=1)
    if shape.width == 0.0:
        return axes.add_patch(Polygon(shape.places, closed=True, facecolor=colour))
    xs, ys = zip(*shape.places, strict=True)
    return axes.add_line(Line2D(xs, ys, color=colour, linewidth=shape.width, solid_capstyle="round"))


def _draw_map(axes: Axes, film: Film) -> Any:
    """Draw the background of the map: all its cells, or an image that changes with every moment."""
    picture = film.picture
    (x0, y0), (x1, y1) = picture.low, picture.high
    axes.set_xlim(x0, x1)
    axes.set_ylim(y0, y1)
    across, upwards = picture.axes
    note = "\n(slice through the present state)" if film.is_sliced else ""
    axes.set_xlabel(f"{across}{note}")
    axes.set_ylabel(upwards)
    if has_labels(film.run.representation.partition):  # the squares are counted, not measured
        axes.set_xticks([])
        if picture.ticks == ((), ()):
            axes.set_aspect("equal")
    if not upwards or has_labels(film.run.representation.partition):
        axes.set_yticks([])
    _explain(axes, film)
    if film.is_sliced:
        ground = _coloured(film.slice_through(film.moments[0]), film.actions)
        return axes.imshow(ground, extent=(x0, x1, y0, y1), origin="lower", aspect="auto")
    hues = [shaded(hue_of(cell.action, film.actions), PALE) for cell in picture.cells]
    colours = with_ends(picture, hues)
    draw_arrows(axes, picture)
    edges = "white" if len(colours) <= 400 else "none"
    outlines = [cell.outline for cell in picture.cells]
    return axes.add_collection(PolyCollection(outlines, facecolors=colours, edgecolors=edges, linewidths=0.8))


def _explain(axes: Axes, film: Film) -> None:
    """Add a legend of the actions; if there are many, those of the trial come first."""
    names = film.run.configuration.spec.actions
    numbers = list(dict.fromkeys([*film.trial.choices.tolist(), *range(len(names))]))[:6]
    handles = [
        Line2D([], [], marker="s", linestyle="none", color=shaded(hue_of(a, names), PALE), label=names[a])
        for a in sorted(numbers)
    ]
    axes.legend(
        handles=handles,
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=min(len(handles), MOST_BESIDE, max(1, LEGEND // max(len(names[a]) for a in numbers))),
        frameon=False,
        fontsize=9,
    )


def _coloured(policy: np.ndarray, actions: Sequence[str]) -> np.ndarray:
    """Return a slice of the policy as pixels."""
    hues = {action: shaded(hue_of(action, actions), PALE) for action in np.unique(policy).tolist()}
    pixels = np.empty((*policy.shape, 3))
    for action, hue in hues.items():
        pixels[policy == action] = to_rgb(hue)
    return pixels


def _caption(film: Film, moment: FilmFrame) -> str:
    words = [f"step {moment.step:,}"]
    if moment.action is None:
        words.append(how_it_ended(film.trial))
    else:
        words += [f"region {moment.region}", _named(film, moment, moment.action)]
    return "   ".join([*words, f"gained {moment.gained:zg}"])


def _named(film: Film, moment: FilmFrame, a: int) -> str:
    """The name of an action; for a law, the amounts that it says."""
    spec = film.run.configuration.spec
    known = laws_of(spec)
    if known is None or spec.amounts is None:
        return spec.actions[a]
    taken = amounts_of(known, a, film.trial.observations[moment.step].tolist())
    return " ".join(f"{name} {x:+.2f}" for name, x in zip(spec.amounts.names, taken, strict=True))


class FilmFigure(Figure):
    """A figure for movie writers of matplotlib, which save every frame: it gives them what is on its canvas."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.pixels: Any = FigureCanvasAgg(self)

    def savefig(self, fname: Any, **_: Any) -> None:
        """Write the pixels."""
        fname.write(self.pixels.buffer_rgba())


class GifWriter(PillowWriter):
    """Writes a GIF with one palette for all frames, which takes a fraction of the time of one for each."""

    _frames: list[Any]

    def finish(self) -> None:
        """Find the palette in some frames of every age, and write the file."""
        frames = [frame.convert("RGB") for frame in self._frames]
        some = frames[:: -(-len(frames) // PALETTE_FRAMES)]
        sheet = Image.new("RGB", (some[0].width, some[0].height * len(some)))
        for number, frame in enumerate(some):
            sheet.paste(frame, (0, number * frame.height))
        palette = sheet.quantize(256)
        self._frames = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
        super().finish()


def draw_film(
    film: Film, screen: Screen, writer: Any, watch: Callable[[int, int], None] | None = None
) -> None:
    """Draw every moment with a movie writer of matplotlib; what does not change is drawn once."""
    figure = screen.figure
    assert isinstance(figure, FilmFigure)
    for _, artist in screen.changing:
        artist.set_animated(True)
    figure.pixels.draw()
    still = figure.pixels.copy_from_bbox(figure.bbox)
    for number, moment in enumerate(film.moments):
        screen.show(moment)
        figure.pixels.restore_region(still)
        for axes, artist in screen.changing:
            if axes is not None:
                axes.apply_aspect()
            artist.draw(figure.pixels.get_renderer())
        writer.grab_frame()
        if watch:
            watch(number + 1, len(film.moments))
