"""What all tests share."""

import signal

from hypothesis import settings

# A shell may start us in the background with Ctrl-C switched off, and our children would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A first call may compile for seconds, and a busy machine is no reason to fail.
settings.register_profile("distinguo", deadline=None)
settings.load_profile("distinguo")
