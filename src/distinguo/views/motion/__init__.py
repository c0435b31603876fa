"""The greedy policy at work: a trial as a film, with the system beside its way over the map.

``scenes`` and ``images`` say what a system looks like, ``film`` what is to be seen when; ``drawing`` makes pixels of
it, and ``play`` shows them or writes them to a file.
"""
