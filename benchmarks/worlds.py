"""Environments that others wrote, each learned by one command, beside PPO of Stable-Baselines3 with its defaults.

    python -m benchmarks.worlds --data docs/worlds.csv --page docs/worlds.md
    python -m benchmarks.worlds --only CliffWalking --seeds 0-0 --rival-seeds 0-0

It needs the packages of the table ``WORLDS``; what is not installed is recorded as the sentence that the command
ends with. Lines that the data has already are not measured again. ``--page`` only writes the page if nothing is
left to measure.
"""

from __future__ import annotations

import argparse
import importlib
import json
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from benchmarks import rows

from distinguo.errors import attempt
from distinguo.runs.configuration import assigned_text
from distinguo.runs.seeds import seeds as parse_seeds

OURS, RIVAL = "distinguo", "PPO"
SEEDS, RIVAL_SEEDS = "0-4", "0-1"
NEW = 10**6  #: the seed of the first new trial
TRIALS, FEWEST, NEW_STEPS = (
    100,
    10,
    20_000,
)  #: new trials: 100, or as many as these steps allow, but at least 10
LONGEST = 1_000  #: steps of a new trial where neither the environment nor the table has a limit
SECONDS = 900  #: that a run may take; then it gets a SIGTERM
REFUSED, TRACEBACK, LATE = "refused", "traceback", "late"


class World(NamedTuple):
    """An environment: what to learn, with how many steps, and which mean return is enough."""

    name: str  #: the id, with the module that registers it
    steps: int
    threshold: float  #: a mean return
    published: bool = False  #: whether its makers name that threshold
    arguments: Mapping[str, Any] = {}
    words: tuple[str, ...] = ()  #: more words of the command

    @property
    def identifier(self) -> str:
        return self.name.rpartition(":")[2]

    def make(self) -> Any:
        """The environment as Gymnasium makes it."""
        module = self.name.rpartition(":")[0]
        if module:
            importlib.import_module(module)
        return gymnasium.make(self.identifier, **self.arguments)

    def command(self, seeds: str) -> list[str]:
        """The command that learns it."""
        own = [f"--set task.{name}={assigned_text(value)}" for name, value in self.arguments.items()]
        goal = [] if self.published else [f"--threshold {self.threshold:g}"]
        budget = f"--set stage.steps={self.steps} --set stage.trials=1000000"
        words = f"learn {self.name} --seeds {seeds} {budget} {' '.join([*goal, *own, *self.words])}"
        return shlex.split(words)


