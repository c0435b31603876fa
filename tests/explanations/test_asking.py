"""Questions that cannot be answered, logs that are damaged, and the command line."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import distinguo as dg
from distinguo.cli import app, main
from distinguo.errors import DistinguoError
from distinguo.explanations.distinctions import distinctions
from distinguo.explanations.explain import explain
from distinguo.explanations.family import family
from distinguo.explanations.investigation import VALUES
from distinguo.explanations.subject import asked_about, read_log
from tests.explanations.maps import FOLDERS, made_up

PUCK, BROAD, CART = FOLDERS["puck-7"], FOLDERS["puck-1"], FOLDERS["cart-6"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(PUCK, tmp_path / "run"))


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ((3.0, 0.0), "x (m) of puck lies between -2.4 and 2.4, got 3"),
        ((0.0, -6.0), "v (m/s) of puck lies between -5.5 and 5.5, got -6"),
        ((0.5,), "2 finite numbers"),
        ((0.5, 1.0, 2.0), "2 finite numbers"),
        ((), "2 finite numbers"),
        ("ab", "2 finite numbers"),
        (None, "2 finite numbers"),
        ((float("nan"), 0.0), "2 finite numbers"),
        ((0.0, float("inf")), "2 finite numbers"),
        (("0.5", "1"), "2 finite numbers"),
    ],
)
def test_what_is_no_state_of_the_task(state: Any, words: str) -> None:
    questions = [lambda: explain(PUCK, state)]
    if state is not None:  # which asks about one state alone
        questions.append(lambda: explain(PUCK, (0.0, 0.0), state))
    for ask in questions:
        with pytest.raises(DistinguoError) as caught:
            ask()
        assert words in str(caught.value)
        assert "\n" not in str(caught.value)


def test_labels_are_whole_and_within_bounds() -> None:
    with pytest.raises(DistinguoError, match=r"is a label, a whole number from 0 to 47, got 3\.5"):
        explain(FOLDERS["cliff-6"], (3.5,))
    with pytest.raises(DistinguoError, match=r"lies between 0 and 47, got 48"):
        explain(FOLDERS["cliff-6"], (48,))


@pytest.mark.parametrize("what", [None, 5, ["runs"], {"a": 1}])
def test_what_is_no_run(what: Any) -> None:
    for ask in (lambda: explain(what, (0.0, 0.0)), lambda: distinctions(what), lambda: family(what)):
        with pytest.raises(DistinguoError, match="A run or the folder of one can be explained"):
            ask()


def test_a_folder_that_is_not_there_or_has_no_map_yet(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(DistinguoError, match="is not a run folder"):
        explain(tmp_path / "nothing", (0.0, 0.0))
    (folder / "representation.json").unlink()
    (folder / "result.json").unlink()
    with pytest.raises(DistinguoError, match="goes on with it"):
        explain(folder, (0.0, 0.0))


def test_an_unfinished_run_is_explained_and_said_to_be_one(folder: Path) -> None:
    (folder / "result.json").unlink()
    log = (folder / "reasons.jsonl").read_text()
    (folder / "reasons.jsonl").write_text(log + '{"event": "split", "tri')  # the next entry is being written
    why = explain(folder, (0.5, 1.0), (-0.5, -1.0))
    assert why.distinction is not None
    assert why.distinction.then is not None
    assert any("not finished" in note for note in why.notes)


def wreck(text: str) -> str:
    return text[: len(text) // 2]


DAMAGE: dict[str, Callable[[str], str]] = {
    "cut": wreck,
    "no JSON": lambda text: "not a log\n",
    "a number": lambda text: "5\n",
    "no event": lambda text: '{"trial": 3}\n',
}


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_log_leaves_what_can_be_seen_now(folder: Path, how: str) -> None:
    whole = explain(folder, (0.5, 1.0), (-0.5, -1.0))
    path = folder / "reasons.jsonl"
    path.write_text(DAMAGE[how](path.read_text()))
    why = explain(folder, (0.5, 1.0), (-0.5, -1.0))
    assert any("is damaged" in note for note in why.notes)
    assert "is damaged" in repr(why)
    assert why.distinction is not None
    assert whole.distinction is not None
    assert why.distinction.then is None
    assert why.distinction.profiles == whole.distinction.profiles
    assert why.distinction.regret == whole.distinction.regret
    assert why.sentences[0] == whole.sentences[0]


def test_a_log_that_is_missing(folder: Path) -> None:
    (folder / "reasons.jsonl").unlink()
    why = explain(folder, (0.5, 1.0))
    assert "reasons.jsonl" in why.notes[0]


def test_what_else_is_damaged_is_no_matter_of_the_log(folder: Path) -> None:
    (folder / "values.npz").write_bytes(b"nothing")
    with pytest.raises(DistinguoError, match=r"values\.npz"):
        explain(folder, (0.5, 1.0))


@pytest.mark.parametrize(
    "change",
    [
        {"prototypes": [0, -1]},
        {"prototypes": [0]},
        {"prototypes": "01"},
        {"states": None},
        {"profiles": [[1.0, "a"], [2.0, 3.0]]},
        {"profiles": [[1.0, float("nan")], [2.0, 3.0]]},
        {"regret": None},
        {"rules": 5},
        {"rules": "value"},
        {"trial": "soon"},
    ],
    ids=str,
)
def test_an_entry_that_makes_no_sense_is_left_out_and_counted(change: dict[str, Any]) -> None:
    run = dg.open_run(PUCK)
    entries = [dict(entry) for entry in run.reasons]
    entries[-1] |= change
    log = read_log(entries)
    assert log.unreadable == 1
    assert len(log.events) == len(entries) - 1
    why = explain(run._replace(reasons=entries), (0.5, 1.0), (-0.5, -1.0))
    assert any("1 entry could not be understood" in note for note in why.notes)


def test_entries_about_another_map_are_not_taken_for_this_one() -> None:
    """The numbers of prototypes may be the same; the states that stand beside them are not."""
    run = dg.open_run(PUCK)
    moved = [{**entry, "states": [[x + 0.1, v] for x, v in entry["states"]]} for entry in run.reasons]
    assert family(run).events
    assert not family(run._replace(reasons=moved)).events
    assert all(one.is_explained for one in distinctions(run._replace(reasons=moved)))


def test_two_states_of_one_region() -> None:
    asked = asked_about(BROAD)
    merged = [member for member in family(asked).members if member.merges and not member.primary]
    assert merged
    for member in merged:
        primary = next(one for one in family(asked).members if one.primary and one.region == member.region)
        why = explain(asked, member.state, primary.state)
        assert why.distinction is not None
        assert why.distinction.same_region
        assert why.distinction.rules == ()
        event = why.distinction.then
        assert event is not None
        assert event.event == "merge"
        assert f"merged at trial {event.trial}" in why.sentences[0]
        assert f"joined this region at trial {member.merges[-1].trial}" in " ".join(
            explain(asked, member.state).sentences
        )
    near = explain(asked, primary.state, [x + 1e-9 for x in primary.state])
    assert "no difference between them has mattered so far" in near.sentences[0]


def test_an_answer_comes_at_once() -> None:
    run = dg.open_run(PUCK)
    explain(run, (0.5, 1.0), (-0.5, -1.0))
    begun = time.process_time()
    for _ in range(5):
        explain(run, (0.5, 1.0), (-0.5, -1.0))
    assert (time.process_time() - begun) / 5 < 0.15


def test_the_price_that_was_paid_comes_first() -> None:
    first, second = [member.state for member in family(CART).members]
    why = explain(CART, first, second)
    assert "a trial loses 482.9 of reward" in why.sentences[0]
    assert why.distinction is not None
    assert why.distinction.rules == ("price paid on probation",)
    assert why.distinction.price is not None
    turned = explain(CART, second, first).document()["price"]
    assert turned["actions"] == list(why.distinction.price.actions[::-1])


def test_the_command() -> None:
    done = CliRunner().invoke(app, ["explain", str(PUCK), "--state", "0.5,1", "--and", "-0.5,-1", "--json"])
    assert done.exit_code == 0
    content = json.loads(done.stdout.splitlines()[-1])
    assert content["run"] == str(PUCK)
    assert {"region", "action", "value", "reason", "other", "regret", "epsilon"} <= set(content)
    assert content["sentences"][0] == content["reason"]
    plain = CliRunner().invoke(app, ["explain", str(PUCK), "--state", "0.5,1"])
    assert plain.exit_code == 0
    assert "lies in region" in plain.stdout
    assert not plain.stderr
    other = CliRunner().invoke(
        app, ["explain", str(CART), "--state", "0,0,0,0", "--representation", "--json"]
    )
    assert json.loads(other.stdout.splitlines()[-1])["action"] in ("left", "right")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--state", "left"], "--state takes 2 numbers with commas between them, x (m), v (m/s)"),
        (["--state", "0.5,1", "--and", ""], "--and takes 2 numbers with commas between them, x (m), v (m/s)"),
        (["--state", "0.5"], "2 numbers with commas"),
        (["--state", "9,9"], "lies between"),
    ],
)
def test_the_command_says_what_is_wrong(
    words: list[str], sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["distinguo", "explain", str(PUCK), *words])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert sentence in capsys.readouterr().err


def test_without_an_epsilon_only_the_best_actions_are_compared() -> None:
    """Eq. 6 knows no tolerance; whether values are close enough, or actions good enough, nobody said."""
    found = {one.regions: one for one in distinctions(FOLDERS["cart-5"])}
    assert found[0, 1].rules == found[0, 1].rules_now == ("best action (Eq. 6)",)
    assert (found[1, 2].rules, found[1, 2].rules_now) == (("drawn by the learner",), ())


def test_a_task_that_fails_leaves_what_was_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> Any:
        raise ZeroDivisionError("no wind")

    monkeypatch.setattr("distinguo.explanations.investigation.state_behind", fails)
    why = explain(PUCK, (0.5, 1.0), (-0.5, -1.0))
    assert "puck failed when it was tried (ZeroDivisionError: no wind)" in why.sentences[-1]
    assert why.facts.profile.way == "learned values"
    assert why.distinction is not None
    assert why.distinction.is_explained


def test_in_a_stochastic_task_the_learned_values_answer() -> None:
    """A single slippery step says nothing: the figures must not depend on it."""
    why = explain(made_up("FrozenLake-v1", 8), (4,), (9,))
    assert why.distinction is not None
    assert {profile.way for profile in why.distinction.profiles} == {VALUES}
    assert "is stochastic" in why.sentences[-1]
