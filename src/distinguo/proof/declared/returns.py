"""The question of declared tasks judged by return: what does every trial gain at least, and when has it ended?

All starts that the task's own ``start`` can return are cut into pieces, and each is followed forward
(:mod:`.forward`). Pieces that could not be followed, or that fall short although a trial from their middle does not,
are halved and tried again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import region_at
from distinguo.errors import DistinguoError, counted
from distinguo.proof.declared.flow import Flow
from distinguo.proof.declared.forward import PieceFollower
from distinguo.proof.declared.question import policy_claim, program_claim, why_unfollowed
from distinguo.proof.number.program import NotProvableError, Program, program_of, run, start_boxes
from distinguo.proof.question import Answer, Question, Request, bound_text
from distinguo.proof.schema import LEAF, UNPROVEN, ReturnCertificate, StartTree
from distinguo.tasks import task as generics
from distinguo.tasks.spec import RETURN, TaskSpec

HORIZON = 1_000  #: steps after which trials are stopped if the task has no limit of its own
FIRST = 64  #: pieces at first, about
AT_MOST = 4_096  #: pieces in all
WORK = 2_000_000  #: steps of sets in all
WORTH = 0.02  #: share of the pieces that must be good enough for others to be halved
AT_ONCE = 256  #: pieces of the starts that are followed together
TRIED = 50  #: trials that show how far states spread
LEEWAY = 2.0**-26  #: by which boxes of starts are widened
WIDE = 1.0  #: reach of a set, as a share of this spread, at which it is given up


class Node(NamedTuple):
    """A piece of the starts: the tree that it is in, its corners, and how it was reached."""

    low: np.ndarray
    high: np.ndarray
    path: tuple[int, ...]  #: the box of starts, and then a bit for each halving: 0 is the lower half


class StartPieces(NamedTuple):
    """All pieces of the starts, in the order of a walk through the tree, and what is proven of each."""

    nodes: list[Node]
    cuts: dict[tuple[int, ...], int]  #: the coordinate that is halved, by the path
    returns: np.ndarray  #: minus infinity where nothing is proven
    steps: np.ndarray
    weights: np.ndarray  #: the share of each piece among all starts


class ReturnFinding(NamedTuple):
    """What a controller is proven to gain."""

    request: Request
    tree: StartPieces
    asked: int  #: steps after which trials are stopped
    costs: bool  #: whether every step before the last costs something, so that a trial should end soon
    failure: SimulatedTrial | None
    certificate: ReturnCertificate | None

    @property
    def reached(self) -> np.ndarray:
        """Which pieces are good enough: they end where every step costs, else they reach the threshold."""
        return reached(self.request.spec, self.costs, self.tree.returns, self.tree.steps)

    def answer(self, checked: bool) -> Answer:
        """Which share of the starts is good enough, and what all gain at least."""
        spec, tree = self.request.spec, self.tree
        share = float(tree.weights[self.reached].sum()) if checked else 0.0
        proven = checked and bool(self.reached.all()) and self.certificate is not None
        proven = proven and bool(self.certificate and self.certificate.all_starts)
        whole = checked and bool(np.isfinite(tree.returns).all())
        threshold = -np.inf if spec.threshold is None else spec.threshold
        failure = None if proven else self.failure
        details = {
            "steps": int(tree.steps.max()) if proven and self.costs else None,
            "asked_steps": self.asked,
            "mean_return_at_least": float(tree.returns @ tree.weights) if whole else None,
            "least_return": float(tree.returns.min()) if whole else None,
            "share_at_threshold": float(tree.weights[tree.returns >= threshold].sum()) if checked else 0.0,
            "threshold": spec.threshold,
            "failure": failure
            and {"start": list(failure.start), "return": failure.gained, "steps": failure.steps},
        }
        answer = Answer(proven, share, int(np.isfinite(tree.returns).sum()), details, [], failure is not None)
        return answer._replace(sentences=_sentences(answer, self.costs))


def _sentences(answer: Answer, costs: bool) -> list[str]:
    details = answer.details
    asked, pieces = counted(details["asked_steps"], "step"), counted(answer.cells, "piece")
    what = f"arrive within {asked}" if costs else f"return at least {details['threshold']:zg} within {asked}"
    lines = [f"Not proven: {answer.share:.2%} of the starts are proven to {what} ({pieces} of the starts)."]
    if details["failure"] is not None:
        place = "(" + ", ".join(f"{x:z.4f}" for x in details["failure"]["start"]) + ")"
        lines = [
            f"Refuted: a trial from {place} returns {details['failure']['return']:z.4g} in "
            f"{counted(details['failure']['steps'], 'step')}.",
            f"{answer.share:.2%} of the starts are proven to {what} ({pieces} of the starts).",
        ]
    if answer.proven:
        lines = [
            f"Proven: every start returns at least {bound_text(details['least_return'])} ({pieces} of the starts)."
        ]
        if costs:
            within = counted(details["steps"], "step")
            lines = [f"Proven: every start arrives within {within} ({pieces} of the starts)."]
    if details["mean_return_at_least"] is not None:
        solved = "" if details["threshold"] is None else f" ({details['threshold']:zg} solves the task)"
        mean, least = details["mean_return_at_least"], details["least_return"]
        lines.append(
            f"So the mean return over all starts, of trials that are stopped after {asked}, is at least "
            f"{bound_text(mean)}{solved}; no trial returns less than {bound_text(least)}."
        )
    return lines


def reached(spec: TaskSpec, costs: bool, returns: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Which pieces, or trials, are good enough."""
    if costs:
        return steps > 0
    return np.asarray(returns >= (-np.inf if spec.threshold is None else spec.threshold)) & np.isfinite(
        returns
    )


