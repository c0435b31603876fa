"""Folders of every kind, spoilt in every way: everything that reads them answers, or refuses in one sentence.

A case is a copy of a folder with one file spoilt. It is opened in Python and goes through one of ``show``,
``explain``, ``report``, ``verify``, ``export``, the studio's reading and other readers of Python. A command may
succeed or print one sentence; no control character reaches the terminal; nothing waits or takes much memory.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import time
import traceback
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import typer

from distinguo import cli
from distinguo.agents.economy import Economy
from distinguo.cli.seeing import VERDICTS
from distinguo.comparison.cells import Folder
from distinguo.comparison.plan import load_plan
from distinguo.errors import LONGEST_SENTENCE, DistinguoError, visible
from distinguo.runs import folder
from distinguo.runs.digests import DIGESTS, digests_text
from distinguo.runs.folder import open_run
from distinguo.views.notebook import run_html
from distinguo.views.studio.documents import task_document
from distinguo.views.studio.library import Library
from tests.mutations import BYTES, TEXT, ZIP, mutated

FORMATS = Path(__file__).parent / "golden" / "formats"
RUNS = FORMATS / "runs"
SECONDS, MEGABYTES = 20, 500  #: of the processor and of memory, that one call may take
HANGS = 120  #: seconds by the clock, on a busy machine, after which a call hangs
SHARE = 0.1  #: of the folders that open, that may go through a slow command
ESCAPES = (
    "\x1b[31m",
    "\x1b]0;owned\x07",
    "\x9b2J",
    "\u202eevil",
    "\x7f",
    "\r\nforged",
    "\ud800",
    "\x00",
    "$\\frac$",
    "{0}%s",
)
HUGE = (
    10**40,
    -(10**40),
    2**63,
    -(2**63) - 1,
    1e308,
    -1e308,
    float("nan"),
    float("inf"),
    -float("inf"),
    -1,
    0,
    5e-324,
)


class Kind(NamedTuple):
    """A kind of folder: whole ones, and what reads it."""

    wholes: tuple[Path, ...]
    commands: tuple[tuple[str, ...], ...]  #: without the folder, which is the first argument
    readers: tuple[Callable[[Path], Any], ...]
    slow: tuple[str, ...] = (
        "report",
        "verify",
    )  #: commands that only some of the folders that open go through


COMMANDS = (
    ("show",),
    ("show", "--view", "dial", "--out", "{out}.svg"),
    ("export", "--to", "json", "--force"),
    ("export", "--to", "c", "--force"),
    ("report", "--out", "{out}.html"),
)
PUCK = (
    *COMMANDS,
    ("explain", "--state=0.5,1", "--and=-0.5,-1"),
    ("verify", "--cells", "1000", "--out", "{out}"),
)
CAR = (
    *COMMANDS,
    ("explain", "--state=-0.5,0.01", "--and=-0.4,-0.01"),
    ("verify", "--cells", "1000", "--out", "{out}"),
)
DISTILLED = (*CAR, ("show", "--view", "fidelity", "--out", "{out}.png"))


def _opened(path: Path) -> None:
    run = open_run(path)
    assert repr(run)
    assert np.isfinite(run.q).all()
    run.action([0.0] * len(run.configuration.spec.dimensions))
    for table in (run.trials, run.reasons, run.history):
        list(table)


def _noted(path: Path) -> None:
    run_html(open_run(path))


def _studio(path: Path) -> None:
    library = Library(path)
    for entry in library.entries():
        json.dumps(entry)
        source = library.source(entry["id"])
        json.dumps(source.head())
        json.dumps(task_document(source.configuration))
        list(source.frames()[:2])
        list(source.trials()[-2:])
        source.run()


def _resumed(path: Path) -> None:
    stage = folder.resume(path, folder.read_settings(path))
    assert 0 <= stage.environment_steps < 2**63


def _compared(path: Path) -> None:
    kept = Folder(path, load_plan(path / "plan.toml"))
    kept.check()
    assert kept.extent()
    for cell in kept.plan.cells():
        if kept.has(cell):
            kept.curve(cell).at(np.array([0, 10]))
    for what in kept.plan.head.representations:
        kept.representation(what)


def _agent(path: Path) -> None:
    agent = Economy.load(path)
    action = agent.predict(np.zeros(2))[0]
    assert int(action) in (0, 1)
    assert 0 <= agent.num_timesteps < 2**63
    assert repr(agent.run)
    assert agent._session.stage.environment_steps >= 0


def _zipped_agent(path: Path) -> None:
    """Load the same files as one zip, as far as a zip can hold them."""
    target = path.with_name("agent.zip")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for one in sorted(path.iterdir()):
            if one.is_file() and not one.is_symlink():
                archive.writestr(one.name, one.read_bytes())
    try:
        _agent(target)
    finally:
        target.unlink()


READERS = (_opened, _noted, _studio)
KINDS: dict[str, Kind] = {
    "economy": Kind((RUNS / "puck-9", RUNS / "puck-9", RUNS / "puck-7", RUNS / "puck-1"), PUCK, READERS),
    "probation": Kind((RUNS / "hill-6", RUNS / "cart-6"), CAR, READERS),
    "sweeping": Kind((RUNS / "cliff-6",), (*COMMANDS, ("explain", "--state=3", "--and=4")), READERS),
    "growing": Kind((RUNS / "puck-9", RUNS / "puck-8"), PUCK, (*READERS, _resumed)),
    "distilled": Kind((RUNS / "swing-9",), DISTILLED, READERS),
    "condensed": Kind((RUNS / "swing-9-condensed",), CAR, READERS),
    "study": Kind((FORMATS / "test-2", FORMATS / "test-1"), (), (_compared,)),
    "agent": Kind((FORMATS / "agent-2.zip", FORMATS / "agent-1.zip"), PUCK[:1], (_agent, _zipped_agent)),
    "certificate": Kind((RUNS / "puck-7", RUNS / "hill-6"), (PUCK[2], PUCK[4]), (_opened,)),
}


COMMAND_LINE = typer.main.get_command(cli.app)  #: made once, which takes longer than most commands


def copied(name: str, whole: Path, place: Path) -> Path:
    """Copy a whole folder of a kind; an agent is unpacked."""
    path = place / "one"
    if whole.suffix == ".zip":
        with zipfile.ZipFile(whole) as archive:
            archive.extractall(path)
    else:
        shutil.copytree(whole, path)
    if name == "growing":
        (path / folder.RESULT).unlink()
    if name != "certificate":  # it takes long to check, and has a kind of its own
        (path / "certificate.json").unlink(missing_ok=True)
    return path


# ---- ways to spoil a folder ----------------------------------------------------------------------------------------


def spoil(rng: random.Random, path: Path, only: str | None = None) -> str:
    """Spoil a file of a folder; return which and how."""
    files = sorted(one for one in path.rglob("*") if one.is_file() and only in (None, one.name))
    one, way = rng.choice(files), rng.choice(WAYS)
    way(rng, one, path)
    return f"{one.name}: {way.__name__}"


def bytes_spoilt(rng: random.Random, one: Path, path: Path) -> None:
    mutators = ZIP if one.suffix == ".npz" else TEXT if one.suffix != ".png" else BYTES
    one.write_bytes(mutated(rng, one.read_bytes(), mutators))


def value_replaced(rng: random.Random, one: Path, path: Path) -> None:
    """Put another value in the place of one of a JSON file, of a line of one, of a table or of an array."""
    data = one.read_bytes()
    if one.suffix == ".npz":
        one.write_bytes(_other_arrays(rng, one))
    elif one.suffix in (".json", ".jsonl"):
        lines = data.decode().splitlines() if one.suffix == ".jsonl" else [data.decode()]
        if not lines:
            return
        number = rng.randrange(len(lines))
        content = json.loads(lines[number])
        for _ in range(rng.choice((1, 1, 1, 3))):
            content = _replaced(rng, content)
        lines[number] = json.dumps(content)
        one.write_text("\n".join(lines) + "\n")
    else:
        cells = re.findall(r"[^,=\s]+|[,=\s]+", data.decode())
        if cells:
            odd = rng.choice(
                (*map(str, HUGE), *(json.dumps(word) for word in ESCAPES), *ESCAPES, "1", "-5", "")
            )
            cells[rng.randrange(len(cells))] = odd
            one.write_text("".join(cells), errors="surrogatepass")


def _replaced(rng: random.Random, content: Any) -> Any:
    if isinstance(content, dict) and content and rng.random() < 0.9:
        key = rng.choice(sorted(content))
        if rng.random() < 0.1:
            content.pop(key)
        else:
            content[key] = _replaced(rng, content[key])
        return content
    if isinstance(content, list) and content and rng.random() < 0.8:
        n = rng.randrange(len(content))
        if rng.random() < 0.2:
            content = content[:n] + content[n + 1 :]
        else:
            content[n] = _replaced(rng, content[n])
        return content
    odd = (
        *HUGE,
        *ESCAPES,
        None,
        True,
        "",
        "x" * 5_000,
        [],
        {},
        [[0.0]],
        {"a": [1]},
        "1",
        0.5,
        1,
        2,
        7,
        -5,
        content,
    )
    return rng.choice(
        (*odd, _nested(rng.choice((3, 90, 5_000)))) if rng.random() < 0.9 else [content, content]
    )


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(min(depth, 900)):
        value = [value]
    return value


def _other_arrays(rng: random.Random, one: Path) -> bytes:
    with np.load(one, allow_pickle=False) as found:
        arrays = {name: found[name] for name in found.files}
    name = rng.choice(sorted(arrays))
    array = arrays[name]
    ways: list[Callable[[], Any]] = [
        lambda: array[::-1],
        lambda: array.astype(
            rng.choice((np.float32, np.int8, np.complex128, np.uint64, bool)), casting="unsafe"
        ),
        lambda: array.reshape(-1),
        lambda: array[..., None],
        lambda: array[:0],
        lambda: np.array(rng.choice(("text", "\x1b"))),
        lambda: np.concatenate([array, array]),
        lambda: _with_odd(rng, array),
        lambda: _with_odd(rng, array),
        lambda: _with_odd(rng, array),
    ]
    with np.errstate(all="ignore"), contextlib.suppress(ValueError, TypeError):
        arrays[name] = rng.choice(ways)()
    if rng.random() < 0.1:
        arrays[rng.choice(("q", "other", "../x"))] = arrays.pop(name)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def _with_odd(rng: random.Random, array: np.ndarray) -> np.ndarray:
    odd = array.copy()
    if odd.dtype.names:
        field = rng.choice(odd.dtype.names)
        odd[field] = rng.choice((-1, -5, 2**62, 2**40, 7))
    elif odd.size:
        choices = (
            (np.nan, np.inf, -np.inf, 1e300, -1.0) if odd.dtype.kind == "f" else (-1, 2**62, 10**6, -(2**63))
        )
        value = rng.choice(choices)
        if odd.dtype.kind in "iu" and not np.iinfo(odd.dtype).min <= value <= np.iinfo(odd.dtype).max:
            value = np.iinfo(odd.dtype).max
        odd.flat[rng.randrange(odd.size)] = value
    return odd


def word_made_hostile(rng: random.Random, one: Path, path: Path) -> None:
    """Put control characters into a word of a text."""
    if one.suffix == ".npz":
        return value_replaced(rng, one, path)
    text = one.read_text()
    words = list(re.finditer(r'"[^"\n]*"', text))
    if not words:
        return bytes_spoilt(rng, one, path)
    word, odd = rng.choice(words), rng.choice(ESCAPES)
    inside = json.dumps(word[0][1:-1] + odd)
    if one.suffix == ".toml":
        inside = inside.replace("\\ud800", "\\u0007")
    if rng.random() < 0.5:  # everywhere, as in names that several files hold
        for other in path.rglob("*"):
            if other.suffix in (".json", ".jsonl", ".toml") and other.is_file():
                other.write_text(other.read_text().replace(word[0], inside))
    else:
        one.write_text(text[: word.start()] + inside + text[word.end() :])
    return None


def rows_swapped(rng: random.Random, one: Path, path: Path) -> None:
    lines = one.read_bytes().splitlines(keepends=True)
    if one.suffix == ".npz" or len(lines) < 2:
        return value_replaced(rng, one, path)
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    one.write_bytes(b"".join(lines))
    return None


def files_swapped(rng: random.Random, one: Path, path: Path) -> None:
    """Replace the file by another of the folder, or by one of the same name of another run."""
    others = [other for other in sorted(path.rglob("*")) if other.is_file() and other != one]
    others += [other for other in sorted(RUNS.glob(f"*/{one.name}")) if rng.random() < 0.5]
    if others:
        one.write_bytes(rng.choice(others).read_bytes())


def deleted(rng: random.Random, one: Path, path: Path) -> None:
    one.unlink()


def emptied(rng: random.Random, one: Path, path: Path) -> None:
    one.write_bytes(rng.choice((b"", b"\n", b"\xff\xfe\x80", b"\x00" * 1000, b"[" * 200_000, b"{}", b"null")))


def replaced_by_no_file(rng: random.Random, one: Path, path: Path) -> None:
    one.unlink()
    kind = rng.choice(("pipe", "folder", "loop", "device", "outside", "nowhere"))
    if kind == "pipe":
        os.mkfifo(one)
    elif kind == "folder":
        one.mkdir()
    else:
        targets = {"loop": one, "device": "/dev/zero", "outside": "/etc/passwd", "nowhere": "/nowhere"}
        one.symlink_to(targets[kind])


def something_added(rng: random.Random, one: Path, path: Path) -> None:
    """Put a file of a fixed name into the folder that was not there, or that only a running process has."""
    names = (
        ".journal.zip",
        ".lock",
        "dial.csv",
        "fidelity.json",
        "controller-map.json",
        "representation-values.npz",
    )
    (path / rng.choice((*names, "digests.json", "agent.json", "history.jsonl"))).write_bytes(one.read_bytes())


WAYS = (
    *([value_replaced] * 6),
    *([bytes_spoilt] * 3),
    *([word_made_hostile] * 3),
    *(rows_swapped, files_swapped, deleted, emptied, replaced_by_no_file, something_added),
)
NAMES = (*["one"] * 12, "one\x1b[31m", "o\u202ene", "one\udcff", "on\ne", "one\r", "$o^n_{e")


# ---- what becomes of it --------------------------------------------------------------------------------------------


class Defect(AssertionError):
    """Something else than an answer or a sentence."""


class FolderAccount(NamedTuple):
    """What became of the cases of one kind."""

    cases: int
    calls: int  #: of commands and readers
    answered: int
    refused: int
    slowest: float  #: seconds of a call
    grown: float  #: megabytes of memory
    defects: tuple[str, ...]


def fuzz_folders(
    name: str, count: int, seed: int, place: Path, keep: Path | None = None, whole: bool = True
) -> FolderAccount:
    """Put spoilt folders of one kind through everything that reads them; before, if asked for, ``whole`` ones."""
    kind, rng = KINDS[name], random.Random(f"{name} {seed}")
    for one in dict.fromkeys(kind.wholes if whole else ()):
        path = copied(name, one, place)
        _calls(kind, path, None)
        shutil.rmtree(path)
    before = _peak()
    calls = answered = 0
    defects: list[str] = []
    slowest = 0.0
    for number in range(count):
        path = copied(name, rng.choice(kind.wholes), place)
        how = spoil(rng, path, "certificate.json" if name == "certificate" else None)
        if rng.random() < 0.7:
            signed_again(path)
        path = path.rename(place / rng.choice(NAMES))
        try:
            done = _calls(kind, path, rng)
        except Defect as error:
            if keep is not None:
                shutil.copytree(path, keep / f"{name}-{seed}-{number}", symlinks=True, ignore=_no_pipes)
            defects.append(f"{name}, seed {seed}, case {number}, {how}: {str(error)[-2_000:]}")
            continue
        finally:
            remove(path)
        calls, answered = calls + len(done), answered + sum(fine for fine, _ in done)
        slowest = max(slowest, *(seconds for _, seconds in done))
    return FolderAccount(count, calls, answered, calls - answered, slowest, _peak() - before, tuple(defects))


def signed_again(path: Path) -> None:
    """Write digests that fit the spoilt files, so that they do not hide what is behind them."""
    file = path / DIGESTS
    if not file.is_file():
        return
    try:
        names = set(json.loads(file.read_text())["sha256"]) | set(folder.BOUND)
    except Exception:  # it is what was spoilt
        return
    files = {name: (path / name).read_bytes() for name in sorted(names) if (path / name).is_file()}
    file.write_text(digests_text(files))


def remove(path: Path) -> None:
    shutil.rmtree(path)


def _no_pipes(where: str, names: list[str]) -> list[str]:
    return [
        name for name in names if not (Path(where) / name).is_file() and not (Path(where) / name).is_dir()
    ]


def _calls(kind: Kind, path: Path, rng: random.Random | None) -> list[tuple[bool, float]]:
    """Send a folder through the first reader and another one at random, which is seldom a slow one; else through all.

    A folder that does not open is refused at once by all.
    """
    others: list[Callable[[], Any]] = [partial(reader, path) for reader in kind.readers[1:]]
    slow = [partial(command, words, path) for words in kind.commands if _is_slow(kind, words)]
    others += [partial(command, words, path) for words in kind.commands if not _is_slow(kind, words)]
    done = [_timed(partial(kind.readers[0], path))]
    if rng is None:
        return done + [_timed(call) for call in (*others, *slow)]
    if slow and (rng.random() < SHARE or not done[0][0]):
        others += slow
    return [*done, _timed(rng.choice(others))] if others else done


def _is_slow(kind: Kind, words: tuple[str, ...]) -> bool:
    return words[0] in kind.slow or "--view" in words


def _timed(call: Callable[[], Any]) -> tuple[bool, float]:
    begun = time.process_time()
    fine, took = is_answered(call), time.process_time() - begun
    if took > SECONDS:
        raise Defect(f"It takes {took:.0f} seconds.")
    return fine, took


def is_answered(call: Callable[[], Any]) -> bool:
    """Whether a call succeeds; a refusal is one sentence, and anything else a defect."""
    before = _peak()
    try:
        with _in_time():
            call()
        fine = True
    except DistinguoError as error:
        check_sentence(str(error))
        fine = False
    except Defect:
        raise
    except Exception as error:
        raise Defect("".join(traceback.format_exception(error))) from None
    if _peak() - before > MEGABYTES:
        raise Defect(f"It took {_peak() - before:.0f} MB.")
    return fine


def check_sentence(sentence: str) -> None:
    if len(sentence.splitlines()) != 1 or len(sentence) > LONGEST_SENTENCE or not sentence.isprintable():
        raise Defect(f"not a sentence: {sentence!r}")


def command(words: tuple[str, ...], path: Path) -> None:
    """Run a command in this process; check what it prints, and raise its sentence."""
    target = path.parent / "out"
    arguments = [words[0], str(path), *(word.replace("{out}", str(target)) for word in words[1:])]
    out, err = io.StringIO(), io.StringIO()
    argv, sys.argv = sys.argv, ["distinguo", *arguments]
    try:
        streams = contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)
        with streams[0], streams[1], patch.object(cli, "app", COMMAND_LINE):
            cli.main()
        code: Any = 0
    except SystemExit as ended:
        code = ended.code
    finally:
        sys.argv = argv
        for one in target.parent.glob("out*"):
            shutil.rmtree(one) if one.is_dir() else one.unlink()
    said = out.getvalue() + err.getvalue()
    if visible(said) != said or "Traceback" in said:
        raise Defect(f"{arguments} printed {said!r}")
    if code not in (0, *VERDICTS.values()):
        last = err.getvalue().strip().splitlines()[-1:]
        if code != 2 or not last or not last[0].startswith("distinguo: "):
            raise Defect(f"{arguments} ended with {code}: {said!r}")
        raise DistinguoError(last[0])


@contextlib.contextmanager
def _in_time() -> Iterator[None]:
    def late(*_: object) -> None:
        raise Defect(f"It takes longer than {HANGS} seconds.")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, HANGS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
