"""Tell Gymnasium about our environments. Importing this module imports nothing else: it must stay cheap."""

from __future__ import annotations

#: The name of the puck-on-a-hill task for ``gymnasium.make``.
PUCK_ID = "distinguo/PuckOnAHill-v0"


def register_environments() -> None:
    """Register every environment of the package; a second call changes nothing.

    The environments are named by strings, so their modules are imported when the first one is made.

    >>> import gymnasium
    >>> register_environments()
    >>> gymnasium.spec(PUCK_ID).entry_point
    'distinguo.tasks.puck_env:PuckOnAHillEnv'
    """
    from gymnasium.envs.registration import register, registry

    if PUCK_ID not in registry:  # Gymnasium would warn that it overrides the first registration
        register(id=PUCK_ID, entry_point="distinguo.tasks.puck_env:PuckOnAHillEnv")
