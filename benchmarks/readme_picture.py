"""Draw the picture of the README: a learned partition and a greedy trial over the critical states of the puck.

python benchmarks/readme_picture.py
"""

from __future__ import annotations

from pathlib import Path

import distinguo

OUT = Path(__file__).parent.parent / "docs" / "images" / "puck.png"


def main() -> None:
    """Learn one run and draw it over the analysis of the task."""
    distinguo.show(distinguo.learn("puck", seed=1), "critical", OUT)


if __name__ == "__main__":
    main()
