"""distinguo learns which differences between states matter.

>>> import distinguo as dg
>>> run = dg.learn("puck", seed=1)
>>> run.solved, run.action((0.5, 1.0))
(True, 'left')

The functions: ``learn``, ``record``, ``load_log``, ``distil``, ``teach``, ``condense``, ``compare``, ``study``,
``verify``, ``audit``, ``explain``, ``distinctions``, ``family``, ``export``, ``show``, ``report``, ``rollout``,
``play``, ``reproduce``, ``open_run``;
agents with the interface of Stable-Baselines3 (``Agent``, ``Economy``, ``RegionObservation``, ``Shield``) and what
suits its habits (``stop_when_solved``, ``log_to``, ``snapshot``, ``restore``); estimators
with that of scikit-learn (``PrototypeClassifier``, ``PrototypeRegressor``); the paper's definitions (``criteria``;
for amounts ``ranges``); and five decorators for your own code: ``task``, ``partition``, ``representation``,
``learner`` and ``view``, with ``check_task`` and ``check_partition`` to test it.
"""

import _signal  # as the module signal, which imports others
import os
import sys


def _is_command() -> bool:
    """Whether this process is the command ``distinguo`` or ``python -m distinguo``, by its command line."""
    name = sys.orig_argv[-len(sys.argv)] if 0 < len(sys.argv) < len(sys.orig_argv) else ""
    return name == ("distinguo" if sys.argv[0] == "-m" else f"{os.path.dirname(sys.executable)}/distinguo")


if _is_command() and _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    # Ctrl-C while the rest is imported ends the command, without a traceback; other programs keep their handlers
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

TYPE_CHECKING = False  # the module typing would take longer to import than all of this
if TYPE_CHECKING:
    from typing import Any

    from distinguo import criteria, ranges
    from distinguo.agents.callbacks import log_to, stop_when_solved
    from distinguo.agents.economy import Economy
    from distinguo.agents.economy import SuitedAgent as Agent
    from distinguo.agents.regions import RegionObservation, VectorRegionObservation
    from distinguo.comparison.audit import audit, trained_controller
    from distinguo.comparison.compare import compare
    from distinguo.comparison.monitor import read_monitor
    from distinguo.comparison.plan import make_plan
    from distinguo.controller import Controller, FeatureController, choose
    from distinguo.controls import representation
    from distinguo.criteria import state_value
    from distinguo.distillation.condense import condense
    from distinguo.distillation.distil import distil
    from distinguo.distillation.estimators import PrototypeClassifier, PrototypeRegressor
    from distinguo.distillation.teach import teach
    from distinguo.distillation.teachers import Policy, load_policy, table_teacher
    from distinguo.errors import DistinguoError
    from distinguo.evaluation.audit import audit_controller
    from distinguo.evaluation.tester import Evaluation, learning_curve
    from distinguo.explanations.distinctions import distinctions
    from distinguo.explanations.experience import ask_model
    from distinguo.explanations.explain import explain
    from distinguo.explanations.family import family
    from distinguo.exports.write import export
    from distinguo.features.bases import perceptron, radial_bases, tiles
    from distinguo.features.feature import FunctionFeatures
    from distinguo.learners.declare import learner
    from distinguo.offline.readers import load_log
    from distinguo.offline.record import record_log as record
    from distinguo.proof.shield import Shield
    from distinguo.representations.boxes import grid
    from distinguo.representations.check import check_partition
    from distinguo.representations.check import checked_region as region
    from distinguo.representations.declare import FunctionPartition, partition
    from distinguo.representations.file import Representation, load
    from distinguo.representations.voronoi import voronoi
    from distinguo.runs.folder import open_run
    from distinguo.runs.learn import learn
    from distinguo.runs.rollout import rollout
    from distinguo.runs.run import Run
    from distinguo.seam import part
    from distinguo.studies.plan import read_study
    from distinguo.studies.study import study
    from distinguo.tasks.amounts import amounts, levels
    from distinguo.tasks.check import check_task
    from distinguo.tasks.declare import task
    from distinguo.tasks.gym.restoring import Restorable, restore, snapshot
    from distinguo.tasks.gym.spaces import DiscreteActions, NoisyActions
    from distinguo.verification import verify
    from distinguo.views.motion.film import play
    from distinguo.views.report import report
    from distinguo.views.show import show, view

from distinguo.tasks.gym.registration import register_with_gymnasium  # noqa: E402 # after the signals

__version__ = "0.1.0"

register_with_gymnasium()

