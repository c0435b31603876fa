"""Commands that look at what was learned: show, explain, studio, play, report, audit, verify, export."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from distinguo.cli.completion import (
    VIEWS,
    complete_format,
    complete_representation,
    complete_run,
    complete_style,
    complete_task,
    complete_view,
)
from distinguo.cli.grouped import HOW, WHAT, WHERE
from distinguo.cli.many import Who, each, for_many
from distinguo.errors import DistinguoError, counted

if TYPE_CHECKING:
    from distinguo.cli.console import Output
    from distinguo.runs.run import Run
    from distinguo.verification import Proof


Named = TypeVar("Named")
#: The run that a command is about; :func:`distinguo.cli.parse.chosen_run` takes the latest if none is named.
RunArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="[RUN]",
        help="The folder of a run; if none is named, the latest in ./runs (distinguo runs lists them).",
        autocompletion=complete_run,
    ),
]
#: The runs of a command that takes several.
RunsArgument = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[RUN]...",
        help="The folders of one or more runs; if none is named, the latest in ./runs.",
        autocompletion=complete_run,
    ),
]


def chosen_runs(runs: list[Path] | None) -> list[Path]:
    """The runs that a command is about, each named once; if none is named, the latest."""
    from distinguo.cli.parse import chosen_run
    from distinguo.runs.folder import SETTINGS
    from distinguo.runs.listing import no_run

    about = _once(runs or [chosen_run(None)])
    if len(about) > 1:
        for one in about:  # before anything is done for the others
            if not (one / SETTINGS).is_file():
                raise no_run(one)
    return about


def _once(things: list[Named]) -> list[Named]:
    for n, one in enumerate(things):
        if one in things[:n]:
            raise DistinguoError(f"{one} is named twice; name each run once.")
    return things


# ``distinguo show``: a learned run, printed again. Only the file of --out is written.


MOST_IN_WORDS = 16  #: regions; if there are more, none is described
MAP = "partition"  #: the view that is also printed as text


def show_command(
    run: RunArgument = None,
    view: Annotated[
        str,
        typer.Option(
            help=f"The picture: {', '.join(VIEWS)}, or your own as path/to/file.py:function.",
            autocompletion=complete_view,
        ),
    ] = MAP,
    out: Annotated[
        Path | None,
        typer.Option(help="The file to draw into: .png, .svg or .pdf; without it, only text is printed."),
    ] = None,
    style: Annotated[
        str | None,
        typer.Option(
            help="The style of the picture: light, dark (for dark pages and slides) or print (black and white, with "
            "a pattern for each action).",
            autocompletion=complete_style,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Show a learned run: its map, its regions with their actions and values, and why they exist.

    Nothing is written into the run. A view other than the map is a picture, which needs --out.

    Examples:
      distinguo show runs/puck-default-seed0

      distinguo show runs/puck-default-seed0 --view trials --out trials.png

      distinguo show --style print --out map.pdf
    """
    from distinguo.cli.console import answer, output_for
    from distinguo.cli.live import at_work
    from distinguo.cli.parse import chosen_run, code_or_word
    from distinguo.runs.folder import open_run
    from distinguo.views.show import draw_run, view_named
    from distinguo.views.words import presentable

    run = chosen_run(run)
    opened, output, wanted = open_run(run), output_for(as_json), code_or_word(view)
    if isinstance(wanted, str):
        view_named(wanted)  # raises for an unknown one
    if out is None and wanted != MAP:
        raise DistinguoError(
            f"The view '{view}' is a picture; name a file for it, as in --out {_file_name(view)}."
        )
    if out is None and style is not None:
        raise DistinguoError("--style is of a picture; name a file for it, as in --out map.png.")
    picture = None
    if out is not None:
        with at_work("Drawing"):
            picture = draw_run(opened, wanted, out, style or "light")
    _tell(presentable(opened), run, output)
    output.tell(f"Picture: {picture}" if picture else _how_to_draw(run))
    answer({**opened.summary, "run": str(run), "picture": picture and str(picture)}, as_json)


def _file_name(view: str) -> str:
    from distinguo.writing import slug

    return f"{slug(view.rpartition(':')[2])}.png"


def _how_to_draw(run: Path) -> str:
    from distinguo.cli.console import command_line

    return f"For the picture: {command_line('show', run, '--out', f'{MAP}.png')}"


