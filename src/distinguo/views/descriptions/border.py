"""The border of a map with two prototypes as what it is, an inequality that a control engineer can read."""

from __future__ import annotations

import numpy as np

from distinguo.representations.planes import learned_extent
from distinguo.representations.voronoi import Voronoi
from distinguo.runs.run import Run

LEAST = 1e-3  #: share of the weightiest coordinate below which a coordinate is left out
DIGITS = 4


def border_in_words(run: Run) -> str:
    """Say on which side of which border each action is taken; nothing unless there are just two prototypes.

    A coordinate weighs by how much it changes the sum over the extent that the map was made for.

    >>> import distinguo as dg
    >>> swing = dg.distil(lambda s: 2 if s[1] > 0 else 0, "MountainCar-v0", settings={"learner.most": 2})
    >>> border_in_words(swing.run).split(" if ")[0] in ("right", "left")
    True
    """
    partition = run.representation.partition
    if (
        not isinstance(partition, Voronoi)
        or len(partition.prototypes) != 2
        or len(set(partition.regions)) != 2
    ):
        return ""
    weights, bound = border_of(partition)
    spread = _spread(run)
    share = np.abs(weights) * spread
    if not share.max() > 0.0:
        return ""
    lead = int(share.argmax())
    first, second = (run.action(place) for place in (partition.prototypes[0], partition.prototypes[1]))
    above, below = (second, first) if weights[lead] > 0 else (first, second)
    scaled, names = weights / weights[lead], run.configuration.spec.dimensions
    order = [i for i in np.argsort(-share, kind="stable") if share[i] >= LEAST * share[lead]]
    terms = " ".join(_term(float(scaled[i]), names[i], i == lead) for i in order)
    return f"{above} if {terms} > {bound / weights[lead]:.{DIGITS}g}, else {below}"


def border_of(partition: Voronoi) -> tuple[np.ndarray, float]:
    """Return weights and a bound: an observation is nearer to the second prototype if its weighted sum is above.

    >>> from distinguo.representations.voronoi import voronoi
    >>> weights, bound = border_of(voronoi([[-1.0, 0.0], [3.0, 0.0]], [2.0, 1.0]))
    >>> weights.tolist(), bound  # nearer to (3, 0) where x > 1
    ([2.0, 0.0], 2.0)
    """
    one, other = partition.prototypes
    weights = 2.0 * (other - one) / partition.scale**2
    return weights, float(((other**2 - one**2) / partition.scale**2).sum())


def _spread(run: Run) -> np.ndarray:
    spec = run.configuration.spec
    low, high = learned_extent(run.representation.provenance, spec.low, spec.high)
    spread = np.array(high) - np.array(low)
    return np.where(np.isfinite(spread), spread, 1.0)


def _term(factor: float, name: str, leads: bool) -> str:
    if leads:
        return name
    return f"{'+' if factor >= 0 else '-'} {abs(factor):.{DIGITS}g} {name}"
