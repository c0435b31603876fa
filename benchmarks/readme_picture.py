"""Draw the picture of the README: a learned partition over the critical states of the puck.

python benchmarks/readme_picture.py
"""

from __future__ import annotations

from pathlib import Path

import distinguo
from distinguo.tasks.puck.analysis import MUST_PUSH_LEFT, MUST_PUSH_RIGHT, analyse
from distinguo.tasks.puck.puck import Puck
from distinguo.views.pictures import partition_picture
from distinguo.views.plots import draw_partition, save_figure

OUT = Path(__file__).parent.parent / "docs" / "images" / "puck.png"


def main() -> None:
    """Learn one run and draw it over the analysis of the task."""
    run = distinguo.learn("puck", seed=1)
    figure = draw_partition(partition_picture(run))
    critical = analyse(Puck())
    for code, colour in ((MUST_PUSH_LEFT, "#08306b"), (MUST_PUSH_RIGHT, "#7f2704")):
        states = critical.states(code)
        figure.axes[0].plot(states[:, 0], states[:, 1], ",", color=colour)
    save_figure(figure, OUT)


if __name__ == "__main__":
    main()
