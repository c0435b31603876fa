"""The paper's control representations, each built by its procedure, and the ``catalog`` of representations by name.

The catalog is also the door for others. ``diagonal``, ``uniform`` (the grid), ``vrdp`` with the trials of ``visits``,
``controllability`` with the analysis of ``deviation``, and ``seeds`` are the paper's; ``making`` is what they share.
"""
