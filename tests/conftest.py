"""What all tests share."""

from hypothesis import settings

# A first call may compile for seconds, and a busy machine is no reason to fail.
settings.register_profile("distinguo", deadline=None)
settings.load_profile("distinguo")
