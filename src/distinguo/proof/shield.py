"""A shield: it keeps any agent inside a certified set.

In a state of the set an action is allowed if one step with it, rounding, disturbance and unknown parameters included,
certainly ends in the set again. A certificate says that there always is one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from distinguo.errors import DistinguoError
from distinguo.proof.certificate import load_certificate
from distinguo.proof.checker.check import check
from distinguo.proof.enclosure import Grid, around, coordinates, enclose
from distinguo.proof.hold.invariant import inside
from distinguo.proof.hold.puck import Pucks, pucks
from distinguo.proof.question import partition_of
from distinguo.proof.schema import Certificate, HoldCertificate
from distinguo.representations.partition import region
from distinguo.seam import kernel, part
from distinguo.tasks.puck.puck import Puck
from distinguo.tasks.task import State, actions, transition

REPLACED = "The action could leave the certified set; an allowed one was taken."
OUTSIDE = "The state is outside of the certified set; the certified policy acted, without a promise."
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
        self.task: Pucks = pucks(
            Puck(**claim.low), Puck(**claim.high), (claim.disturbance[0], claim.disturbance[1])
        )
        corner, pitch, counts = ((pair[0], pair[1]) for pair in (cells.low, cells.pitch, cells.counts))
        self.grid = Grid(tuple(cells.matrix), corner, pitch, counts)  # type: ignore[arg-type]
        self.alive = certificate.alive()
        self.controller = certificate.controller
        self.partition = None if self.controller is None else partition_of(self.controller)

    def allowed_actions(self, s: Any) -> np.ndarray:
        """Return the mask of the actions that certainly stay in the set; none outside it."""
        bits = _allowed_bits(self.task, self.grid, self.alive, (float(s[0]), float(s[1])))
        return (bits >> np.arange(actions(self.task))) & 1 == 1

    def certified_action(self, s: State) -> int | None:
        """The action of the certified policy; the first of tied actions."""
        if self.partition is None or self.controller is None:
            return None
        return self.controller.actions[region(self.partition, s)][0]

    def walk(self, s: State, steps: int, seed: int = 0) -> int:
        """How many of ``steps`` steps a shielded random agent survives."""
        start, rng = (float(s[0]), float(s[1])), np.random.default_rng(seed)
        return int(random_walk(self.task, self.task.middle, self.grid, self.alive, start, rng, steps)[0])


def _hold_certificate(certificate: Certificate | str | Path | None) -> HoldCertificate:
    """Return a certificate, read if it is a file, that a set is never left."""
    content = load_certificate(certificate) if isinstance(certificate, str | Path) else certificate
    if content is None:
        raise DistinguoError(
            "A shield needs a certificate, but nothing was proven; certify another controller."
        )
    if not isinstance(content, HoldCertificate):
        raise DistinguoError(
            "A shield needs a certificate that a set is never left; this one is about arriving."
        )
    return content


def _refuse_another_task(env: gymnasium.Env, certificate: HoldCertificate) -> None:
    puck, claim = getattr(env.unwrapped, "puck", None), certificate.task
    if not isinstance(puck, Puck):
        raise DistinguoError("The shield is made for distinguo/PuckOnAHill-v0; wrap that environment.")
    for name, value in puck._asdict().items():
        if not claim.low[name] <= value <= claim.high[name]:
            raise DistinguoError(
                f"The certificate is about {name} from {claim.low[name]} to {claim.high[name]}, "
                f"but the environment has {value}; certify that task."
            )


class Shield(gymnasium.Wrapper):
    """A Gymnasium wrapper for the puck that lets no agent leave the certified set of a certificate.

    The certificate, or the file that holds it, is checked first, unless ``checked`` says that it was. If the shield
    changed a step, ``info["shield"]`` says how; ``allowed_actions`` is a mask for agents that use one.

    >>> from distinguo.proof.hold.invariant import certify_task
    >>> from distinguo.tasks.puck.environment import PuckOnAHillEnv
    >>> env = Shield(PuckOnAHillEnv(), certify_task(Puck(), counts=(256, 128)))
    >>> observation, info = env.reset(options={"state": (0.0, 1.15)})
    >>> env.step(1)[4]["shield"]
    'The action could leave the certified set; an allowed one was taken.'
    """

    def __init__(
        self,
        env: gymnasium.Env,
        certificate: Certificate | str | Path | None,
        *,
        checked: bool = False,
    ) -> None:
        super().__init__(env)
        claim = _hold_certificate(certificate)
        if not checked:
            check(claim)
        self.guard = Guard(claim)
        _refuse_another_task(env, claim)

    def allowed_actions(self) -> np.ndarray:
        """Return the mask of the actions that certainly stay in the set from the present state."""
        return self.guard.allowed_actions(self.env.unwrapped.state)  # type: ignore[attr-defined]

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take the action if it is allowed, otherwise one that is."""
        state = getattr(self.env.unwrapped, "state", None)
        chosen, word = (action, "") if state is None else self._corrected(action, state)
        observation, reward, terminated, truncated, info = self.env.step(chosen)
        return observation, reward, terminated, truncated, {**info, "shield": word} if word else info

    def _corrected(self, action: Any, state: State) -> tuple[Any, str]:
        allowed = self.guard.allowed_actions(state)
        if allowed.any():
            if not self.env.action_space.contains(action) or allowed[int(action)]:
                return action, ""
            return int(allowed.argmax()), REPLACED
        certified = self.guard.certified_action(state)
        return (action, UNGUARDED) if certified is None else (certified, OUTSIDE)
