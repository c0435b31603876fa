"""The references: C compiled on the spot, and a Gymnasium loop with NumPy."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.tasks.gym.registration import PUCK_ID
from distinguo.tasks.puck.puck import Puck

#: The fastest C with the same bits: the last two options allow vector square roots and comparisons.
FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math")


class _Map(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_int64),
        ("prototypes", ctypes.c_void_p),
        ("weight", ctypes.c_void_p),
        ("policy", ctypes.c_void_p),
    )


def c_compiler() -> str | None:
    """The C compiler of this machine, if it has one."""
    return shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


class CReference:
    """The functions of ``reference.c``, compiled for this machine.

    >>> from distinguo.representations.voronoi import voronoi
    >>> two = voronoi([[0.3, 0.6], [-0.3, -0.6]], [4.8, 11.0])
    >>> controller = Controller(two, np.array([[0.0, -1.0], [-1.0, 0.0]]))
    >>> starts = np.array([[0.0, 0.0], [2.0, 2.0]])
    >>> CReference().run("run_lockstep", Puck(), controller, starts, 1000).tolist()
    [1000, 9]
    """

    def __init__(self) -> None:
        program = c_compiler()
        if program is None:
            raise DistinguoError("There is no C compiler on this machine; install one, for example gcc.")
        source = files("distinguo_lab.bench").joinpath("reference.c").read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "reference.c").write_text(source, encoding="utf-8")
            command = [program, *FLAGS, "-shared", "-fPIC", "reference.c", "-o", "reference.so", "-lm"]
            done = subprocess.run(  # noqa: S603  our own source, by the compiler of this machine
                command, cwd=folder, capture_output=True, text=True, check=False
            )
            if done.returncode:
                raise DistinguoError(f"{program} cannot compile the reference: {done.stderr.strip()[:500]}")
            self._library = ctypes.CDLL(str(Path(folder) / "reference.so"))

    def has(self, name: str) -> bool:
        """Whether there is such a function: some need instructions that not every processor has."""
        return hasattr(self._library, name)

    def run(self, name: str, task: Puck, controller: Controller, starts: np.ndarray, cap: int) -> np.ndarray:
        """Run the trials and return their lengths."""
        partition = controller.partition
        size, count = len(partition.prototypes), len(starts)
        prototypes, starts = np.ascontiguousarray(partition.prototypes), np.ascontiguousarray(starts)
        by_prototype = np.ascontiguousarray(controller.policy[partition.regions], dtype=np.int64)
        lengths, returns = np.zeros(count, dtype=np.int64), np.zeros(count)
        seen = np.zeros(size, dtype=np.uint8)
        kept = _Map(size, *(array.ctypes.data for array in (prototypes, partition.weight, by_prototype)))
        addresses = [ctypes.c_void_p(array.ctypes.data) for array in (starts, lengths, returns, seen)]
        getattr(self._library, name)(
            (ctypes.c_double * 6)(*task),
            ctypes.byref(kept),
            addresses[0],
            ctypes.c_int64(count),
            ctypes.c_int64(cap),
            *addresses[1:],
        )
        return lengths


class GymnasiumLoop:
    """One trial at a time, as written without our kernels: ``env.step`` and ``argmin``.

    >>> from distinguo.representations.voronoi import voronoi
    >>> two = voronoi([[0.3, 0.6], [-0.3, -0.6]], [4.8, 11.0])
    >>> controller = Controller(two, np.array([[0.0, -1.0], [-1.0, 0.0]]))
    >>> GymnasiumLoop(controller).run(np.array([2.0, 2.0]), 1000)
    9
    """

    def __init__(self, controller: Controller) -> None:
        import gymnasium

        partition = controller.partition
        self.env: Any = gymnasium.make(PUCK_ID, disable_env_checker=True)
        self.weight, self.scaled = partition.weight, partition.prototypes * partition.weight
        self.policy = controller.policy[partition.regions]

    def run(self, start: np.ndarray, cap: int) -> int:
        """Run a trial and return its length."""
        s, _ = self.env.reset(options={"state": tuple(start)})
        for length in range(1, cap + 1):
            nearest = np.argmin(((s * self.weight - self.scaled) ** 2).sum(axis=1))
            s, _, ended, _, _ = self.env.step(int(self.policy[nearest]))
            if ended:
                return length
        return cap
