"""Pictures of runs: as values, as pixels, as text.

``show`` knows the views by name and is the door for others. ``pictures``, with ``slices``, ``areas`` and ``tiles``,
computes what is to be seen of a partition; ``plots``, with the room ``drawing``, draws it; ``curves``, ``dial`` and
``proof`` have pictures of their own. ``text`` and ``words`` put a run into words, ``pages`` into HTML.
"""
