"""Features: anything that says how strongly each of its detectors responds to a state.

Definition 1 writes action values as ``Q(s, a_j) = sum_i w_ij f_i(s)``. Of the detectors ``f_i`` only those that
respond matter, so :func:`activate` lists these: their numbers and their strengths. A partition is the case of one
detector at full strength (:class:`distinguo.representations.partition.OneHot`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from distinguo.errors import DistinguoError, attempt, call_user_code, shown
from distinguo.seam import generic, generic_with_default, has_own, implements_interpreted, part

State = tuple[float, ...]
MOST_FEATURES = 10**6  #: of one function


class Workspace(NamedTuple):
    """Room for the features of one state and for its action values; kernels allocate nothing."""

    number: np.ndarray  #: (1,) how many features are active
    active: np.ndarray  #: (room,) their numbers
    strengths: np.ndarray  #: (room,) how strongly each responds
    q: np.ndarray  #: (actions,) the action values of the state


@generic
def activate(features: Any, s: State, active: np.ndarray, strengths: np.ndarray) -> int:
    """Write which features respond to an observation, and how strongly; return how many do."""
    raise NotImplementedError


@generic_with_default
def are_memberships(features: Any) -> bool:
    """Whether strengths are degrees of membership in groups of states; else they are plain numbers."""
    return False


@singledispatch
def count_features(features: Any) -> int:
    """Return the number of features: one row of weights each."""
    raise DistinguoError(
        f"Features are made by tiles, radial_bases, perceptron or FunctionFeatures, got a value of the class "
        f"{type(features).__name__}."
    )


@singledispatch
def room_needed(features: Any) -> int:
    """The length of the arrays for :func:`activate`; by default the number of features."""
    return count_features(features)


@singledispatch
def coordinates_of(features: Any) -> int | None:
    """How many coordinates an observation has; None if unknown."""
    return None


def is_features(thing: Any) -> bool:
    """Whether something is features, and not a partition.

    >>> is_features(3)
    False
    """
    return has_own(activate, thing)


def workspace(features: Any, actions: int) -> Workspace:
    """Return room for the features of a state and for its action values."""
    room = room_needed(features)
    return Workspace(
        np.zeros(1, dtype=np.int64), np.zeros(room, dtype=np.int64), np.zeros(room), np.zeros(actions)
    )


@part
def respond(features: Any, s: State, work: Workspace) -> None:
    """Find the active features of an observation."""
    work.number[0] = activate(features, s, work.active, work.strengths)


@part
def strongest(features: Any, work: Workspace) -> int:
    """Return the group of the state in the workspace; -1 if the features form no groups.

    It is the feature with the strongest response, the first of equal ones: the region of a partition, the tile of
    the first tiling, the nearest centre.
    """
    if not are_memberships(features):
        return -1
    best = 0
    for n in range(1, work.number[0]):
        if work.strengths[n] > work.strengths[best]:
            best = n
    return int(work.active[best])


@part
def add_up(weights: np.ndarray, work: Workspace) -> None:
    """Definition 1 over the active features: the action values of the state in the workspace."""
    for a in range(weights.shape[1]):
        work.q[a] = 0.0
    for n in range(work.number[0]):
        i, f = work.active[n], work.strengths[n]
        for a in range(weights.shape[1]):
            work.q[a] += weights[i, a] * f


def vector_of(features: Any, s: State) -> np.ndarray:
    """Return the features of an observation as one long vector, zeros included.

    >>> from distinguo.features.bases import tiles
    >>> vector_of(tiles(2, [1], low=[0.0], high=[1.0]), (0.75,))
    array([1., 0., 0., 1.])
    """
    work = workspace(features, 0)
    respond(features, s, work)
    vector = np.zeros(count_features(features))
    count = int(work.number[0])
    vector[work.active[:count]] = work.strengths[:count]
    return vector


# Your own features: any function from a state to a vector.


class FunctionFeatures(NamedTuple):
    """A function from a state to the strengths of its features, and their number; it runs as plain Python.

    >>> squares = FunctionFeatures(lambda s: [1.0, s[0] ** 2, s[1] ** 2], features=3)
    >>> active, strengths = np.zeros(3, dtype=np.int64), np.zeros(3)
    >>> activate(squares, (2.0, 3.0), active, strengths), strengths.tolist()
    (3, [1.0, 4.0, 9.0])
    """

    function: Callable[[tuple[float, ...]], Any]
    features: int


@implements_interpreted(activate, FunctionFeatures)
def answers_of(
    features: FunctionFeatures, s: tuple[float, ...], active: np.ndarray, strengths: np.ndarray
) -> int:
    """Ask the function, and check its answer."""
    given = call_user_code("The feature function", features.function, s)
    row = attempt(np.asarray, given, np.float64, otherwise=np.zeros((0, 0)))
    if row.shape != (features.features,) or not np.isfinite(row).all():
        raise DistinguoError(
            f"The feature function should give {features.features} finite numbers for every state, but for {s} it "
            f"gave {_words(row, given)}; fix it, or the number of features."
        )
    strengths[:] = row
    active[:] = np.arange(len(row))
    return len(row)


def _words(row: np.ndarray, given: Any) -> str:
    if row.ndim != 1:
        return shown(given)
    if np.isfinite(row).all():
        return f"{len(row)} numbers"
    place = int(np.flatnonzero(~np.isfinite(row))[0])
    return f"{row[place]} as number {place}"


@count_features.register(FunctionFeatures)
def _(features: FunctionFeatures) -> int:
    count = features.features
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise DistinguoError(f"The number of features should be a whole number from 1, got {shown(count)}.")
    return int(count)
