"""A study's jobs and their results, which are kept in its folder: what is there is never done again.

Each part of a study (``--shard``) appends to a file of its own, a line of JSON for each job, as soon as its answer is
there. So results can be read while the study runs, and a kill costs the jobs that were running. What a kill left half
written is cut off.
"""

from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from distinguo.engines.engine import Engine, my_share
from distinguo.engines.jobs import Job
from distinguo.errors import DistinguoError
from distinguo.processes import Failed
from distinguo.reading.files import MEBIBYTE
from distinguo.writing import WriteError, locked

Watch = Callable[[int, int], None]  #: told how many jobs are done, and of how many
LARGEST_LINE = 64 * MEBIBYTE  #: bytes
FLUSH_SECONDS = 1.0  #: between two times that results are flushed to the disk


class StudyResults(NamedTuple):
    """The results of a study.

    >>> import tempfile
    >>> jobs = [Job("a", round, {"number": 2.6}), Job("b", round, {"number": "x"})]
    >>> with tempfile.TemporaryDirectory() as place:
    ...     answers = StudyResults(Path(place)).run(jobs)
    ...     answers == StudyResults(Path(place)).answers(jobs), answers["a"]
    (True, 3)
    """

    folder: Path

    def answers(self, jobs: Sequence[Job]) -> dict[str, Any]:
        """Read the answers that are there already, by the keys of their jobs; :class:`Failed` for failures."""
        digests = {job.key: job.digest for job in jobs}
        known: dict[str, Any] = {}
        for path in sorted(self.folder.glob("results-*-of-*.jsonl")):
            for line in _lines(path):
                if digests.get(line["key"]) == line["digest"]:
                    better = line["key"] not in known or isinstance(known[line["key"]], Failed)
                    if better:
                        known[line["key"]] = _answer_of(line)
        return known

    def run(
        self,
        jobs: Sequence[Job],
        engine: Engine | None = None,
        shard: tuple[int, int] = (1, 1),
        watch: Watch = lambda done, of: None,
    ) -> dict[str, Any]:
        """Do the jobs of a part that have no answer yet, or failed, and return all answers that there are."""
        for _ in self.each(jobs, engine, shard, watch):
            pass
        return self.answers(jobs)

    def each(
        self,
        jobs: Sequence[Job],
        engine: Engine | None = None,
        shard: tuple[int, int] = (1, 1),
        watch: Watch = lambda done, of: None,
    ) -> Generator[tuple[str, Any]]:
        """Do the same, and yield each new answer when it is there; none of them stays in memory."""
        mine = my_share(jobs, shard)
        with _journal(self.folder / results_file(shard)) as journal:
            known = self.answers(jobs)
            missing = [job for job in mine if isinstance(known.get(job.key, _NOTHING), Failed)]
            del known
            by_key = {job.key: job for job in missing}
            done = len(mine) - len(missing)
            watch(done, len(mine))
            with closing((engine or Engine()).run(missing)) as results:
                for key, answer in results:
                    yield key, journal.keep(by_key[key], answer)
                    done += 1
                    watch(done, len(mine))


def results_file(shard: tuple[int, int]) -> str:
    """Return the name of the file of a part.

    >>> results_file((2, 5))
    'results-2-of-5.jsonl'
    """
    return f"results-{shard[0]}-of-{shard[1]}.jsonl"


_NOTHING = Failed("it was not done yet.")


def _answer_of(line: dict[str, Any]) -> Any:
    return Failed(line["failed"]) if "failed" in line else line["answer"]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the results of a file; a last line that is being written is not one yet."""
    if path.is_symlink() or not path.is_file():
        raise DistinguoError(f"{path} is not a file of a study; delete it, or choose another folder.")
    with path.open("rb") as file:
        number = 0
        while text := file.readline(LARGEST_LINE):
            number += 1
            if text.endswith(b"\n"):
                yield _line_in(text, path, number)
            elif len(text) >= LARGEST_LINE:
                raise _damaged(path, number)


def _line_in(text: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        line = json.loads(text)
        words = [line["key"], line["digest"], line.get("failed", "")]
        if all(isinstance(word, str) for word in words) and ("answer" in line) != ("failed" in line):
            return dict(line)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        pass
    raise _damaged(path, number)


def _damaged(path: Path, number: int) -> DistinguoError:
    return DistinguoError(
        f"{path}, line {number} is damaged; delete that line, and its job is done again, or choose another folder."
    )


@contextmanager
def _journal(path: Path) -> Iterator[_Journal]:
    """Go on with the file of a part, as the only process that does."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(f"Cannot write {path}: {error.strerror or error}.") from None
    with locked(path.parent, f".{path.stem}.lock"), _opened(path) as file:
        yield _Journal(path, file)


def _opened(path: Path) -> io.FileIO:
    """Open a file at the end of its last whole line."""
    try:
        path.touch()
        file = path.open("r+b", buffering=0)
        whole = _whole_lines(file)
        file.truncate(whole)
        file.seek(whole)
    except OSError as error:
        raise WriteError(f"Cannot write {path}: {error.strerror or error}.") from None
    return file


def _whole_lines(file: io.FileIO) -> int:
    """Bytes up to the end of the last whole line."""
    end = file.seek(0, io.SEEK_END)
    while end:
        begin = max(0, end - 4096)
        file.seek(begin)
        place = (file.read(end - begin) or b"").rfind(b"\n")
        if place >= 0:
            return begin + place + 1
        end = begin
    return 0


class _Journal:
    """The file of a part, at its end."""

    def __init__(self, path: Path, file: io.FileIO) -> None:
        self.path, self.file, self.flushed = path, file, time.monotonic()

    def keep(self, job: Job, answer: Any) -> Any:
        """Append an answer, and return it as it will be read."""
        content = {"failed": answer.reason} if isinstance(answer, Failed) else {"answer": answer}
        text = json.dumps({"key": job.key, "digest": job.digest, **content})
        left = memoryview(text.encode() + b"\n")
        try:
            while left:
                left = left[self.file.write(left) or 0 :]
            if time.monotonic() - self.flushed > FLUSH_SECONDS:
                os.fsync(self.file.fileno())
                self.flushed = time.monotonic()
        except OSError as error:
            raise WriteError(
                f"Cannot write {self.path}: {error.strerror or error}; the results before are kept, and the same "
                "command continues from there."
            ) from error
        return _answer_of(json.loads(text))
