"""A shield: it keeps any agent inside a certified set.

In a state of the set an action is allowed if one step with it, rounding, disturbance and unknown parameters included,
certainly ends in the set again. Certificates of the puck say that there always is one. Those of declared tasks are
about several steps (:mod:`distinguo.proof.declared.guard`): where no action ends in the set, the certified action is
taken, until the state is in the set again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from distinguo.errors import DistinguoError
from distinguo.proof.certificate import load_certificate
from distinguo.proof.checker.check import check
from distinguo.proof.declared.guard import ProgramGuard
from distinguo.proof.enclosure import Grid, around, coordinates, enclose
from distinguo.proof.hold.invariant import inside
from distinguo.proof.hold.puck import Pucks, pucks
from distinguo.proof.question import partition_of
from distinguo.proof.schema import Certificate, HoldCertificate, ProgramCertificate
from distinguo.representations.partition import region
from distinguo.seam import kernel, part
from distinguo.tasks.catalog import spec_of
from distinguo.tasks.gym.face import TaskEnv
from distinguo.tasks.puck.puck import Puck
from distinguo.tasks.task import State, actions, transition

REPLACED = "The action could leave the certified set; an allowed one was taken."
OUTSIDE = "The state is outside of the certified set; the certified policy acted, without a promise."
LIMIT = 100_000  #: steps of a trial of a task without a limit
UNGUARDED = "The state is outside of the certified set, which has no policy; the agent's action was taken."


@part
def allowed_bits(task: Any, grid: Grid, alive: np.ndarray, s: Any) -> int:
    """Return the set of allowed actions, a bit each; 0 outside of the set.

    >>> grid = Grid((1.0, 0.0, 0.0, 1.0), (0.0, 0.0), (1.0, 1.0), (1, 1))
    >>> allowed_bits(pucks(Puck()), grid, np.zeros((1, 1), dtype=bool), (0.5, 0.5))
    0
    """
    low, high = around(coordinates(grid.matrix, (s[0], s[1])))
    allowed = 0
    if inside(grid, alive, low, high):
        for a in range(actions(task)):
            first, last, stays = enclose(task, low, high, a)
            if stays and inside(grid, alive, first, last):
                allowed |= 1 << a
    return allowed


@kernel
def _allowed_bits(task: Any, grid: Grid, alive: np.ndarray, s: Any) -> int:
    return allowed_bits(task, grid, alive, s)


@kernel
def random_walk(
    task: Any, puck: Any, grid: Grid, alive: np.ndarray, s: Any, rng: np.random.Generator, steps: int
) -> tuple[int, int]:
    """Let a random agent take allowed actions: the steps until it fails or leaves the set, and how many it chose.

    >>> grid = Grid((1.0, 0.0, 0.0, 1.0), (0.0, 0.0), (1.0, 1.0), (1, 1))
    >>> none, rng = np.zeros((1, 1), dtype=bool), np.random.default_rng(0)
    >>> random_walk.py_func(pucks(Puck()), Puck(), grid, none, (0.5, 0.5), rng, 100)
    (0, 0)
    """
    chosen = 0
    for step in range(steps):
        bits = allowed_bits(task, grid, alive, s)
        if bits == 0:
            return step, chosen
        a = int(rng.random() * actions(task))
        if (bits >> a) & 1:
            chosen += 1
        else:
            a = 0
            while not (bits >> a) & 1:
                a += 1
        s, _, terminal = transition(puck, s, a)
        if terminal:
            return step + 1, chosen
    return steps, chosen


class Guard:
    """The actions that a certificate allows.

    >>> from distinguo.proof.hold.invariant import certify_task
    >>> guard = Guard(certify_task(Puck(), counts=(256, 128)))
    >>> guard.allowed_actions((0.0, 0.0)).tolist(), guard.allowed_actions((0.0, 1.15)).tolist()
    ([True, True], [True, False])
    """

    def __init__(self, certificate: HoldCertificate) -> None:
        claim, cells = certificate.task, certificate.cells
        self.certificate = certificate
        self.task: Pucks = pucks(
            Puck(**claim.low), Puck(**claim.high), (claim.disturbance[0], claim.disturbance[1])
        )
        corner, pitch, counts = ((pair[0], pair[1]) for pair in (cells.low, cells.pitch, cells.counts))
        self.grid = Grid(tuple(cells.matrix), corner, pitch, counts)  # type: ignore[arg-type]
        self.alive = certificate.alive()
        self.controller = certificate.controller
        self.partition = None if self.controller is None else partition_of(self.controller)

    def holds(self, s: Any) -> bool:
        """Whether a state certainly is in the set."""
        return bool(inside(self.grid, self.alive, *around(coordinates(self.grid.matrix, (s[0], s[1])))))

    def allowed_actions(self, s: Any, detour: int | None = None) -> np.ndarray:
        """Return the mask of the actions that certainly stay in the set; none outside it."""
        bits = _allowed_bits(self.task, self.grid, self.alive, (float(s[0]), float(s[1])))
        return (bits >> np.arange(actions(self.task))) & 1 == 1

    def certified_action(self, s: State, detour: int | None = None) -> int | None:
        """The action of the certified policy; the first of tied actions."""
        if self.partition is None or self.controller is None:
            return None
        return self.controller.actions[region(self.partition, s)][0]

    def walk(self, s: State, steps: int, seed: int = 0) -> int:
        """How many of ``steps`` steps a shielded random agent survives."""
        start, rng = (float(s[0]), float(s[1])), np.random.default_rng(seed)
        return int(random_walk(self.task, self.task.middle, self.grid, self.alive, start, rng, steps)[0])


def guard_of(certificate: Certificate | str | Path | None, task: Any) -> Guard | ProgramGuard:
    """The actions that a certificate, or the file that holds it, allows on a task; it is not checked.

    >>> from distinguo.proof.hold.invariant import certify_task
    >>> guard_of(certify_task(Puck(), counts=(256, 128)), Puck()).holds((0.0, 0.0))
    True
    """
    content = load_certificate(certificate) if isinstance(certificate, str | Path) else certificate
    if content is None:
        raise DistinguoError(
            "A shield needs a certificate, but nothing was proven; certify another controller."
        )
    if isinstance(content, ProgramCertificate):
        if task is None:
            raise DistinguoError(
                "The shield does not know which task this environment implements; give it as task=..."
            )
        return ProgramGuard(content, task)
    if not isinstance(content, HoldCertificate):
        raise DistinguoError(
            "A shield needs a certificate that a set is never left; this one is about arriving."
        )
    _refuse_another_puck(task, content)
    return Guard(content)


def _refuse_another_puck(puck: Any, certificate: HoldCertificate) -> None:
    claim = certificate.task
    if not isinstance(puck, Puck):
        raise DistinguoError(
            "The certificate is about the puck: the shield is made for distinguo/PuckOnAHill-v0."
        )
    for name, value in puck._asdict().items():
        if not claim.low[name] <= value <= claim.high[name]:
            raise DistinguoError(
                f"The certificate is about {name} from {claim.low[name]} to {claim.high[name]}, "
                f"but the environment has {value}; certify that task."
            )


def task_in(env: gymnasium.Env) -> Any:
    """The task of an environment that was made of one; None for others."""
    plain = env.unwrapped
    return plain.task_spec.task if isinstance(plain, TaskEnv) else getattr(plain, "puck", None)


class Shield(gymnasium.Wrapper):
    """A Gymnasium wrapper that lets no agent leave the certified set of a certificate.

    It wraps the puck's environment, one that is made of a declared task, or the task itself. Any other environment
    needs the ``task`` that it implements, and its state as ``env.unwrapped.state``. The certificate, or the file that
    holds it, is checked first, unless ``checked`` says that it was. If the shield changed a step, ``info["shield"]``
    says how; ``allowed_actions`` is a mask for agents that use one, also as ``action_masks`` (MaskablePPO).

    >>> from distinguo.proof.hold.invariant import certify_task
    >>> from distinguo.tasks.puck.environment import PuckOnAHillEnv
    >>> env = Shield(PuckOnAHillEnv(), certify_task(Puck(), counts=(256, 128)))
    >>> observation, info = env.reset(options={"state": (0.0, 1.15)})
    >>> env.step(1)[4]["shield"]
    'The action could leave the certified set; an allowed one was taken.'
    """

    def __init__(
        self,
        env: Any,
        certificate: Certificate | str | Path | None,
        *,
        task: Any = None,
        checked: bool = False,
    ) -> None:
        if not isinstance(env, gymnasium.Env):
            spec = spec_of(env)
            env = TaskEnv(spec, spec.cap(LIMIT))
        super().__init__(env)
        self.guard = guard_of(certificate, task_in(env) if task is None else task)
        if not checked:
            check(self.guard.certificate)
        self._detour: int | None = None  #: the last action, if it is certified and its step may leave the set

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Begin a trial."""
        self._detour = None
        return self.env.reset(**options)

    def allowed_actions(self) -> np.ndarray:
        """Return the mask of the actions that are allowed in the present state; none where nothing is promised."""
        return self.guard.allowed_actions(self.env.unwrapped.state, self._detour)  # type: ignore[attr-defined]

    def action_masks(self) -> np.ndarray:
        """The same for sb3-contrib's ``MaskablePPO``: all actions where nothing is promised."""
        allowed = self.allowed_actions()
        return allowed if allowed.any() else np.ones_like(allowed)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take the action if it is allowed, otherwise one that is."""
        state = getattr(self.env.unwrapped, "state", None)
        chosen, word = (action, "") if state is None else self._corrected(action, state)
        observation, reward, terminated, truncated, info = self.env.step(chosen)
        return observation, reward, terminated, truncated, {**info, "shield": word} if word else info

    def _corrected(self, action: Any, state: State) -> tuple[Any, str]:
        allowed = self.guard.allowed_actions(state, self._detour)
        if allowed.any():
            if not self.env.action_space.contains(action):
                return action, ""
            chosen = int(action) if allowed[int(action)] else int(allowed.argmax())
            self._detour = chosen  # in the set, the next step forgets it
            return chosen, "" if allowed[int(action)] else REPLACED
        certified = self.guard.certified_action(state)
        return (action, UNGUARDED) if certified is None else (certified, OUTSIDE)