def _tell(opened: Run, folder: Path, output: Output) -> None:
    from distinguo.cli.live import live_line
    from distinguo.runs.configuration import learn_command
    from distinguo.runs.folder import is_finished
    from distinguo.views.terminal import GOOD, POOR
    from distinguo.views.text import reasons_table, regions_table, text_map
    from distinguo.views.words import outcome_sentence

    width = output.width
    with live_line():  # a kernel that finds regions may have to be compiled
        output.tell(text_map(opened, width, output.colours) + "\n", is_painted=True)
        parts = [regions_table(opened, width=width), _in_words(opened, width)]
    parts.append(reasons_table(opened, width=width))
    output.tell("\n\n".join(filter(None, parts)) + "\n")
    if is_finished(folder):
        fine = opened.solved or opened.summary.get("kept") is True
        output.tell(outcome_sentence(opened), GOOD if fine else POOR)
    else:
        unfinished = f"{folder} is not finished; continue with: {learn_command(opened.configuration, folder)}"
        output.tell(unfinished, POOR)


def _in_words(opened: Run, width: int | None) -> str:
    """Return each region in words: where it lies and what is done there; empty if there are many."""
    from distinguo.views.descriptions import border_in_words, regions_in_words
    from distinguo.views.terminal import listed

    if not 1 < opened.representation.regions <= MOST_IN_WORDS:
        return ""
    rows = [[f"region {one.region}", str(one)] for one in regions_in_words(opened)]
    border = border_in_words(opened)
    return "\n".join(listed(rows + ([["border", border]] if border else []), width))


# ``distinguo explain``: why a state is treated as it is, and why two states are kept apart.


