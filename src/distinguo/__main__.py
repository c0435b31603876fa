"""``python -m distinguo``, and the command ``distinguo``."""

import contextlib
import os
import sys

STOPPED = (130, 143)  #: exit codes of a command that was stopped


def main() -> None:
    """Run the command line; from the first moment, a signal ends it with a sentence."""
    from distinguo.interrupts import end_at_once_by_signals, leave

    end_at_once_by_signals()
    from distinguo.cli import main as run

    try:
        run()
    except SystemExit as end:
        if end.code in STOPPED:  # other threads may be in compiled code
            leave(int(end.code))
        raise


def _leave_out_current_folder() -> None:
    """Import nothing from the current folder, which ``python -m`` puts first; the command does not have it either."""
    here, ours = "", os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with contextlib.suppress(OSError):  # a folder that was deleted
        here = os.getcwd()
    if not sys.flags.safe_path and sys.path and sys.path[0] in ("", here) and here != ours:
        del sys.path[0]


if __name__ == "__main__":
    _leave_out_current_folder()
    main()
