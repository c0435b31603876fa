"""What a certificate of arrival says: which car, which controller, which starts, within how many steps."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from distinguo.proof.schema import BoxesClaim, Finite, Strict, VoronoiClaim
from distinguo.tasks.mountain_car import MountainCar

CAR: Literal["MountainCar-v0"] = "MountainCar-v0"
Start = Annotated[list[Finite], Field(min_length=4, max_length=4)]


class CarClaim(Strict):
    """The car in the valley, with these parameters."""

    name: Literal["MountainCar-v0"]
    parameters: dict[str, Finite]

    @model_validator(mode="after")
    def _sense(self) -> Self:
        given = self.parameters
        if tuple(given) != MountainCar._fields:
            raise ValueError(f"a car has the parameters {', '.join(MountainCar._fields)}")
        if not given["min_position"] < given["max_position"] or not given["max_speed"] > 0:
            raise ValueError("the car should have room to drive")
        if not min(given["force"], given["gravity"]) > 0:
            raise ValueError("force and gravity should be positive")
        return self


class StartsClaim(Strict):
    """Boxes of starts, low x, high x, low v, high v, and the steps within which all of each arrive."""

    boxes: Annotated[list[Start], Field(min_length=1)]
    steps: list[Annotated[int, Field(ge=1)]]

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if len(self.steps) != len(self.boxes):
            raise ValueError("every box of starts should have its steps")
        if not all(box[0] <= box[1] and box[2] <= box[3] for box in self.boxes):
            raise ValueError("the sides of every box of starts should be in order")
        return self


class ArrivalCertificate(Strict):
    """The claim that every start of the boxes is at the goal after at most so many steps.

    It holds whatever the controller does among tied actions.
    """

    task: CarClaim
    controller: Annotated[VoronoiClaim | BoxesClaim, Field(discriminator="kind")]
    starts: StartsClaim
    domain: str  #: the starts in words, for those who only want to name them

    @model_validator(mode="after")
    def _told(self) -> Self:
        if self.domain != domain_of(self.starts):
            raise ValueError("the words for the starts do not fit them")
        return self


def domain_of(starts: StartsClaim) -> str:
    """Say roughly which starts are meant.

    >>> domain_of(StartsClaim(boxes=[[-0.6, -0.5, 0.0, 0.0], [-0.5, -0.4, 0.0, 0.0]], steps=[110, 120]))
    '2 boxes of starts between (-0.6, 0) and (-0.4, 0), at the goal within 120 steps'
    """
    low, high = ([f(box[i] for box in starts.boxes) for i in p] for f, p in ((min, (0, 2)), (max, (1, 3))))
    corners = " and ".join(f"({x:g}, {v:g})" for x, v in (low, high))
    count = len(starts.boxes)
    return f"{count} boxes of starts between {corners}, at the goal within {max(starts.steps)} steps"