def explain_command(
    state: Annotated[str, typer.Option(help="A state as an observation of the task, such as 0.5,1.")],
    run: RunArgument = None,
    other: Annotated[
        str | None, typer.Option("--and", help="Another state: why are the two kept apart, or not?")
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="The file of a task of your own: path/to/file.py:Class.")
    ] = None,
    carried: Annotated[
        bool,
        typer.Option(
            "--representation", help="Ask about the map made for fresh learners, if the run has one."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Explain a state of a run: its region, what is done there, and why that region exists. For two states: why they
    are kept apart, what that is worth, and at which epsilon they would be merged.

    Example: distinguo explain runs/puck-default-seed0 --state 0.5,1 --and=-0.5,-1
    """
    from distinguo.cli import parse
    from distinguo.cli.console import answer, output_for
    from distinguo.explanations.explain import explain
    from distinguo.runs.folder import open_run

    run = parse.chosen_run(run)
    world = parse.task_of_run(task, run)
    asked = run if world is None else open_run(run, world)
    first = parse.state_numbers(state, run)
    second = None if other is None else parse.state_numbers(other, run, "--and")
    why = explain(asked, first, second, carried=carried)
    output_for(as_json).tell(repr(why))
    answer({"run": str(run), **why.document()}, as_json)


# ``distinguo studio``: learn runs and look at them in the browser.


def studio_command(
    folder: Annotated[
        Path,
        typer.Argument(metavar="[DIR]", help="The folder of runs to look at; it may be empty."),
    ] = Path("runs"),
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes any that is free.")] = 8421,
    host: Annotated[
        str, typer.Option(help="The address to listen on; any but this machine's own requires a token.")
    ] = "127.0.0.1",
    token: Annotated[
        str | None,
        typer.Option(help="The token that pages must have; generated if the address requires one."),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object with the address before serving.")
    ] = False,
) -> None:
    """Open the studio: watch regions appear, drag the system, ask why two states are kept apart.

    Examples:
      distinguo studio

      distinguo studio runs/class --port 9000 --no-browser
    """
    from distinguo.cli.console import answer, say
    from distinguo.views.studio.server import studio

    if folder.exists() and not folder.is_dir():
        raise DistinguoError(f"{folder} is a file; give the studio a folder of runs.")

    def tell(address: str) -> None:
        say(f"The studio of {folder} is open at {address}")
        say("Ctrl-C closes it.")
        answer({"address": address, "folder": str(folder)}, as_json)

    studio(folder, host, port, token, say=tell, browser=not no_browser)


# ``distinguo play``: the greedy policy at work.


def play_command(
    run: RunArgument = None,
    state: Annotated[
        str | None,
        typer.Option(metavar="X,V,…", help="Where to begin; by default a start of the task."),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            min=1, max=1_000_000, help="The most steps; by default the task's limit, but at most 500."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the task's start and of tied actions.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="The film to write, .gif or .mp4; without it, a window opens.")
    ] = None,
    speed: Annotated[float, typer.Option(help="2 is twice as fast as the task's own time.")] = 1.0,
    task: Annotated[
        str | None,
        typer.Option(
            help="The file of a task of your own: path/to/file.py:Class.", autocompletion=complete_task
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Play a run: the system under the greedy policy, beside its path over the map.

    Examples:
      distinguo play runs/puck-default-seed0

      distinguo play runs/puck-default-seed0 --state 1.5,-2 --out puck.gif

      distinguo play runs/CartPole-v1-probation-seed0 --steps 200 --speed 0.5 --out pole.mp4
    """
    import os

    from distinguo.cli import parse
    from distinguo.cli.console import answer, output_for, say, worked_off
    from distinguo.cli.live import progress_bar
    from distinguo.views.motion.film import play

    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # its greeting would go to standard output
    run = parse.chosen_run(run)
    world = parse.task_of_run(task, run)
    start = None if state is None else parse.state_numbers(state, run, observed=False)
    asked: dict[str, Any] = {"start": start, "steps": steps, "seed": seed, "speed": speed}
    output = output_for(as_json)
    if out is None:
        film = play(run, task=world, **asked)
    else:
        with progress_bar("drawing") as bar:
            film = worked_off(
                "Stopped; nothing was written.",
                lambda: play(run, out, task=world, watch=bar, **asked),
            )
    output.tell(repr(film.trial))
    if not film.has_system:
        say(
            f"{film.trial.task} has no drawing, so only its path over the map is shown; an environment that is made "
            "with render_mode='rgb_array' shows its own pictures."
        )
    if out is not None:
        output.tell(f"Film: {out} ({counted(len(film.moments), 'frame')}, {film.seconds:.1f} s)")
    content = {
        "run": str(run),
        "task": film.trial.task,
        "steps": len(film.trial.choices),
        "gained": film.trial.gained,
        "ended": film.trial.ended,
        "frames": len(film.moments),
        "film": None if out is None else str(out),
    }
    answer(content, as_json)


# ``distinguo report``: one self-contained page on a run, or on several side by side.


def report_command(
    runs: RunsArgument = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The file to write; by default report.html in the folder of the only run, or in the current folder."
        ),
    ] = None,
    audit: Annotated[
        bool, typer.Option("--audit", help="Audit the runs too, and show what their grouping costs.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Write one HTML file to hand to others: pictures, regions in words, reasons, settings, the proof, the commands.

    The page loads nothing and runs no script. Several runs are compared, each in short.

    Examples:
      distinguo report runs/puck-default-seed0

      distinguo report runs/puck-default-seed* --out puck.html
    """
    from distinguo.cli.console import answer, output_for
    from distinguo.cli.live import at_work
    from distinguo.cli.parse import chosen_run
    from distinguo.views.report import report

    about = list(runs or [chosen_run(None)])
    with at_work("Drawing"):
        written = report(about, out, audit=audit)
    output_for(as_json).tell(f"Report: {written}")
    answer({"report": str(written), "runs": [str(run) for run in about]}, as_json)


# ``distinguo audit``: where a learned representation costs reward.


@for_many
def audit_command(
    runs: RunsArgument = None,
    seed: Annotated[int, typer.Option(help="Seed of the random choices among tied actions.")] = 0,
    task: Annotated[
        str | None, typer.Option(help="The file of a task of your own: path/to/file.py:Class.")
    ] = None,
    visits: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=10**7,
            help="How many visited states to audit; by default 10,000, or 200 if the task runs as plain Python.",
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(
            help="The reward that may be lost; by default that of the run or, for a map without values, a twentieth "
            "of what actions differ by on average."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
    *,
    who: Who,
) -> None:
    """Audit the states that a run visits: which are not epsilon-adequate, by which rule, at what cost.

    Also what its trials returned less than its values promised, and the most that this can be.

    Examples:
      distinguo audit runs/puck-default-seed0

      distinguo audit runs/puck-default-seeds1-100/seed-*
    """
    from distinguo.cli import parse
    from distinguo.cli.console import answer, output_for, worked_off
    from distinguo.cli.live import progress_bar
    from distinguo.comparison.audit import audit

    asked = chosen_runs(runs)
    if len(asked) > 1:
        each({str(one): {"runs": [one]} for one in asked}, who, _told_audit, as_json)
        return
    who.check(many=False)
    about = asked[0]
    world = parse.task_of_run(task, about)
    with progress_bar("auditing") as bar:
        findings = worked_off(
            "Stopped; nothing was written.",
            lambda: audit(about, visits=visits, epsilon=epsilon, seed=seed, watch=bar, task=world),
        )
    output_for(as_json).tell(repr(findings))
    content = {
        "run": str(about),
        "states": len(findings.states),
        "adequate": findings.adequate,
        "policy_failures": findings.policy_failures,
        "value_failures": findings.value_failures,
        "greatest_regret": float(findings.regret[findings.worst]),
        "epsilon": findings.epsilon,
        "at": findings.observations[findings.worst].tolist(),
    }
    for name in ("least_epsilon", "loss", "bound", "ratio"):  # null for a map without values
        found = getattr(findings, name)
        content[name] = found if isfinite(found) else None
    answer(content, as_json)


def _told_audit(content: Mapping[str, Any]) -> str:
    return (
        f"{content['adequate']:.1%} of {counted(content['states'], 'state')} adequate; the greatest regret is "
        f"{content['greatest_regret']:z.3g}"
    )


# ``distinguo verify``: a proof that a controller never fails or that it arrives, if there is one.


PICTURE = "proof.png"  #: the name of its file in the folder
#: The exit codes by verdict; 1 and 2 are for errors.
VERDICTS = {"proven": 0, "not proven": 3, "refuted": 4, "not provable": 5}


@for_many
def verify_command(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN]...",
            help="Folders of runs, or controls such as diagonal; if none is named, the latest run in ./runs.",
            autocompletion=complete_representation,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
    seed: Annotated[
        int,
        typer.Option(help="Seed of the training of a control's values, and of trials.", rich_help_panel=HOW),
    ] = 0,
    task: Annotated[
        str | None,
        typer.Option(
            help="The task of a control or a representation file; puck if none is given.",
            rich_help_panel=WHAT,
            autocompletion=complete_task,
        ),
    ] = None,
    cells: Annotated[
        int | None,
        typer.Option(
            min=1000, max=2**26, help="About how many cells the proof may use.", rich_help_panel=HOW
        ),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=100_000,
            help="Steps to arrive within; by default the task's own limit.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    disturbance: Annotated[
        float,
        typer.Option(
            min=0, help="Prove it even if every step is off by this much in v (m/s).", rich_help_panel=WHAT
        ),
    ] = 0.0,
    ranges: Annotated[
        list[str] | None,
        typer.Option(
            "--range",
            help="Prove it for every value in a range: NAME=LOW:HIGH, such as mass=0.95:1.05.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where to write, for several runs in a folder for each; by default the folder of the run.",
            rich_help_panel=WHERE,
        ),
    ] = None,
    *,
    who: Who,
) -> None:
    """Prove that the greedy policy of a run never fails, or that it arrives; write a certificate and check it.

    The puck should never fail; MountainCar-v0 should reach its goal. For other tasks, trials give exact bounds, which
    are not a proof. A control has no values of its own: they are learned as the tester learns them, with --seed.

    The exit code is 0 only if it is proven: 3 means that no proof was found, 4 that trials refute it (one that should
    go on or arrive does not, or the mean return is below the threshold), 5 that this task or this kind of map has no
    proofs and the trials were good or the task does not say what is good.

    Examples:
      distinguo verify runs/puck-default-seed0

      distinguo verify runs/puck-default-seeds1-100/seed-*
    """
    from distinguo.cli import parse
    from distinguo.cli.console import answer, output_for, worked_off
    from distinguo.cli.live import at_work
    from distinguo.cli.parse import code_or_word
    from distinguo.controls import registered_name
    from distinguo.proof.question import read_ranges
    from distinguo.verification import verify
    from distinguo.writing import slug

    name = None if task is None else parse.task_name(task)
    wanted = _once(what or [str(parse.chosen_run(None))])
    if len(wanted) > 1:
        places = {one: out and str(out / slug(one)) for one in wanted}
        own = {one: {"what": [one], "out": place} for one, place in places.items()}
        each(own, who, lambda content: content["verdict"], as_json)
        return
    who.check(many=False)
    asked = wanted[0]
    world = parse.task_of_run(task, Path(asked)) if Path(asked).is_dir() else name
    known = registered_name(code_or_word(asked))
    folder = out or _folder(known, name or "puck", seed)
    if out is not None:
        _check_picture(out / PICTURE)
    with at_work("Proving"):
        proof = worked_off(
            "Stopped; nothing was proven.",
            lambda: verify(
                known,
                task=world,
                seed=seed,
                cells=cells,
                steps=steps,
                disturbance=disturbance,
                ranges=read_ranges(ranges or []),
                out=folder,
            ),
        )
    output, picture = output_for(as_json), _picture(proof, folder)
    for line in proof.sentences:
        output.tell(line)
    for path in picture.values():
        output.tell(f"Picture: {path}")
    answer({**proof.as_json(), **picture}, as_json)
    raise typer.Exit(VERDICTS[proof.verdict])


def _check_picture(path: Path) -> None:
    """Refuse a place where there is a picture that is not one of ours."""
    from distinguo.reading.files import MEBIBYTE, read_bytes

    if path.exists() and b"Software\0distinguo" not in read_bytes(path, 64 * MEBIBYTE):
        raise DistinguoError(
            f"{path} exists and is not a picture of distinguo; choose another --out, or delete it."
        )


def _folder(what: str, task: str, seed: int) -> Path:
    """Return the folder of a run; anything else gets one named by the command, which finds it again."""
    from distinguo.writing import slug

    name = what if task == "puck" else f"{task}-{what}"
    return Path(what) if Path(what).is_dir() else Path("runs") / f"verify-{slug(name)}-seed{seed}"


def _picture(proof: Proof, folder: Path) -> dict[str, str]:
    """Draw what was proven and return the file; None if there were only trials."""
    from distinguo.views.plots import save_figure
    from distinguo.views.proof import proof_figure

    figure = proof_figure(proof)
    if figure is None:
        return {}
    path = folder / PICTURE
    save_figure(figure, path)
    return {"picture": str(path)}


# ``distinguo export``: the controller of a run for other programs.


def export_command(
    to: Annotated[
        str,
        typer.Option(
            help="The format: c, c-source, arduino, python, javascript, structured-text, onnx, fmu, markdown, "
            "json, dot or npz.",
            autocompletion=complete_format,
        ),
    ],
    run: RunArgument = None,
    out: Annotated[
        Path | None, typer.Option(help="The file to write; by default controller.* in RUN.")
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            help="The prefix of names in C and structured text, and the name of a model; by default distinguo."
        ),
    ] = None,
    arithmetic: Annotated[
        str | None, typer.Option(help="Of a program: double (the default), float or fixed.")
    ] = None,
    safe: Annotated[
        str | None,
        typer.Option(
            help="Of a program: the action where an observation is not finite or huge; by default the first one, or "
            "for laws the amounts nearest to 0. Amounts are written as 0.5,0."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Export the controller of a run as a program, a decision list for humans, JSON, a graph or arrays.

    Example: distinguo export runs/puck-default-seed0 --to c
    """
    from distinguo.cli.console import answer, command_line, output_for, say
    from distinguo.cli.parse import chosen_run
    from distinguo.exports.write import write_controller

    run = chosen_run(run)
    path, (certificate, refused, _), decision = write_controller(run, to, out, name, force, arithmetic, safe)
    for why in refused:
        say(why)
    if certificate is None and not refused:
        say(f"No certificate: nothing is proven about this controller; try: {command_line('verify', run)}")
    said: dict[str, str] = {}
    if decision is not None:
        said = {"arithmetic": decision.said, "safe": decision.safe}
        say(f"Arithmetic: {decision.said}")
        say(
            f"Where an observation is not finite or beyond {decision.limit:zg}: {decision.safe} (--safe chooses)."
        )
    output_for(as_json).tell(f"Controller: {path}")
    cited = certificate and certificate.file
    answer(
        {"path": str(path), "format": to, "certificate": cited, "not_cited": list(refused)} | said, as_json
    )
