"""``python -m distinguo``, and the command ``distinguo``."""

STOPPED = (130, 143)  #: exit codes of a command that was stopped


def main() -> None:
    """Run the command line; from the first moment, a signal ends it with a sentence."""
    import atexit

    from distinguo.interrupts import end_at_once_by_signals, ignore_signals, leave

    end_at_once_by_signals()
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
