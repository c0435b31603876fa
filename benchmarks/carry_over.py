"""Do learned maps carry over to a fresh learner? The share of runs at the cap, over many maps.

    python benchmarks/carry_over.py --preset default --maps 20 --runs 10
    python benchmarks/carry_over.py --preset paper --maps 100 --runs 10

Every map is learned from scratch with a seed of its own, then given to the tester of the same preset.
"""

from __future__ import annotations

import argparse

from distinguo.engines.engine import Engine
from distinguo.engines.jobs import Job
from distinguo.evaluation.tester import Evaluation, learning_curve
from distinguo.presets import DEFAULT, PRESETS, tester_preset
from distinguo.runs.configuration import configure
from distinguo.runs.many import learn_many
from distinguo.settings import TesterSettings
from distinguo.tasks.extent import observed_extent


def main() -> None:
    """Print the share of the runs that end at the cap, and the maps that ever miss it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--preset", choices=PRESETS, default=DEFAULT)
    parser.add_argument("--maps", type=int, default=20)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=40_000)
    parser.add_argument("--cap", type=int, default=TesterSettings().cap)
    parser.add_argument("--gamma", type=float, help="discount of the tester, if not the preset's")
    options = parser.parse_args()
    asked = dict(tester_preset(options.preset)) | ({} if options.gamma is None else {"gamma": options.gamma})
    # only the measurement at the end counts here, so only that one is made
    settings = TesterSettings(**asked)._replace(cap=options.cap, every_steps=10**9, every_trials=10**9)
    seeds = range(options.seed, options.seed + options.maps)
    maps = learn_many([configure("puck", seed=n, preset_name=options.preset) for n in seeds])

    def run(number: int, n: int) -> bool:
        learned = maps[number]
        spec, representation = learned.configuration.spec, learned.representation
        extent = observed_extent(spec.task)
        evaluation = Evaluation(spec, representation.partition, representation.regions, settings, extent)
        return learning_curve(evaluation, options.seed, n).scores[-1] >= settings.cap

    jobs = [(number, n) for number in range(options.maps) for n in range(options.runs)]
    held = Engine().all(
        [Job(f"map {number}, run {n}", run, {"number": number, "n": n}) for number, n in jobs]
    )
    missed = {seeds[job[0]] for job, good in zip(jobs, held, strict=True) if not good}
    print(f"{sum(held)} of {len(held)} runs at {settings.cap:,} after {settings.steps:,} training steps")
    print(f"maps that missed it at least once: {sorted(missed) or 'none'}")


if __name__ == "__main__":
    main()
