"""Where regions come from: the family of their prototypes, and small maps of earlier trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from distinguo.errors import DistinguoError, counted
from distinguo.explanations.family import Family, Member, family
from distinguo.runs.history import Frame
from distinguo.runs.run import Run
from distinguo.views.colours import INK, hue_of
from distinguo.views.pictures import PartitionPicture, representation_picture
from distinguo.views.plots import (
    FULL,
    SMALL,
    broken_line,
    colours_of,
    draw,
    dress,
    entitle,
    explain_marks,
    new_figure,
    plain,
)

# The family of regions: which prototype was split from which, when and by which rule, and what was merged again.


MOST_MEMBERS = 60  #: prototypes in a picture; the oldest are shown


class Branch(NamedTuple):
    """A prototype in the picture: a line from its birth to the end, or to where it was merged."""

    prototype: int
    region: int  #: its region now
    action: int  #: the preferred one there; -1 if several are tied
    row: int  #: from the top
    born: int  #: trial
    parent: int | None  #: prototype
    merged: tuple[int, int] | None  #: trial, and the prototype that it was merged into
    word: str  #: why it was added


class FamilyPicture(NamedTuple):
    """A family as lines over the trials.

    >>> import distinguo
    >>> picture = family_picture(distinguo.learn("puck", seed=1))
    >>> [(branch.prototype, branch.parent) for branch in picture.branches]
    [(0, None), (1, 0), (2, 0), (3, 0), (4, 0)]
    """

    title: str
    branches: tuple[Branch, ...]  #: in the order of their rows
    last: int  #: trial
    actions: tuple[str, ...]
    note: str = ""


def family_picture(run: Run) -> FamilyPicture:
    """Compute the family of a run's regions."""
    known = family(run)
    if not known.members:
        raise DistinguoError(
            "This map has no prototypes, and so no family to show; look at the view 'partition'."
        )
    spec, policy = run.configuration.spec, run.controller.policy
    order = [member for member in _in_order(known, None) if member.prototype < MOST_MEMBERS]
    branches = tuple(_branch(member, row, int(policy[member.region])) for row, member in enumerate(order))
    ends = [branch.born for branch in branches] + [branch.merged[0] for branch in branches if branch.merged]
    last = max([*ends, run.trials[-1].trial if run.trials else 0, 1])
    left_out = len(known.members) - len(branches)
    note = "at its birth the rule and the reward at stake, at the end the region now"
    note += f"; {left_out:,} younger prototypes are not shown" if left_out else ""
    size = counted(run.representation.regions, "region")
    title = f"{spec.name}, seed {run.configuration.seed}: the family of {size}"
    return FamilyPicture(title, branches, last, spec.actions, note)


def _in_order(known: Family, parent: int | None) -> list[Member]:
    """Return the members, each followed by its own children, the oldest first."""
    order = []
    for member in known.children(parent):
        order += [member, *_in_order(known, member.prototype)]
    return order


def _branch(member: Member, row: int, action: int) -> Branch:
    event = member.event
    merge = member.merges[-1] if member.merges and not member.primary else None
    words = (
        f"{', '.join(rule.split(' (')[0] for rule in event.rules)} {event.regret:.2g}"
        if event
        else member.came
    )
    return Branch(
        prototype=member.prototype,
        region=member.region,
        action=action,
        row=row,
        born=event.trial if event else 0,
        parent=member.parent,
        merged=(merge.trial, merge.prototypes[0]) if merge else None,
        word=words,
    )


