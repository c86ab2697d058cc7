"""`python -m tests.affected [--base REF] [--list]`: run the tests that a change can break.

Prints what has changed, which files of tests reach it, and by which way. Tests that would take the
run over its time are left out, the slowest first; the end says how many.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.affected.changes import ChangesError, branch_point, changed_files
from tests.affected.choice import Choice, Chooser
from tests.affected.import_graph import ImportGraph

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 90
# What a run takes besides its tests: its processes start and collect.
SECONDS_OF_START = 20
SHOWN = 25


def main(arguments: list[str]) -> int:
    """Return pytest's exit status; 0 if no test reaches what has changed."""
    options = parsed(arguments)
    began = time.monotonic()
    try:
        base = options.base or branch_point(ROOT)
        changed = options.files or changed_files(ROOT, base)
    except ChangesError as error:
        sys.stderr.write(f"test-fast: {error}\n")
        return 2
    choice = Chooser(ImportGraph.of(ROOT)).choose(changed)
    most = len(choice.tests) if options.list else SHOWN
    sys.stdout.writelines(f"{line}\n" for line in told(changed, base, choice, most))
    sys.stdout.flush()
    if options.list or not choice.tests:
        return 0
    left = options.seconds - SECONDS_OF_START - (time.monotonic() - began)
    return run(choice, changed, left * (os.cpu_count() or 1), options.pytest)


def parsed(arguments: list[str]) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="python -m tests.affected", description=__doc__)
    parser.add_argument("--base", metavar="REF", help="compare with this commit, not with main")
    parser.add_argument("--files", nargs="+", metavar="FILE", help="as if these had changed")
    parser.add_argument("--list", action="store_true", help="print every choice and stop")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="time of the whole run")
    parser.add_argument("pytest", nargs="*", help="after --: arguments of pytest")
    return parser.parse_args(arguments)


def told(changed: list[str], base: str, choice: Choice, most: int) -> Iterator[str]:
    """Yield what has changed, what was chosen, and why: the nearest first."""
    yield f"{len(changed)} files differ from {base[:12]}"
    for path in choice.unreached:
        yield f"  no test reaches {path}"
    yield f"{len(choice.tests)} files of tests reach the others"
    nearest = sorted(choice.tests.items(), key=lambda pair: (pair[1].count(" > "), pair[0]))
    for test, way in nearest[:most]:
        yield f"  {test}: {way}"
    if len(nearest) > most:
        yield f"  and {len(nearest) - most} more (--list shows them)"


def run(choice: Choice, changed: list[str], seconds: float, more: list[str]) -> int:
    """Run the chosen tests with the Makefile's options; return pytest's exit status."""
    kept = [f"--never-left-out={path}" for path in changed if path in choice.tests]
    command = [
        sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist", "loadgroup",
        "--max-worker-restart", "0", "-p", "tests.affected.budget",
        f"--seconds-of-tests={seconds:.0f}", *kept, *more, *choice.tests,
    ]  # fmt: skip
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
