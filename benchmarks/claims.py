"""With what probability does each claim about curves hold under the paper's reading? Over seeds of the tester.

    distinguo reproduce && python benchmarks/claims.py --seeds 9000-9011

The representations are those of the reproduction, whose folder is given; each seed repeats the full protocol (10
runs, 50 test trials, cap 5,000,000) with other training trials, test starts and critics. What is done is kept there.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from distinguo_lab.paper.claims import Claim, critic_claim, curve_claims
from distinguo_lab.paper.reproduce import CRITICS, FULL, critic
from distinguo_lab.paper.stages import PAPER, control_file, learning_curves


def claims_of(folder: Path, seed: int) -> list[Claim]:
    """Run the testing stage with a seed and return its claims."""
    tester = {"runs": FULL.runs, "cap": FULL.cap}
    curves = learning_curves(PAPER, tester, seed, folder, results=f"tests/seed-{seed}")
    quantization = control_file(PAPER, "controllability", folder)
    balanced = critic(quantization, range(seed * CRITICS, (seed + 1) * CRITICS))
    return [*curve_claims(curves, FULL.cap), critic_claim(balanced)]


def main() -> None:
    """Print the share of the seeds under which each claim holds, and all of them at once."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="9000-9011", help="such as 9000-9011; not those used to choose")
    parser.add_argument("--out", default="runs/reproduce-full-seed0", help="folder of a full reproduction")
    options = parser.parse_args()
    first, last = map(int, options.seeds.split("-"))
    held = []
    for seed in range(first, last + 1):
        claims = claims_of(Path(options.out) / PAPER.name, seed)
        held.append([claim.holds for claim in claims])
        failed = [f"{claim.id}: {claim.ours}" for claim in claims if not claim.holds]
        print(f"seed {seed}: {'; '.join(failed) or 'all hold'}", flush=True)
    print("\n| claim | holds |\n|---|---|")
    for claim, share in zip(claims, np.mean(held, axis=0), strict=True):
        print(f"| {claim.id} | {share:.0%} |")
    print(f"| all at once | {np.mean(np.all(held, axis=1)):.0%} |")


if __name__ == "__main__":
    main()
