"""The certified set in C against Python: the same states, the same steps."""

from __future__ import annotations

import functools
import math
import subprocess
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numba import config

import distinguo as dg
from distinguo.controller import Controller
from distinguo.exports.certified import Untranslatable, certified_in_c
from distinguo.exports.header import to_header
from distinguo.exports.tables import LabelledController
from distinguo.proof.declared.guard import ProgramGuard
from distinguo.proof.declared.question import ask_program
from distinguo.proof.question import Request
from distinguo.proof.schema import ProgramCertificate
from distinguo.proof.verify import Cited, Fingerprint
from distinguo.representations.voronoi import voronoi
from distinguo.seam import part
from distinguo.tasks.catalog import spec_of
from tests.exports.test_header import STRICT, compiler

DRIVER = """
#include "controller.h"
#include <stdio.h>
int main(void)
{
    double s[2];
    while (fread(s, sizeof(double), 2, stdin) == 2) {
        int out[3];
        out[0] = distinguo_certified(s);
        out[1] = distinguo_safe_action(s, 0);
        out[2] = distinguo_safe_action(s, 1);
        fwrite(out, sizeof(int), 3, stdout);
    }
    return 0;
}
"""
BOUND = 1.0


@part
def drag(v, k=0.1):
    """Friction of the air."""
    if v > 0.0:
        return math.copysign(k * v * abs(v), -v)
    return k * v**2


@dg.task(states=("x", "v"), actions=("left", "right"), low=(-1, -2), high=(1, 2))
class Toboggan(NamedTuple):
    """Every kind of statement and most functions; it may slide in a wind that is not known."""

    push: float = 1.0
    wind: float = 0.0
    rng: np.random.Generator = np.random.default_rng(0)

    def transition(self, s, a):
        here = (s[0], s[1])
        x, v = here
        u = self.push if a == 1 else -self.push
        total = 0.0
        for i in range(3):
            total += 0.01 * i * math.sin(x) - math.cos(v) * 0.0
        total += 0.02 * ((v + 1.0) % 3.0) - 0.02 * np.fmod(x, 0.75)
        force = u + drag(v) + min(0.2, max(-0.2, total)) - self.wind * self.rng.uniform(-1.0, 1.0)
        v, last = 0.97 * v + 0.05 * force, v
        x = (
            x
            + 0.05 * (v if v == last or not v < 99.0 else v / 1.0)
            + 0.0 * math.sqrt(x * x + math.exp(-x * x))
        )
        out = abs(x) > BOUND or not (-3.0 < v < 3.0)
        reward = -1.0 if out else 0.0
        return (x, v), reward, out

    def start(self, rng):
        return (rng.uniform(-0.2, 0.2), 0.0)


CONTROLLER = Controller(voronoi([[0.3, 0.6], [-0.3, -0.6]], [2.0, 4.0]), np.array([[0.0, -1.0], [-1.0, 0.0]]))
pytestmark = [
    pytest.mark.second_stage,
    pytest.mark.skipif(bool(config.DISABLE_JIT), reason="many cells"),
]


@functools.cache
def _certified(wind: float) -> ProgramCertificate:
    return ask_program(Request(spec_of(Toboggan(wind=wind)), CONTROLLER, cells=2_500)).certificate


def _build(folder: Path, certificate: ProgramCertificate) -> Path:
    cited = Cited(Fingerprint("certificate.json", "00"), (), certificate)
    named = LabelledController(CONTROLLER, ("x", "v"), ("left", "right"), certificates=cited)
    (folder / "controller.h").write_text(to_header(named))
    (folder / "driver.c").write_text(DRIVER)
    command = [compiler(), *STRICT, "-O2", "driver.c", "-o", "driver", "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "driver"


def _answers(program: Path, states: np.ndarray) -> np.ndarray:
    found = subprocess.run([program], input=states.tobytes(), capture_output=True, check=True).stdout
    return np.frombuffer(found, dtype=np.int32).reshape(-1, 3)


@pytest.mark.parametrize("wind", [0.0, 0.1])
def test_c_and_python_agree_on_100_000_states(tmp_path, wind):
    certificate, task = _certified(wind), Toboggan(wind=wind)
    guard = ProgramGuard(certificate, task)
    states = np.random.default_rng(0).uniform((-1.1, -2.2), (1.1, 2.2), (100_000, 2))
    answers = _answers(_build(tmp_path, certificate), states)
    held, returning = guard.all_held(states), guard.returning(states)
    assert 0.3 < held.mean() < 0.95
    np.testing.assert_array_equal(answers[:, 0] == 1, held)
    own = guard.certified_actions(states, np.full(len(states), -1))
    for a in (0, 1):
        expected = np.where(returning[:, a], a, own)
        if task.wind:  # Python's numbers know how they depend on each other, so it may allow more
            expected = np.where(answers[:, 1 + a] == own, own, expected)
            assert ((answers[:, 1 + a] == a) & (own != a)).sum() > 1_000
        np.testing.assert_array_equal(answers[:, 1 + a], expected)


def test_safe_actions_in_c_never_fail(tmp_path):
    certificate, task = _certified(0.1), Toboggan(wind=0.1, rng=np.random.default_rng(1))
    rng = np.random.default_rng(2)
    states = rng.uniform((-1, -2), (1, 2), (2_000, 2))
    states = states[ProgramGuard(certificate, task).all_held(states)]
    program = _build(tmp_path, certificate)
    for _ in range(40):
        answers = _answers(program, states)
        chosen = answers[np.arange(len(states)), 1 + rng.integers(2, size=len(states))]
        for n, a in enumerate(chosen):
            states[n], _, failed = task.transition(tuple(states[n].tolist()), int(a))
            assert not failed


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [("0.05 *", "2 // 1 *", "without remainder"), ("abs(x)", "(x or v)", "joins numbers")],
)
def test_what_cannot_be_translated_is_said(old, new, why):
    certificate = _certified(0.0)
    claim = certificate.model_dump()
    source = claim["task"]["functions"]["transition"]
    assert old in source
    claim["task"]["functions"]["transition"] = source.replace(old, new)
    with pytest.raises(Untranslatable, match=why):
        certified_in_c(type(certificate).model_validate(claim), "sled")
