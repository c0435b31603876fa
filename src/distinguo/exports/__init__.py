"""Controllers for others: a learned run as a C header, JSON, a graph or plain arrays.

``write`` chooses the format; ``labelled`` is the controller with its names and its certificates;
``header`` (C), ``document`` (JSON) and ``graph`` (DOT) are the formats, ``tables`` and ``neighbours`` what partitions
contribute to them.
"""
