"""What all tests share."""

from __future__ import annotations

import signal

import pytest
from hypothesis import settings

from tests.nightly import so_many

# A shell may start us in the background with Ctrl-C switched off, and our children would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A first call may compile for seconds, and a busy machine is no reason to fail.
settings.register_profile("distinguo", deadline=None, max_examples=so_many(100, nightly=500))
settings.load_profile("distinguo")

#: Two workers take files from the top of this list. One of them compiles the learner; meanwhile the
#: other has files that do not need it, so that nothing is compiled twice. Then come long ones, then all the others.
FIRST = (
    "tests/runs/test_warm.py",
    "tests/evaluation/lockstep/test_voronoi.py",
    "tests/evaluation/lockstep/test_boxes.py",
    "tests/proof/test_arrival.py",
    "tests/learners/test_beyond_the_paper.py",
    "tests/agents/test_archive.py",
    "tests/proof/test_certificate.py",
    "tests/comparison/test_compare.py",
    "tests/cli/test_cli.py",
    "tests/lab/paper/test_generation.py",
    "tests/lab/paper/test_reproduce.py",
    "tests/runs/test_resume.py",
    "tests/runs/test_any_task.py",
    "tests/proof/test_verify.py",
    "tests/cli/test_cli_test.py",
    "tests/views/test_planes.py",
    "tests/views/test_tiles.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files that are to be run first first, and leave all else as it is."""
    place = {name: n for n, name in enumerate(FIRST)}
    items.sort(key=lambda item: place.get(item.nodeid.partition("::")[0], len(FIRST)))
