"""The picture of a study: the score of every learner on each task, and performance profiles over all tasks."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from distinguo.evaluation.statistics import CONFIDENCE, iqm_interval, performance_profile
from distinguo.studies.plan import HELD_OUT
from distinguo.studies.study import Study, variant_name
from distinguo.views.colours import HUES
from distinguo.views.plots import (
    FULL,
    SMALL,
    draw,
    dress,
    entitle,
    explain_marks,
    new_figure,
    patch,
    save_figure,
)

ACROSS = 3  #: panels in a row
BARS = 201  #: places of a profile


class StudyPicture(NamedTuple):
    """Scores by task, and profiles.

    >>> scores = {"puck": {"a": (0.5, 0.4, 0.6), "b": (0.9, 0.8, 1.0)}}
    >>> len(draw(StudyPicture("two learners", ("a", "b"), scores, (), {})).axes)
    1
    """

    title: str
    names: tuple[str, ...]  #: of the learners and their settings
    #: By task and name: the interquartile mean of the scores, and its interval.
    scores: dict[str, dict[str, tuple[float, float, float]]]
    bars: tuple[float, ...]  #: scores on the plan's scale; empty if it does not have all tasks
    profiles: dict[str, tuple[float, ...]]  #: by name: the share of all runs above each of them


def study_picture(study: Study) -> StudyPicture:
    """Compute the picture of the held-out seeds."""
    scores: dict[str, dict[str, tuple[float, float, float]]] = {}
    for row in study.results():
        if row.part == HELD_OUT and len(row.scores):
            scores.setdefault(row.cell.task, {})[variant_name(row.cell, study.plan)] = iqm_interval(
                [row.scores]
            )
    names = tuple(dict.fromkeys(variant_name(cell, study.plan) for cell in study.plan.cells))
    bars, profiles = np.zeros(0), {}
    if study.summary():
        scaled = {name: np.concatenate(groups) for name, groups in study.scaled().items()}
        every = np.concatenate(list(scaled.values()))
        bars = np.linspace(min(0.0, every.min()), max(1.0, every.max()), BARS)
        profiles = {name: tuple(performance_profile(one, bars).tolist()) for name, one in scaled.items()}
    runs = sum(len(row.runs) for row in study.results() if row.part == HELD_OUT)
    title = f"{runs:,} runs on held-out seeds"
    return StudyPicture(title, names, scores, tuple(bars.tolist()), profiles)


@draw.register(StudyPicture)
def draw_study(picture: StudyPicture) -> Figure:
    """Draw a panel for each task, and one for the profiles."""
    panels = len(picture.scores) + bool(picture.profiles)
    down = -(-panels // ACROSS)
    tall = 0.9 + 0.16 * len(picture.names)
    figure = new_figure(0.8 + down * max(1.3, tall), FULL)
    every = (
        list(figure.subplots(down, ACROSS, squeeze=False).ravel()) if panels > 1 else [figure.add_subplot()]
    )
    for axes in every[panels:]:
        axes.remove()
    for axes, (task, scores) in zip(every, picture.scores.items(), strict=False):
        _draw_scores(axes, task, picture.names, scores)
    if picture.profiles:
        _draw_profiles(every[panels - 1], picture)
    entitle(figure, picture.title)
    if len(picture.names) > 1:
        explain_marks(figure, [(name, patch(HUES[n % len(HUES)])) for n, name in enumerate(picture.names)])
    return figure


def _draw_scores(
    axes: Axes, task: str, names: tuple[str, ...], scores: dict[str, tuple[float, float, float]]
) -> None:
    for place, name in enumerate(names):
        if name in scores:
            mean, low, high = scores[name]
            hue = HUES[place % len(HUES)]
            axes.plot(
                [low, high], [-place, -place], color=hue, linewidth=5, alpha=0.45, solid_capstyle="butt"
            )
            axes.plot(mean, -place, "|", color=hue, markersize=9, markeredgewidth=2)
    axes.set_ylim(0.6 - len(names), 0.4)
    dress(axes, f"{task}: score, {CONFIDENCE:.0%} interval".replace("%", " %"), "")
    axes.set_yticks([])
    axes.locator_params(axis="x", nbins=4)
    axes.margins(x=0.12)


def _draw_profiles(axes: Axes, picture: StudyPicture) -> None:
    for place, name in enumerate(picture.names):
        if name in picture.profiles:
            axes.step(picture.bars, picture.profiles[name], color=HUES[place % len(HUES)], linewidth=1.2)
    axes.set_ylim(-0.03, 1.03)
    dress(axes, "score on the plan's scale", "share of runs above it")
    axes.tick_params(labelsize=SMALL)


def draw_study_file(study: Study, path: Path) -> Path:
    """Draw the picture of a study into a file."""
    save_figure(draw_study(study_picture(study)), path)
    return path
