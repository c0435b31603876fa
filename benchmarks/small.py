"""Small controllers with amounts: the table and the picture of docs/small-controllers.md.

    python -m benchmarks.small                       # learned from scratch: all tasks, ten seeds each; a day
    python -m benchmarks.small Pendulum-v1 --seeds 98000-98009
    python -m benchmarks.small Pendulum-v1 --kind distilled --teachers teachers
    python -m benchmarks.small Pendulum-v1 --kind tree --teachers teachers
    python -m benchmarks.small --write               # the table and the picture of the runs so far

Each controller is tried in 100 new trials of Gymnasium's own environment. Its row goes to docs/small-controllers.csv
as soon as it is known; what is there is not run again. ``--teachers`` is the folder that ``python -m
benchmarks.teachers`` writes. MuJoCo and Box2D come with ``pip install "distinguo[others]"``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from benchmarks import linear
from benchmarks.rows import append, read

import distinguo as dg
from distinguo.evaluation.statistics import interquartile_mean
from distinguo.exports.header import to_header
from distinguo.exports.tables import labelled
from distinguo.runs.seeds import seeds as parse_seeds
from distinguo.tasks.amounts import amounts_of, count_stored, laws_of

NEW = 100  #: trials that a controller is tried in again
FIRST_NEW = 10**6  #: the seed of the first new trial, far from those of any run
HELD_OUT = "98000-98009"
DOCS = Path(__file__).parents[1] / "docs"
TABLE, PAGE = DOCS / "small-controllers.csv", DOCS / "small-controllers.md"
PICTURE = DOCS / "images" / "small-controllers.png"
BEGIN, END = "<!-- table -->", "<!-- end of the table -->"
#: The steps of a run that learns from scratch, and the mean return to reach then, and when a teacher is distilled.
TASKS: dict[str, tuple[int, float, float]] = {
    "Pendulum-v1": (300_000, -165.0, -160.0),
    "MountainCarContinuous-v0": (20_000, 93.0, 93.0),
    "InvertedPendulum-v5": (100_000, 1000.0, 1000.0),
    "InvertedDoublePendulum-v5": (500_000, 9100.0, 9100.0),
    "Swimmer-v5": (500_000, 340.0, 300.0),
    "LunarLanderContinuous-v3": (1_500_000, 200.0, 220.0),
    "Hopper-v5": (5_000_000, 2000.0, 2000.0),
}
LEARNED, DISTILLED, LINEAR, TREE, NETWORK = "learned", "distilled", "linear", "tree", "network"
KINDS = {
    LEARNED: "ours, learned from scratch",
    DISTILLED: "ours, distilled",
    LINEAR: "one linear law, random search (ARS)",
    TREE: "tree of the teacher's amounts (CART, aggregated)",
    NETWORK: "the teacher itself",
}
#: Where the threshold of a task is not the figure to reach, what a distillation is asked to keep.
KEEP = {
    "MountainCarContinuous-v0": 93.0,
    "InvertedPendulum-v5": 1000.0,
    "InvertedDoublePendulum-v5": 9100.0,
    "LunarLanderContinuous-v3": 220.0,
    "Swimmer-v5": 300.0,
    "Hopper-v5": 2000.0,
}
LEAVES = (4, 16, 64)
ROUNDS, FOLLOWED = 5, 20  #: of aggregation for trees, and trials of each


class Row(NamedTuple):
    """The figures of a run."""

    task: str
    seed: int
    solved: bool
    anew: float  #: the mean return of the new trials
    worst: float  #: the mean of their worst tenth
    regions: int
    numbers: int
    bytes: int  #: of the header in C, without its comment; of a tree or a network 4 for each number
    steps: int
    confirmation: int
    seconds: float
    kind: str = LEARNED


Act = Callable[[np.ndarray], Any]


def trial(env: Any, act: Act, seed: int, seen: list[np.ndarray] | None = None) -> float:
    """The return of a trial; what it saw is added to ``seen``."""
    now, _ = env.reset(seed=seed)
    gained, over, box = 0.0, False, env.action_space
    while not over:
        if seen is not None:
            seen.append(now)
        sent = np.clip(np.asarray(act(now), dtype=np.float64).reshape(box.shape), box.low, box.high)
        now, reward, ended, stopped, _ = env.step(sent.astype(box.dtype))
        gained, over = gained + float(reward), ended or stopped
    return gained


def acts(run: Any) -> Act:
    """What the map of a run does, as a function of an observation."""
    spec, controller = run.configuration.spec, run.controller
    known = laws_of(spec)
    if known is not None:
        return lambda seen: amounts_of(known, controller.action(seen.tolist()), seen.tolist())
    levels = np.array(spec.parameters["levels"], dtype=np.float64).reshape(len(spec.actions), -1)
    return lambda seen: levels[controller.action(seen.tolist())]


def row_of(task: str, seed: int, act: Act, **facts: Any) -> Row:
    """A row with the returns of new trials, in Gymnasium's own environment."""
    env = gymnasium.make(task)
    returns = np.array([trial(env, act, FIRST_NEW + number) for number in range(NEW)])
    worst = np.sort(returns)[: NEW // 10].mean()
    return Row(task, seed, anew=round(float(returns.mean()), 2), worst=round(float(worst), 2), **facts)


def row_of_run(task: str, seed: int, run: Any, kind: str) -> Row:
    """The row of a map."""
    header, summary = to_header(labelled(run)), run.summary
    known, size = laws_of(run.configuration.spec), int(summary["representation_prototypes"])
    stored = size * (len(run.configuration.spec.dimensions) + 1) if known is None else 0
    return row_of(
        task,
        seed,
        acts(run),
        solved=run.solved or bool(summary.get("kept")),
        regions=int(summary["regions"]),
        numbers=stored if known is None else count_stored(known.table, size),
        bytes=len(header[header.index("#ifndef") :].encode()),
        steps=int(summary["environment_steps"]),
        confirmation=int(summary["confirmation_steps"]),
        seconds=float(summary["seconds"]),
        kind=kind,
    )


def learned(task: str, seed: int, _: Path) -> list[Row]:
    """Learn once from scratch."""
    run = dg.learn(task, learner="evolution", seed=seed, settings={"stage.steps": TASKS[task][0]})
    return [row_of_run(task, seed, run, LEARNED)]


def teacher_of(task: str, teachers: Path) -> Any:
    """The teacher of a task: TASK-ALGORITHM.zip, or a folder of that name with its statistics."""
    found = sorted(teachers.glob(f"{task}-*"))
    if not found:
        raise SystemExit(f"{teachers} has no teacher of {task}; run: python -m benchmarks.teachers {task}")
    return dg.load_policy(found[0])


def distilled(task: str, seed: int, teachers: Path) -> list[Row]:
    """Distil the teacher once."""
    small = dg.distil(teacher_of(task, teachers), task, seed=seed, keep=KEEP.get(task))
    return [row_of_run(task, seed, small.run, DISTILLED)]


def network(task: str, _: int, teachers: Path) -> list[Row]:
    """Try the teacher itself."""
    policy = teacher_of(task, teachers)
    agent = getattr(policy, "agent", policy)
    parts = agent.policy
    parts = getattr(parts, "actor", None) or parts.mlp_extractor.policy_net
    numbers = sum(int(one.numel()) for one in parts.parameters())
    if hasattr(agent.policy, "action_net"):
        numbers += sum(int(one.numel()) for one in agent.policy.action_net.parameters())
    return [
        row_of(
            task,
            0,
            lambda seen: policy.predict(seen, deterministic=True)[0],
            solved=True,
            regions=0,
            numbers=numbers,
            bytes=4 * numbers,
            steps=int(agent.num_timesteps),
            confirmation=0,
            seconds=0.0,
            kind=NETWORK,
        )
    ]


def aggregated(policy: Any, env: Any, leaves: int, seed: int) -> tuple[Any, int]:
    """The best tree of several rounds, in which the teacher answers for what the last tree saw, and their steps."""
    from sklearn.tree import DecisionTreeRegressor

    seen: list[np.ndarray] = []
    found: list[tuple[float, Any]] = []
    tree: Any = None
    for number in range(ROUNDS + 1):

        def act(now: np.ndarray, tree: Any = tree) -> Any:
            return policy.predict(now, deterministic=True)[0] if tree is None else tree.predict(now[None])

        starts = range(1000 * seed + FOLLOWED * number, 1000 * seed + FOLLOWED * (number + 1))
        found.append((float(np.mean([trial(env, act, start, seen) for start in starts])), tree))
        taken = policy.predict(np.array(seen), deterministic=True)[0]
        tree = DecisionTreeRegressor(max_leaf_nodes=leaves, random_state=seed).fit(np.array(seen), taken)
    return max(found[1:], key=lambda pair: pair[0])[1], len(seen)


def trees(task: str, seed: int, teachers: Path) -> list[Row]:
    """Regression trees of what the teacher takes, in its own trials and in those of the trees."""
    policy, env, rows = teacher_of(task, teachers), gymnasium.make(task), []
    for leaves in LEAVES:
        begun = time.process_time()
        chosen, steps = aggregated(policy, env, leaves, seed)
        count = int(chosen.get_n_leaves())
        numbers = 2 * (count - 1) + count * int(np.prod(env.action_space.shape or ()))
        rows.append(
            row_of(
                task,
                seed,
                lambda now, chosen=chosen: chosen.predict(now[None]),
                solved=False,
                regions=count,
                numbers=numbers,
                bytes=4 * numbers,
                steps=steps,
                confirmation=0,
                seconds=round(time.process_time() - begun, 4),
                kind=TREE,
            )
        )
    return rows


def one_law(task: str, seed: int, _: Path) -> list[Row]:
    """Augmented random search for one linear law."""
    begun = time.process_time()
    found = linear.searched(lambda: gymnasium.make(task), seed, TASKS[task][0], linear.PUBLISHED.get(task))
    return [
        row_of(
            task,
            seed,
            found.act,
            solved=False,
            regions=1,
            numbers=found.law.size,
            bytes=4 * found.law.size,
            steps=found.steps,
            confirmation=0,
            seconds=round(time.process_time() - begun, 4),
            kind=LINEAR,
        )
    ]


RUNS: dict[str, Callable[[str, int, Path], list[Row]]] = {
    LEARNED: learned,
    DISTILLED: distilled,
    LINEAR: one_law,
    TREE: trees,
    NETWORK: network,
}


def groups(rows: list[Row], task: str) -> list[tuple[str, list[Row]]]:
    """The rows of a task that belong together: of a kind and, for trees, of a number of leaves."""
    found: dict[tuple[int, str, int], list[Row]] = {}
    for row in rows:
        if row.task == task:
            place = list(KINDS).index(row.kind), row.kind, row.regions if row.kind == TREE else 0
            found.setdefault(place, []).append(row)
    return [(place[1], found[place]) for place in sorted(found)]


def interval(values: np.ndarray) -> tuple[float, float, float]:
    """The interquartile mean over seeds with a bootstrap interval of 95 %."""
    rng = np.random.default_rng(0)
    drawn = rng.choice(values, (len(values), 2_000))
    low, high = np.quantile(interquartile_mean(drawn), [0.025, 0.975])
    return float(interquartile_mean(values[:, None])[0]), float(low), float(high)


def table(rows: list[Row]) -> str:
    """The table of the page."""
    head = [
        "task",
        "controller",
        "seeds",
        "reached",
        "return (IQM, 95 %)",
        "worst tenth",
        "regions",
        "numbers",
    ]
    head += ["bytes of C", "steps", "starts proven"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for task, (_, scratch, taught) in TASKS.items():
        for kind, own in groups(rows, task):
            anew, wanted = (
                np.array([row.anew for row in own]),
                scratch if kind in (LEARNED, LINEAR) else taught,
            )
            middle, low, high = interval(anew)
            spread = f" ({low:,.1f} to {high:,.1f})" if len(own) > 1 else ""
            values = [np.median([getattr(row, name) for row in own]) for name in ("regions", "numbers")]
            regions = "-" if kind == NETWORK else f"{values[0]:,.0f}"
            cells = [
                *(task, KINDS[kind], len(own), f"{(anew >= wanted).sum()} of {len(own)} at {wanted:g}"),
                *(f"{middle:,.1f}{spread}", f"{np.median([row.worst for row in own]):,.1f}", regions),
                f"{values[1]:,.0f}",
                *(f"{np.median([getattr(row, name) for row in own]):,.0f}" for name in ("bytes", "steps")),
                "-",
            ]
            lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def draw(rows: list[Row]) -> None:
    """Return against numbers, one panel for each task."""
    from distinguo.views.colours import HUES, INK
    from distinguo.views.plots import FULL, SMALL, dress, entitle, new_figure

    shown = [task for task in TASKS if any(row.task == task for row in rows)]
    across = min(2, len(shown))
    down = -(-len(shown) // across)
    figure = new_figure(2.4 * down + 0.8, FULL)
    panels = figure.subplots(down, across, squeeze=False).ravel()
    looks = dict(zip(KINDS, zip("oDs^*", HUES, strict=False), strict=True))
    named: dict[str, Any] = {}
    for axes in panels[len(shown) :]:
        axes.set_axis_off()
    for axes, task in zip(panels, shown, strict=False):
        for kind, own in groups(rows, task):
            mark, colour = looks[kind]
            place = float(np.median([row.numbers for row in own]))
            middle, low, high = interval(np.array([row.anew for row in own]))
            axes.plot([place, place], [low, high], color=colour, lw=1.2)
            (named[kind],) = axes.plot(place, middle, mark, ls="", color=colour, ms=6)
        axes.axhline(TASKS[task][2], color=INK, lw=0.6, ls=":")
        axes.set_xscale("log")
        axes.set_xlim(1, 1e6)
        axes.set_title(task, fontsize=SMALL, color=INK)
        dress(axes, "numbers that the controller is made of", "mean return")
    words = [KINDS[kind] for kind in KINDS if kind in named]
    handles = [named[kind] for kind in KINDS if kind in named]
    free, place = (panels[-1], "center") if len(panels) > len(shown) else (panels[0], "lower right")
    free.legend(handles, words, fontsize=SMALL - 1, framealpha=0.0, loc=place)
    entitle(figure, "Return against size; dotted: to reach")
    figure.savefig(PICTURE, dpi=160)


def main() -> None:
    """Run what is missing, and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tasks", nargs="*", default=list(TASKS))
    parser.add_argument("--seeds", default=HELD_OUT, help="FIRST-LAST")
    parser.add_argument("--kind", choices=list(KINDS), default=LEARNED)
    parser.add_argument("--teachers", type=Path, default=Path("teachers"))
    parser.add_argument(
        "--write", action="store_true", help="write the table and the picture and run nothing"
    )
    options = parser.parse_args()
    for task in [] if options.write else options.tasks:
        for seed in [0] if options.kind == NETWORK else parse_seeds(options.seeds):
            if not any(
                (row.task, row.seed, row.kind) == (task, seed, options.kind) for row in read(TABLE, Row)
            ):
                for row in RUNS[options.kind](task, seed, options.teachers):
                    append(TABLE, [row], Row._fields)
                    print(row, flush=True)
    rows = read(TABLE, Row)
    made = table(rows)
    head, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}\n{made}\n{END}{rest.split(END)[1]}")
    draw(rows)


if __name__ == "__main__":
    main()
