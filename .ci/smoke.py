"""An installed package is whole: imported from where it was installed, with its data and entry points. It learns."""

import sys
import tempfile
from pathlib import Path

import distinguo as dg
from distinguo.learners.catalog import learner_names
from distinguo.views.studio.server import assets

assert Path(dg.__file__).is_relative_to(sys.prefix), dg.__file__
assert {"kd-tree", "economy"} <= set(learner_names())
assert len(assets()) > 5
run = dg.learn("puck", seed=1)
assert run.solved
with tempfile.TemporaryDirectory() as folder:
    dg.export(run, "c", Path(folder) / "puck.h")
    dg.report(run, Path(folder) / "report.html")
