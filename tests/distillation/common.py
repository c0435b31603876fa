"""What the tests of distilling share: small settings, simple teachers, and sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from distinguo.errors import DistinguoError
from distinguo.search.maps import PrototypeMap, prototype_map

CAR, CART = "MountainCar-v0", "CartPole-v1"
SMALL: dict[str, Any] = {
    "learner.most": 3,
    "learner.starts": 8,
    "learner.rounds": 1,
    "learner.restarts": 2,
    "learner.states": 500,
    "learner.trials": 5,
    "learner.patience": 16,
    "learner.steps": 400_000,
}
QUICK = SMALL | {"learner.costs": False}  #: nothing is tried to find out what a wrong action costs
#: The fit alone, of two prototypes.
QUICKEST = QUICK | {"learner.most": 2, "learner.race": False, "learner.restarts": 1, "learner.trials": 2}


class Predicts:
    """An object with predict; ``facts`` become its attributes."""

    def __init__(self, rule: Callable[[Any], Any], **facts: Any) -> None:
        self.rule = rule
        self.__dict__.update(facts)

    def predict(self, observations: Any) -> Any:
        """Answer whatever the rule does."""
        return self.rule(observations)


def swing(seen: Any) -> int:
    """Drive the car where it goes already."""
    return 2 if seen[1] > 0 else 0


SWINGS = Predicts(lambda rows: np.where(np.atleast_2d(rows)[:, 1] > 0, 2, 0))
DIAGONAL = Predicts(lambda rows: np.where(np.atleast_2d(rows).sum(axis=1) > 0, 0, 1))
#: What SWINGS does, as a map, and two that are worse.
SWINGING = prototype_map([[-0.5, 0.01], [-0.5, -0.01]], [2, 0], [1.8, 0.14])
RESTING = SWINGING._replace(actions=np.array([1, 1]))
STALLING = SWINGING._replace(actions=np.array([0, 2]))


def bits(map_: PrototypeMap) -> list[bytes]:
    """Return all that a map is made of."""
    return [column.tobytes() for column in (*map_.partition, map_.actions)]


def refused(call: Callable[[], Any], words: str) -> None:
    """See that a call is refused in one printable sentence with these words in it."""
    with pytest.raises(DistinguoError) as caught:
        call()
    sentence = str(caught.value)
    assert sentence.isprintable()
    assert words in sentence
