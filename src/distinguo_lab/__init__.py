"""The lab: what is only there to compare, beside the core that a user needs.

The paper's case study and its claims, its control representations beyond the simple ones, the systems that it is
compared with, and our kernels beside C. All of it enters distinguo by the entry points in ``pyproject.toml``, as any
other package may.
"""
