"""A controller as a functional mock-up unit (FMI 2.0), which simulation tools import; built by pythonfmu.

The unit holds the module of Python, so it gives the same answers. It needs Python where it is imported, because
pythonfmu does not bring one along.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tempfile
import uuid
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

from distinguo.errors import DistinguoError
from distinguo.exports.decision import Decision
from distinguo.exports.language import comment
from distinguo.exports.modules import to_python
from distinguo.reading.files import read_bytes
from distinguo.writing import pack_files

LARGEST = 10**9  #: bytes of a unit
DESCRIPTION = "modelDescription.xml"
OUTPUTS = ("action", "fault", "region")
DATE = re.compile(rb' generationDateAndTime="[^"]*"')
LISTED = re.compile(rb"<Outputs>(.*?)</Outputs>", re.DOTALL)

SLAVE = '''

from pythonfmu import Boolean, Fmi2Causality, Fmi2Slave, Fmi2Variability, Integer, Real

INPUTS = {inputs!r}


class Controller(Fmi2Slave):
    """Reads coordinates, and tells what to do there."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.modelName = {name!r}
        self.guid = {guid!r}
        self.description = {about!r}
        self.s = [0.0] * DIMENSIONS
        given, told = Fmi2Causality.input, {{"causality": Fmi2Causality.output}}
        steps = {{**told, "variability": Fmi2Variability.discrete}}
        for i, (name, about) in enumerate(INPUTS):
            read, write = self.s.__getitem__, self.s.__setitem__
            ends = {{"getter": lambda i=i: read(i), "setter": lambda value, i=i: write(i, value)}}
            self.register_variable(Real(name, causality=given, description=about, **ends), nested=False)
        self.register_variable(Integer("action", getter=lambda: action(self.s), **steps))
        self.register_variable(Integer("region", getter=lambda: region(self.s), **steps))
        self.register_variable(Boolean("fault", getter=lambda: fault(self.s) == 1, **steps))
        for i in range({amounts}):
            self.register_variable(Real("amount_%d" % i, getter=lambda i=i: amount(self.s, i), **told))

    def do_step(self, current_time, step_size):
        return True
'''


def to_fmu(decision: Decision, name: str) -> bytes:
    """Return a decision as a unit for co-simulation, whose outputs follow its inputs at once."""
    if find_spec("pythonfmu") is None:
        raise DistinguoError('The format fmu needs pythonfmu; run pip install "distinguo[fmu]".')
    text = to_python(decision)
    guid = uuid.uuid5(uuid.NAMESPACE_URL, name + text)
    slave = SLAVE.format(
        inputs=list(zip(input_names(decision), map(comment, decision.named.dimensions), strict=True)),
        name=name,
        guid=str(guid),
        about=f"A controller for {comment(decision.named.task or 'an unknown task')}, exported by distinguo",
        amounts=len(decision.safe_amounts),
    )
    with tempfile.TemporaryDirectory() as place:
        script = Path(place) / f"{name}_{guid.hex}.py"  # several units live in one process
        script.write_text(text + slave, encoding="utf-8")
        unit = Path(place) / f"{name}.fmu"
        command = [sys.executable, "-P", "-m", "pythonfmu", "build", "-f", str(script), "-d", str(unit)]
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode or not unit.is_file():
            raise DistinguoError(
                f"pythonfmu could not build the unit: {' '.join(done.stderr.split())[-500:]}"
            )
        return _completed(read_bytes(unit, LARGEST))


def input_names(decision: Decision) -> list[str]:
    """The names of the inputs: those of the coordinates if they can be.

    >>> import numpy as np
    >>> from distinguo.controller import Controller
    >>> from distinguo.exports.decision import decision_of
    >>> from distinguo.exports.tables import LabelledController
    >>> from distinguo.representations.voronoi import voronoi
    >>> two = Controller(voronoi([[1.0, 0.0, 0.0]], [1.0] * 3), np.array([[0.0, -1.0]]))
    >>> input_names(decision_of(LabelledController(two, ("x", "fault", "pole angle"), ("left", "right"))))
    ['x', 's1', 'pole_angle']
    """
    words = [re.sub(r"[^A-Za-z0-9_]", "_", word) for word in decision.named.dimensions]
    return [
        word if re.match("[A-Za-z]", word) and words.count(word) == 1 and not _taken(word) else f"s{i}"
        for i, word in enumerate(words)
    ]


def _taken(word: str) -> bool:
    return word in OUTPUTS or re.fullmatch(r"s\d+|amount_\d+", word) is not None


def _completed(unit: bytes) -> bytes:
    """The unit with the list of initial unknowns, which pythonfmu forgets, and without the time of day."""
    with ZipFile(io.BytesIO(unit)) as built:
        files = {one: built.read(one) for one in sorted(built.namelist())}
    about = DATE.sub(b"", files[DESCRIPTION])
    files[DESCRIPTION] = LISTED.sub(rb"\g<0><InitialUnknowns>\1</InitialUnknowns>", about)
    return pack_files(files)
