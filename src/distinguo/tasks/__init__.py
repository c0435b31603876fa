"""Tasks to learn: what a task is, how to declare and check new ones, those we ship, and Gymnasium's.

``task.py`` has the functions that make a task, ``declare.py`` the decorator ``@task`` that registers them,
``check.py`` the contract of a task, and ``catalog.py`` finds a task by name.
"""
