"""The greedy policy at work: a trial as a film, with the system beside its path over the map.

``scenes`` says what a system looks like. ``film`` chooses the moments to show, and plays them or writes them to a
file. ``drawing`` turns them into pixels.
"""
