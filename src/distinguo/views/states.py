"""Pictures of states: the critical ones, the regret of grouping them, and where the policy leads."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import Normalize, to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from distinguo.comparison.audit import audit
from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.evaluation.audit import Audit
from distinguo.representations.geometry import Pair, rectangle
from distinguo.runs.run import Run
from distinguo.tasks.spec import TaskSpec
from distinguo.tasks.task import observe, transition
from distinguo.views.colours import INK, MARK, colours_named, darkened, hue_of
from distinguo.views.pictures import PartitionPicture
from distinguo.views.places import Place, places_of, plane_picture, trail_of, world_of
from distinguo.views.plots import (
    add_bar,
    add_shades,
    broken_line,
    colours_of,
    draw,
    draw_trail,
    drawn,
    explain_marks,
    marks_of,
    patch,
)

# Critical states: one wrong action there leads to failure, whatever follows (Figure 9 of the paper).


ACROSS, UPWARDS = 160, 220  #: places examined
_ON_ANY_GROUND = [withStroke(linewidth=3.4, foreground="white")]


class Critical(NamedTuple):
    """A place where some actions lead to failure and others do not."""

    at: Pair
    saving: tuple[int, ...]  #: the actions that do not


class CriticalPicture(NamedTuple):
    """A map with the path of a greedy trial, over the states where the choice of action matters most.

    >>> import distinguo
    >>> picture = critical_picture(distinguo.learn("puck", seed=1), across=24, upwards=40)
    >>> {state.saving for state in picture.states} == {(0,), (1,)}
    True
    """

    partition: PartitionPicture
    states: tuple[Critical, ...]
    pitch: Pair  #: distance between places


def critical_picture(run: Run, across: int = ACROSS, upwards: int = UPWARDS) -> CriticalPicture:
    """Compute the picture. A state that can be held is critical if only some actions lead to such a state again.

    The task must say which states can be held, and its state must be settable.
    """
    picture, spec = plane_picture(run), run.configuration.spec
    places = places_of(run, picture, across, upwards) if spec.controllable else []
    if not places:
        raise DistinguoError(
            f"{spec.name} does not say which states can be held, so its critical states are not known; look at the "
            "view 'phase'."
        )
    world = world_of(run)
    states = tuple(state for place in places if (state := _critical(world, spec, place)))
    trail = trail_of(run, picture.plane)
    size = np.subtract(picture.high, picture.low)
    pitch = (float(size[0]) / across, float(size[1]) / upwards)
    return CriticalPicture(picture._replace(trail=trail), states, pitch)


def _critical(world: Any, spec: TaskSpec, place: Place) -> Critical | None:
    holds, count = spec.controllable, len(spec.actions)
    assert holds is not None
    if not holds(world, place.state):
        return None
    saving = []
    for a in range(count):
        after, _, terminal = transition(world, place.state, a)
        if not terminal and holds(world, after):
            saving.append(a)
    return None if len(saving) in (0, count) else Critical(place.at, tuple(saving))


@draw.register(CriticalPicture)
def draw_critical(picture: CriticalPicture) -> Figure:
    """Draw the map, and bands for the critical states in the colour of the action that saves them."""
    shown = picture.partition
    figure = drawn(shown, colours_of(shown))
    axes = figure.axes[0]
    marks = marks_of(shown._replace(prototypes=(), primary=(), labels=()))
    for saving in sorted({state.saving for state in picture.states}):
        places = [state.at for state in picture.states if state.saving == saving]
        xs, ys = _bands(places, picture.pitch)
        colour = darkened(hue_of(saving[0], shown.actions))
        axes.plot(xs, ys, "-", color=colour, linewidth=1.5, solid_capstyle="projecting", zorder=1.8)
        names = " or ".join(shown.actions[a] for a in saving)
        marks.append(
            (f"only {names} saves", Line2D([], [], color=colour, linewidth=2.0, path_effects=_ON_ANY_GROUND))
        )
    explain_marks(figure, marks)
    add_shades(figure, shown)
    return figure


def _bands(places: list[Pair], pitch: Pair) -> tuple[list[float], list[float]]:
    """Return places as vertical lines with gaps; neighbours above each other share a line.

    >>> _bands([(0.0, 0.0), (0.0, 1.0), (0.0, 5.0)], (1.0, 1.0))
    ([0.0, 0.0, nan, 0.0, 0.0, nan], [-0.5, 1.5, nan, 4.5, 5.5, nan])
    """
    xs: list[float] = []
    ys: list[float] = []
    for x, y in sorted(places):
        if xs and xs[-2] == x and y - pitch[1] / 2 - ys[-2] < pitch[1] / 4:
            ys[-2] = y + pitch[1] / 2
        else:
            xs += [x, x, float("nan")]
            ys += [y - pitch[1] / 2, y + pitch[1] / 2, float("nan")]
    return xs, ys


# The regret map: where the grouping of states costs reward, as an audit finds it.


REGRET_ACROSS, REGRET_UPWARDS = 48, 36  #: places audited, if states can be set
VISITS = 2_000  #: otherwise, states visited by the greedy policy
PALETTE = "BuPu"  #: can be read by lightness alone
NOT_AUDITED = (0.82, 0.82, 0.82)


class RegretPicture(NamedTuple):
    """A map with the incremental regret of states, one for each state that was audited.

    >>> import distinguo
    >>> picture = regret_picture(distinguo.learn("puck", seed=1))
    >>> len(picture.places) == len(picture.regrets), min(picture.regrets)
    (True, 0.0)
    """

    partition: PartitionPicture
    places: tuple[Pair, ...]
    regrets: tuple[float, ...]
    epsilon: float  #: the reward that may be lost
    pitch: Pair = (0.0, 0.0)  #: distance between places of a grid; (0, 0) for states of trials


def regret_picture(run: Run) -> RegretPicture:
    """Audit a run over its map, except states that cannot be held, or along greedy trials if states cannot be set."""
    picture, spec = plane_picture(run), run.configuration.spec
    places = places_of(run, picture, REGRET_ACROSS, REGRET_UPWARDS)
    rows = np.array([place.state for place in places])
    if not places or not len(held := spec.controllable_among(rows)):
        return visited_regret(run, audit(run, visits=VISITS))
    findings = audit(run, states=rows[held])
    size = np.subtract(picture.high, picture.low)
    pitch = (float(size[0]) / REGRET_ACROSS, float(size[1]) / REGRET_UPWARDS)
    at = tuple(places[n].at for n in held.tolist())
    return RegretPicture(
        _noted(picture, findings), at, tuple(findings.regret.tolist()), findings.epsilon, pitch
    )


def visited_regret(run: Run, findings: Audit) -> RegretPicture:
    """Return the picture of an audit: its states, projected on the plane of the map."""
    picture = plane_picture(run)
    at = tuple(picture.plane.corner(row, 0.5) for row in findings.observations.tolist())
    return RegretPicture(_noted(picture, findings), at, tuple(findings.regret.tolist()), findings.epsilon)


def _noted(picture: PartitionPicture, findings: Audit) -> PartitionPicture:
    words = f"{findings.adequate:.1%} of {len(findings.states):,} states are {findings.epsilon:.3g}-adequate"
    note = f"{picture.note}; {words}" if picture.note else words
    return picture._replace(note=note, actions=(), prototypes=(), primary=())


@draw.register(RegretPicture)
def draw_regret(picture: RegretPicture) -> Figure:
    """Draw the borders of the map over a colour for the regret."""
    shown = picture.partition
    figure = drawn(shown._replace(labels=(), borders=()), [NOT_AUDITED] * len(shown.cells))
    axes = figure.axes[0]
    scale = Normalize(0.0, max(*picture.regrets, picture.epsilon, 1e-12))
    if picture.pitch == (0.0, 0.0):
        xs, ys = zip(*picture.places, strict=True)
        axes.scatter(
            xs,
            ys,
            c=picture.regrets,
            cmap=colours_named(PALETTE),
            norm=scale,
            s=3,
            linewidths=0,
            rasterized=True,
        )
    else:
        wide, tall = picture.pitch
        squares = [
            rectangle((x - wide / 2, y - tall / 2), (x + wide / 2, y + tall / 2)) for x, y in picture.places
        ]
        filled = PolyCollection(
            squares,
            array=np.array(picture.regrets),
            cmap=colours_named(PALETTE),
            norm=scale,
            edgecolors="face",
        )
        filled.set(linewidths=0.3, rasterized=True)
        axes.add_collection(filled)
    axes.plot(*broken_line(shown.borders), "-", color=MARK, linewidth=0.8, zorder=3)
    for label in shown.labels:
        box = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.7}
        axes.annotate(label.text, (label.x, label.y), ha="center", va="center", fontsize=7.5, bbox=box)
    add_bar(figure, ScalarMappable(scale, colours_named(PALETTE)), "regret: reward lost at a visit")
    if len(picture.places) < REGRET_ACROSS * REGRET_UPWARDS:
        why = "not visited" if picture.pitch == (0.0, 0.0) else "not audited: it cannot be held"
        explain_marks(figure, [(why, patch(to_hex(NOT_AUDITED)))])
    return figure


# The phase plane: where the greedy policy leads from every place of the map.


ARROWS_ACROSS, ARROWS_UPWARDS = 16, 13  #: arrows
BEGUN = (
    (0.25, 0.25),
    (0.75, 0.75),
    (0.25, 0.75),
    (0.75, 0.25),
    (0.5, 0.5),
)  #: where trials begin, in the frame
OWN_STARTS = 5  #: trials from the task's own starts, if states cannot be set
STEPS = 120  #: of each trial


class Arrow(NamedTuple):
    """Where one greedy step leads from a place of the picture."""

    at: Pair
    by: Pair  #: displacement, in the units of the axes


class PhasePicture(NamedTuple):
    """A map with the flow of the greedy policy over it.

    >>> import distinguo
    >>> picture = phase_picture(distinguo.learn("puck", seed=1))
    >>> len(picture.arrows) == ARROWS_ACROSS * ARROWS_UPWARDS, len(picture.trails)
    (True, 5)
    """

    partition: PartitionPicture
    arrows: tuple[Arrow, ...]  #: empty if the task's state cannot be set
    trails: tuple[tuple[Pair, ...], ...]  #: the paths of greedy trials


def phase_picture(run: Run) -> PhasePicture:
    """Compute the phase plane of a run; in more than two dimensions, a slice with projected paths."""
    picture = plane_picture(run)
    world, controller = world_of(run), run.controller
    places = places_of(run, picture, ARROWS_ACROSS, ARROWS_UPWARDS)
    arrows = tuple(_arrow(world, controller, picture, place) for place in places)
    note = picture.note
    if picture.plane.held:
        note = f"{note}; trials leave the slice"
    return PhasePicture(picture._replace(note=note), arrows, _trails(run, picture, bool(arrows)))


def _arrow(world: Any, controller: Controller, picture: PartitionPicture, place: Place) -> Arrow:
    after, _, _ = transition(world, place.state, controller.action(place.seen))
    x, y = picture.plane.corner(observe(world, after), 0.0)
    return Arrow(place.at, (x - place.at[0], y - place.at[1]))


def _trails(run: Run, picture: PartitionPicture, settable: bool) -> tuple[tuple[Pair, ...], ...]:
    if not settable or picture.plane.held:
        return tuple(trail_of(run, picture.plane, seed=n, steps=STEPS) for n in range(OWN_STARTS))
    low, size = np.array(picture.low), np.subtract(picture.high, picture.low)
    starts = [tuple((low + np.array(share) * size).tolist()) for share in BEGUN]
    return tuple(trail_of(run, picture.plane, start=s, steps=STEPS) for s in starts)


@draw.register(PhasePicture)
def draw_phase(picture: PhasePicture) -> Figure:
    """Draw a pale map, arrows for single steps, and lines for trials with a ring at each start."""
    shown = picture.partition
    pale = [tuple(0.45 * part + 0.55 for part in colour) for colour in colours_of(shown)]
    plain_map = shown._replace(prototypes=(), primary=())
    figure = drawn(plain_map, pale)  # type: ignore[arg-type]
    axes = figure.axes[0]
    for trail in picture.trails:
        draw_trail(axes, trail)
    if picture.arrows:
        size = np.subtract(shown.high, shown.low)
        by = np.array([arrow.by for arrow in picture.arrows]) / size
        longest = max(float(np.hypot(*by.T).max()), 1e-12)
        by = by * size / longest / ARROWS_ACROSS
        at = np.array([arrow.at for arrow in picture.arrows])
        # fmt: off
        axes.quiver(*at.T, *by.T, color=MARK, angles="xy", scale_units="xy", scale=1.0, width=0.003,
                    headwidth=4, alpha=0.75)
        # fmt: on
    axes.set_xlim(shown.low[0], shown.high[0])
    axes.set_ylim(shown.low[1], shown.high[1])
    marks = marks_of(plain_map._replace(trail=((0.0, 0.0),)))
    marks.append(
        ("start of a trial", Line2D([], [], ls="", marker="o", fillstyle="none", color=INK, markersize=4))
    )
    if picture.arrows:
        marks.append(("one step", Line2D([], [], ls="", marker=r"$\rightarrow$", color=INK, markersize=7)))
    explain_marks(figure, marks)
    return figure
