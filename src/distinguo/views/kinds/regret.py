"""The regret map: where the grouping of states costs reward, as an audit finds it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from distinguo.evaluation.audit import Audit
from distinguo.representations.geometry import rectangle
from distinguo.representations.planes import Pair
from distinguo.runs.run import Run
from distinguo.study.audit import audit
from distinguo.views.drawing.colours import INK
from distinguo.views.drawing.figures import add_bar, broken_line
from distinguo.views.kinds.places import places_of, plane_picture
from distinguo.views.pictures import PartitionPicture
from distinguo.views.plots import draw, drawn

ACROSS, UPWARDS = 48, 36  #: places that are audited, where states can be set
VISITS = 2_000  #: else states that the greedy policy comes through
PALETTE = "BuPu"  #: its lightness alone says all, whatever eyes one has
NOT_AUDITED = (0.82, 0.82, 0.82)  #: the colour of what was left out


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
    pitch: Pair = (0.0, 0.0)  #: of a grid of places; none if they are the states of trials


def regret_picture(run: Run) -> RegretPicture:
    """Audit a run all over its map, but for states that cannot be held; else where its greedy policy leads."""
    picture, spec = plane_picture(run), run.configuration.spec
    places = places_of(run, picture, ACROSS, UPWARDS)
    rows = np.array([place.state for place in places])
    if not places or not len(held := spec.controllable_among(rows)):
        return visited_regret(run, audit(run, visits=VISITS))
    findings = audit(run, states=rows[held])
    size = np.subtract(picture.high, picture.low)
    pitch = (float(size[0]) / ACROSS, float(size[1]) / UPWARDS)
    at = tuple(places[n].at for n in held.tolist())
    return RegretPicture(
        _noted(picture, findings), at, tuple(findings.regret.tolist()), findings.epsilon, pitch
    )


def visited_regret(run: Run, findings: Audit) -> RegretPicture:
    """Return the picture of an audit that was made: its states as they are seen in the plane of the map."""
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
        axes.scatter(xs, ys, c=picture.regrets, cmap=PALETTE, norm=scale, s=3, linewidths=0, rasterized=True)
    else:
        wide, tall = picture.pitch
        squares = [
            rectangle((x - wide / 2, y - tall / 2), (x + wide / 2, y + tall / 2)) for x, y in picture.places
        ]
        filled = PolyCollection(
            squares, array=np.array(picture.regrets), cmap=PALETTE, norm=scale, edgecolors="face"
        )
        filled.set(linewidths=0.3, rasterized=True)
        axes.add_collection(filled)
    axes.plot(*broken_line(shown.borders), "-", color=INK, linewidth=0.8, zorder=3)
    for label in shown.labels:
        box = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.7}
        axes.annotate(label.text, (label.x, label.y), ha="center", va="center", fontsize=7.5, bbox=box)
    add_bar(figure, ScalarMappable(scale, PALETTE), "regret: reward lost at a visit")
    return figure
