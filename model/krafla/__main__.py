"""The command ``krafla``, also as ``python -m krafla``."""

import os
import sys


def main() -> None:
    """Run the command line and end the process with its status.

    What it imports takes a moment; an interrupt in it ends the process as one later does.
    """
    try:
        from krafla.cli import main as run

        run()
    except KeyboardInterrupt:
        # Before the command line listens to signals. Nothing was begun that must be cleaned up.
        os.write(2, b"krafla: interrupted\n")
        os._exit(130)


if __name__ == "__main__":
    sys.argv[0] = "krafla"
    main()
