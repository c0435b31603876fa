"""Every verb on a map of laws: one run of two laws, one of them a constant, and what each command says of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks import proven_laws
from benchmarks.proven_laws import HeldPendulum

import distinguo as dg
from distinguo.representations.voronoi import voronoi
from distinguo.runs.folder import open_run, write_run
from distinguo.tasks.amounts import with_laws
from tests.cli.test_cli import Call, call  # noqa: F401 - a fixture

TASK = f"{proven_laws.__file__}:HeldPendulum"
pytestmark = pytest.mark.second_stage


@pytest.fixture(scope="module")
def laws(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of two laws: a held pendulum, and a torque to the left far on the right."""
    folder = tmp_path_factory.mktemp("laws")
    run = dg.learn(HeldPendulum(), seed=0, out=folder / "learned")
    spec = with_laws(run.configuration.spec, [[[-20.0, -5.0, 0.125]], [[0.0, 0.0, -1.0]]])
    two = run._replace(
        configuration=run.configuration._replace(spec=spec),
        representation=run.representation._replace(partition=voronoi([[0.0, 0.0], [0.7, 0.0]], [0.6, 3.0])),
        q=np.eye(2),
        updates=np.zeros((2, 2), dtype=np.int64),
        history=(),
    )
    write_run(two, folder / "run")
    return folder / "run"


#: A command, and words that it should say.
SAID = [
    (("show", "RUN"), "law_0: u = 0.125 - 20 angle - 5 rate, within -1 .. 1"),
    (("show", "RUN"), "-1: u = -1\n"),
    (("show", "RUN", "--out", "map.svg"), "Picture: map.svg"),
    (("show", "RUN", "--view", "phase", "--out", "phase.png"), "Picture: phase.png"),
    (("explain", "RUN", "--task", TASK, "--state", "0.01,0"), "Its law gives u -0.075: -0.2 from angle, 0.125"),
    (("explain", "RUN", "--task", TASK, "--state", "0.01,0", "--and=0.5,0"), "taking u = -1 is best"),
    (("play", "RUN", "--task", TASK, "--steps", "5", "--out", "film.gif"), "Film: film.gif"),
    (("export", "RUN", "--to", "c", "--out", "map.h"), "Controller: map.h"),
    (("export", "RUN", "--to", "json", "--out", "map.json"), "Controller: map.json"),
    (("export", "RUN", "--to", "npz", "--out", "map.npz"), "Controller: map.npz"),
    (("export", "RUN", "--to", "dot", "--out", "map.dot"), "Controller: map.dot"),
    (("export", "RUN", "--to", "arduino", "--out", "map.zip"), "Controller: map.zip"),
    (("audit", "RUN", "--task", TASK), "Greatest regret"),
    (("condense", "RUN", "--task", TASK, "--out", "small"), "Folder: small"),
    (("report", "RUN", "--out", "report.html"), "Report: report.html"),
    # from here on, each command that cites the certificate checks it
    (("verify", "RUN", "--task", TASK), "Proven: from every start the controller never fails"),
    (("test", "RUN"), "takes amounts (u), and the learner of a test chooses among a few actions"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "said"), SAID, ids=lambda part: "-".join(part[:1]) if isinstance(part, tuple) else ""
)
def test_a_command_says_what_it_should(
    words: tuple[str, ...],
    said: str,
    laws: Path,
    call: Call,  # noqa: F811
) -> None:
    answer = call(*(str(laws) if word == "RUN" else word for word in words))
    assert said in answer.out + answer.err
    assert "Traceback" not in answer.err


def test_a_picture_shows_the_amounts(laws: Path) -> None:
    """Lines of equal torque where the law is not cut, none where it is constant; in dark, light and print."""
    run = open_run(laws, task=HeldPendulum())
    for style in ("light", "dark", "print"):
        figure = dg.show(run, style=style)
        (lines,) = [c for c in figure.axes[0].collections if type(c).__name__ == "QuadContourSet"]
        assert lines.levels.tolist() == [-0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75]
        ends = np.vstack([path.vertices for path in lines.get_paths() if len(path.vertices)])
        assert (np.abs(0.125 - 20 * ends[:, 0] - 5 * ends[:, 1]) < 1.1).all()