RAM = {"obs_type": "ram"}
WORLDS = (
    World("InvertedPendulum-v5", 30_000, 950.0, True),
    World("CliffWalking-v1", 10_000, -13.0),
    World("Blackjack-v1", 10_000, -0.2),
    World("minigrid:MiniGrid-Empty-8x8-v0", 20_000, 0.8),
    World("InvertedDoublePendulum-v5", 50_000, 9_100.0, True),
    World("Reacher-v5", 30_000, -3.75, True),
    World("Swimmer-v5", 50_000, 360.0, True),
    World("MountainCarContinuous-v0", 30_000, 90.0, True),
    World("minigrid:MiniGrid-Empty-Random-5x5-v0", 5_000, 0.8),
    World("mo_gymnasium:deep-sea-treasure-v0", 5_000, 20.0),
    World("miniworld:MiniWorld-OneRoom-v0", 5_000, 0.8, False, {}, ("--features", "pool")),
    World("popgym:popgym-VelocityOnlyCartpoleEasy-v0", 5_000, 0.8),
    World("shimmy:bsuite/catch-v0", 5_000, 0.9),
    World("shimmy:bsuite/memory_len-v0", 5_000, 0.9, False, {"memory_length": 5}),
    World("shimmy:bsuite/deep_sea-v0", 5_000, 0.9, False, {"size": 8, "mapping_seed": 0}),
    World("shimmy:bsuite/bandit-v0", 5_000, 0.9, False, {"mapping_seed": 0}),
    World("popgym:popgym-HigherLowerEasy-v0", 5_000, 0.3),
    World("popgym:popgym-RepeatFirstEasy-v0", 5_000, 0.9),
    World("or_gym_inventory:or_gym_inventory/Newsvendor-v0", 5_000, 0.0),
    World("or_gym_inventory:or_gym_inventory/InvManagementLostSales-v0", 5_000, 0.0),
    World("gym_electric_motor:Finite-SC-PermExDc-v0", 5_000, -5.0, False, {"max_episode_steps": 200}),
    World("gym_electric_motor:Finite-CC-PermExDc-v0", 5_000, -5.0, False, {"max_episode_steps": 200}),
    World("flappy_bird_gymnasium:FlappyBird-v0", 5_000, 10.0, False, {"use_lidar": False}),
    World("gymnasium_robotics:FetchReach-v4", 5_000, -10.0),
    World("Hopper-v5", 5_000, 3_800.0, True),
    World("BipedalWalker-v3", 5_000, 300.0, True),
    World("FrozenLake8x8-v1", 50_000, 0.85, True),
    World("Taxi-v4", 20_000, 7.0),
    World("shimmy:bsuite/discounting_chain-v0", 5_000, 1.09),
    World("LunarLander-v3", 5_000, 200.0, True),
    World("minigrid:MiniGrid-LavaGapS5-v0", 5_000, 0.7),
    World("minigrid:MiniGrid-Dynamic-Obstacles-5x5-v0", 5_000, 0.7),
    World("panda_gym:PandaReachDense-v3", 5_000, -2.0),
    World("gymnasium_snake_game:Snake-v1", 5_000, 0.0),
    World("shimmy:bsuite/cartpole-v0", 5_000, 500.0),
    World("highway_env:highway-fast-v0", 1_500, 20.0),
    World("highway_env:lane-keeping-v0", 5_000, -500.0),
    World("gymnasium_robotics:PointMaze_UMaze-v3", 5_000, 150.0),
    World("gym_anytrading:stocks-v0", 5_000, 1_000.0),
    World("gymnasium_2048:gymnasium_2048/TwentyFortyEight-v0", 5_000, 2_000.0),
    World("minigrid:MiniGrid-DoorKey-5x5-v0", 5_000, 0.8),
    World("shimmy:dm_control/pendulum-swingup-v0", 5_000, 500.0),
    World("ale_py:ALE/Boxing-v5", 5_000, 20.0, False, RAM),
    World("ale_py:ALE/Freeway-v5", 5_000, 20.0, False, RAM),
    World("shimmy:dm_control/ball_in_cup-catch-v0", 5_000, 700.0),
    World("shimmy:dm_control/cartpole-balance-v0", 5_000, 900.0),
    World("highway_env:parking-v0", 2_000, -20.0),
    World("shimmy:dm_control/cartpole-swingup-v0", 5_000, 500.0),
    World("ale_py:ALE/Pong-v5", 5_000, -10.0, False, RAM),
    World("shimmy:bsuite/mountain_car-v0", 5_000, -200.0),
)


class Line(NamedTuple):
    """A line of the data: one agent that learned, and what it does in new trials."""

    world: str
    agent: str
    seed: int
    learner: str
    steps: int  #: of learning that it may take
    taken: int  #: all steps that the environment took, those of the confirmation included
    threshold: float
    answer: str  #: solved, not solved, or how the command ended instead
    anew: float  #: the mean return of new trials
    trials: int  #: new ones
    seconds: float
    words: str  #: the reason why it was not solved, or the sentence that the command ended with

    @property
    def reaches(self) -> bool:
        """Whether new trials reach the threshold."""
        return self.trials > 0 and self.anew >= self.threshold


# New trials.


class Arena(NamedTuple):
    """An environment in which agents are tried anew."""

    reset: Callable[[int], Any]
    step: Callable[[Any], tuple[Any, float, bool, bool]]
    limit: int


