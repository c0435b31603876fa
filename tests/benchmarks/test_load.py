"""Load, in small: what took for ever with thousands of prototypes takes seconds, and memory stays flat."""

from __future__ import annotations

import gc
import json
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from numba import config

import distinguo
from distinguo.representations.geometry import Plane
from distinguo.views.pictures import MOST_CELLS, partition_picture, regions_in
from distinguo.views.text import reasons_table
from tests.nightly import NIGHTLY
from tests.test_golden import benchmark
from tests.views.runs import EIGHT, made_up

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="large maps need compiled code")
SIZE, SECONDS = (100_000, 60.0) if NIGHTLY else (8_000, 10.0)


@pytest.mark.parametrize("subject", ["load-2", "load-8", "show-2", "show-8", "export-2", "export-8"])
def test_a_large_map_comes_back(subject: str, tmp_path: Path) -> None:
    begun = time.process_time()
    exporting = subject.startswith("export")  # in twelve formats, of which three are measured
    benchmark("load").SUBJECTS[subject][1](SIZE // 4 if exporting and not NIGHTLY else SIZE, tmp_path)
    assert time.process_time() - begun < (2 if exporting else 1) * SECONDS


@pytest.mark.parametrize("task", ["puck", EIGHT])
def test_places_of_a_large_map_have_the_regions_of_their_states(task: str) -> None:
    run = made_up(task, 600)
    partition, rng = run.representation.partition, np.random.default_rng(0)
    at = tuple(rng.uniform(-1.0, 1.0, len(run.representation.dimensions)).tolist())
    plane, places = Plane((0, 1), at), rng.uniform(-2.0, 2.0, (300, 2))
    states = [plane.state(x, y) for x, y in places.tolist()]
    expected = [distinguo.region(partition, s) for s in states]
    assert regions_in(partition, plane, places).tolist() == expected


def test_a_picture_of_very_many_cells_says_how_it_was_drawn() -> None:
    few, many = partition_picture(made_up("puck", 50)), partition_picture(made_up("puck", MOST_CELLS + 1))
    assert few.note == ""
    assert many.note == f"{MOST_CELLS + 1:,} prototypes, drawn by 160 x 120 places"
    assert len(many.cells) <= 160 * 120
    assert many.prototypes == ()
    area = sum((c.outline[1][0] - c.outline[0][0]) * (c.outline[2][1] - c.outline[1][1]) for c in many.cells)
    assert area == pytest.approx((many.high[0] - many.low[0]) * (many.high[1] - many.low[1]))


def test_of_very_many_reasons_only_the_latest_are_kept() -> None:
    """They may be read one by one from a file: whoever keeps them all takes the memory of all."""
    entry = {
        "event": "split",
        "step": 9,
        "prototypes": [0, 1],
        "regret": 0.5,
        "rules": [],
        "states": [[0.0, 0.0], [0.5, 0.5]],
        "profiles": [[0.0, 1.0], [1.0, 0.0]],
    }
    run = made_up("puck", 5)._replace(reasons=Reasons(50_000, json.dumps(entry)))  # type: ignore[arg-type]
    tracemalloc.start()
    table = reasons_table(run)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "(49,988 earlier ones are in reasons.jsonl)" in table
    assert peak < 2**20


class Reasons:
    """As many reasons, each made when it is asked for."""

    def __init__(self, count: int, line: str) -> None:
        self.count, self.line = count, line

    def __iter__(self) -> object:
        return ({**json.loads(self.line), "trial": n} for n in range(self.count))


def test_many_runs_in_one_process_leave_nothing_behind(tmp_path: Path) -> None:
    runs = benchmark("load").runs
    runs(10, tmp_path)
    tracemalloc.start()
    runs(100, tmp_path)  # Python keeps small objects for later
    before = _traced()
    runs(2000 if NIGHTLY else 100, tmp_path)
    grown = _traced() - before
    tracemalloc.stop()
    assert grown < 100_000  # a single kept run would take as much in no time


def _traced() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def test_cells_of_a_comparison_take_the_same_time_each(tmp_path: Path) -> None:
    begun = time.perf_counter()
    benchmark("load").cells(10_000 if NIGHTLY else 100, tmp_path)
    assert time.perf_counter() - begun < (300.0 if NIGHTLY else 30.0)
