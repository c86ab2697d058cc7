"""``python -m kraft``: the command ``kraft``, of the Python that runs this."""

import sys

from kraft.tools import main

if __name__ == "__main__":
    sys.argv[0] = "kraft"
    main()