def why_no_returns(spec: TaskSpec, controller: Any) -> str | None:
    """Why nothing can be proven of the returns of a controller by following its program; None if it can be tried.

    >>> from distinguo.tasks.catalog import task_spec
    >>> why_no_returns(task_spec("puck"), None)
    'puck is not judged by return'
    """
    if spec.score != RETURN:
        return f"{spec.name} is not judged by return"
    return why_unfollowed(spec, controller)


class SimulatedTrial(NamedTuple):
    """A simulated trial."""

    start: tuple[float, ...]
    gained: float
    steps: int
    ended: bool
    greatest_reward: float  #: of a step after which it went on
    low: np.ndarray  #: the least of each coordinate of its states
    high: np.ndarray


def simulated_trial(task: Any, controller: Any, first: tuple[float, ...], cap: int) -> SimulatedTrial:
    """Follow the greedy policy, the first of tied actions, from a state."""
    greedy = controller.greedy
    s, gained, most, step, terminal, states = first, 0.0, -np.inf, 0, False, [first]
    while step < cap and not terminal:
        s, reward, terminal = generics.transition(
            task, s, int(greedy[region_at(task, controller.partition, s)])
        )
        gained, most, step = gained + reward, most if terminal else max(most, reward), step + 1
        states.append(s)
    every = np.array(states)
    return SimulatedTrial(
        first, float(gained), step, bool(terminal), float(most), every.min(axis=0), every.max(axis=0)
    )


def ask_returns(request: Request) -> ReturnFinding:
    """Prove what the greedy policy gains from all starts."""
    spec, controller = request.spec, request.controller
    program = program_of(spec.task)
    for name in request.ranges:
        if name not in program.parameters:
            raise DistinguoError(
                f"{spec.name} has no parameter '{name}'; it has {', '.join(program.parameters)}."
            )
    asked = request.steps or spec.cap(HORIZON)
    starts = [_widened(*box) for box in run(program, lambda: start_boxes(program, request.ranges))]
    trials = [
        simulated_trial(spec.task, controller, tuple(map(float, generics.start(spec.task, rng))), asked)
        for rng in map(np.random.default_rng, range(request.seed, request.seed + TRIED))
    ]
    costs = max(one.greatest_reward for one in trials) < 0.0 and any(one.ended for one in trials)
    spread = np.max([one.high for one in trials], axis=0) - np.min([one.low for one in trials], axis=0)
    widths = np.max([high - low for low, high in starts], axis=0)
    scale = np.maximum(np.maximum(spread, widths), 1e-9)
    follower = PieceFollower(Flow(program, controller, request.ranges), WIDE * scale, asked)
    tree = run(program, lambda: _tree(request, starts, follower, costs))
    failing = [
        one
        for one in trials
        if not reached(spec, costs, np.array(one.gained), np.array(one.ended * one.steps))
    ]
    certificate = _certificate(request, program, starts, tree, asked)
    if certificate is None:
        raise NotProvableError(
            f"Not provable: the starts of {spec.name} spread too far to be followed for {counted(asked, 'step')}."
        )
    return ReturnFinding(request, tree, asked, costs, failing[0] if failing else None, certificate)


