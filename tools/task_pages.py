"""A page for every task: what is observed and done, a film, a map and what was learned, from a run made for it.

    python -m tools.task_pages                  # all tasks that are listed; those of Box2D if it is installed
    python -m tools.task_pages puck Taxi-v4     # some

writes docs/tasks/NAME.md with docs/images/task-NAME.gif and .png, and docs/tasks/index.md.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from PIL import Image

import distinguo as dg
from distinguo.cli.listing import ABOUT, task_lines
from distinguo.runs.run import Run
from distinguo.tasks.spec import CATEGORIES
from distinguo.tasks.vocabulary import action_in_words
from distinguo.views.descriptions import regions_in_words
from distinguo.views.motion.film import FRAMES_PER_SECOND, film_of
from distinguo.views.motion.scenes import seconds_of_step
from distinguo.views.words import outcome_sentence

DOCS = Path(__file__).parents[1] / "docs"
MOST_FRAMES, COLOURS = (48, 30, 20), 64  #: of a film; of one that is too large, fewer
SAMPLED = 8  #: frames that a palette is made of
QUICKEST, SLOWEST = 50, 250  #: milliseconds that a frame is shown at least, of numbers and of labels
LARGEST = 300_000  #: bytes of a film
MOST_REGIONS = 8  #: in words
MOST_ACTIONS = 9  #: named on a page
#: What a run is given beside its task: less than by default, where a page need not wait for a solution.
SETTINGS: dict[str, dict[str, Any]] = {
    "Pendulum-v1": {"stage.steps": 300_000},
    "LunarLander-v3": {"stage.steps": 40_000},
    "MountainCarContinuous-v0": {"task.levels": 3},
}
STEPS = {"puck": 200, "puck-continuing": 200, "CartPole-v1": 240}  #: of a film, if not the whole trial


LEARNERS = {
    "maze": "parti-game",
    "BipedalWalker-v3": "model",
}  #: where the default learner does not solve a task and another does

WITHOUT = (
    "BipedalWalker-v3",
)  #: a page: its states cannot be restored, and 5,000 steps did not end in 100 s


def learned(name: str) -> Run:
    """Learn a task."""
    return dg.learn(name, learner=LEARNERS.get(name), seed=0, settings=SETTINGS.get(name, {}))


def write_film(run: Run, path: Path) -> None:
    """Write a film of at most some frames, in few colours."""
    spec = run.configuration.spec
    trial = dg.rollout(run, steps=STEPS.get(spec.name))
    seconds = seconds_of_step(spec) or film_of(run, dg.rollout(run, steps=1)).seconds_of_frame
    for frames in MOST_FRAMES:
        stride = -(-len(trial.choices) // frames)  # steps of a frame
        speed = max(1.0, FRAMES_PER_SECOND * seconds * stride) if stride > 1 else 1.0
        dg.play(run, path, steps=STEPS.get(spec.name), speed=min(speed, 100.0))
        _in_few_colours(path, SLOWEST if spec.kind == CATEGORIES else QUICKEST)
        if path.stat().st_size <= LARGEST:
            return
    raise SystemExit(f"{path} has {path.stat().st_size:,} bytes; at most {LARGEST:,} are allowed.")


def _in_few_colours(path: Path, pause: int) -> None:
    """Write a film again with one palette, so that what does not move costs nothing."""
    with Image.open(path) as film:
        pause, frames = max(pause, int(film.info.get("duration", 0))), []
        for n in range(film.n_frames):
            film.seek(n)
            frames.append(film.convert("RGB"))
    some = frames[:: -(-len(frames) // SAMPLED)]
    beside = Image.new("RGB", (film.width * len(some), film.height))
    for n, frame in enumerate(some):
        beside.paste(frame, (film.width * n, 0))
    palette = beside.quantize(COLOURS)
    first, *rest = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    first.save(path, save_all=True, append_images=rest, duration=pause, loop=0, optimize=True)


def page_of(name: str, run: Run) -> str:
    """Return the page of a task."""
    spec, learner = run.configuration.spec, run.configuration.learner_name
    about = ABOUT[name].split(";")[0]
    shown = list(range(len(spec.actions)))[:MOST_ACTIONS]
    acts = [action_in_words(spec, a) or f"`{spec.actions[a]}`" for a in shown]
    more = [f"{len(spec.actions) - MOST_ACTIONS} more"] if len(spec.actions) > MOST_ACTIONS else []
    said = regions_in_words(run)
    words = "".join(f"- {one}\n" for one in said[:MOST_REGIONS])
    left = f"- and {len(said) - MOST_REGIONS} more regions\n" if len(said) > MOST_REGIONS else ""
    levels = f" --learner {learner}" if name in LEARNERS else ""
    extra = "".join(f" --set {key}={value}" for key, value in SETTINGS.get(name, {}).items())
    return (
        f"# {name}\n\n"
        f"{about[0].upper()}{about[1:]}. {outcome_sentence(run)}\n\n"
        f"![A greedy trial of {name}: the system on the left, its path over the map on the right]"
        f"(../images/task-{name}.gif)\n\n"
        f"![The learned map of {name}: a colour for each action](../images/task-{name}.png)\n\n"
        f"**Observed**: {', '.join(spec.axes)}. **Actions**: {'; '.join([*acts, *more])}. **Learner**: {learner}.\n\n"
        f"The regions in words:\n\n{words}{left}\n"
        f"Learn it with `distinguo learn {name}{levels}{extra}`, see it with `distinguo show` and `distinguo play`. "
        "This page is made by `python -m tools.task_pages`.\n"
    )


def index() -> str:
    """Return the list of all tasks that have a page."""
    rows = [
        f"| [{name}]({name}.md) | {ABOUT[name].split(';')[0]} |"
        for name in ABOUT
        if (DOCS / "tasks" / f"{name}.md").exists()
    ]
    about = "Every task that `distinguo tasks` lists has a page with a film, a map and its regions in words."
    head = f"# Tasks\n\n{about}\n"
    return "\n".join([head, "| task | what is to be done |", "|---|---|", *rows]) + "\n"


def main(wanted: list[str]) -> None:
    """Write the pages of these tasks, or of all."""
    (DOCS / "tasks").mkdir(exist_ok=True)
    for name in wanted or [line.name for line in task_lines() if line.name not in WITHOUT]:
        run = learned(name)
        dg.show(run, path=DOCS / "images" / f"task-{name}.png")
        write_film(run, DOCS / "images" / f"task-{name}.gif")
        (DOCS / "tasks" / f"{name}.md").write_text(page_of(name, run))
        (DOCS / "tasks" / "index.md").write_text(index())
        sys.stdout.write(f"{name}: {outcome_sentence(run)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
