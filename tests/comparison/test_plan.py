"""Plans: what they read, what they refuse, and the cells they are made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from distinguo.comparison.plan import Plan, PlanCell, load_plan, make_plan, read_plan, write_plan
from distinguo.errors import DistinguoError
from distinguo.settings import TesterSettings as Wishes  # pytest collects names in Test
from distinguo.writing import slug

DIAGONAL = '[plan]\nrepresentations = ["diagonal"]\n'


def refusal(text: str) -> str:
    with pytest.raises(DistinguoError) as caught:
        read_plan(text)
    sentence = str(caught.value)
    assert len(sentence.splitlines()) == 1
    return sentence


# Round trips.

names = st.text("abcxyz-.09", min_size=1, max_size=12)
wishes = st.fixed_dictionaries(
    {},
    optional={
        "gamma": st.floats(0.001, 0.999),
        "alpha": st.floats(1e-9, 1.0),
        "delta": st.floats(0.0, 1e9),
        "steps": st.integers(1, 10**9),
        "runs": st.integers(1, 5),
        "cap": st.integers(1, 10**12),
    },
)


@given(
    whats=st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=4, unique_by=slug),
    variants=st.dictionaries(names, wishes, min_size=1, max_size=1),
    seed=st.integers(0, 2**63 - 1),
    beta=st.floats(0.01, 100.0),
    tester=wishes,
)
def test_a_plan_is_read_as_it_was_written(
    whats: list[str], variants: dict[str, Any], seed: int, beta: float, tester: dict[str, Any]
) -> None:
    plan = make_plan(whats, seed=seed, task_parameters={"beta": beta}, tester=tester, variants=variants)
    again = read_plan(write_plan(plan))
    assert again == plan
    assert again.cells() == plan.cells()
    assert write_plan(again) == write_plan(plan)


def test_what_a_plan_does_not_say_is_as_in_the_paper() -> None:
    plan = read_plan(DIAGONAL)
    assert plan.variants == {"plain": Wishes()}
    assert (plan.spec.name, plan.head.seed) == ("puck", 0)
    assert (Wishes().runs, Wishes().batch, Wishes().cap, Wishes().steps) == (10, 50, 5_000_000, 50_000)


def test_a_variant_changes_what_all_have_in_common() -> None:
    text = DIAGONAL + "[tester]\nalpha = 0.5\nruns = 2\n[variant.a]\n[variant.b]\nalpha = 0.25\n"
    assert {n: (s.alpha, s.runs) for n, s in read_plan(text).variants.items()} == {
        "a": (0.5, 2),
        "b": (0.25, 2),
    }


def test_every_setting_is_spelled_out() -> None:
    text = write_plan(make_plan(["diagonal"]))
    assert all(f"{name} = " in text for name in Wishes._fields)


# What is refused.

MISSPELT = {
    "a table": (DIAGONAL + "[tseter]\nruns = 3", "'tseter'", "did you mean 'tester'?"),
    "a key of the plan": (DIAGONAL + "sed = 3", "plan.sed", "did you mean 'seed'?"),
    "a setting of the tester": (DIAGONAL + "[tester]\ngama = 0.9", "tester.gama", "did you mean 'gamma'?"),
    "a setting of a variant": (DIAGONAL + "[variant.x]\nrnus = 3", "tester.rnus", "did you mean 'runs'?"),
    "a parameter of the task": (DIAGONAL + "[task]\nbetta = 0.2", "task.betta", "did you mean 'beta'?"),
    "a task": (DIAGONAL + 'task = "pukc"', "'pukc'", "did you mean 'puck'?"),
}


@pytest.mark.parametrize("case", MISSPELT)
def test_misspelt_names_are_told(case: str) -> None:
    text, wrong, advice = MISSPELT[case]
    assert wrong in refusal(text)
    assert refusal(text).endswith(advice)


WRONG = {
    "no TOML": ("plan", "not TOML"),
    "nothing": ("", "plan.representations"),
    "an empty list": ("[plan]\nrepresentations = []", "at least 1"),
    "a word for a list": ('[plan]\nrepresentations = "diagonal"', "plan.representations"),
    "a number for a list": ("[plan]\nrepresentations = 5", "plan.representations"),
    "a number for a word": ("[plan]\nrepresentations = [5]", "plan.representations.0"),
    "twice the same": ('[plan]\nrepresentations = ["seeds", "seeds"]', "named twice"),
    "no plan but a number": ("plan = 3", "table [plan]"),
    "a list of plans": ('[[plan]]\nrepresentations = ["a"]', "table [plan]"),
    "a number for the tester": ("tester = 3\n" + DIAGONAL, "table [tester]"),
    "a number for the task": ("task = 3\n" + DIAGONAL, "table [task]"),
    "a number for all variants": ("variant = 3\n" + DIAGONAL, "table [variant]"),
    "a number for a variant": (DIAGONAL + "[variant]\nslow = 3", "table [variant.slow]"),
    "a variant with a path for a name": (DIAGONAL + '[variant."../x"]\nruns = 3', "'../x'"),
    "a variant without a name": (DIAGONAL + '[variant.""]\nruns = 3', "variant ''"),
    "a negative seed": (DIAGONAL + "seed = -1", "plan.seed"),
    "no runs": (DIAGONAL + "[tester]\nruns = 0", "tester.runs"),
    "a discount that is no number": (DIAGONAL + "[tester]\ngamma = nan", "tester.gamma"),
    "a hill upside down": (DIAGONAL + "[task]\nbeta = -0.3", "task.beta"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_plans_are_refused_in_one_sentence(case: str) -> None:
    text, place = WRONG[case]
    assert place in refusal(text)


@pytest.mark.parametrize(("content", "why"), [(b"\xff\xfe", "UTF-8"), (None, "No such file")])
def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, content: bytes | None, why: str) -> None:
    path = tmp_path / "plan.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DistinguoError, match=rf"plan\.toml.*{why}"):
        load_plan(path)


# Cells.


def some_plan(whats: list[str], variants: list[str], runs: int = 2) -> Plan:
    return make_plan(whats, tester={"runs": runs}, variants={name: {} for name in variants})


def test_cells_come_in_the_order_of_the_plan() -> None:
    plan = make_plan(["seeds", "diagonal"], variants={"slow": {"runs": 2}, "fast": {"runs": 1}})
    in_order = [("slow", 0), ("slow", 1), ("fast", 0)]
    assert plan.cells() == [PlanCell(what, *rest) for what in ("seeds", "diagonal") for rest in in_order]


odd = st.text("ab-_/. :", max_size=8) | st.text(max_size=5)


@given(st.lists(odd, min_size=1, max_size=6, unique=True), st.lists(odd, min_size=1, max_size=3, unique=True))
def test_no_two_cells_share_a_file(whats: list[str], variants: list[str]) -> None:
    """Different words may have the same slug; such a plan is refused."""
    keys = [PlanCell(what, variant, run).key for what in whats for variant in variants for run in (0, 1)]
    fit = all(name and slug(name) == name for name in variants)
    if fit and len(set(keys)) == len(keys) and len({*map(slug, whats)}) == len(whats):
        assert [cell.key for cell in some_plan(whats, variants).cells()] == keys
    else:
        with pytest.raises(DistinguoError):
            some_plan(whats, variants)


@pytest.mark.parametrize("pair", [("runs/a", "runs_a"), ("a b", "a/b"), ("grid:2x2", "grid-2x2")])
def test_representations_whose_files_would_collide_are_refused(pair: tuple[str, str]) -> None:
    with pytest.raises(DistinguoError, match="named twice"):
        make_plan(pair)


def test_a_representation_and_a_variant_cannot_be_mistaken_for_others() -> None:
    with pytest.raises(DistinguoError, match="named twice"):
        some_plan(["x", "x--b"], ["a", "b--a"])


@given(st.text(max_size=400))
def test_a_slug_is_a_short_file_name(what: str) -> None:
    found = slug(what)
    assert len(found.encode()) <= 90
    assert all(c.isalnum() or c in "-._" for c in found)
    assert Path("folder", found + ".json").name == found + ".json"


def test_long_words_with_the_same_end_have_different_slugs() -> None:
    one, other = (slug("/" + letter * 300 + "/learned") for letter in "ab")
    assert one != other
    assert "_learned" in one
