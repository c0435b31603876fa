"""A controller as a model of ONNX, for runtimes on phones, in browsers and in engines.

The graph repeats Python's operations for a batch of observations: differences, products, sums in the order of the
coordinates, and the first of the least. Sums are over the first axis, along which runtimes add one term after the
other. The model is run in onnxruntime before it is written, and says how often its action is Python's.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial, singledispatch
from typing import Any, NamedTuple

import numpy as np

from distinguo import __version__
from distinguo.errors import DistinguoError
from distinguo.exports.agreement import Written, agreement_of
from distinguo.exports.decision import Decision
from distinguo.exports.language import Language
from distinguo.representations.boxes import Boxes
from distinguo.representations.categories import Categories
from distinguo.representations.partition import lacking
from distinguo.representations.voronoi import Voronoi

OPSET, IR = 13, 7  #: old enough for runtimes of 2021
INPUT = "observation"


class _Words(Language):
    """What a reader should know, in the words of the model."""

    PROVEN = "It speaks of Python's operations in their order; not all runtimes keep it."

    def observation(self) -> str:
        """The input."""
        return INPUT

    def name(self, name: str) -> str:
        """The names of outputs, and numbers for constants."""
        return {"LIMIT": f"{self.decision.limit:g}"}.get(name, name)


class OnnxGraph:
    """A graph that grows node by node; a value is known by its name."""

    def __init__(self, number: type) -> None:
        self.number = number
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def table(self, name: str, values: Any, kind: type | None = None) -> str:
        """A constant; of numbers of the model by default."""
        import onnx

        self.constants.append(onnx.numpy_helper.from_array(np.asarray(values, kind or self.number), name))
        return name

    def __call__(self, operator: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        """The output of an operator; named if it is one of the model."""
        import onnx

        output = name or f"{operator}_{len(self.nodes)}"
        self.nodes.append(onnx.helper.make_node(operator, list(inputs), [output], **attributes))
        return output

    def cast(self, value: str, kind: str, name: str = "") -> str:
        """A value as another type."""
        import onnx

        return self("Cast", value, name=name, to=getattr(onnx.TensorProto, kind))


@singledispatch
def nearest_in(partition: Any, graph: OnnxGraph, s: str) -> str:
    """The regions of observations, whose coordinates are the rows of ``s``: (dimensions, batch, 1)."""
    raise lacking(partition, "cannot be written as onnx", "take c, for which it may have a method in_c")


@nearest_in.register(Voronoi)
def _(partition: Voronoi, graph: OnnxGraph, s: str) -> str:
    away = graph("Sub", s, graph.table("prototypes", partition.prototypes.T[:, None, :]))
    scaled = graph("Mul", away, graph.table("weight", partition.weight[:, None, None]))
    distance = graph("ReduceSum", graph("Mul", scaled, scaled), _first(graph), keepdims=0)
    return _region_of(graph, partition.regions, graph("ArgMin", distance, axis=1, keepdims=0))


@nearest_in.register(Categories)
def _(partition: Categories, graph: OnnxGraph, s: str) -> str:
    same = graph("Equal", s, graph.table("prototypes", partition.prototypes.T[:, None, :]))
    different = graph("ReduceSum", graph.cast(graph("Not", same), "INT32"), _first(graph), keepdims=0)
    return _region_of(graph, partition.regions, graph("ArgMin", different, axis=1, keepdims=0))


@nearest_in.register(Boxes)
def _(partition: Boxes, graph: OnnxGraph, s: str) -> str:
    lows, highs, regions = _leaves(partition)
    above = graph("GreaterOrEqual", s, graph.table("lows", lows.T[:, None, :]))
    below = graph("Less", s, graph.table("highs", highs.T[:, None, :]))
    inside = graph("ReduceMin", graph.cast(graph("And", above, below), "INT32"), axes=[0], keepdims=0)
    return _region_of(graph, regions, graph("ArgMax", inside, axis=1, keepdims=0))


def _first(graph: OnnxGraph) -> str:
    return graph.table("first_axis", [0], np.int64)


def _region_of(graph: OnnxGraph, regions: np.ndarray, place: str) -> str:
    return graph("Gather", graph.table("regions", regions, np.int64), place, name="region")


def _leaves(partition: Boxes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The lowest and highest coordinates of all leaves, and their regions."""
    n = len(partition.low)
    found = []
    ways = [(0, np.full(n, -np.inf), np.full(n, np.inf))]
    while ways:
        node, low, high = ways.pop()
        i = int(partition.axis[node])
        if i < 0:
            found.append((low, high, int(partition.below[node])))
            continue
        cut = partition.cut[node]
        ways.append(
            (int(partition.below[node]), low, np.where(np.arange(n) == i, np.minimum(cut, high), high))
        )
        ways.append(
            (int(partition.above[node]), np.where(np.arange(n) == i, np.maximum(cut, low), low), high)
        )
    lows, highs, regions = zip(*found, strict=True)
    return np.array(lows), np.array(highs), np.array(regions)


