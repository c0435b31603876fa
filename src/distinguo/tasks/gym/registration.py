"""Register our environments with Gymnasium.

Gymnasium 1.x has no plugins: an environment is known once the package that registers it is imported. Importing
Gymnasium takes a quarter of a second, which ``import distinguo`` and the command line should not cost. So ours are
registered at once if Gymnasium is imported already, and otherwise when it is imported. Every process that imports
distinguo imports this module, so it imports next to nothing itself.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

#: The name of the puck-on-a-hill task for ``gymnasium.make``.
PUCK_ID = "distinguo/PuckOnAHill-v0"


def register_environments() -> None:
    """Register every environment of the package; a second call changes nothing.

    The environments are named by strings, so their modules are imported when the first one is made.

    >>> import gymnasium
    >>> register_environments()
    >>> gymnasium.spec(PUCK_ID).entry_point
    'distinguo.tasks.puck.environment:PuckOnAHillEnv'
    """
    from gymnasium.envs.registration import register, registry

    if PUCK_ID not in registry:  # Gymnasium would warn that it overrides the first registration
        register(id=PUCK_ID, entry_point="distinguo.tasks.puck.environment:PuckOnAHillEnv")


class _AfterGymnasium:
    """Finds Gymnasium as usual, and registers our environments when it has been executed."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "gymnasium":
            return None
        sys.meta_path.remove(self)  # once is enough, and Gymnasium's own imports need not pass here
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_register(module: ModuleType) -> None:
                execute(module)
                register_environments()

            spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec


def register_with_gymnasium() -> None:
    """Register our environments now, or as soon as Gymnasium is imported."""
    if "gymnasium" in sys.modules:
        register_environments()
    elif not any(isinstance(finder, _AfterGymnasium) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AfterGymnasium())
