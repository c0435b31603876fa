"""Pictures of runs: as values, as pixels, as text.

``show`` knows the views by name and registers new ones. ``pictures`` and ``areas`` compute what a picture of a
partition contains; ``plots`` draws it. ``curves``, ``states``, ``family``, ``fidelity`` and ``proof`` have their own
pictures. ``text``, ``words`` and ``descriptions`` put a run into words; ``report`` and ``notebook`` write HTML.
"""