class Shape(NamedTuple):
    """An output: its name, its type, and its columns if it has several."""

    name: str
    kind: str
    columns: int | None = None


def onnx_model(decision: Decision, name: str) -> Any:
    """Return the model of a decision."""
    import onnx

    graph, kind = OnnxGraph(decision.number), {"double": "DOUBLE", "float": "FLOAT"}[decision.arithmetic]
    outputs = [Shape("action", "INT64"), Shape("region", "INT64"), Shape("fault", "BOOL")]
    close = graph("LessOrEqual", graph("Abs", INPUT), graph.table("limit", decision.limit))
    every = graph("ReduceMin", graph.cast(close, "INT32"), axes=[1], keepdims=0)
    usable = graph.cast(every, "BOOL")
    graph("Not", usable, name="fault")
    s = graph("Unsqueeze", graph("Transpose", INPUT, perm=[1, 0]), graph.table("last_axis", [2], np.int64))
    region = nearest_in(decision.named.controller.partition, graph, s)
    actions = graph.table("actions", decision.named.controller.greedy, np.int64)
    safe = graph.table("safe_action", decision.safe_action, np.int64)
    action = graph("Where", usable, graph("Gather", actions, region), safe, name="action")
    if decision.safe_amounts:
        outputs.append(Shape("amounts", kind, len(decision.safe_amounts)))
        _amounts(graph, decision, s, action, usable)
    values = [
        _described(one.name, one.kind, ["batch", *([one.columns] if one.columns else [])]) for one in outputs
    ]
    given = _described(INPUT, kind, ["batch", decision.dimensions])
    body = onnx.helper.make_graph(graph.nodes, name, [given], values, graph.constants)
    opset = [onnx.helper.make_opsetid("", OPSET)]
    return onnx.helper.make_model(
        body, opset_imports=opset, ir_version=IR, producer_name="distinguo", producer_version=__version__
    )


def _described(name: str, kind: str, shape: list[Any]) -> Any:
    import onnx

    return onnx.helper.make_tensor_value_info(name, getattr(onnx.TensorProto, kind), shape)


def _amounts(graph: OnnxGraph, decision: Decision, s: str, action: str, usable: str) -> None:
    """The amounts of laws, cut to their ranges, or those of levels."""
    laws = decision.named.laws
    if laws is None:
        graph("Gather", graph.table("levels", decision.named.amounts), action, name="amounts")
        return
    gains = graph.table("gains", laws.table[:, :, :-1].transpose(2, 0, 1))
    offsets = graph.table("offsets", laws.table[None, :, :, -1])
    products = graph("Mul", graph("Gather", gains, action, axis=1), s)
    terms = graph("Concat", graph("Gather", offsets, action, axis=1), products, axis=0)
    axis = graph.table("terms_axis", [0], np.int64)
    total = graph("ReduceSum", terms, axis, keepdims=0)
    least = graph("Max", total, graph.table("lowest", laws.low))
    within = graph("Min", least, graph.table("highest", laws.high))
    column = graph("Unsqueeze", usable, graph.table("columns_axis", [1], np.int64))
    graph("Where", column, within, graph.table("safe_amounts", decision.safe_amounts), name="amounts")


def to_onnx(decision: Decision, name: str) -> Written:
    """Return a decision as a model, after running it in onnxruntime."""
    try:
        import onnx
        import onnxruntime
    except ImportError:
        raise DistinguoError(
            'The format onnx needs onnx and onnxruntime; run pip install "distinguo[onnx]".'
        ) from None
    model = onnx_model(decision, name)
    onnx.checker.check_model(model)
    found = agreement_of(decision, program=partial(_answers, onnx_session(model), decision))
    assert found is not None
    kind = {"double": "double", "float": "float, 32 bits"}[decision.arithmetic]
    said = f"{kind}, in onnxruntime {onnxruntime.__version__}: {found.words}"
    decision = decision._replace(said=said)
    model.doc_string = "\n".join(_Words(decision).about())
    facts = {
        "coordinates": list(decision.named.dimensions),
        "actions": list(decision.named.actions),
        "safe": decision.safe,
    }
    for key, value in facts.items():
        model.metadata_props.add(key=key, value=json.dumps(value))
    return Written(model.SerializeToString(deterministic=True), decision)


def onnx_session(model: Any) -> Callable[..., list[np.ndarray]]:
    """Return the function of onnxruntime that runs a model."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
    except Exception as why:  # it has classes of its own, which have no public names
        raise DistinguoError(
            f"The installed onnxruntime {onnxruntime.__version__} cannot run this model; update it, or take "
            f"--arithmetic float if it lacks operators in double. It said: {' '.join(str(why).split())}"
        ) from None
    return partial(session.run, None)


def _answers(
    run: Callable[..., list[np.ndarray]], decision: Decision, states: np.ndarray
) -> tuple[np.ndarray, np.ndarray | None]:
    """The actions and amounts of a model at many observations."""
    action, _, _, *amounts = run({INPUT: decision.read(states)})
    return action, amounts[0].astype(float) if decision.named.laws is not None else None
