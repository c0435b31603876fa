"""Tasks to learn: what a task is, the door and the contract for new ones, those we ship, and Gymnasium's.

``task.py`` has the functions that make a task, ``declare.py`` the decorator ``@task`` that registers them,
``check.py`` what a task promises, and ``catalog.py`` finds a task by name.
"""
