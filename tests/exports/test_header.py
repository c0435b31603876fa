"""The header against Python, a million states at a time, and on the borders."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.exports.header import to_header
from distinguo.exports.language import comment
from distinguo.exports.tables import LabelledController
from distinguo.proof.verify import Cited, Fingerprint
from distinguo.representations.boxes import Boxes, grid
from distinguo.representations.categories import Categories
from distinguo.representations.partition import region
from distinguo.representations.voronoi import Voronoi, voronoi
from distinguo.tasks.amounts import amounts, amounts_of, laws
from tests.exports.controllers import boxes_controller, categories_controller, states_for, voronoi_controller

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
DRIVER = """
#include "controller.h"
#include <stdio.h>
int main(void)
{
    static double states[4096 * %(n)d];
    static int answers[4096 * 2];
    size_t got;
    while ((got = fread(states, sizeof(double) * %(n)d, 4096, stdin)) > 0) {
        for (size_t k = 0; k < got; k++) {
            answers[2 * k] = %(prefix)s_region(states + %(n)d * k);
            answers[2 * k + 1] = %(prefix)s_action(states + %(n)d * k);
        }
        fwrite(answers, 2 * sizeof(int), got, stdout);
    }
    return 0;
}
"""


def compiler() -> str:
    found = shutil.which("cc") or shutil.which("gcc")
    assert found, "these tests compile the exported header: install a C compiler (for example gcc)"
    return found


def build(folder: Path, header: str, dimensions: int, flags: list[str], prefix: str = "distinguo") -> Path:
    (folder / "controller.h").write_text(header)
    (folder / "driver.c").write_text(DRIVER % {"n": dimensions, "prefix": prefix})
    program = folder / "driver"
    done = subprocess.run(
        [compiler(), *flags, "driver.c", "-o", str(program)], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return program


def in_c(program: Path, states: np.ndarray) -> np.ndarray:
    output = subprocess.run([program], input=states.tobytes(), capture_output=True, check=True).stdout
    return np.frombuffer(output, dtype=np.intc).reshape(-1, 2)


def in_numpy(partition: Voronoi | Boxes | Categories, states: np.ndarray) -> np.ndarray:
    """Return the regions of many states by whole-array operations, each rounded as in the scalar loop."""
    if isinstance(partition, Boxes):
        node = np.zeros(len(states), dtype=np.int64)
        while (inner := partition.axis[node] >= 0).any():
            coordinate = states[np.arange(len(states)), partition.axis[node]]
            child = np.where(coordinate < partition.cut[node], partition.below[node], partition.above[node])
            node = np.where(inner, child, node)
        return partition.below[node]
    nearest, least = np.zeros(len(states), dtype=np.int64), np.full(len(states), np.inf)
    for p in range(len(partition.prototypes)):
        distance = np.zeros(len(states))
        if isinstance(partition, Categories):
            distance += (states != partition.prototypes[p]).sum(axis=1)
        else:
            for i, weight in enumerate(partition.weight):
                d = (states[:, i] - partition.prototypes[p, i]) * weight
                distance += d * d
        nearest[distance < least] = p
        least = np.where(distance < least, distance, least)
    return partition.regions[nearest]


CASES = [
    ("two", 500_000, lambda rng: voronoi_controller(rng, 2, 2)),
    ("plane", 1_000_000, lambda rng: voronoi_controller(rng, 24, 2)),
    ("line", 50_000, lambda rng: voronoi_controller(rng, 9, 1)),
    ("large", 50_000, lambda rng: voronoi_controller(rng, 200, 2)),
    ("space", 200_000, lambda rng: voronoi_controller(rng, 40, 4)),
    ("lander", 200_000, lambda rng: voronoi_controller(rng, 60, 8)),
    ("label", 50_000, lambda rng: categories_controller(rng, 5, 1)),
    ("labels", 500_000, lambda rng: categories_controller(rng, 40, 3)),
    ("all labels", 100_000, lambda rng: categories_controller(rng, 49, 2)),
    ("one", 1_000, lambda rng: voronoi_controller(rng, 1, 2)),
    ("boxes", 1_000_000, lambda rng: boxes_controller(rng, 8, 2)),
    ("deep", 200_000, lambda rng: boxes_controller(rng, 14, 3)),
]


@pytest.mark.parametrize(("name", "count", "make"), CASES, ids=[case[0] for case in CASES])
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning", "ignore:overflow:RuntimeWarning")
def test_c_and_python_agree_on_every_state(name: str, count: int, make, tmp_path: Path) -> None:
    rng = np.random.default_rng(sum(map(ord, name)))
    controller = make(rng)
    partition = controller.controller.partition
    states = states_for(partition, rng, count)
    program = build(tmp_path, to_header(controller), states.shape[1], [*STRICT, "-O2"])
    answers = in_c(program, states)
    regions = in_numpy(partition, states)
    np.testing.assert_array_equal(answers[:, 0], regions)
    good = (abs(states) <= 1e100).all(axis=1)  # false of NaN
    assert 4 <= (~good).sum() < 10
    np.testing.assert_array_equal(answers[good, 1], controller.controller.greedy[regions[good]])
    assert not answers[~good, 1].any(), "the safe action is the first one"
    some = [*rng.integers(count, size=300).tolist(), *range(count - 6, count)]
    for n in some:  # and by the scalar source itself
        assert region(partition, tuple(states[n].tolist())) == answers[n, 0]
    assert len(set(regions.tolist())) > 1 or name == "one"


def test_states_between_prototypes_are_among_the_tests() -> None:
    rng = np.random.default_rng(1)
    partition = voronoi_controller(rng, 24, 2).controller.partition
    assert isinstance(partition, Voronoi)
    states = states_for(partition, rng, 10_000)[:5_000]
    distances = (((states[:, None] - partition.prototypes[:24]) * partition.weight) ** 2).sum(axis=2)
    ties = (distances == distances.min(axis=1, keepdims=True)).sum(axis=1) > 1
    assert ties.sum() > 50


def test_labels_that_differ_equally_from_several_prototypes_are_among_the_tests() -> None:
    rng = np.random.default_rng(1)
    partition = categories_controller(rng, 40, 3).controller.partition
    assert isinstance(partition, Categories)
    states = states_for(partition, rng, 10_000)[:5_000]
    different = (states[:, None] != partition.prototypes[:40]).sum(axis=2)
    ties = (different == different.min(axis=1, keepdims=True)).sum(axis=1) > 1
    assert 1000 < ties.sum() < 5000


def test_the_header_says_what_its_input_is() -> None:
    rng = np.random.default_rng(1)
    assert "s is the observation as the task gives it" in to_header(voronoi_controller(rng, 4, 4))
    assert "exact label" in to_header(categories_controller(rng, 4, 1))


def test_contraction_off_keeps_the_bits_on_a_machine_with_fused_operations(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    prototypes = rng.normal(size=(50, 2))
    partition = voronoi(prototypes, [4.8, 11.0])
    controller = LabelledController(Controller(partition, rng.normal(size=(50, 2))), ("x", "v"), ("l", "r"))
    pairs = rng.integers(50, size=(100_000, 2))
    states = prototypes[pairs].mean(axis=1)  # nearly on borders, where one rounding decides
    program = build(tmp_path, to_header(controller), 2, ["-O3", "-march=native", "-ffp-contract=off"])
    np.testing.assert_array_equal(in_c(program, states)[:, 0], in_numpy(partition, states))


def test_header_is_cpp_too_and_two_of_them_live_in_one_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    (tmp_path / "a.h").write_text(to_header(voronoi_controller(rng, 5, 2), "first"))
    (tmp_path / "b.h").write_text(to_header(boxes_controller(rng, 3, 2), "second"))
    source = (
        '#include "a.h"\n#include "b.h"\n#include "a.h"\n'
        "int main(void) { double s[2] = {0.0, 0.0}; return first_action(s) + second_region(s) > 99; }\n"
    )
    (tmp_path / "main.c").write_text(source)
    subprocess.run([compiler(), *STRICT, "main.c", "-o", "main"], cwd=tmp_path, check=True)
    subprocess.run(["./main"], cwd=tmp_path, check=True)
    if shutil.which("c++"):
        (tmp_path / "main.cpp").write_text(source)
        flags = ["-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic"]
        subprocess.run(["c++", *flags, "-c", "main.cpp"], cwd=tmp_path, check=True)


def test_words_from_files_cannot_leave_the_comment(tmp_path: Path) -> None:
    hostile = "*/ #error /* ??/ \\\n é \x00"
    partition = grid([2, 1], [0.0, 0.0], [1.0, 1.0])
    controller = LabelledController(
        Controller(partition, np.eye(2)),
        (hostile, "v"),
        (hostile, "2"),
        hostile,
        (0.0, 0.0),
        (1.0, 1.0),
        {hostile: hostile},
        Cited(Fingerprint("certificate.json", "ab" * 32, hostile), (hostile,)),
    )
    header = to_header(controller)
    build(tmp_path, header, 2, STRICT)
    assert "ab" * 32 in header
    assert header.isascii()
    assert comment("*/*/") == "* / * /"


@pytest.mark.parametrize("name", ["", "1st", "a-b", "_x", "x" * 50, "é"])
def test_a_name_that_is_no_identifier_is_refused(name: str) -> None:
    with pytest.raises(DistinguoError, match="--name should be a letter"):
        to_header(boxes_controller(np.random.default_rng(0), 2, 2), name)


def test_levels_come_with_what_they_are(tmp_path: Path) -> None:
    two = Controller(voronoi([[1.0], [-1.0]], [1.0]), np.array([[0.0, -1.0], [-1.0, 0.0]]))
    amounts = ((-0.1, 2.0), (1 / 3, -1e-30))
    named = LabelledController(two, ("x",), ("-0.1/+2", "+0.3333/-1e-30"), amounts=amounts)
    header = to_header(named)
    assert "DISTINGUO_ACTION_MINUS_0_1_2 = 0" in header
    (tmp_path / "controller.h").write_text(header)
    (tmp_path / "use.c").write_text(
        '#include <stdio.h>\n#include "controller.h"\nint main(void)\n{\n    double s[2][1] = {{3.0}, {-3.0}};\n'
        '    for (int n = 0; n < 4; n++) printf("%.17g\\n", distinguo_amount(s[n / 2], n % 2));\n    return 0;\n}\n'
    )
    subprocess.run([compiler(), *STRICT, "use.c", "-o", "use"], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "use"], capture_output=True, text=True, check=True)
    assert [float(word) for word in done.stdout.split()] == [*amounts[0], *amounts[1]]
    assert "_amount" not in to_header(named._replace(amounts=()))


def test_levels_that_differ_by_their_sign_have_names() -> None:
    three = Controller(voronoi([[1.0], [-1.0]], [1.0]), np.array([[0.0, -1.0, 0.0], [-1.0, 0.0, 0.0]]))
    header = to_header(LabelledController(three, ("x",), ("-1", "+0", "+1")))
    assert "enum { DISTINGUO_ACTION_MINUS_1 = 0, DISTINGUO_ACTION_0 = 1, DISTINGUO_ACTION_1 = 2 };" in header


LAWS_DRIVER = """
#include "controller.h"
#include <stdio.h>
int main(void)
{
    double s[3], out[2];
    while (fread(s, sizeof s, 1, stdin) == 1) {
        out[0] = distinguo_amount(s, 0);
        out[1] = distinguo_amount(s, 1);
        fwrite(out, sizeof out, 1, stdout);
    }
    return 0;
}
"""


def test_laws_have_the_same_bits_in_c(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    controller = Controller(voronoi(rng.normal(size=(3, 3)), [1.0, 2.0, 0.5]), np.eye(3))
    known = laws(rng.normal(size=(3, 2, 4)), amounts((-1.0, 0.0), (1.0, 0.7)))
    named = LabelledController(controller, ("a", "b", "c"), ("one", "two", "three"), laws=known)
    (tmp_path / "controller.h").write_text(to_header(named))
    (tmp_path / "driver.c").write_text(LAWS_DRIVER)
    done = subprocess.run(
        [compiler(), *STRICT, "-O3", "driver.c", "-o", "driver"], cwd=tmp_path, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    rows = rng.normal(size=(20_000, 3))
    answer = subprocess.run(
        [str(tmp_path / "driver")], input=rows.tobytes(), capture_output=True, check=True
    ).stdout
    mine = [amounts_of(known, controller.action(row), row) for row in rows.tolist()]
    found = np.frombuffer(answer).reshape(-1, 2)
    assert (found == np.array(mine)).all()
    assert {-1.0, 1.0} <= set(found[:, 0].tolist()), "both ends of the range are reached"
