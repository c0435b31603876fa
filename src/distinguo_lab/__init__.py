"""The lab: everything that exists only for comparison.

It has the paper's case study and its claims, the paper's more complex control representations, the systems that the
paper compares itself with, and benchmarks of our kernels against C. It extends distinguo by the entry points in
``pyproject.toml``, as any other package may.
"""
