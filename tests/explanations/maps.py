"""Maps of every learner, small and quickly made: what explanations have to be complete for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import distinguo as dg
from distinguo.distillation.condense import Condensed, save_condensed
from distinguo.runs.run import Run
from distinguo.search.maps import controller_of, prototype_map
from distinguo.search.races import Candidate
from distinguo.tasks.catalog import AbsentTask
from distinguo.tasks.mountain_car import MountainCar
from distinguo.tasks.puck.noisy import NoisyPuck
from distinguo.tasks.puck.puck import Puck
from tests.nightly import NIGHTLY, interpreted_by_day
from tests.tasks import faulty
from tests.views.runs import made_up

GOLDEN = Path(__file__).parent.parent / "golden"
FOLDERS = {path.name: path for path in [GOLDEN / "run-v1", *sorted((GOLDEN / "formats" / "runs").iterdir())]}
BRIEF = {"stage.steps": 1_500, "stage.confirm": 2, "stage.cap": 100}


@dg.learner("tests-thirds")
class Thirds(NamedTuple):
    """Q-learning on a grid: a learner that somebody declared, without a log, a discount or an ε that we know of."""

    partition: Any
    q: np.ndarray

    def fresh(setup: Any) -> Any:  # called on the class
        return Thirds(dg.grid([3, 3], setup.low, setup.high), np.zeros((9, setup.actions)))

    def act(self, agent: Any, s: Any) -> Any:
        return dg.choose(self.q[dg.region(self.partition, s)], 0.0, agent.rng)

    def learn(self, agent: Any, t: Any) -> None:
        j, k = dg.region(self.partition, t.s), dg.region(self.partition, t.s_next)
        future = 0.0 if t.terminal else 0.95 * dg.state_value(self.q[k])
        self.q[j, t.a] += 0.1 * (t.r + future - self.q[j, t.a])

    def controller(self) -> Any:
        return dg.Controller(self.partition, self.q)


def puck(**words: Any) -> Run:
    return dg.learn("puck", **{"seed": 1, **words})


def with_chance() -> Run:
    with interpreted_by_day(NoisyPuck):
        settings = {"task.noise": 0.5, "learner.samples": 3, "stage.trials": 8, "stage.cap": 200}
        return puck(settings={**settings, "stage.hold": 200, "stage.restart": 0})


def declared() -> Run:
    with interpreted_by_day(Puck):
        return puck(learner=Thirds, settings={"stage.trials": 15, "stage.cap": 100, "stage.hold": 100})


def probation(task: str, kind: type) -> Run:
    with interpreted_by_day(kind):
        return dg.learn(
            task, seed=1, learner="probation", settings={"stage.steps": 2_000, "stage.confirm": 2}
        )


def condensed(folder: Path) -> Run:
    """Return a run made smaller, as ``condense`` writes it, with the log of the larger one."""
    run = dg.open_run(FOLDERS["cart-5"])
    partition = run.representation.partition
    two = prototype_map(partition.prototypes[:2] + 0.01, [1, 0], partition.scale)
    curve = [Candidate(two, np.array([400.0, 500.0]))]
    taken = Condensed(controller_of(two, 2), True, 475.0, curve, [], 100, 100)
    save_condensed(run, taken, folder / "condensed")
    return dg.open_run(folder / "condensed")


def condensed_by_trials(folder: Path) -> Run:
    run = dg.learn("MountainCar-v0", seed=1)
    save_condensed(run, dg.condense(run), folder / "condensed")
    return dg.open_run(folder / "condensed")


def without_task(run: Run) -> Run:
    """Return a run in a process that does not know its task."""
    asked = run.configuration
    spec = asked.spec._replace(task=AbsentTask("Nowhere"), name="Nowhere")
    return run._replace(configuration=asked._replace(spec=spec))


def without_return(run: Run) -> Run:
    """Return a run whose task can only be begun."""
    asked = run.configuration
    return run._replace(configuration=asked._replace(spec=asked.spec._replace(restorable=False)))


def folder_run(name: str) -> Callable[[Path], Run]:
    return lambda _: dg.open_run(FOLDERS[name])


#: How each map is made, in a folder if it needs one.
MAPS: dict[str, Callable[[Path], Run]] = {
    **{f"folder {name}": folder_run(name) for name in FOLDERS},
    "economy": lambda _: puck(preset="fast", seed=5),
    "economy, paper": lambda _: puck(preset="paper", settings={"stage.trials": 400}),
    "economy, from seeds": lambda _: puck(prototypes=[[0.27, 0.62], [-0.27, -0.62]]),
    "economy, from three": lambda _: puck(prototypes=[[0.27, 0.62], [-0.27, -0.62], [1.0, 1.0]], seed=3),
    "economy, epsilon as a share": lambda _: puck(settings={"learner.epsilon_share": 0.1}),
    "economy, passive": lambda _: puck(settings={"learner.active": False, "stage.trials": 40}),
    "economy, passive by transitions": lambda _: puck(
        settings={"learner.active": False, "learner.surprise_by_transition": True, "stage.trials": 40}
    ),
    "surprise": lambda _: puck(learner="surprise", settings={"stage.cap": 5000, "stage.hold": 5000}),
    "economy, begun again": lambda _: puck(settings={"stage.restart": 2, "stage.trials": 20}),
    "economy with chance": lambda _: with_chance(),
    "economy on labels": lambda _: dg.learn("FrozenLake-v1", seed=1, learner="economy", settings=BRIEF),
    "economy, put anywhere": lambda _: dg.learn(
        faulty.TakesOptions(), seed=1, learner="economy", settings=BRIEF
    ),
    "economy, only put back": lambda _: dg.learn(faulty.Walk(), seed=1, learner="economy", settings=BRIEF),
    "economy, no way back": lambda _: dg.learn(
        faulty.GlobalNoise(), seed=1, learner="economy", settings=BRIEF
    ),
    "economy, task unknown": lambda _: without_task(puck()),
    "probation on the car": lambda _: probation("MountainCar-v0", MountainCar),
    "probation, only put back": lambda _: dg.learn(
        faulty.Walk(), seed=1, learner="probation", settings={"stage.steps": 1_500}
    ),
    "probation, no way back": lambda _: without_return(dg.open_run(FOLDERS["cart-5"])),
    "probation, task unknown": lambda _: without_task(dg.open_run(FOLDERS["cart-6"])),
    "sweeping with chance": lambda _: made_up("FrozenLake-v1", 8),
    "sweeping, many labels": lambda _: made_up("Taxi-v4", 6),
    "declared": lambda _: declared(),
    "condensed": condensed,
    "acrobot": lambda _: made_up("Acrobot-v1", 5),
    "pendulum": lambda _: made_up("Pendulum-v1", 5),
}
if NIGHTLY:  # kernels of the learners have to be compiled for these
    MAPS |= {
        "sweeping, learned": lambda _: dg.learn("FrozenLake-v1", seed=1, settings={"stage.steps": 3_000}),
        "sweeping, taxi learned": lambda _: dg.learn("Taxi-v4", seed=1, settings={"stage.steps": 20_000}),
        "probation on the cart": lambda _: dg.learn("CartPole-v1", seed=1),
        "probation on the acrobot": lambda _: dg.learn("Acrobot-v1", seed=1),
        "probation on the hill": lambda _: dg.learn("MountainCar-v0", seed=1),
        "condensed by trials": condensed_by_trials,
    }
