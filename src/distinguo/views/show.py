"""The views by name, registration of your own views, and showing a run.

A view is a function from a run to a picture, which is a value; matplotlib draws it afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

from distinguo.comparison.plan import AveragedCurve, Comparison
from distinguo.errors import DistinguoError, call_user_code, checks_names, did_you_mean
from distinguo.runs.folder import open_run
from distinguo.runs.run import Run
from distinguo.verification import Proof
from distinguo.views.pictures import PartitionPicture, ValuePicture, partition_picture
from distinguo.views.words import presentable
from distinguo.writing import slug

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ViewFunction = Callable[[Run], Any]
F = TypeVar("F", bound=ViewFunction)
PARTITION = "partition"
_views: dict[str, ViewFunction] = {}


def view(name: str) -> Callable[[F], F]:
    """Register a function from a run to a picture under a name for :func:`show`.

    A picture is a ``PartitionPicture``, a ``ValuePicture``, a ``SeriesPicture``, a class of your own that
    ``draw`` is registered for, or a figure of matplotlib.

    >>> @view("only values")
    ... def only_values(run):
    ...     return ValuePicture(partition_picture(run))
    >>> view_named("only values") is only_values
    True
    """

    def register(function: F) -> F:
        _views[name] = function
        return function

    return register


def view_names() -> tuple[str, ...]:
    """Return the names of all views.

    >>> view_names()[:3]
    ('partition', 'values', 'trials')
    """
    return tuple(_views)


def view_named(name: str) -> ViewFunction:
    """Return the view of that name.

    >>> view_named("partitoin")
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Unknown view 'partitoin'; did you mean 'partition'?
    """
    if name not in _views:
        raise DistinguoError(f"Unknown view '{name}'; {did_you_mean(name, _views)}")
    return _views[name]


@view(PARTITION)
def partition_view(run: Run) -> PartitionPicture:
    """Show the regions: hue for the action, shade for the value."""
    return partition_picture(run)


@view("values")
def values_view(run: Run) -> ValuePicture:
    """Show the state value of each region."""
    return ValuePicture(partition_picture(run))


@view("trials")
def trials_view(run: Run) -> Any:
    """Show the length of the trials and the size of the partition as it was learned."""
    from distinguo.views.curves import trials_picture  # loads matplotlib

    return trials_picture(run)


@view("phase")
def phase_view(run: Run) -> Any:
    """Show where the greedy policy leads: arrows for single steps, lines for trials."""
    from distinguo.views.states import phase_picture

    return phase_picture(run)


@view("critical")
def critical_view(run: Run) -> Any:
    """Show a greedy trial over the states where one wrong action is the end."""
    from distinguo.views.states import critical_picture

    return critical_picture(run)


@view("regret")
def regret_view(run: Run) -> Any:
    """Show what the grouping of states costs, by an audit."""
    from distinguo.views.states import regret_picture

    return regret_picture(run)


@view("family")
def family_view(run: Run) -> Any:
    """Show which region came from which, when and by which rule."""
    from distinguo.views.family import family_picture

    return family_picture(run)


@view("dial")
def dial_view(run: Run) -> Any:
    """Show how many regions are left if values this close are one, or the return of each size of a condensed run."""
    from distinguo.views.curves import dial_of

    return dial_of(run)


@view("fidelity")
def fidelity_view(run: Run) -> Any:
    """Show where a distilled map and its teacher do different things."""
    from distinguo.views.fidelity import fidelity_picture

    return fidelity_picture(run)


Shown = Run | str | Path | Comparison | AveragedCurve | Proof


@overload
def show(
    run: Shown,
    view: str | ViewFunction = ...,
    path: str | Path | None = ...,
    *,
    style: str = ...,
    ax: Axes,
    figsize: None = ...,
) -> Axes: ...


@overload
def show(
    run: Shown,
    view: str | ViewFunction = ...,
    path: str | Path | None = ...,
    *,
    style: str = ...,
    ax: None = ...,
    figsize: tuple[float, float] | None = ...,
) -> Figure: ...


@checks_names()
def show(
    run: Shown,
    view: str | ViewFunction = PARTITION,
    path: str | Path | None = None,
    *,
    style: str = "light",
    ax: Axes | None = None,
    figsize: tuple[float, float] | None = None,
) -> Figure | Axes:
    """Draw a run, or the run in a folder, and return the figure; with a path, also write it there.

    ``view`` is the name of one (``partition``, ``values``, ``phase``, ``critical``, ``regret``, ``family``,
    ``trials``, ``dial``, ``fidelity``, or one of your own), or a function from a run to a picture; the suffix of the
    path is ``.png``, ``.svg`` or ``.pdf``. A comparison is drawn as its learning curves, and a proof as the starts
    that are proven, whatever the view. ``style`` is ``light``, ``dark`` (for dark pages and slides) or ``print``
    (black and white, with a pattern for each action).

    The figure shows itself in a notebook; elsewhere, its method ``show`` opens a window. ``figsize`` is its width and
    height in inches. With ``ax``, a view of one panel is drawn there, and ``ax`` is returned.

    >>> import distinguo
    >>> figure = show(distinguo.learn("puck", seed=1), view="values", figsize=(5, 4))
    >>> figure.axes[0].get_xlabel()
    'x (m)'
    """
    from distinguo.views.colours import drawn_for, restyled
    from distinguo.views.plots import drawn_as_asked, save_figure

    with drawn_as_asked(ax, figsize), drawn_for(style):
        figure = restyled(_drawn(run, view), style)
    if path is not None:
        whole = figure if ax is None else ax.get_figure(root=True)
        save_figure(whole, Path(path))  # type: ignore[arg-type]
    return figure if ax is None else ax


def _drawn(what: Shown, view: str | ViewFunction) -> Figure:
    """Draw a run, a comparison, a curve or a proof."""
    from distinguo.views.plots import draw

    if isinstance(what, Comparison):
        from distinguo.views.curves import curves_figure

        return curves_figure(what.curves)
    if isinstance(what, AveragedCurve):
        from distinguo.views.curves import curves_figure

        return curves_figure([what])
    if isinstance(what, Proof):
        from distinguo.views.proof import proof_figure

        figure = proof_figure(what)
        if figure is None:
            raise DistinguoError(
                "There is no picture of this proof, which rests on trials; print it instead."
            )
        return figure
    opened = presentable(what if isinstance(what, Run) else open_run(what))
    name = view if isinstance(view, str) else view.__name__
    picture = call_user_code(
        f"The view '{name}'", view_named(name) if isinstance(view, str) else view, opened
    )
    drawn: Figure = call_user_code(f"The view '{name}'", draw, picture)
    return drawn


def draw_run(
    run: Run, view: str | ViewFunction = PARTITION, path: Path | None = None, style: str = "light"
) -> Path:
    """Draw a run into a file, by default into its folder, and return where."""
    if path is None:
        if run.path is None:
            raise DistinguoError("This run has no folder to draw into; learn it with out=….")
        path = run.path / f"{slug(view if isinstance(view, str) else view.__name__)}.png"
    show(run, view, path, style=style)
    return path
