"""A controller as one JSON document, for readers in any language."""

from __future__ import annotations

import json
from typing import Any

from distinguo import __version__
from distinguo.exports.labelled import LabelledController
from distinguo.representations import file as representation_file

FORMAT = "distinguo-controller"
VERSION = 1


def to_document(named: LabelledController) -> str:
    """Return the representation, and the action and the values of each region, as JSON text.

    >>> import numpy as np
    >>> from distinguo.controller import Controller
    >>> from distinguo.representations.voronoi import voronoi
    >>> two = Controller(voronoi([[1.0], [-1.0]], [1.0]), np.array([[0.0, -1.0], [-1.0, 0.0]]))
    >>> json.loads(to_document(LabelledController(two, ("x",), ("left", "right"))))["regions"][1]
    {'region': 1, 'action': 1, 'values': [-1.0, 0.0]}
    """
    head: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "distinguo": __version__,
        "task": named.task,
        "actions": list(named.actions),
    }
    if named.certificate is not None:
        head["certificate"] = named.certificate._asdict()
    lines = [f"  {json.dumps(key)}: {json.dumps(value, allow_nan=False)}" for key, value in head.items()]
    regions = ",\n".join("    " + json.dumps(row, allow_nan=False) for row in _regions(named))
    lines.append(f'  "regions": [\n{regions}\n  ]')
    inner = representation_file.dumps(named.representation).strip().replace("\n", "\n  ")
    lines.append(f'  "representation": {inner}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _regions(named: LabelledController) -> list[dict[str, Any]]:
    greedy, q = named.controller.greedy, named.controller.q
    return [{"region": j, "action": int(greedy[j]), "values": q[j].tolist()} for j in named.numbers]