def _widened(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A box that is a little wider, as the ends that a checker finds are a little farther apart."""
    return low - LEEWAY * (high - low), high + LEEWAY * (high - low)


def _tree(
    request: Request, starts: list[tuple[np.ndarray, np.ndarray]], follower: PieceFollower, costs: bool
) -> StartPieces:
    """Follow pieces of the starts, and halve those that are not good enough as long as there is hope."""
    spec, most = request.spec, request.cells or AT_MOST
    todo = [Node(low, high, (i,)) for i, (low, high) in enumerate(starts)]
    cuts: dict[tuple[int, ...], int] = {}
    widths = [high - low for low, high in starts]
    known: list[tuple[Node, float, int]] = []

    def halve(node: Node) -> list[Node]:
        width = widths[node.path[0]]
        share = np.where(width > 0.0, (node.high - node.low) / np.where(width > 0.0, width, 1.0), 0.0)
        axis = int(share.argmax())
        middle = node.low[axis] + 0.5 * (node.high[axis] - node.low[axis])
        if not node.low[axis] < middle < node.high[axis]:
            return []
        cuts[node.path] = axis
        below, above = node.high.copy(), node.low.copy()
        below[axis] = above[axis] = middle
        return [Node(node.low, below, (*node.path, 0)), Node(above, node.high, (*node.path, 1))]

    while len(todo) * 2 <= min(FIRST, most):
        halved = [halve(node) for node in todo]
        if not all(halved):
            break
        todo = [half for pair in halved for half in pair]
    work = 0
    while todo:
        again: list[Node] = []
        share = 0.0
        for begin in range(0, len(todo), AT_ONCE):
            now = todo[begin : begin + AT_ONCE]
            found = follower.follow(
                np.array([node.low for node in now]), np.array([node.high for node in now])
            )
            work += found.work
            good = reached(spec, costs, found.returns, found.steps)
            share += float(good.sum()) / len(todo)
            for node, gained, steps, fine in zip(now, found.returns, found.steps, good, strict=True):
                room = len(known) + len(todo) - begin + len(again) < most and work < WORK
                pair = (
                    halve(node) if not fine and room and _hopes(request, node, costs, follower.steps) else []
                )
                again += pair
                if not pair:
                    known.append((node, float(gained), int(steps)))
        if share < WORTH:
            known += [(node, -np.inf, 0) for node in again]
            break
        todo = again
    known.sort(key=lambda one: one[0].path)
    nodes = [node for node, _, _ in known]
    returns, steps = (np.array([one[i] for one in known]) for i in (1, 2))
    weights = np.array([2.0 ** (1 - len(node.path)) for node in nodes]) / len(starts)
    return StartPieces(nodes, cuts, returns, steps, weights)


def _hopes(request: Request, node: Node, costs: bool, cap: int) -> bool:
    """Whether a trial from the middle of a piece is good enough."""
    middle = tuple(map(float, 0.5 * (node.low + node.high)))
    one = simulated_trial(request.spec.task, request.controller, middle, cap)
    return bool(reached(request.spec, costs, np.array(one.gained), np.array(one.ended * one.steps)))


def _certificate(
    request: Request,
    program: Program,
    starts: list[tuple[np.ndarray, np.ndarray]],
    tree: StartPieces,
    asked: int,
) -> ReturnCertificate | None:
    proven = np.isfinite(tree.returns)
    if not proven.any():
        return None
    cuts: list[int] = []
    leaves = {node.path: fine for node, fine in zip(tree.nodes, proven, strict=True)}
    for i in range(len(starts)):
        todo: list[tuple[int, ...]] = [(i,)]
        while todo:
            path = todo.pop()
            if path in leaves:
                cuts.append(LEAF if leaves[path] else UNPROVEN)
            else:
                cuts.append(tree.cuts[path])
                todo += [(*path, 1), (*path, 0)]
    spec = request.spec
    return ReturnCertificate(
        task=program_claim(program, request.ranges, _Title(spec.name, len(starts[0][0]), len(spec.actions))),
        controller=policy_claim(request.controller, spec.task),
        limit=asked,
        starts=StartTree(
            low=[low.tolist() for low, _ in starts],
            high=[high.tolist() for _, high in starts],
            cuts=cuts,
            returns=tree.returns[proven].tolist(),
            steps=tree.steps[proven].tolist(),
        ),
        all_starts=bool(proven.all()),
    )


class _Title(NamedTuple):
    """What a claim says of a task besides its program."""

    name: str
    dimensions: int
    actions: int


RETURNS = Question("returns", None, ask_returns, needless=("disturbance",))
