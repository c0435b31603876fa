"""One cell of a plan as a pure function of plain data, so that any engine can run it anywhere."""

from __future__ import annotations

from typing import Any

from distinguo.checks import checked
from distinguo.lab.plan import Cell, Plan
from distinguo.representation.file import Representation, dumps, loads
from distinguo.tasks.catalog import world
from distinguo.testing.extent import Extent
from distinguo.testing.settings import TesterSettings
from distinguo.testing.tester import Exam, learning_curve

Payload = dict[str, Any]


def pack(plan: Plan, cell: Cell, representation: Representation, extent: Extent) -> Payload:
    """Put everything that decides the result of a cell into plain data."""
    return {
        "key": cell.key,
        "task": plan.world.name,
        "parameters": dict(plan.world.parameters),
        "interpreted": plan.world.interpreted,
        "representation": dumps(representation),
        "tester": plan.variants[cell.variant]._asdict(),
        "extent": [list(extent.low), list(extent.high)],
        "seed": plan.head.seed,
        "run": cell.run,
    }


def work(payload: Payload) -> dict[str, Any]:
    """Run a cell."""
    representation = loads(payload["representation"], payload["key"])
    exam = Exam(
        world(payload["task"], payload["parameters"], payload.get("interpreted", False)),
        representation.partition,
        representation.rows,
        checked(TesterSettings, payload["tester"], "tester"),
        Extent(*(tuple(side) for side in payload["extent"])),
    )
    curve = learning_curve(exam, payload["seed"], payload["run"])
    return {"key": payload["key"], "run": payload["run"], **curve._asdict()}
