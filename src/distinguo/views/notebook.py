"""A run as a fragment of HTML, for notebooks."""

from __future__ import annotations

from distinguo.runs.run import Run


def run_html(run: Run) -> str:
    """Return the map and the figures of a run."""
    return f"<pre>{run!r}</pre>"
