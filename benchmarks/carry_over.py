"""Do learned maps carry over to a fresh learner? The share of runs at the cap, over many maps.

    python -m benchmarks.carry_over --preset default --seeds 40000-40019 --runs 10
    python -m benchmarks.carry_over --preset paper --seeds 40000-40099 --runs 10

Every map is learned from scratch with a seed of its own, then given to the tester of the same preset.
"""

from __future__ import annotations

from typing import NamedTuple

from benchmarks import rows

from distinguo.evaluation.tester import Evaluation, learning_curve
from distinguo.presets import DEFAULT, PRESETS, tester_preset
from distinguo.runs.configuration import configure
from distinguo.runs.learn import learn_configured
from distinguo.settings import TesterSettings
from distinguo.tasks.extent import observed_extent


class Row(NamedTuple):
    """What became of a map."""

    preset: str
    gamma: float  #: of the tester
    cap: int
    first: int  #: the seed of the tester
    runs: int
    seed: int
    held: int  #: runs that end at the cap


def measured(preset: str, gamma: float, cap: int, first: int, runs: int, seed: int) -> Row:
    """Learn a map, and give it to fresh learners."""
    # only the measurement at the end counts here, so only that one is made
    asked = {**tester_preset(preset), "gamma": gamma, "cap": cap, "every_steps": 10**9, "every_trials": 10**9}
    learned = learn_configured(configure("puck", seed=seed, preset_name=preset))
    spec, representation = learned.configuration.spec, learned.representation
    extent = observed_extent(spec.task)
    partition, regions = representation.partition, representation.regions
    evaluation = Evaluation(spec, partition, regions, TesterSettings(**asked), extent)
    held = sum(learning_curve(evaluation, first, n).scores[-1] >= cap for n in range(runs))
    return Row(preset, gamma, cap, first, runs, seed, held)


def main() -> None:
    """Print the share of the runs that end at the cap, and the maps that ever miss it."""
    parser = rows.options(__doc__, "carry-over", "40000-40019")
    parser.add_argument("--preset", choices=PRESETS, default=DEFAULT)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--cap", type=int, default=TesterSettings().cap)
    parser.add_argument("--gamma", type=float, help="discount of the tester, if not the preset's")
    asked = parser.parse_args()
    tester = TesterSettings(**tester_preset(asked.preset))
    gamma = tester.gamma if asked.gamma is None else asked.gamma
    way = (asked.preset, gamma, asked.cap, asked.seeds[0], asked.runs)
    known = rows.measured(asked.table, Row, measured, [(*way, seed) for seed in asked.seeds])
    missed = [row.seed for row in known if row.held < row.runs]
    held, of = sum(row.held for row in known), sum(row.runs for row in known)
    print(f"{held} of {of} runs at {asked.cap:,} after {tester.steps:,} training steps")
    print(f"maps that missed it at least once: {missed or 'none'}")


if __name__ == "__main__":
    main()
