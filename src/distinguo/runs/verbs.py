"""What people do with what was learned, as methods: each is the public function of that name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from distinguo.evaluation.audit import Audit
    from distinguo.runs.run import Run
    from distinguo.study.rollout import Rollout
    from distinguo.study.verify import Proof


class Verbs:
    """The methods of a run, and of whatever else a run can be made of.

    They import the whole package when they are called, not before: what they use is built on runs.
    """

    __slots__ = ()

    def _as_run(self) -> Run:
        raise NotImplementedError

    def plot(self, view: str | Callable[[Run], Any] = "partition", path: str | Path | None = None) -> Figure:
        """Draw the map, or another view of the run; with a path it is written there, too. See ``distinguo.show``.

        >>> import distinguo
        >>> distinguo.learn("puck", seed=1).plot().axes[0].get_ylabel()
        'v...'
        """
        import distinguo

        return distinguo.show(self._as_run(), view, path)

    def rollout(
        self, start: Sequence[float] | None = None, *, steps: int | None = None, seed: int = 0
    ) -> Rollout:
        """Follow the greedy policy through one trial. See ``distinguo.rollout``.

        >>> import distinguo
        >>> distinguo.learn("puck", seed=1).rollout((2.0, 3.0))
        Rollout of puck: 7 steps, gained -1, ended in a terminal state
        """
        import distinguo

        return distinguo.rollout(self._as_run(), start, steps=steps, seed=seed)

    def audit(self, **options: Any) -> Audit:
        """Find the states where the map costs reward. See ``distinguo.audit`` for the options.

        >>> import distinguo
        >>> distinguo.learn("puck", seed=1).audit(visits=500).adequate
        1.0
        """
        import distinguo

        return distinguo.audit(self._as_run(), **options)

    def verify(self, **options: Any) -> Proof:
        """Prove what can be proven of the controller. See ``distinguo.verify`` for the options.

        >>> import distinguo
        >>> distinguo.learn("puck", seed=1).verify(cells=40_000).holds
        True
        """
        import distinguo

        return distinguo.verify(self._as_run(), **options)

    def export(self, to: str | Path, **options: Any) -> Path:
        """Write the controller to a file for others. See ``distinguo.export`` for formats and options.

        >>> import distinguo, tempfile
        >>> with tempfile.TemporaryDirectory() as place:
        ...     distinguo.learn("puck", seed=1).export(f"{place}/controller.h").name
        'controller.h'
        """
        import distinguo

        return distinguo.export(self._as_run(), to, **options)

    def explain(self, s: Sequence[float], other: Sequence[float] | None = None) -> Any:
        """Say why it acts as it does in a state, or why two states are kept apart. See ``distinguo.explain``.

        >>> import distinguo
        >>> distinguo.learn("puck", seed=1).explain((0.5, 1.0)).document()["action"]
        'left'
        """
        import distinguo

        return distinguo.explain(self._as_run(), s, other)

    def report(self, out: str | Path, **options: Any) -> Path:
        """Write one page on the run, with its pictures, settings and reasons. See ``distinguo.report``.

        >>> import distinguo, tempfile
        >>> with tempfile.TemporaryDirectory() as place:  # doctest: +SKIP
        ...     distinguo.learn("puck", seed=1).report(f"{place}/puck.html").name
        'puck.html'
        """
        import distinguo

        written: Path = distinguo.report([self._as_run()], out, **options)
        return written

    def play(self, out: str | Path | None = None, **options: Any) -> Any:
        """Animate the greedy policy, in a window or to a file. See ``distinguo.play`` for the options.

        >>> import distinguo, tempfile
        >>> with tempfile.TemporaryDirectory() as place:  # doctest: +SKIP
        ...     distinguo.learn("puck", seed=1).play(f"{place}/puck.gif")
        """
        import distinguo

        return distinguo.play(self._as_run(), out, **options)
