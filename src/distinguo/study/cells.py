"""One cell of a plan as a pure function of its payload, so that any engine can run it anywhere.

A payload is plain data, unless the plan holds a partition or a task that cannot be written to a file; then it holds
the thing itself, and only threads of this process can run it.
"""

from __future__ import annotations

from typing import Any

from distinguo.evaluation.tester import Evaluation, learning_curve
from distinguo.representations.file import Representation, loads
from distinguo.settings import TesterSettings, checked
from distinguo.study.plan import Plan, PlanCell
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.extent import Extent
from distinguo.tasks.spec import TaskSpec

Payload = dict[str, Any]


def payload_of(plan: Plan, cell: PlanCell, representation: str | Representation, extent: Extent) -> Payload:
    """Put everything that decides the result of a cell together; a representation comes as the text of its file."""
    return {
        "key": cell.key,
        "task": plan.spec if plan.in_memory else plan.task_by_name,
        "representation": representation,
        "tester": plan.variants[cell.variant]._asdict(),
        "extent": [list(extent.low), list(extent.high)],
        "seed": plan.head.seed,
        "run": cell.run,
    }


def run_cell(payload: Payload) -> dict[str, Any]:
    """Run a cell."""
    task, representation = payload["task"], payload["representation"]
    if isinstance(representation, str):
        representation = loads(representation, payload["key"])
    evaluation = Evaluation(
        task if isinstance(task, TaskSpec) else task_spec(**task),
        representation.partition,
        representation.rows,
        checked(TesterSettings, payload["tester"], "tester"),
        Extent(*(tuple(side) for side in payload["extent"])),
    )
    curve = learning_curve(evaluation, payload["seed"], payload["run"])
    return {"key": payload["key"], "run": payload["run"], **curve._asdict()}
