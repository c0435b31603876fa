"""The engine room: the same answers from every engine, whatever becomes of a worker."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distinguo import versions
from distinguo.cli.parse import load_named
from distinguo.engines import cluster, jobs
from distinguo.engines.code import Code, bring, code_behind
from distinguo.engines.engine import ENGINES, Engine, checked_engine, my_share
from distinguo.engines.jobs import Job, answer_in, done
from distinguo.errors import DistinguoError
from distinguo.processes import Failed, in_processes
from tests.comparison.plans import local_cluster
from tests.engines.work import deadly, noted, sleepy, task_named, waves
from tests.nightly import so_many


def some(count: int, function: Any = sleepy, **arguments: Any) -> list[Job]:
    return [Job(str(n), function, {"number": n, **arguments}) for n in range(count)]


@pytest.mark.second_stage
def test_every_engine_gives_the_same_bits() -> None:
    asked = [Job(str(n), waves, {"number": n * 0.1}) for n in range(50)]
    answers = [json.dumps(dict(sorted(Engine(name, 2).run(asked)))) for name in ENGINES]
    assert len(set(answers)) == 1
    assert len(json.loads(answers[0])) == 50


@pytest.mark.parametrize("name", ["threads", "processes"])
def test_a_job_that_fails_leaves_the_others_alone(name: str) -> None:
    answers = dict(Engine(name, 2).run(some(20, deadly, bad=7, how="raises")))
    assert answers.pop("7") == Failed("ArithmeticError: no luck today")
    assert answers == {str(n): n for n in range(20) if n != 7}
    assert not active_children()


def test_a_process_that_is_killed_once_is_replaced(tmp_path: Path) -> None:
    asked = some(20, deadly, bad=7, how="killed", mark=str(tmp_path / "mark"))
    assert dict(Engine("processes", 2).run(asked)) == {str(n): n for n in range(20)}
    assert (tmp_path / "mark").exists()


def test_a_job_that_always_kills_its_process_is_tried_five_times() -> None:
    answers = dict(Engine("processes", 2).run(some(20, deadly, bad=7, how="killed")))
    assert answers.pop("7").reason.startswith("its process ended with exit code -9, 5 times")
    assert answers == {str(n): n for n in range(20) if n != 7}


def test_a_job_that_never_ends_is_given_up() -> None:
    began = time.monotonic()
    answers = dict(Engine("processes", 2, seconds=0.5).run(some(20, deadly, bad=7, how="endless")))
    assert time.monotonic() - began < 20
    assert answers.pop("7") == Failed("it took longer than 0.5 seconds.")
    assert answers == {str(n): n for n in range(20) if n != 7}
    assert not active_children()


def test_killed_at_random_nothing_is_lost_or_double(tmp_path: Path) -> None:
    """A job whose process is killed is done again, and its answer is given once."""
    rng, kills, mark = random.Random(5), 0, tmp_path / "mark"
    asked, answers = some(so_many(300, 3000), noted, mark=str(mark)), Counter[str]()
    for key, answer in Engine("processes", 3).run(asked):
        answers[key] += answer == int(key)
        if rng.random() < 0.1 and (children := active_children()):
            os.kill(rng.choice(children).pid or 0, signal.SIGKILL)
            kills += 1
    assert kills > 10
    assert answers == Counter(str(n) for n in range(len(asked)))
    assert len(mark.read_text().splitlines()) >= len(asked)


@pytest.mark.parametrize("name", ["threads", "processes"])
def test_who_stops_listening_stops_the_work(name: str, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    answers = Engine(name, 2).run(some(10_000, noted, mark=str(mark)))
    next(answers)
    answers.close()
    assert not active_children()
    time.sleep(0.1)
    assert len(mark.read_text().splitlines()) < 1000


def test_items_that_are_waiting_are_not_all_in_memory() -> None:
    asked: list[int] = []

    class Watched(list[str]):
        def __getitem__(self, number: Any) -> Any:
            asked.append(number)
            return super().__getitem__(number)

    answers = in_processes(str.upper, Watched(["a", "b"] * 500), 2)
    next(answers)
    assert len(asked) <= 6
    answers.close()


@given(st.lists(st.integers(), max_size=30), st.integers(1, 9))
def test_shards_are_a_partition(items: list[int], of: int) -> None:
    shares = [my_share(items, (i, of)) for i in range(1, of + 1)]
    assert Counter(x for share in shares for x in share) == Counter(items)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


@settings(max_examples=50)
@given(st.dictionaries(st.text(max_size=5), st.floats(allow_nan=False) | st.text(max_size=5) | st.none()))
def test_what_is_sent_is_what_is_done(content: dict[str, Any]) -> None:
    assert answer_in(done(Job("a", dict, content).sent())) == content


# Code and software.

OWN = """
from typing import NamedTuple
import distinguo as dg

@dg.task(states=["x"], low=[-1.0], high=[1.0], actions=["left", "right"])
class Travelling(NamedTuple):
    def start(self, rng):
        return (0.0,)
    def transition(self, s, a):
        x = s[0] + 0.1 * (2 * a - 1)
        return (x,), -1.0 if abs(x) > 1.0 else 0.0, abs(x) > 1.0
