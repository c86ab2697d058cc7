"""``python -m krafla``: the command ``krafla``, of the Python that runs this."""

import sys

from krafla.cli import main

if __name__ == "__main__":
    sys.argv[0] = "krafla"
    main()