def tried_anew(arena: Arena, act: Callable[[Any], Any]) -> tuple[float, int]:
    """The mean return of new trials, and how many they were."""
    returns: list[float] = []
    taken = 0
    while len(returns) < TRIALS and (taken < NEW_STEPS or len(returns) < FEWEST):
        seen, gained = arena.reset(NEW + len(returns)), 0.0
        for _ in range(arena.limit):
            seen, reward, ended, stopped = arena.step(act(seen))
            gained, taken = gained + reward, taken + 1
            if ended or stopped:
                break
        returns.append(gained)
    return round(float(np.mean(returns)), 4), len(returns)


def limit_of(world: World, env: Any) -> int:
    return int(world.arguments.get("max_episode_steps") or env.spec.max_episode_steps or LONGEST)


# Our agent: one command.


def our_line(world: World, seed: int, work: Path) -> Line:
    """Learn by the command, and try the controller anew."""
    out, began = work / f"{world.identifier.replace('/', '-')}-{world.steps}-{seed}", time.perf_counter()
    words = [*world.command(str(seed)), "--out", str(out), "--json"]
    answer = subprocess.Popen(  # this package
        [sys.executable, "-m", "distinguo", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    late = False
    try:
        said, told = answer.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        late = True
        answer.terminate()
        said, told = answer.communicate()
    seconds = round(time.perf_counter() - began, 1)
    found = attempt(lambda: json.loads(said.splitlines()[-1])["runs"], otherwise=[])
    if not found:
        last = " ".join(told.strip().splitlines()[-1:]).removeprefix("distinguo: ")
        sentence = last.partition(" What was learned before")[0]  # which names the folder
        how = TRACEBACK if "Traceback (most recent" in told else LATE if late else REFUSED
        return ended(world, OURS, seed, how, seconds, sentence)
    return _our_line(world, found[0], seconds)


def _our_line(world: World, summary: Mapping[str, Any], seconds: float) -> Line:
    import distinguo as dg

    world.make().close()  # registers its id, too
    run = dg.open_run(summary["run"])
    checked = run.configuration.spec.task.driver.checked_env
    limit = run.configuration.spec.limit or LONGEST
    arena = Arena(lambda seed: checked.reset(seed, 0), lambda a: checked.step(a, 0, 0), limit)
    anew, trials = tried_anew(arena, run.controller.action)
    return Line(
        world.identifier,
        OURS,
        int(summary["seed"]),
        summary["learner"],
        world.steps,
        int(summary["total_steps"]),
        world.threshold,
        "solved" if summary["solved"] else "not solved",
        anew,
        trials,
        seconds,
        summary.get("not_solved", {}).get("reason", ""),
    )


def ended(world: World, agent: str, seed: int, how: str, seconds: float, words: str) -> Line:
    """The line of a command that ended without an agent."""
    return Line(
        world.identifier, agent, seed, "", world.steps, 0, world.threshold, how, np.nan, 0, seconds, words
    )


# The rival.


def rival_line(world: World, seed: int) -> Line:
    """Train PPO with its defaults on as many steps, and try its deterministic policy anew."""
    began = time.perf_counter()
    try:
        anew, trials = _rival(world, seed)
    except Exception as error:  # whatever the environment or the rival raises is recorded
        words = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        return ended(world, RIVAL, seed, REFUSED, round(time.perf_counter() - began, 1), words)
    solved = "solved" if anew >= world.threshold else "not solved"
    seconds = round(time.perf_counter() - began, 1)
    return Line(
        world.identifier,
        RIVAL,
        seed,
        "",
        world.steps,
        world.steps,
        world.threshold,
        solved,
        anew,
        trials,
        seconds,
        "",
    )


def _rival(world: World, seed: int) -> tuple[float, int]:
    import torch
    from stable_baselines3 import PPO

    torch.set_num_threads(1)
    env = in_one_row(world.make())
    model = PPO("MlpPolicy", env, seed=seed, device="cpu").learn(world.steps)

    def step(action: Any) -> tuple[Any, float, bool, bool]:
        seen, reward, terminated, truncated, _ = env.step(action)
        return seen, float(reward), bool(terminated), bool(truncated)

    arena = Arena(lambda seed: env.reset(seed=seed)[0], step, limit_of(world, env))
    whole = isinstance(env.action_space, gymnasium.spaces.Discrete)
    return tried_anew(
        arena, lambda seen: (int if whole else np.asarray)(model.predict(seen, deterministic=True)[0])
    )


def in_one_row(env: Any) -> Any:
    """The environment with the parts of its observations in one row, texts left out."""
    space = env.observation_space
    if isinstance(space, gymnasium.spaces.Dict):
        numbers = [
            key
            for key, part in space.items()
            if isinstance(part, gymnasium.spaces.Box | gymnasium.spaces.Discrete)
        ]
        if len(numbers) < len(space.spaces):
            env = gymnasium.wrappers.FilterObservation(env, numbers)
    if isinstance(space, gymnasium.spaces.Dict | gymnasium.spaces.Tuple):
        return gymnasium.wrappers.FlattenObservation(env)
    return env


# The data.


def measure(world: str, agent: str, seed: int, work: str) -> Line:
    """Learn once, and try what was learned."""
    asked = next(one for one in WORLDS if one.identifier == world)
    return our_line(asked, seed, Path(work)) if agent == OURS else rival_line(asked, seed)


# The page.


PAGE = """# Environments that others wrote

Each of these environments is learned by one command, without a file or a wrapper. What came out is beside PPO of
Stable-Baselines3 with its default settings and the same steps to learn:

    python -m benchmarks.worlds --data docs/worlds.csv --page docs/worlds.md

It needs the packages of the table and `pip install "distinguo[others]"`. What [the data](worlds.csv) has already is
not measured again, so the command goes on where it stopped, and another budget needs another file.

- **The command** is `distinguo learn NAME --seeds {seeds} --set stage.steps=STEPS --set stage.trials=1000000`, with
  `--threshold` where the makers publish none, and with what the last column has. The learner is the default one.
- **The threshold** is the mean return that the makers publish (*p*), or one that was stated before these runs (*s*).
- **Solved** counts the seeds whose own [confirmation](confirmation.md) passed. **At it** counts those whose mean
  return in new trials reaches the threshold. There are {fewest} to {trials} of them (`trials` in the data). The
  return is the median over the seeds.
- **Steps** are those to learn, for both. *In all* has what the environment took by our command, the median over the
  seeds: probing, confirmations and the values of the map come on top, and a run that is solved stops learning. Ours
  restores states where it can, which PPO cannot. The budgets are small: what neither solves may need more steps.
- **PPO** has `MlpPolicy` and no change of its defaults, {rival_seeds} seeds. The parts of an observation are put in
  one row, and texts are left out, as for ours. In new trials its policy is deterministic. *Not run* means that there
  was no time for it.
- A run that takes more than {minutes} minutes is interrupted.

| environment | steps | in all | threshold | solved | at it | return | PPO at it | PPO's return | why not; options |
|---|---|---|---|---|---|---|---|---|---|
{rows}

{totals}

Made at commit {commit}, with {versions}.
"""


def page(worlds: Sequence[World], lines: list[Line]) -> str:
    """The page of what was measured."""
    rows, counts = [], Counter[str]()
    for world in worlds:
        of = {
            agent: [line for line in lines if (line.world, line.agent) == (world.identifier, agent)]
            for agent in (OURS, RIVAL)
        }
        if not of[OURS]:
            continue
        rows.append(_row(world, of[OURS], of[RIVAL]))
        counts.update(_counted(of[OURS], of[RIVAL]))
    seeds = sorted({line.seed for line in lines if line.agent == OURS})
    rivals = {line.seed for line in lines if line.agent == RIVAL}
    return PAGE.format(
        seeds=f"{seeds[0]}-{seeds[-1]}",
        trials=TRIALS,
        new_steps=NEW_STEPS,
        fewest=FEWEST,
        rival_seeds=len(rivals),
        minutes=SECONDS // 60,
        rows="\n".join(rows),
        totals=_totals(counts),
        versions=", ".join(_versions(worlds, {line.world for line in lines})),
        commit=subprocess.run(
            ["git", "rev-parse", "--short=7", "HEAD"],  # git, wherever it is
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=False,
        ).stdout.strip(),
    )


def _versions(worlds: Iterable[World], measured: set[str]) -> list[str]:
    """The packages of the environments that were measured, and of the rival, with their versions."""
    modules = {
        world.name.rpartition(":")[0] or "gymnasium" for world in worlds if world.identifier in measured
    }
    known = metadata.packages_distributions()
    names = {known[module][0] for module in (*modules, "stable_baselines3") if module in known}
    return sorted(f"{name} {metadata.version(name)}" for name in names)


def _row(world: World, ours: list[Line], rivals: list[Line]) -> str:
    options = shlex.join(world.command("0")[8 if world.published else 10 :])
    why = Counter(line.words for line in ours if line.words).most_common(2)
    said = "; ".join(f"{words} ({count})" if count < len(ours) else words for words, count in why)
    rival_said = next((line.words for line in rivals if line.answer == REFUSED), "")
    last = "; ".join(
        word
        for word in (f"`{options}`" if options else "", said, f"PPO: {rival_said}" if rival_said else "")
        if word
    )
    cells = [
        f"`{world.name}`",
        f"{ours[0].steps:,}",
        f"{np.median([line.taken for line in ours]):,.0f}",
        f"{world.threshold:,g} ({'p' if world.published else 's'})",
        f"{sum(line.answer == 'solved' for line in ours)} of {len(ours)}",
        f"{sum(line.reaches for line in ours)} of {len(ours)}",
        _median(ours),
        f"{sum(line.reaches for line in rivals)} of {len(rivals)}" if rivals else "not run",
        _median(rivals),
        last,
    ]
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _median(lines: list[Line]) -> str:
    returns = [line.anew for line in lines if line.trials]
    return f"{np.median(returns):,.4g}" if returns else ""


def _counted(ours: list[Line], rivals: list[Line]) -> dict[str, int]:
    """What a row adds to the totals."""
    by_us = 2 * sum(line.reaches for line in ours) > len(ours)
    by_rival = bool(rivals) and 2 * sum(line.reaches for line in rivals) > len(rivals)
    ends = {line.answer for line in ours}
    return {
        "all": 1,
        "verdict": int(ends <= {"solved", "not solved"}),
        "sentence": int(ends == {REFUSED}),
        "ours": int(by_us),
        "rival": int(by_rival),
        "compared": int(bool(rivals)),
        "both": int(by_us and by_rival),
    }


def _totals(counts: Mapping[str, int]) -> str:
    return (
        f"Of these {counts['all']} environments, {counts['verdict']} ran to a verdict, and {counts['sentence']} "
        "ended with one sentence that says why not. In most seeds, ours reaches the threshold in "
        f"{counts['ours']} of them. PPO does in {counts['rival']} of the {counts['compared']} where it was run, and "
        f"ours in {counts['both']} of those {counts['rival']}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", default=SEEDS, help="FIRST-LAST")
    parser.add_argument("--rival-seeds", default=RIVAL_SEEDS, help="FIRST-LAST, or nothing")
    parser.add_argument("--data", type=Path, default=Path("worlds.csv"))
    parser.add_argument("--page", type=Path, default=None)
    parser.add_argument("--work", type=Path, default=None, help="where the runs are kept")
    parser.add_argument("--only", default="", help="parts of the names, with commas between them")
    asked = parser.parse_args()
    agents = {OURS: asked.seeds, RIVAL: asked.rival_seeds}
    worlds = [world for world in WORLDS if any(part in world.name for part in asked.only.split(","))]
    keys = [
        (world.identifier, agent, seed)
        for world in worlds
        for agent, seeds in agents.items()
        for seed in (parse_seeds(seeds) if seeds else [])
    ]
    with tempfile.TemporaryDirectory() as folder:
        work = str(asked.work or folder)
        told = {key: {**dict(zip(Line._fields, key, strict=False)), "work": work} for key in keys}
        rows.measured(asked.data, Line, measure, told)
    text = page(WORLDS, rows.read(asked.data, Line))
    if asked.page is None:
        print(text)
    else:
        asked.page.write_text(text)


if __name__ == "__main__":
    main()
