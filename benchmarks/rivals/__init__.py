"""Rivals side by side: our learner, and others, on the same tasks, seeds, steps and confirmation.

    python -m benchmarks.rivals                          all rivals, into docs/rivals.md
    python -m benchmarks.rivals --rivals ours grid       some of them
    python -m benchmarks.rivals --report                 the table and the picture of the runs made so far

Every run is kept under ``runs/rivals`` when it is over, so that an interrupted command goes on where it was; throw
that folder away to measure anew. One module per family of rivals; ``referee.py`` has the rules.
"""
