"""Write tests/constraints.txt: the versions with which the tests have passed here, and no host.

python -m tools.lock
pip install -e ".[test]" -c tests/constraints.txt
"""

from __future__ import annotations

import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PLACE = Path(__file__).parents[1] / "tests" / "constraints.txt"
HEAD = '# Versions with which the tests have passed (python -m tools.lock). Use: pip install -e ".[test]" -c FILE\n'


def pinned(extra: str = "test") -> dict[str, str]:
    """The version of every package that the project needs with its extra, as installed here.

    >>> "numpy" in pinned()
    True
    """
    project = tomllib.loads((PLACE.parents[1] / "pyproject.toml").read_text())["project"]
    first = map(Requirement, (*project["dependencies"], *project["optional-dependencies"][extra]))
    found: dict[str, str] = {}
    waiting = [(one.name, frozenset({"", *one.extras})) for one in first]
    seen = set(waiting)
    while waiting:
        name, extras = waiting.pop()
        try:
            known = distribution(name)
        except PackageNotFoundError:  # not for this system
            continue
        found[canonicalize_name(name)] = known.version
        for line in known.requires or ():
            needed = Requirement(line)
            if needed.marker is None or any(needed.marker.evaluate({"extra": one}) for one in extras):
                step = (needed.name, frozenset({"", *needed.extras}))
                if step not in seen:
                    seen.add(step)
                    waiting.append(step)
    return dict(sorted(found.items()))


if __name__ == "__main__":
    PLACE.write_text(HEAD + "".join(f"{name}=={version}\n" for name, version in pinned().items()))
