"""Break the learner, the tester and the stage on purpose, one mistake at a time: fast tests must notice each.

    python tests/mutants.py            # all of them, a few minutes
    python tests/mutants.py stack      # those whose name holds a word

Every mutant is a copy of the package with one line changed; the tests run interpreted, so nothing is compiled. A
mutant that survives all of them is a hole in the tests: the exit code says how many there are.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
#: The tests that are tried, the quickest first.
TESTS = (
    "tests/test_criteria.py",
    "tests/learners/test_mistakes.py",
    "tests/learners/test_against_oracle.py",
)
PATIENCE = 300  #: seconds for one file of tests
FIGURES = "learners/economy/figures.py"
DRIVER = "learners/driver.py"
WORLD = "tasks/world.py"
PASSIVE = "learners/economy/passive.py"


class Mutant(NamedTuple):
    """A mistake: in which file, what, and by what it is replaced."""

    name: str
    file: str
    right: str
    wrong: str


MUTANTS = (
    Mutant("the sign of a terminal reward", FIGURES, "q_new = r if terminal", "q_new = -r if terminal"),
    Mutant("a terminal state bootstraps", FIGURES, "q_new = r if terminal else look", "q_new = look"),
    Mutant("the discount dropped", "criteria.py", "return r + gamma * v_next", "return r + v_next"),
    Mutant("any value for the greatest", "criteria.py", "best = max(best, q[a])", "best = q[a]"),
    Mutant("delta ignored", "criteria.py", ">= state_value(q) - tolerance", ">= state_value(q)"),
    Mutant(
        "the value rule left out",
        "criteria.py",
        "if not abs(state_value(q1) - state_value(q2)) <= delta:",
        "if False:",
    ),
    Mutant("ties of equation 6 by delta", "criteria.py", "delta if delta <= epsilon / 2 else 0.0", "delta"),
    Mutant("the learning rate turned round", FIGURES, "(1.0 - rate) * memory", "rate * memory"),
    Mutant("updates not counted", FIGURES, "rate * q_new\n    memory.updates[j, a] += 1", "rate * q_new"),
    Mutant(
        "one reliable action asked of all",
        FIGURES,
        ">= min_updates:\n            return True",
        "> min_updates:\n            return True",
    ),
    Mutant("alpha never falls", FIGURES, "return 1.0 / updates", "return 1.0"),
    Mutant("unreliable profiles applied", FIGURES, "if reliable[a]:", "if True:"),
    Mutant(
        "a new region trusted too soon",
        FIGURES,
        "memory.updates[p, a] = settings.new_updates",
        "memory.updates[p, a] = 3",
    ),
    Mutant(
        "surprise never pushed",
        FIGURES,
        "(surprising(memory, settings, j",
        "(False and surprising(memory, settings, j",
    ),
    Mutant("the coin turned round", FIGURES, "random() < settings.coin", "random() > settings.coin"),
    Mutant(
        "truncation taken for an end",
        DRIVER,
        "r, terminal = step(agent.world, s, a, s_next)",
        "r, terminal = step(agent.world, s, a, s_next)\n        terminal = terminal or stops(agent.world, s_next)",
    ),
    Mutant("the wrong region learned from", DRIVER, "a, j = get_action(", "a, _ = get_action("),
    Mutant("the state never moves on", DRIVER, "        s, s_next = s_next, s\n", ""),
    Mutant("the state is not kept", DRIVER, "    copy_row(s, progress.now)\n", ""),
    Mutant("rewards summed with the wrong sign", DRIVER, '["gained"][0] += r', '["gained"][0] -= r'),
    Mutant("a mini-trial spoils its state", FIGURES, "    copy_row(s, s_hat)\n", "    s_hat = s\n"),
    Mutant(
        "a start that is not observed",
        WORLD,
        "        return Sight(s)\n    world.sights[row] = observe",
        "        return Sight(s * 0.0)\n    world.sights[row] = observe",
    ),
    Mutant(
        "extraction at calls, not sessions",
        FIGURES,
        "sessions if settings.fe_counts_trials",
        "calls if settings.fe_counts_trials",
    ),
    Mutant(
        "the stack upside down",
        FIGURES,
        "memory.pushed_at[j] > memory.pushed_at[latest]",
        "memory.pushed_at[j] < memory.pushed_at[latest]",
    ),
    Mutant(
        "the stack does not replace",
        FIGURES,
        "memory.stacked[j, i] = s[i]",
        "memory.stacked[j, i] = memory.stacked[j, i] or s[i]",
    ),
    Mutant(
        "the stack is not emptied", FIGURES, "memory.pushed_at[latest] = 0", "memory.pushed_at[latest] -= 1"
    ),
    Mutant("a mini-trial that is not discounted", FIGURES, "r_hat += discount * r", "r_hat += r"),
    Mutant("a mini-trial that never leaves", FIGURES, "if k != j or steps", "if steps"),
    Mutant(
        "a mini-trial one step too long",
        FIGURES,
        "steps >= settings.max_steps",
        "steps > settings.max_steps",
    ),
    Mutant(
        "a mini-trial that bootstraps at the end",
        FIGURES,
        "if terminal:\n        return r_hat",
        "if False:\n        return r_hat",
    ),
    Mutant(
        "mini-trials cost nothing",
        FIGURES,
        '["investigation_steps"][0] += steps',
        '["investigation_steps"][0] += 0',
    ),
    Mutant(
        "split without reliability",
        FIGURES,
        "if not (one.reliable.all() and other.reliable.all()):",
        "if False:",
    ),
    Mutant(
        "a split region keeps its reliability",
        FIGURES,
        "memory.updates[j, a] = min(memory.updates[j, a], settings.reduced_updates)",
        "memory.updates[j, a] = memory.updates[j, a]",
    ),
    Mutant(
        "a new prototype with another's values",
        FIGURES,
        "adopt_profile(agent.memory, agent.settings, p, state.q1)",
        "adopt_profile(agent.memory, agent.settings, p, primary.q1)",
    ),
    Mutant("never detached", FIGURES, "    detach(agent.memory.partition, p)\n", ""),
    Mutant(
        "merged into the wrong region",
        FIGURES,
        "merge(memory.partition, j, k)",
        "merge(memory.partition, k, j)",
    ),
    Mutant("merged into the youngest", FIGURES, "k - 1 - i if settings", "i if settings"),
    Mutant(
        "the prototype not told its state",
        FIGURES,
        "agent.memory.states[p, i] = s[i]",
        "agent.memory.states[p, i] = 0.0",
    ),
    Mutant(
        "merging at the wrong time",
        FIGURES,
        "calls % settings.merge_interval == 0",
        "calls % settings.merge_interval == 1",
    ),
    Mutant("the non-active form never splits", PASSIVE, "if not may_split(agent, s, j):", "if True:"),
    Mutant(
        "the tester takes truncation for an end",
        "evaluation/training.py",
        "v_next = 0.0 if terminal else",
        "v_next = 0.0 if terminal or truncated(task, s) else",
    ),
    Mutant("the tester forgets the next state", "evaluation/training.py", "        j = k\n", ""),
    Mutant("a claim is not confirmed", "runs/stage.py", "elif self.held >= hold:", "elif self.held >= 1:"),
    Mutant(
        "a lucky mean is enough",
        "evaluation/confirmation.py",
        "if len(returns) >= question.most:",
        "if len(returns) >= 3:",
    ),
    Mutant(
        "attempts never end",
        "runs/restarts.py",
        "return bool(had >= restart",
        "return bool(had < 0 and had >= restart",
    ),
    Mutant("the worst attempt kept", "runs/restarts.py", "best.score >= score", "best.score <= score"),
)


def survives(mutant: Mutant) -> bool:
    """Run the tests on a copy of the package with the mistake in it; tell whether all of them pass."""
    with tempfile.TemporaryDirectory() as place:
        package = Path(place) / "distinguo"
        shutil.copytree(ROOT / "src" / "distinguo", package)
        path = package / mutant.file
        text = path.read_text()
        if text.count(mutant.right) != 1:
            raise SystemExit(
                f"{mutant.name}: {mutant.file} holds {mutant.right!r} {text.count(mutant.right)} times."
            )
        path.write_text(text.replace(mutant.right, mutant.wrong))
        return all(_passes(place, test) for test in TESTS)


def _passes(place: str, test: str) -> bool:
    environment = {
        **os.environ,
        "PYTHONPATH": place,
        "NUMBA_DISABLE_JIT": "1",
        "HYPOTHESIS_PROFILE": "mutants",
    }
    options = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "addopts=")
    command = [sys.executable, "-m", "pytest", *options, test]
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:  # it never comes to an end: that is noticed, too
        return False
    if done.returncode not in (0, 1):
        raise SystemExit(f"pytest did not run:\n{done.stdout}{done.stderr}")
    return done.returncode == 0


def main() -> None:
    """Try the mutants that are asked for."""
    words = sys.argv[1:]
    chosen = [m for m in MUTANTS if all(word in m.name for word in words)]
    survivors = []
    for mutant in chosen:
        began = time.monotonic()
        alive = survives(mutant)
        survivors += [mutant.name] if alive else []
        word = "SURVIVES" if alive else "caught"
        sys.stdout.write(f"{word:9}{time.monotonic() - began:6.0f} s  {mutant.name}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{len(chosen) - len(survivors)} of {len(chosen)} caught\n")
    sys.exit(len(survivors))


if __name__ == "__main__":
    main()
