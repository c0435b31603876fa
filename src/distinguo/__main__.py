"""``python -m distinguo``, and the command ``distinguo``."""

from distinguo.endings import begin_command, leave

STOPPED = (130, 143)  #: exit codes of a command that was stopped


def main() -> None:
    """Run the command line; from the first moment, a signal ends it with a sentence."""
    begin_command()  # before anything that takes time is imported
    import atexit

    from distinguo.interrupts import ignore_signals

    atexit.register(ignore_signals)  # the first to be registered is the last to be called
    from distinguo.cli import main as run

    try:
        run()
    except SystemExit as end:
        if end.code in STOPPED:  # other threads may be in compiled code
            leave(int(end.code))
        raise


if __name__ == "__main__":
    main()
