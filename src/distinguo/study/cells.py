"""One cell of a plan as a pure function of plain data, so that any engine can run it anywhere."""

from __future__ import annotations

from typing import Any

from distinguo.evaluation.tester import Exam, learning_curve
from distinguo.representation.file import Representation, can_be_written, dumps, loads
from distinguo.settings import TesterSettings, checked
from distinguo.study.plan import Cell, Plan
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.extent import Extent

Payload = dict[str, Any]


def pack(plan: Plan, cell: Cell, representation: Representation, extent: Extent) -> Payload:
    """Put everything that decides the result of a cell into plain data."""
    return {
        "key": cell.key,
        "task": plan.spec.name,
        "parameters": dict(plan.spec.parameters),
        "interpreted": plan.spec.interpreted,
        "representation": dumps(representation)
        if can_be_written(representation.partition)
        else representation,
        "tester": plan.variants[cell.variant]._asdict(),
        "extent": [list(extent.low), list(extent.high)],
        "seed": plan.head.seed,
        "run": cell.run,
    }


def work(payload: Payload) -> dict[str, Any]:
    """Run a cell."""
    representation = payload["representation"]
    if isinstance(representation, str):
        representation = loads(representation, payload["key"])
    exam = Exam(
        task_spec(payload["task"], payload["parameters"], payload.get("interpreted", False)),
        representation.partition,
        representation.rows,
        checked(TesterSettings, payload["tester"], "tester"),
        Extent(*(tuple(side) for side in payload["extent"])),
    )
    curve = learning_curve(exam, payload["seed"], payload["run"])
    return {"key": payload["key"], "run": payload["run"], **curve._asdict()}
