"""What a run with a learned model knows of a state: the answers that its investigations would get."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distinguo.errors import DistinguoError, attempt, checks_names, path_from, shown
from distinguo.learners.catalog import MODEL
from distinguo.learners.model.model import LearnedModel, ask, find_neighbours, model_of
from distinguo.learners.model.store import Store, checked_store
from distinguo.reading.arrays import read_arrays
from distinguo.representations.growing import GrowingVoronoi
from distinguo.representations.partition import checked_point
from distinguo.runs.folder import CHECKPOINT, open_run
from distinguo.runs.run import Run


class Prediction(NamedTuple):
    """The model's answer for one action; without a next state if it knows too little."""

    action: str
    tuples: int  #: within reach, at most as many as an answer uses
    needed: int  #: for an answer
    after: tuple[float, ...] | None
    reward: float | None
    ended: bool | None

    @property
    def is_known(self) -> bool:
        """Whether there was an answer."""
        return self.after is not None


@checks_names()
def ask_model(run: Run | str | Path, state: Sequence[float]) -> list[Prediction]:
    """Ask the model of a run in a folder, learned by ``--learner model``, what each action leads to from a state.

    Raises if the model knows too little of the state for every action.

    >>> import distinguo, tempfile
    >>> folder = tempfile.mkdtemp() + "/run"
    >>> short = {"stage.cap": 500, "stage.hold": 500}
    >>> run = distinguo.learn("puck", learner="model", seed=1, settings=short, out=folder)
    >>> [(p.action, [round(x, 2) for x in p.after], p.reward) for p in ask_model(folder, (0.1, 0.5))]
    [('left', [0.11, 0.45], 0.0), ('right', [0.11, 0.57], 0.0)]
    >>> ask_model(folder, (-2.3, 5.4))
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: The model of puck knows too little of (-2.3, 5.4): within a distance of 0.5 ...
    """
    opened, model = _opened(run)
    task = opened.configuration.spec.name
    s = checked_point(model.partition, state)
    names, width = opened.configuration.spec.actions, model.spare.shape[1]
    if len(s) != width:
        raise DistinguoError(f"A state of {task} has {width} numbers, got {shown(state)}.")
    answers = [_answer(model, np.array(s), a, name) for a, name in enumerate(names)]
    if not any(answer.is_known for answer in answers):
        kept = " and ".join(f"{answer.tuples} tuples of {answer.action}" for answer in answers)
        raise DistinguoError(
            f"The model of {task} knows too little of {shown(tuple(s))}: within a distance of "
            f"{model.reach:g} it keeps {kept}, and an answer needs {answers[0].needed}; ask about a state nearer to "
            "those it visited, or let it learn more."
        )
    return answers


def _answer(model: LearnedModel, s: np.ndarray, a: int, name: str) -> Prediction:
    count, needed = find_neighbours(model, s, a), len(model.scratch.near)
    if count < needed:
        return Prediction(name, count, needed, None, None, None)
    after = np.empty_like(s)
    reward, ended = ask(model, s, a, after)
    return Prediction(name, count, needed, tuple(map(float, after)), float(reward), bool(ended))


def _opened(run: Run | str | Path) -> tuple[Run, LearnedModel]:
    """Open a run, and the experience in its checkpoint."""
    path = run.path if isinstance(run, Run) else path_from(run)
    if path is None:
        raise DistinguoError(
            "The experience of a run is in its folder, and this one was learned in memory; learn it with out=FOLDER."
        )
    opened = open_run(path)
    if opened.configuration.learner_name != MODEL:
        raise DistinguoError(
            f"{path} was learned by '{opened.configuration.learner_name}', which keeps no model; learn it with "
            "--learner model."
        )
    arrays = read_arrays(path / CHECKPOINT)
    made = attempt(_model, arrays, opened.configuration.learner, otherwise=None)
    if made is None:
        raise DistinguoError(f"{path / CHECKPOINT} is damaged, so its model cannot be asked; learn it again.")
    return opened, made


def _model(arrays: dict[str, np.ndarray], settings: Any) -> LearnedModel:
    store = checked_store(_tuple(Store, arrays, "memory.store."))
    partition = _tuple(GrowingVoronoi, arrays, "memory.economy.partition.")
    return model_of(store, partition, settings.neighbours, settings.reach, settings.linear)


def _tuple(kind: Any, arrays: dict[str, np.ndarray], prefix: str) -> Any:
    return kind(**{name: arrays[prefix + name] for name in kind._fields})
