"""A controller as one JSON document, for readers in any language."""

from __future__ import annotations

import json
from typing import Any

from distinguo import __version__
from distinguo.export.controller import Controller
from distinguo.representation import file as representation_file

FORMAT = "distinguo-controller"
VERSION = 1


def to_document(controller: Controller) -> str:
    """Return the representation, and the action and the values of each region, as JSON text.

    >>> import numpy as np
    >>> from distinguo.representation.voronoi import voronoi
    >>> two = representation_file.Representation(voronoi([[1.0], [-1.0]], [1.0]), ("x",))
    >>> text = to_document(Controller(two, np.array([[0.0, -1.0], [-1.0, 0.0]]), ("left", "right")))
    >>> json.loads(text)["regions"][1]
    {'region': 1, 'action': 1, 'values': [-1.0, 0.0]}
    """
    head: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "distinguo": __version__,
        "task": controller.task,
        "actions": list(controller.actions),
    }
    if controller.certificate is not None:
        head["certificate"] = controller.certificate._asdict()
    lines = [f"  {json.dumps(key)}: {json.dumps(value, allow_nan=False)}" for key, value in head.items()]
    regions = ",\n".join("    " + json.dumps(row, allow_nan=False) for row in _regions(controller))
    lines.append(f'  "regions": [\n{regions}\n  ]')
    inner = representation_file.dumps(controller.representation).strip().replace("\n", "\n  ")
    lines.append(f'  "representation": {inner}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _regions(controller: Controller) -> list[dict[str, Any]]:
    greedy = controller.greedy
    return [
        {"region": j, "action": int(greedy[j]), "values": controller.q[j].tolist()}
        for j in controller.numbers
    ]
