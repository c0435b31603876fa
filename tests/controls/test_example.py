"""Representations of one's own: by name, by code on the command line, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from distinguo.cli.parse import code_or_word
from distinguo.comparison.sources import name_of, representation_named
from distinguo.controls import build_representation, registered_name, representation
from distinguo.errors import DistinguoError
from distinguo.representations.declare import FunctionPartition
from distinguo.representations.file import Representation
from distinguo.representations.voronoi import Voronoi, voronoi
from distinguo.tasks.catalog import task_spec
from tests.controls import needs_speed
from tests.views.runs import made_up

EXAMPLES = Path(__file__).parents[2] / "examples"
HILL = task_spec("puck")
QUICK = ["--runs", "1", "--steps", "3000", "--cap", "500"]


def test_the_examples_run(tmp_path: Path) -> None:
    words = {}
    for name in ("own_partition", "own_representation"):
        command = [sys.executable, str(EXAMPLES / f"{name}.py")]
        done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
        words[name] = done.stdout
    assert words["own_partition"].startswith("PartitionCheck(regions=4, ")
    assert words["own_partition"].endswith("unreached=())\n")
    assert words["own_representation"] == "40 regions\n"


@needs_speed
def test_the_examples_are_tested_by_the_command_line(tmp_path: Path) -> None:
    whats = [f"{EXAMPLES}/own_partition.py:Bands", f"{EXAMPLES}/own_representation.py:scattered", "diagonal"]
    command = [sys.executable, "-m", "distinguo", "test", *whats, *QUICK, "--json"]
    done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    curves = json.loads(done.stdout.splitlines()[-1])["curves"]
    assert [(curve["representation"], curve["regions"]) for curve in curves] == [
        ("Bands", 4),
        ("scattered", 25),
        ("diagonal", 2),
    ]


def test_a_builder_is_found_by_its_name_and_by_its_code() -> None:
    word = f"{EXAMPLES}/own_representation.py:scattered"
    assert registered_name(code_or_word(word)) == "scattered"
    made = build_representation("scattered:7", HILL, seed=3)
    assert made.regions == 7
    assert made.dimensions == ("x", "v")
    assert made.provenance["control"] == "scattered:7"
    again = representation_named("scattered:7", HILL, seed=3)
    assert again.partition.prototypes.tolist() == made.partition.prototypes.tolist()


def halves(spec: Any, seed: int) -> Voronoi:
    return voronoi([spec.low, spec.high], spec.scale)


MADE = voronoi([[0.0, 0.0]], [1.0, 1.0])
FUNCTION = FunctionPartition(lambda s: 0, 1)
RUN = made_up("puck", 5)


@pytest.mark.parametrize(
    ("what", "regions", "name"),
    [
        (halves, 2, "halves"),
        (MADE, 1, "Voronoi"),
        (FUNCTION, 1, "FunctionPartition"),
        (Representation(MADE, ("x", "v")), 1, "Representation"),
        (RUN, RUN.representation.regions, "puck-seed0"),
        (Path("grid:2x2"), 4, "grid:2x2"),
    ],
)
def test_a_representation_may_come_as_a_value(what: Any, regions: int, name: str) -> None:
    assert representation_named(what, HILL, seed=0).regions == regions
    assert name_of(what) == name


def test_a_run_in_a_folder_is_called_by_it() -> None:
    assert name_of(RUN._replace(path=Path("runs/mine"))) == "runs/mine"


def test_what_is_no_representation_is_refused() -> None:
    for what in (3, [1.0], lambda spec, seed: None):
        with pytest.raises(
            DistinguoError, match=r"should be a representation, a partition .* or features, got a value of"
        ):
            representation_named(what, HILL, seed=0)
    with pytest.raises(DistinguoError, match="Representation has 1 dimensions"):
        representation_named(Representation(voronoi([[0.0]], [1.0]), ("x",)), HILL, seed=0)
    with pytest.raises(DistinguoError, match="'diagonal' takes nothing after a colon, got 'diagonal:3'"):
        build_representation("diagonal:3", HILL, seed=0)
    with pytest.raises(DistinguoError, match="letters, digits and dashes, got 'my map'"):
        representation("my map")(halves)


def test_a_name_is_given_once_and_kept() -> None:
    assert registered_name(halves) == registered_name(halves) == "halves"
    assert build_representation("halves", HILL, seed=0).regions == 2
    assert registered_name(FUNCTION) == "FunctionPartition"
    assert np.isfinite(build_representation("FunctionPartition", HILL, seed=0).regions)