#: The module of each public name of the core, and its name there if it differs. Names are imported on first use, so
#: that the command line starts at once. The lab adds the others (registry.py).
_HOMES = {
    "Agent": "distinguo.agents.economy:SuitedAgent",
    "Controller": "distinguo.controller",
    "DiscreteActions": "distinguo.tasks.gym.spaces",
    "DistinguoError": "distinguo.errors",
    "Economy": "distinguo.agents.economy",
    "Evaluation": "distinguo.evaluation.tester",
    "FeatureController": "distinguo.controller",
    "FunctionFeatures": "distinguo.features.feature",
    "FunctionPartition": "distinguo.representations.declare",
    "NoisyActions": "distinguo.tasks.gym.spaces",
    "RegionObservation": "distinguo.agents.regions",
    "Policy": "distinguo.distillation.teachers",
    "PrototypeClassifier": "distinguo.distillation.estimators",
    "PrototypeRegressor": "distinguo.distillation.estimators",
    "Representation": "distinguo.representations.file",
    "Restorable": "distinguo.tasks.gym.restoring",
    "Run": "distinguo.runs.run",
    "Shield": "distinguo.proof.shield",
    "VectorRegionObservation": "distinguo.agents.regions",
    "amounts": "distinguo.tasks.amounts",
    "ask_model": "distinguo.explanations.experience",
    "audit": "distinguo.comparison.audit",
    "audit_controller": "distinguo.evaluation.audit",
    "check_partition": "distinguo.representations.check",
    "check_task": "distinguo.tasks.check",
    "choose": "distinguo.controller",
    "compare": "distinguo.comparison.compare",
    "condense": "distinguo.distillation.condense",
    "distil": "distinguo.distillation.distil",
    "distinctions": "distinguo.explanations.distinctions",
    "explain": "distinguo.explanations.explain",
    "export": "distinguo.exports.write",
    "family": "distinguo.explanations.family",
    "grid": "distinguo.representations.boxes",
    "learn": "distinguo.runs.learn",
    "learner": "distinguo.learners.declare",
    "learning_curve": "distinguo.evaluation.tester",
    "levels": "distinguo.tasks.amounts",
    "load": "distinguo.representations.file",
    "load_log": "distinguo.offline.readers",
    "load_policy": "distinguo.distillation.teachers",
    "log_to": "distinguo.agents.callbacks",
    "make_plan": "distinguo.comparison.plan",
    "open_run": "distinguo.runs.folder",
    "part": "distinguo.seam",
    "partition": "distinguo.representations.declare",
    "perceptron": "distinguo.features.bases",
    "play": "distinguo.views.motion.film",
    "radial_bases": "distinguo.features.bases",
    "read_monitor": "distinguo.comparison.monitor",
    "read_study": "distinguo.studies.plan",
    "record": "distinguo.offline.record:record_log",
    "region": "distinguo.representations.check:checked_region",
    "report": "distinguo.views.report",
    "representation": "distinguo.controls",
    "restore": "distinguo.tasks.gym.restoring",
    "rollout": "distinguo.runs.rollout",
    "show": "distinguo.views.show",
    "snapshot": "distinguo.tasks.gym.restoring",
    "state_value": "distinguo.criteria",
    "stop_when_solved": "distinguo.agents.callbacks",
    "study": "distinguo.studies.study",
    "table_teacher": "distinguo.distillation.teachers",
    "task": "distinguo.tasks.declare",
    "teach": "distinguo.distillation.teach",
    "tiles": "distinguo.features.bases",
    "trained_controller": "distinguo.comparison.audit",
    "verify": "distinguo.verification",
    "view": "distinguo.views.show",
    "voronoi": "distinguo.representations.voronoi",
}
#: Modules that are public as they are.
_MODULES = ("criteria", "ranges")

__all__ = [
    "Agent",
    "Controller",
    "DiscreteActions",
    "DistinguoError",
    "Economy",
    "Evaluation",
    "FeatureController",
    "FunctionFeatures",
    "FunctionPartition",
    "NoisyActions",
    "Policy",
    "PrototypeClassifier",
    "PrototypeRegressor",
    "RegionObservation",
    "Representation",
    "Restorable",
    "Run",
    "Shield",
    "VectorRegionObservation",
    "amounts",
    "ask_model",
    "audit",
    "audit_controller",
    "check_partition",
    "check_task",
    "choose",
    "compare",
    "condense",
    "criteria",
    "distil",
    "distinctions",
    "explain",
    "export",
    "family",
    "grid",
    "learn",
    "learner",
    "learning_curve",
    "levels",
    "load",
    "load_log",
    "load_policy",
    "log_to",
    "make_plan",
    "open_run",
    "part",
    "partition",
    "perceptron",
    "play",
    "radial_bases",
    "ranges",
    "read_monitor",
    "read_study",
    "record",
    "region",
    "report",
    "representation",
    "reproduce",
    "restore",
    "rollout",
    "show",
    "snapshot",
    "sparse_bound",
    "sparse_sampling",
    "sparse_trials",
    "state_value",
    "stop_when_solved",
    "study",
    "table_teacher",
    "task",
    "teach",
    "tiles",
    "trained_controller",
    "variable_resolution",
    "verify",
    "view",
    "voronoi",
]


def __getattr__(name: str) -> "Any":
    from importlib import import_module

    _attach_to_notebook()
    if name in _MODULES:
        return import_module(f"distinguo.{name}")
    if name not in _HOMES:
        return _added(name)
    module, _, own = _HOMES[name].partition(":")
    return getattr(import_module(module), own or name)


def _added(name: str) -> "Any":
    """Return a public name that the lab adds; no package can add others."""
    from distinguo.registry import NAMES, added, load_added

    if name not in __all__ or name not in added(NAMES):
        raise AttributeError(f"module 'distinguo' has no attribute '{name}'")
    return load_added(NAMES, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _attach_to_notebook() -> None:
    """In the kernel of a notebook, let results show themselves there, from the first use of the package on."""
    from distinguo.progress import ProgressPlace, is_notebook

    if is_notebook() and ProgressPlace.line is None:
        from importlib import import_module

        import_module("distinguo.views.notebook").attach()