@draw.register(FamilyPicture)
def draw_family(picture: FamilyPicture) -> Figure:
    """Draw a line for each prototype, in the colour of what is done in its region now."""
    rows = {branch.prototype: branch.row for branch in picture.branches}
    figure = new_figure(max(1.6, 1.1 + 0.25 * len(rows)))
    axes = figure.add_subplot()
    for branch in picture.branches:
        colour, y = hue_of(branch.action, picture.actions), branch.row
        end = branch.merged[0] if branch.merged else picture.last
        axes.plot([branch.born, end], [y, y], "-", color=colour, linewidth=2.2, solid_capstyle="butt")
        if branch.parent in rows:
            axes.plot([branch.born] * 2, [rows[branch.parent], y], "-", color=INK, linewidth=0.6, zorder=1)
        if branch.merged and branch.merged[1] in rows:
            axes.plot([end] * 2, [rows[branch.merged[1]], y], ":", color=INK, linewidth=0.8, zorder=1)
        axes.annotate(plain(f" {branch.region}"), (picture.last, y), va="center", fontsize=SMALL, color=INK)
        late = (
            branch.born > picture.last / 2
        )  # the words end where it begins, so that they stay in the picture
        axes.annotate(
            plain(branch.word),
            (branch.born, y),
            (-3, -2.5) if late else (2, 3),
            textcoords="offset points",
            ha="right" if late else "left",
            fontsize=SMALL,
            color=INK,
        )
    axes.set_ylim(len(rows) - 0.5, -1.0)
    axes.set_xlim(-0.02 * picture.last, picture.last)
    axes.set_yticks([branch.row for branch in picture.branches], [str(b.prototype) for b in picture.branches])
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    dress(axes, "trial", "prototype")
    axes.spines[["top", "right"]].set_visible(False)
    entitle(
        figure,
        picture.title,
        picture.note or "on the right its region now; at its birth the rule and the reward at stake",
    )
    lines = [
        Line2D([], [], color=hue_of(a, picture.actions), linewidth=2.2) for a in range(len(picture.actions))
    ]
    marks = [(f"{name} is done there now", line) for name, line in zip(picture.actions, lines, strict=True)]
    tied = [("tied now", Line2D([], [], color=hue_of(-1), linewidth=2.2))]
    explain_marks(figure, marks if any(b.action >= 0 for b in picture.branches) else tied)
    return figure


# The map on the way: small maps of a run, one for every change of the number of its regions.


MOST_FRAMES, ACROSS = 8, 4


def frames_of(history: Sequence[Frame]) -> list[Frame]:
    """Return the frames that had another number of regions than the one before; of many, some of every age.

    >>> import distinguo
    >>> [frame.trial for frame in frames_of(distinguo.learn("puck", seed=1).history)]
    [1, 6, 11, 17]
    """
    changed: list[Frame] = []
    last: Frame | None = None
    for frame in history:
        if not changed or frame.representation.regions != changed[-1].representation.regions:
            changed.append(frame)
        last = frame
    if last is not None:
        changed[-1] = last  # as it stayed
    if len(changed) <= MOST_FRAMES:
        return changed
    places = [round(n * (len(changed) - 1) / (MOST_FRAMES - 1)) for n in range(MOST_FRAMES)]
    return [changed[n] for n in places]


def frame_pictures(run: Run) -> list[PartitionPicture]:
    """Return the maps on the way, each titled by its trial."""
    spec, pictures = run.configuration.spec, []
    for frame in frames_of(run.history):
        count = frame.representation.regions
        title = f"trial {frame.trial:,}: {counted(count, 'region')}"
        pictures.append(representation_picture(frame.representation, spec, title, frame.controller))
    return pictures


def history_figure(run: Run) -> Figure:
    """Draw the maps on the way beside each other."""
    pictures = frame_pictures(run)
    if not pictures:
        raise DistinguoError("This run has no history to show; learn it again to have one.")
    rows = -(-len(pictures) // ACROSS)
    figure = new_figure(0.5 + 1.5 * rows, FULL)
    panels = figure.subplots(rows, ACROSS, squeeze=False).ravel()
    for panel in panels:
        panel.set_axis_off()
    for panel, picture in zip(panels, pictures, strict=False):
        shown = [
            (c.outline, colour)
            for c, colour in zip(picture.cells, colours_of(picture), strict=True)
            if c.outline
        ]
        filled = PolyCollection([o for o, _ in shown], facecolors=[c for _, c in shown], edgecolors="face")
        filled.set_linewidth(0.3)
        panel.add_collection(filled)
        panel.plot(*broken_line(picture.borders), "-", color="white", linewidth=0.7)
        panel.set_xlim(picture.low[0], picture.high[0])
        panel.set_ylim(picture.low[1], picture.high[1])
        panel.set_title(plain(picture.title), fontsize=SMALL, color=INK)
    entitle(figure, f"{run.configuration.spec.name}, seed {run.configuration.seed}: the map on the way")
    return figure