"""


def own_job(folder: Path) -> Job:
    (folder / "travelling.py").write_text(OWN)
    kind = load_named(f"{folder / 'travelling.py'}:Travelling")
    return Job("own", task_named, {"name": "Travelling"}, code_behind(kind))


def test_what_decides_a_result_is_in_the_digest(tmp_path: Path) -> None:
    job = own_job(tmp_path)
    others = [
        job._replace(arguments={"name": "other"}),
        job._replace(function=len),
        job._replace(code=(job.code[0]._replace(digest="another"),)),
    ]
    assert len({one.digest for one in (job, *others)}) == 4
    assert job._replace(key="renamed").digest == job.digest


def test_a_file_that_was_changed_on_its_way_is_not_run(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    with pytest.raises(DistinguoError, match="was changed on its way"):
        bring(Code("evil.py", "0" * 64, f"open({str(mark)!r}, 'w')"))
    assert not mark.exists()


def test_another_version_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = Job("a", round, {"number": 2.5}).sent()
    mine = versions.software()["distinguo"]
    monkeypatch.setattr(jobs, "software", lambda: {**versions.software(), "distinguo": "9.9.9"})
    with pytest.raises(DistinguoError, match=f"A worker has distinguo 9.9.9, and this command has {mine}"):
        answer_in(done(sent))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("thread",), "did you mean 'threads'"),
        (("processes", 2, "tcp://a:1"), "--engine dask"),
        (("threads", 2, None, 5.0), "cannot be stopped"),
        (("processes", 2, None, 0.0), "above 0"),
        (("processes", 2, None, float("nan")), "above 0"),
        (("dask", 2, None, 1e9), "at most 1,000,000 seconds"),
        (("processes", 0), "workers should be a whole number from 1"),
        (("threads", -1), "workers should be a whole number from 1"),
    ],
)
def test_engines_that_cannot_be(words: tuple[Any, ...], sentence: str) -> None:
    with pytest.raises(DistinguoError, match=sentence):
        checked_engine(*words)


# A cluster whose workers and scheduler come and go.


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with local_cluster() as ours:
        yield ours.scheduler_address


@pytest.mark.second_stage
def test_a_users_file_travels_to_workers_that_do_not_have_it(tmp_path: Path, address: str) -> None:
    job = own_job(tmp_path)
    (tmp_path / "travelling.py").unlink()
    assert dict(Engine("dask", 1, address).run([job])) == {"own": ["x"]}
    alone = dict(Engine("dask", 1, address).run([job._replace(code=())]))["own"]
    assert isinstance(alone, Failed), "without its file, the task is not known there"


@pytest.mark.second_stage
def test_a_job_that_always_kills_its_worker_fails_alone(address: str) -> None:
    """Although short jobs are sent in bundles."""
    answers = dict(Engine("dask", address=address).run(some(300, deadly, bad=250, how="killed")))
    assert isinstance(answers.pop("250"), Failed)
    assert answers == {str(n): n for n in range(300) if n != 250}


@pytest.mark.second_stage
def test_a_cluster_gives_up_what_never_ends(address: str) -> None:
    asked = some(3, deadly, bad=1, how="endless")
    answers = dict(Engine("dask", 2, address, seconds=8.0).run(asked))
    assert answers == {"0": 0, "1": Failed("it took longer than 8 seconds."), "2": 2}


def started(*words: str) -> subprocess.Popen[bytes]:
    how: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    finding = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.Popen([sys.executable, "-P", "-m", *words], env=finding, **how)


def a_scheduler(port: int) -> subprocess.Popen[bytes]:
    where = ("--host", "127.0.0.1", "--port", str(port), "--dashboard-address", "127.0.0.1:0")
    return started("distributed.cli.dask_scheduler", *where)


def a_worker(port: int) -> subprocess.Popen[bytes]:
    how = ("--nworkers", "1", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1")
    return started("distributed.cli.dask_worker", f"tcp://127.0.0.1:{port}", *how)


@pytest.mark.second_stage
def test_a_scheduler_that_disappears_and_comes_back_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The work begins before there is any worker, goes on while one runs, and after both were killed."""
    port = random.Random().randrange(20_000, 30_000)
    running = [a_scheduler(port), a_worker(port)]
    answers, again = Counter[str](), threading.Event()

    def come_back() -> None:
        again.wait()
        for process in running:
            process.kill()
            process.wait()
        time.sleep(1.5)
        running[:] = [a_scheduler(port), a_worker(port)]

    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 20)
    returning = threading.Thread(target=come_back)
    returning.start()
    try:
        for key, answer in Engine("dask", address=f"tcp://127.0.0.1:{port}").run(some(60)):
            answers[key] += answer == int(key)
            if len(answers) == 10:
                again.set()
    finally:
        again.set()
        returning.join()
        for process in running:
            process.kill()
            process.wait()
    assert answers == Counter(str(n) for n in range(60))
