"""Representations: partitions of the state-space, what can be asked of them, and the file they are kept in.

``partition`` says what a partition is; ``voronoi``, ``categories`` (both by ``prototypes``), ``boxes`` with its
``table``, and ``function`` are the kinds there are; ``declare`` is the door for others and ``check`` their test.
``planes`` and ``geometry`` are what is needed to draw them, ``schema`` and ``file`` to keep them.
"""
