"""Pictures of runs: as values, as pixels, as text.

``show`` knows the views by name and is the door for others. ``pictures``, with ``slices``, ``tiles`` and ``sheets``,
computes what is to be seen; ``plots``, with ``colours``, ``curves`` and ``proof``, draws it; ``text``, ``notebook``
and ``report`` put it into words and pages.
"""
