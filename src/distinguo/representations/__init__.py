"""Representations: partitions of the state-space, their capabilities, and their file.

``partition`` says what a partition is; ``voronoi``, ``categories`` and ``boxes`` are the kinds we have, and
``growing`` has those that learners change. ``declare`` makes a partition of your own class, and ``check`` tests it.
``geometry`` serves to draw partitions, ``file`` to write and read them.
"""
