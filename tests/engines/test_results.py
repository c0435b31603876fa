"""The results of a study in its folder: nothing lost, nothing double, whatever is killed or spoilt."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from distinguo.engines.engine import Engine
from distinguo.engines.jobs import Job
from distinguo.engines.results import StudyResults
from distinguo.errors import DistinguoError
from distinguo.processes import Failed
from distinguo.writing import InUseError, WriteError
from tests.engines.work import deadly, noted, waves
from tests.nightly import so_many


def jobs_of(count: int, mark: Path) -> list[Job]:
    return [Job(str(n), noted, {"number": n, "mark": str(mark)}) for n in range(count)]


def done_in(mark: Path) -> Counter[str]:
    return Counter(mark.read_text().split()) if mark.exists() else Counter()


def test_what_is_there_is_not_done_again(tmp_path: Path) -> None:
    asked, store = jobs_of(10, tmp_path / "mark"), StudyResults(tmp_path / "study")
    first = store.run(asked[:4])
    told: list[tuple[int, int]] = []
    assert store.run(asked, watch=lambda *of: told.append(of)) == {str(n): n for n in range(10)}
    assert first == {str(n): n for n in range(4)}
    assert told == [(n, 10) for n in range(4, 11)]
    assert max(done_in(tmp_path / "mark").values()) == 1


def test_a_job_with_other_arguments_is_another_job(tmp_path: Path) -> None:
    store = StudyResults(tmp_path)
    assert store.run([Job("a", waves, {"number": 3.0})]) == {"a": waves(3.0)}
    assert store.answers([Job("a", waves, {"number": 4.0})]) == {}
    assert store.run([Job("a", waves, {"number": 4.0})]) == {"a": waves(4.0)}
    assert store.answers([Job("a", waves, {"number": 3.0})]) == {"a": waves(3.0)}


def test_what_failed_is_tried_again(tmp_path: Path) -> None:
    asked = [
        Job(str(n), deadly, {"number": n, "bad": 3, "how": "raises", "mark": str(tmp_path / "m")})
        for n in range(5)
    ]
    answers = StudyResults(tmp_path / "study").run(asked)
    assert answers["3"] == Failed("ArithmeticError: no luck today")
    assert StudyResults(tmp_path / "study").run(asked) == {str(n): n for n in range(5)}


def test_half_a_line_is_done_again_and_a_spoilt_one_is_named(tmp_path: Path) -> None:
    asked, store = jobs_of(6, tmp_path / "mark"), StudyResults(tmp_path / "study")
    store.run(asked, Engine(workers=1))
    file = tmp_path / "study" / "results-1-of-1.jsonl"
    whole = file.read_bytes()
    for cut in range(1, 60, 7):
        file.write_bytes(whole[:-cut])
        assert len(store.answers(asked)) == 5
        assert store.run(asked) == {str(n): n for n in range(6)}
    assert len(file.read_bytes().splitlines()) == 6
    lines = whole.splitlines(keepends=True)
    for spoilt in (
        b"{}\n",
        b"\xff\n",
        b"[1]\n",
        b'{"key": 1, "digest": "a", "answer": 2}\n',
        b"[" * 99_999 + b"\n",
    ):
        file.write_bytes(lines[0] + spoilt + b"".join(lines[2:]))
        with pytest.raises(
            DistinguoError, match=r"results-1-of-1.jsonl, line 2 is damaged; delete that line"
        ):
            store.run(asked)


def test_shards_fill_one_folder_and_do_nothing_twice(tmp_path: Path) -> None:
    asked = jobs_of(11, tmp_path / "mark")
    for part in (2, 3, 1):
        answers = StudyResults(tmp_path / "study").run(asked, shard=(part, 3))
    assert answers == StudyResults(tmp_path / "study").run(asked) == {str(n): n for n in range(11)}
    assert done_in(tmp_path / "mark") == Counter(str(n) for n in range(11))


def test_two_processes_do_not_do_the_same_part(tmp_path: Path) -> None:
    asked = jobs_of(3, tmp_path / "mark")
    running = StudyResults(tmp_path / "study").each(asked)
    next(running)
    with pytest.raises(InUseError, match="is in use by process"):
        StudyResults(tmp_path / "study").run(asked)
    running.close()
    assert len(StudyResults(tmp_path / "study").run(asked)) == 3


def test_a_full_disk_is_said_in_a_sentence(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    asked, store = jobs_of(3, tmp_path / "mark"), StudyResults(tmp_path / "study")
    results = store.each(asked)
    next(results)
    journal = results.gi_frame.f_locals["journal"]  # type: ignore[attr-defined]
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, journal.file.fileno())
    os.close(full)
    with pytest.raises(WriteError, match=r"No space left on device; the results before are kept"):
        list(results)
    assert len(store.run(asked)) == 3


STUDY = """
import sys
from pathlib import Path
from distinguo.engines.engine import Engine
from distinguo.engines.results import StudyResults
from tests.engines.test_results import jobs_of

StudyResults(Path(sys.argv[1])).run(jobs_of(int(sys.argv[3]), Path(sys.argv[2])), Engine("processes", 2))
"""


@pytest.mark.second_stage
def test_killed_at_any_moment_nothing_is_lost_or_kept_double(tmp_path: Path) -> None:
    """Kills of a study's process, with all its workers, or of a worker alone."""
    kills, count = so_many(6, 150), so_many(600, 15_000)
    rng, words = random.Random(5), [str(tmp_path / "study"), str(tmp_path / "mark"), str(count)]
    for _ in range(kills):
        study = subprocess.Popen([sys.executable, "-c", STUDY, *words], start_new_session=True)
        time.sleep(rng.uniform(0.3, 0.9))
        if study.poll() is None:
            os.killpg(study.pid, signal.SIGKILL)
        study.wait()
    subprocess.run([sys.executable, "-c", STUDY, *words], check=True)
    lines = (tmp_path / "study" / "results-1-of-1.jsonl").read_text().splitlines()
    kept = [json.loads(line)["key"] for line in lines]
    assert sorted(kept, key=int) == [str(n) for n in range(count)]
    assert (
        sum(done_in(tmp_path / "mark").values()) <= count + 4 * kills
    )  # two are running, two answers on their way
