"""Controllers for others: a learned run as a program, a decision list, JSON, a graph or plain arrays.

``write`` chooses the format and writes JSON and arrays, ``header`` writes C, ``modules`` Python and JavaScript,
``structured_text`` what programmable logic controllers read, ``onnx`` a model, ``fmu`` a unit for simulation tools,
``markdown`` a decision list and ``graph`` DOT. ``tables`` has what they share: the controller with its names, and its
partition as tables.
"""
