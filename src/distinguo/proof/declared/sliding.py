"""Sliding: where a controller switches between two actions at every other step, and whether it settles there.

On the border of two regions whose actions push a state back to the border from both sides, the state slides along it.
What it does there is one smooth map, the mixture of the two actions that stays on the border. The eigenvalues of that
map say what no short simulation does: with a modulus above one the state drifts away, however slowly.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from distinguo.proof.declared.flow import Flow
from distinguo.proof.number.form import Form
from distinguo.proof.number.paths import TooManyPathsError
from distinguo.proof.number.program import Program, start_boxes
from distinguo.representations.voronoi import Voronoi

NEAR = 1e-7  #: half the width of the cell whose image gives a Jacobian
TURNS, ENOUGH = 60, 1e-11  #: of Newton's method, and the residual that ends it
SAME = 1e-6  #: by how much, relatively, another prototype may be nearer at the point


class Border(NamedTuple):
    """The border of the regions of two prototypes: the states with ``normal . state = offset``.

    The first prototype is the nearer one where ``normal . state`` is smaller.
    """

    normal: np.ndarray
    offset: float
    prototypes: tuple[int, int]


class Sliding(NamedTuple):
    """A point on a border at which the mixture of two actions rests, and the map around it."""

    point: np.ndarray
    matrix: np.ndarray  #: one step of the mixture that stays on the border, linear around the point
    eigenvalues: np.ndarray  #: of the matrix, the greatest modulus first; one is 0, across the border
    modulus: float  #: the greatest; above 1 the state drifts away
    border: Border
    mean: np.ndarray  #: the Jacobian of the mixture, before it is kept on the border
    push: np.ndarray  #: the difference that the second action makes to the first

    @property
    def is_stable(self) -> bool:
        """Whether states near the point come nearer."""
        return self.modulus < 1.0


def sliding(program: Program, controller: Any) -> Sliding | None:
    """The sliding point of a controller that is nearest to the middle of the starts; None if there is none.

    >>> from distinguo.controller import Controller
    >>> from distinguo.proof.number.program import program_of
    >>> from distinguo.representations.voronoi import voronoi
    >>> from distinguo.tasks.cart_pole import CartPole
    >>> two = voronoi([[0.1, 0.2, 1.0, 0.3], [-0.1, -0.2, -1.0, -0.3]], [1.0, 1.0, 1.0, 1.0])
    >>> right_if_leaning_right = Controller(two, np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> found = sliding(program_of(CartPole()), right_if_leaning_right)
    >>> found.point.round(6).tolist(), round(found.modulus, 4)
    ([0.0, 0.0, 0.0, 0.0], 0.9858)
    """
    if not isinstance(controller.partition, Voronoi):
        return None
    flow = Flow(program, controller, {})
    low, high = start_boxes(program, {})[0]
    middle = 0.5 * (low + high)
    found = [
        one
        for pair in combinations(range(len(controller.partition.prototypes)), 2)
        if (one := _on_border(flow, pair, middle)) is not None
    ]
    return min(found, key=lambda one: float(np.abs(one.point - middle).sum()), default=None)


def image_and_jacobian(flow: Flow, point: np.ndarray, a: int) -> tuple[np.ndarray, np.ndarray] | None:
    """The next state of one state by an action, noise at its middle, and its derivatives; None if there is none."""
    forms = Form.of_cells(point[:, None], NEAR * np.eye(len(point)))
    try:
        paths = [path for path in flow.step(forms, a) if len(path.kept)]
    except TooManyPathsError:
        return None
    if not paths:
        return None
    after = paths[0].result[0]
    value = np.array([form.centre[0] for form in after])
    jacobian = np.array([form.gradient[:, 0] for form in after]) / NEAR
    return (value, jacobian) if np.isfinite(value).all() and np.isfinite(jacobian).all() else None


def _on_border(flow: Flow, pair: tuple[int, int], first: np.ndarray) -> Sliding | None:
    """The point on the border of two prototypes at which a mixture of their actions rests, by Newton's method."""
    controller = flow.policy
    partition = controller.partition
    actions = [int(controller.greedy[partition.regions[p]]) for p in pair]
    if actions[0] == actions[1]:
        return None
    d, point, share = len(first), first.copy(), 0.5
    for _ in range(TURNS):
        one, other = (image_and_jacobian(flow, point, a) for a in actions)
        if one is None or other is None:
            return None
        (f, df), (g, dg) = one, other
        normal, offset = _border(flow, pair, point)
        rest = np.append((1.0 - share) * f + share * g - point, normal @ point - offset)
        slope = np.zeros((d + 1, d + 1))
        slope[:d, :d], slope[:d, d], slope[d, :d] = (1.0 - share) * df + share * dg - np.eye(d), g - f, normal
        try:
            move = np.linalg.solve(slope, rest)
        except np.linalg.LinAlgError:
            return None
        point, share = point - move[:d], share - move[d]
        if not np.isfinite(point).all() or np.abs(point).max() > 1e6:
            return None
        if np.abs(move).max() < ENOUGH:
            break
    else:
        return None
    return _judged(flow, pair, point, share, (f, df, g, dg))


def _border(flow: Flow, pair: tuple[int, int], point: np.ndarray) -> tuple[np.ndarray, float]:
    """The border in the coordinates of states: what is observed is taken as linear around the point."""
    seen = flow.seen(Form.of_cells(point[:, None], NEAR * np.eye(len(point))))
    values = np.array([form.centre[0] for form in seen])
    slopes = np.array([form.gradient[:, 0] for form in seen]) / NEAR
    partition = flow.policy.partition
    (p, q), weight = partition.prototypes[list(pair)], partition.weight**2
    normal = 2.0 * (q - p) * weight
    offset = float(((q * q - p * p) * weight).sum())
    turned = normal @ slopes
    scale = np.abs(turned).max()
    if not scale > 0.0:
        return turned, 0.0
    return turned / scale, float(offset - normal @ values + turned @ point) / scale


def _judged(
    flow: Flow, pair: tuple[int, int], point: np.ndarray, share: float, images: tuple[np.ndarray, ...]
) -> Sliding | None:
    """The sliding at a point: none if another prototype is nearer there, or if the actions push off the border."""
    f, df, g, dg = images
    normal, offset = _border(flow, pair, point)
    partition = flow.policy.partition
    seen = np.array(
        [form.centre[0] for form in flow.seen(Form.of_cells(point[:, None], np.zeros((len(point), 1))))]
    )
    distances = (((seen - partition.prototypes) * partition.weight) ** 2).sum(axis=1)
    push = g - f
    away = float(normal @ push)
    if (
        distances[list(pair)].max() > distances.min() * (1.0 + SAME) + SAME
        or not 0.0 < share < 1.0
        or away >= 0.0
    ):
        return None
    mean = (1.0 - share) * df + share * dg
    matrix = mean - np.outer(push, normal @ mean) / away
    eigenvalues = np.linalg.eigvals(matrix)
    eigenvalues = eigenvalues[np.argsort(-np.abs(eigenvalues), kind="stable")]
    modulus = float(np.abs(eigenvalues[0]))
    return Sliding(point, matrix, eigenvalues, modulus, Border(normal, offset, pair), mean, push)
