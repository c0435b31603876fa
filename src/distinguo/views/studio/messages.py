"""The messages that a page of the studio may send, and the JSON text of the answers."""

from __future__ import annotations

import json
import math
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from distinguo.errors import DistinguoError, one_line, shown
from distinguo.views.studio.security import LARGEST_MESSAGE

# The messages of a page, field by field; anything else is answered with one sentence.


MOST_STEPS = 500  #: of a simulated trial in one answer
_Pane = Literal[0, 1]
_Id = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
_State = Annotated[list[float], Field(min_length=1, max_length=64)]
#: A name of the catalogue or of Gymnasium's register; a colon would name code to import.
_Task = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*(/[A-Za-z0-9_.-]+)?$", max_length=80)]
_Speed = Annotated[float, Field(ge=1, le=1e9)]


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)


class Open(_Message):
    """Show a run of the folder in a pane."""

    do: Literal["open"]
    pane: _Pane
    run: _Id


class Learn(_Message):
    """Begin to learn; omitted fields get the defaults of the task."""

    do: Literal["learn"]
    pane: _Pane
    task: _Task
    seed: Annotated[int, Field(ge=0, le=2**53)] = 0
    epsilon: float | None = None
    gamma: float | None = None
    regions: int | None = None
    speed: _Speed | None = None  #: environment steps per second; None for full speed
    instead: _Id | None = None  #: a session to end first


class Join(_Message):
    """Show a session that is already there, as after a reload."""

    do: Literal["join"]
    pane: _Pane
    session: _Id


class Look(_Message):
    """Show a moment of the history, or follow the newest one."""

    do: Literal["look"]
    pane: _Pane
    moment: Annotated[int, Field(ge=0, le=10**9)] | None = None


class Drive(_Message):
    """Follow the greedy policy from an observation, from the end of the last answer, or from the start."""

    do: Literal["drive"]
    pane: _Pane
    number: Annotated[int, Field(ge=0, le=10**9)]  #: of the drive, repeated in its answers
    observation: _State | None = None
    state: _State | None = None  #: from the last answer
    steps: Annotated[int, Field(ge=1, le=MOST_STEPS)] = MOST_STEPS


class Explain(_Message):
    """Explain the region of one observation, or why two are (not) kept apart."""

    do: Literal["explain"]
    pane: _Pane
    observations: Annotated[list[_State], Field(min_length=1, max_length=2)]


class Control(_Message):
    """Run a session, pause it, take a step or a trial, or end it."""

    do: Literal["control"]
    session: _Id
    what: Literal["run", "pause", "step", "trial", "close", "keep"]


class Pace(_Message):
    """Change how fast a session learns."""

    do: Literal["pace"]
    session: _Id
    speed: _Speed | None


class Fetch(_Message):
    """Make a file of a run or a session: its report, or its controller for other programs."""

    do: Literal["fetch"]
    run: _Id
    what: Literal["report", "c", "json"]


class Delete(_Message):
    """Delete a run of the folder."""

    do: Literal["delete"]
    run: _Id


class Close(_Message):
    """Empty a pane."""

    do: Literal["close"]
    pane: _Pane


Asked = Open | Learn | Join | Look | Drive | Explain | Control | Pace | Fetch | Delete | Close
_ADAPTER: TypeAdapter[Asked] = TypeAdapter(Annotated[Asked, Field(discriminator="do")])


def understood(text: str) -> Asked:
    """Parse a message.

    >>> understood('{"do": "look", "pane": 1}')
    Look(do='look', pane=1, moment=None)
    >>> understood('{"do": "look", "pane": 7}')
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: The studio does not understand a message: look.pane should be 0 or 1, got 7.
    """
    if len(text) > LARGEST_MESSAGE:
        raise DistinguoError(f"The studio takes messages of {LARGEST_MESSAGE} letters at most.")
    try:
        return _ADAPTER.validate_json(text)
    except ValidationError as error:
        problem: Any = error.errors(include_url=False)[0]
        where = ".".join(str(place) for place in problem["loc"])
        wish = problem["msg"].removeprefix("Input ").rstrip(".")
        raise DistinguoError(
            one_line(
                f"The studio does not understand a message: {where} {wish}, got {shown(problem['input'])}."
            )
        ) from None


# Documents as JSON text.


DIGITS = 6  #: significant digits of numbers sent to the page


def to_text(document: Any) -> str:
    """Return a document as strict JSON; numbers that are not finite become null.

    >>> to_text({"a": [1.23456789, float("inf")]})
    '{"a":[1.23457,null]}'
    """
    return json.dumps(_plain(document), separators=(",", ":"), allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if value is None or isinstance(value, str | int | bool):
        return value
    return _plain(value.tolist()) if hasattr(value, "tolist") else str(value)
