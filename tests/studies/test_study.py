"""Studies: the same table from every engine, and figures that another program has, too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from distinguo.cli import app
from distinguo.errors import DistinguoError
from distinguo.evaluation.statistics import iqm_interval, performance_profile
from distinguo.processes import Failed
from distinguo.runs.learn import learn
from distinguo.studies import measure
from distinguo.studies.plan import read_study
from distinguo.studies.study import Study, study
from distinguo.views.study import study_picture

PLAN = """
[study]
tasks = ["puck"]
learners = ["suited", "surprise"]
seeds = "4,1-2"
development = "9"
trials = 5

[settings.usual]

[settings.short.stage]
cap = 5000
hold = 5000

[scale]
puck = [0, 5e6]
"""
#: Scores of three tasks, seven runs each, and what rliable 1.2.0 says of them (50,000 bootstrap samples).
SCORES = [
    *([0.0, 1.983, -0.128], [-0.926, 0.988, 0.399], [-0.7, -1.236, 0.43], [0.397, -1.923, -0.074]),
    *([1.0, -0.217, -0.486], [0.359, 1.759, -0.293], [-0.728, 1.547, 0.265]),
]
MEAN, LOW, HIGH = 0.05927273, -0.31982045, 0.46054773
PROFILE = {-1.0: 0.9047619, 0.0: 0.47619048, 0.5: 0.23809524, 1.0: 0.14285714}


def test_the_figures_are_those_of_rliable() -> None:
    groups = list(np.array(SCORES).T)
    mean, low, high = iqm_interval(groups)
    assert mean == pytest.approx(MEAN, abs=1e-8)
    assert (low, high) == pytest.approx((LOW, HIGH), abs=0.03)  # 2,000 samples against 50,000
    profile = performance_profile(np.concatenate(groups), np.array(list(PROFILE)))
    assert profile == pytest.approx(list(PROFILE.values()), abs=1e-7)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return study(read_study(PLAN), tmp_path_factory.mktemp("made") / "study", engine="threads")


def test_a_run_of_a_study_is_a_run(made: Study) -> None:
    """Its figures are those of ``learn``, seed by seed."""
    run = learn("puck", seed=2, settings={"stage.cap": 5000, "stage.hold": 5000})
    told = made.answers["puck--suited--short--seed-2"]
    assert {name: told[name] for name in measure.TOLD} == {name: run.summary[name] for name in measure.TOLD}
    assert len(made.answers) == 2 * 2 * 4
    assert not made.failures


def test_the_table_counts_each_part_apart(made: Study) -> None:
    rows = [(row.cell.learner, row.cell.settings, row.part, len(row.runs)) for row in made.results()]
    cells = [(learner, settings) for learner in ("suited", "surprise") for settings in ("usual", "short")]
    assert rows == [(*c, "held out", 3) for c in cells] + [(*c, "development", 1) for c in cells]
    solved = [sum(run["solved"] for run in row.runs) for row in made.results()]
    assert [row[4] for row in made.rows()[1:]] == [
        f"{n} of {len(row.runs)}" for n, row in zip(solved, made.results(), strict=True)
    ]
    assert len(made.csv().splitlines()) == 1 + 16
    assert (made.folder / "table.md").read_text() == made.markdown()


def test_the_summary_is_of_held_out_seeds_on_the_plans_scale(made: Study) -> None:
    fresh = [made.answers[f"puck--suited--usual--seed-{n}"]["fresh"] / 5e6 for n in (4, 1, 2)]
    name, mean, _, _, count = made.summary()[0]
    assert (name, count) == ("suited, usual", 3)
    assert mean == pytest.approx(np.mean(fresh))  # of three, a quarter cuts off none
    picture = study_picture(made)
    assert picture.profiles["suited, usual"][0] == np.mean(np.array(fresh) > 0)
    assert set(picture.scores["puck"]) == set(picture.names)


def test_the_same_folder_does_nothing_again(made: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "distinguo.studies.study.StudyResults.each", Exception
    )  # would raise where it is iterated
    monkeypatch.setattr(
        "distinguo.studies.study.StudyResults.run", lambda store, jobs, *_: store.answers(jobs)
    )
    assert study(made.plan, made.folder).csv() == made.csv()


@pytest.mark.second_stage
@pytest.mark.parametrize("engine", ["processes", "dask", "shards"])
def test_every_engine_makes_the_same_table(made: Study, engine: str, tmp_path: Path) -> None:
    out = tmp_path / "study"
    if engine == "shards":
        for part in (2, 1):
            found = study(made.plan, out, engine="threads", shard=(part, 2))
            assert found.missing == (8 if part == 2 else 0)
    else:
        found = study(made.plan, out, engine=engine, workers=2)
    assert without_seconds(found) == without_seconds(made)


def without_seconds(found: Study) -> dict[str, Any]:
    return {key: {**told, "seconds": 0} for key, told in sorted(found.answers.items())}


BAD = {
    "empty seeds": ('tasks = ["puck"]\nseeds = ""', "study.seeds of plan.toml takes numbers and ranges"),
    "unknown task": ('tasks = ["pukc"]\nseeds = "1"', "task pukc, .*did you mean 'puck'"),
    "unknown setting": (
        'tasks = ["puck"]\nseeds = "1"\n[settings.a]\nlearner.epsilom = 1',
        "task puck, learner suited, settings a: Unknown setting learner.epsilom",
    ),
    "unknown learner": ('tasks = ["puck"]\nseeds = "1"\nlearners = ["economist"]', "did you mean 'economy'"),
    "no task": ('tasks = []\nseeds = "1"', "study.tasks"),
    "no learner": ('tasks = ["puck"]\nseeds = "1"\nlearners = []', "study.learners"),
    "no seed": ('tasks = ["puck"]', "with tasks and seeds"),
    "odd seeds": ('tasks = ["puck"]\nseeds = "5-1"', "study.seeds of plan.toml takes numbers and ranges"),
    "overlap": ('tasks = ["puck"]\nseeds = "1-9"\ndevelopment = "8-12"', "seeds 8-9 both among"),
    "twice": ('tasks = ["puck", "puck"]\nseeds = "1"', "each task once"),
    "table": (
        'tasks = ["puck"]\nseeds = "1"\n[setting.a]',
        "unknown table 'setting'; did you mean 'settings'",
    ),
    "scale": ('tasks = ["puck"]\nseeds = "1"\n[scale]\npuck = [1, 0]', "the lower one first"),
    "scale of": ('tasks = ["puck"]\nseeds = "1"\n[scale]\npack = [0, 1]', "did you mean 'puck'"),
    "code": ('tasks = ["os:puck-v0"]\nseeds = "1"', "os:puck-v0"),
    "many": (
        'tasks = ["puck"]\nlearners=["suited", "economy", "model", "table"]\nseeds = "1-100000"\n'
        "[settings.a]\n[settings.b]\n[settings.c]",
        "1,200,000 runs; a study may have 1,000,000",
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_a_plan_that_cannot_be_is_refused_in_a_sentence(what: str) -> None:
    text, sentence = BAD[what]
    with pytest.raises(DistinguoError, match=sentence) as caught:
        read_study("[study]\n" + text)
    assert len(str(caught.value).splitlines()) == 1


def test_a_folder_of_something_else_is_refused(made: Study, tmp_path: Path) -> None:
    with pytest.raises(DistinguoError, match="holds the results of another plan"):
        study(read_study(PLAN.replace("5000", "6000")), made.folder)
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(DistinguoError, match="exists and holds no study"):
        study(made.plan, tmp_path)


@pytest.mark.second_stage
def test_a_scheduler_that_does_not_answer_is_named_and_no_run_is_done(made: Study, tmp_path: Path) -> None:
    with pytest.raises(DistinguoError, match="No dask scheduler answers at tcp://"):
        study(made.plan, tmp_path / "out", engine="dask", address="tcp://127.0.0.1:1")
    assert not (tmp_path / "out" / "results-1-of-1.jsonl").read_bytes()


@pytest.mark.second_stage
def test_a_plan_names_a_task_of_a_file_that_the_command_names(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text((Path(__file__).parents[2] / "examples" / "own_task.py").read_text())
    name = own_task_name(tmp_path / "mine.py")
    (tmp_path / "plan.toml").write_text(f'[study]\ntasks = ["{name}"]\nseeds = "1-2"\ntrials = 5\n')
    words = ["study", str(tmp_path / "plan.toml"), "--out", str(tmp_path / "out"), "--json"]
    result = CliRunner().invoke(app, [*words, "--code", str(tmp_path / "mine.py"), "--workers", "2"])
    assert result.exit_code == 0, result.output
    content = json.loads(result.stdout.splitlines()[-1])
    assert content["rows"][0]["runs"] == 2
    assert (tmp_path / "out" / "study.png").read_bytes().startswith(b"\x89PNG")


def own_task_name(path: Path) -> str:
    from distinguo.engines.code import imported
    from distinguo.tasks.catalog import spec_of

    module = imported(path)
    kinds = [one for one in vars(module).values() if isinstance(one, type) and hasattr(one, "transition")]
    return spec_of(kinds[0]).name


def test_runs_that_failed_are_listed_and_the_others_count(made: Study) -> None:
    key = "puck--suited--usual--seed-1"
    found = made._replace(answers={**made.answers, key: Failed("no luck today")})
    assert found.failures == {key: "no luck today"}
    assert found.rows()[1][3] == "2, 1 failed"
    assert f"Failed: {key}: no luck today" in repr(found)
    assert ",no luck today" in found.csv()
