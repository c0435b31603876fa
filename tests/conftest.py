"""What all tests share: their order, and which of them wait for the second stage."""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path

os.environ.setdefault(
    "NUMBA_OPT", "1"
)  # the same bits, and a third less of compiling; nightly compiles as users do

import pytest
from hypothesis import settings

from tests.nightly import so_many

# A shell may start us in the background with Ctrl-C switched off, and our children would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A first call may compile for seconds, and a busy machine is no reason to fail.
settings.register_profile("distinguo", deadline=None, max_examples=so_many(100, nightly=500))
settings.load_profile("distinguo")

#: Two workers take files from the top of this list. One of them compiles the learners; meanwhile the other has files
#: that do not need them, so that nothing is compiled twice. Then come long ones, then all the others.
FIRST = (
    "tests/learners/model/test_learner.py",
    "tests/evaluation/lockstep/test_voronoi.py",
    "tests/evaluation/lockstep/test_boxes.py",
    "tests/runs/test_unsolved.py",
    "tests/runs/test_warm.py",
    "tests/proof/test_arrival.py",
    "tests/learners/test_beyond_the_paper.py",
    "tests/agents/test_archive.py",
    "tests/proof/test_certificate.py",
    "tests/comparison/test_compare.py",
    "tests/cli/test_cli.py",
    "tests/lab/paper/test_generation.py",
    "tests/lab/paper/test_reproduce.py",
    "tests/runs/test_resume.py",
    "tests/runs/test_any_task.py",
    "tests/proof/test_verify.py",
    "tests/cli/test_cli_test.py",
    "tests/views/test_planes.py",
    "tests/views/test_tiles.py",
)
#: What kills processes, drives terminals, distils whole agents, compiles from nothing, runs documents, or is about
#: the lab: `.ci/run` runs it after the README's command (`python -m pytest -m second_stage`).
SECOND_STAGE = (
    "src/distinguo_lab/",
    "tests/agents/test_any_learner.py",
    "tests/benchmarks/",
    "tests/cli/test_terminal.py",
    "tests/comparison/test_engines.py",
    "tests/controls/test_example.py",
    "tests/distillation/test_amounts.py",
    "tests/distillation/test_cli.py",
    "tests/distillation/test_distil.py",
    "tests/distillation/test_levels.py",
    "tests/distillation/test_life.py",
    "tests/distillation/test_stop.py",
    "tests/distillation/test_whole.py",
    "tests/distillation/test_worker_trials.py",
    "tests/docs/test_lesson.py::test_a_page_runs_as_a_notebook",
    "tests/docs/test_shell.py",
    "tests/evaluation/lockstep/test_boxes.py",
    "tests/lab/",
    "tests/learners/test_declare.py",
    "tests/runs/test_any_task.py",
    "tests/runs/test_births.py",
    "tests/runs/test_cuts.py",
    "tests/runs/test_resume.py",
    "tests/runs/test_unsolved.py",
    "tests/runs/test_warm.py",
    "tests/tasks/test_own_task.py",
    "tests/test_documents.py",
    "tests/test_interrupts.py",
    "tests/test_registry.py",
    "tests/test_seam.py",
    "tests/test_step_budgets.py",
    "tests/views/studio/",
    "tests/views/test_notebook.py",
)
#: Studies, and second and third examples of what one test shows by day: they are run only with ``-m ""``, as
#: `.ci/nightly` does.
NIGHT = (
    "tests/benchmarks/test_load.py::test_a_large_map_comes_back[export-",
    "tests/benchmarks/test_load.py::test_a_large_map_comes_back[show-8]",
    "tests/benchmarks/test_rivals.py::test_the_command_writes_what_the_runs_say",
    "tests/benchmarks/test_robustness.py",
    "tests/benchmarks/test_worlds.py::test_a_small_table_is_measured_once",
    "tests/cli/test_many.py::test_a_killed_command_leaves_no_process_and_goes_on",
    "tests/cli/test_many.py::test_many_runs_leave_what_each_leaves_alone[condense]",
    "tests/cli/test_many.py::test_many_runs_leave_what_each_leaves_alone[verify]",
    "tests/cli/test_many.py::test_seeds_of_a_distillation_leave_what_each_leaves_alone",
    "tests/comparison/test_engines.py::test_a_missing_library_gets_one_sentence",
    "tests/distillation/test_amounts.py::test_levels_that_the_teacher_takes_anyway_lose_nothing_whatever_the_seed[2]",
    "tests/distillation/test_amounts.py::test_levels_that_the_teacher_takes_anyway_lose_nothing_whatever_the_seed[3]",
    "tests/distillation/test_distil.py::test_a_hesitating_teacher_is_said_so",
    "tests/distillation/test_levels.py::test_a_run_with_torques_is_opened_again",
    "tests/distillation/test_life.py::test_condensing_goes_on_where_it_was_cut[0]",
    "tests/distillation/test_life.py::test_condensing_goes_on_where_it_was_cut[1]",
    "tests/distillation/test_life.py::test_condensing_goes_on_where_it_was_cut[4]",
    "tests/distillation/test_life.py::test_condensing_goes_on_where_it_was_cut[5]",
    "tests/distillation/test_life.py::test_it_goes_on_where_it_was_cut[1 proto]",
    "tests/distillation/test_life.py::test_it_goes_on_where_it_was_cut[3 prototypes]",
    "tests/distillation/test_life.py::test_it_goes_on_where_it_was_cut[confirming]",
    "tests/distillation/test_life.py::test_it_goes_on_where_it_was_cut[following]",
    "tests/distillation/test_merging.py::test_two_doses_stay_two",
    "tests/docs/test_lesson.py::test_a_page_runs_as_a_notebook[lesson.md]",
    "tests/docs/test_shell.py::test_the_commands_of_a_page_run[docs/how-to/offline.md]",
    "tests/docs/test_shell.py::test_the_commands_of_a_page_run[docs/how-to/prove-it.md]",
    "tests/docs/test_shell.py::test_the_commands_of_a_page_run[docs/how-to/studies.md]",
    "tests/lab/learners/partigame/test_learner.py::test_the_maze_is_solved_and_not_at_twice_the_price",
    "tests/lab/learners/scheduling/test_scheduled.py::test_compiled_equals_interpreted[model]",
    "tests/lab/neighbours/test_study.py::test_every_engine_and_every_part_give_the_same_figures",
    "tests/lab/paper/test_generation.py::test_compiled_is_the_same_and_much_faster",
    "tests/learners/evolution/test_laws.py::test_a_second_law_is_found_where_it_pays",
    "tests/proof/test_diagnosis.py::test_a_new_user_goes_from_ten_lines_to_a_proof",
    "tests/runs/test_births.py::test_cut_off_at_any_touch_of_a_file_and_by_signals[condense-50-2]",
    "tests/runs/test_births.py::test_cut_off_at_any_touch_of_a_file_and_by_signals[distil-42-2]",
    "tests/search/test_proving.py::test_a_law_is_proven_as_it_is_learned[plant0]",
    "tests/search/test_proving.py::test_a_run_is_proven_for_parameters_in_ranges",
    "tests/search/test_proving.py::test_a_run_that_is_stopped_while_it_is_proven_ends_the_same",
    "tests/search/test_proving.py::test_of_maps_that_are_proven_the_one_that_holds_more_is_kept",
    "tests/search/test_proving.py::test_the_race_finds_a_map_whose_sliding_contracts",
    "tests/studies/test_study.py::test_a_plan_names_a_task_of_a_file_that_the_command_names",
    "tests/studies/test_study.py::test_every_engine_makes_the_same_table[dask]",
    "tests/tasks/test_world.py::test_a_new_task_compiles_nothing_of_the_learner",
    "tests/test_processes.py::test_no_command_runs_files_of_the_current_folder[dask]",
    "tests/test_processes.py::test_no_command_runs_files_of_the_current_folder[distil]",
    "tests/test_registry.py::test_what_a_package_adds_is_listed",
)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import the files that have no test of the stage that runs: to import all of them takes ten seconds."""
    stage = config.option.markexpr
    if collection_path.suffix != ".py" or stage not in ("second_stage", "not second_stage"):
        return None
    path, text = collection_path.relative_to(config.rootpath).as_posix(), collection_path.read_text("utf-8")
    if stage == "second_stage":
        in_part = any(entry.startswith(f"{path}::") for entry in SECOND_STAGE) or "second_stage" in text
        wanted = in_part or path.startswith(SECOND_STAGE)
    else:
        wanted = "end_to_end" in text or not path.startswith(SECOND_STAGE)
    return None if wanted else True


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the files that are to be run first first, mark those of the second stage, and leave the night out."""
    if config.option.markexpr:
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid.startswith(NIGHT)])
        items[:] = [item for item in items if not item.nodeid.startswith(NIGHT)]
    place = {name: n for n, name in enumerate(FIRST)}
    items.sort(key=lambda item: place.get(item.nodeid.partition("::")[0], len(FIRST)))
    for item in items:
        if item.nodeid.startswith(SECOND_STAGE) and not item.get_closest_marker("end_to_end"):
            item.add_marker("second_stage")


@pytest.fixture(scope="module", autouse=True)
def _swept() -> None:
    """Keep collections of garbage short: what is left of earlier files, such as compiled kernels, is not looked at.

    Whenever a task of Gymnasium is probed, all of the heap would be looked through, which took half a second.
    """
    gc.collect()
    gc.freeze()
