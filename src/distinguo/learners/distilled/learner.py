"""What a distilled run says of itself; its map is made in distillation/, from a teacher."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from distinguo.errors import DistinguoError
from distinguo.learners.distilled.settings import DistilSettings
from distinguo.learners.learner import Learner, Setup, register
from distinguo.tasks.spec import TaskSpec


class DistilledLearner(Learner):
    """Carries the settings of a distillation; there is nothing to learn without a teacher.

    >>> DistilledLearner().fresh(None)
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: A distilled map is made from a teacher; run: distinguo distil ...
    """

    name = "distilled"
    settings = DistilSettings
    only_controls = True

    def suggested_for(self, spec: TaskSpec) -> Mapping[str, Any]:
        """Return more patience where steps cost little."""
        return {} if spec.interpreted else {"learner.steps": 60_000_000, "learner.patience": 1_000}

    def fresh(self, setup: Setup | None) -> Any:
        """Say what makes such a map."""
        raise DistinguoError(
            "A distilled map is made from a teacher; run: distinguo distil TEACHER --task TASK."
        )


DISTILLED = DistilledLearner.name

register(DistilledLearner())
