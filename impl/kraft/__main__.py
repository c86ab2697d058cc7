"""The command ``kraft``, also as ``python -m kraft``."""

import signal


def main() -> None:
    """Run the command line and exit with its status.

    What it imports takes a moment; an interrupt in it ends the process without a trace.
    """
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from kraft.tools import main as run

    signal.signal(signal.SIGINT, handler)
    run()


if __name__ == "__main__":
    main()
