"""`python -m tests.kips` prints the counts of sentences and tests; `--write`, docs/kips.md."""

from __future__ import annotations

import sys

from tests.kips.sentences import PAGE, counts, kips, page

if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(page())
    sys.stdout.write("\n\n".join(counts(kip) for kip in kips()) + "\n")
