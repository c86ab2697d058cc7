"""`make check`: format, lint, types, import contracts and house rules, side by side.

Prints what each part says as it ends, its time, and at last which parts failed. Exit status: 0 if
all passed, else 1.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
# The longest first: it decides how long the others may take beside it.
PARTS = {
    "types": [BIN / "mypy"],
    "house rules": [
        sys.executable, "-m", "pytest", "-q", "tests/test_tidy.py", "tests/test_import_contracts.py"
    ],
    "imports": [BIN / "lint-imports"],
    "lint": [BIN / "ruff", "check", "."],
    "format": [BIN / "ruff", "format", "--check", "."],
}  # fmt: skip


def main() -> int:
    """Run all parts; return the exit status."""
    began = time.monotonic()
    failed = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        running = {pool.submit(run, words): name for name, words in PARTS.items()}
        for done in as_completed(running):
            name, (ended, seconds) = running[done], done.result()
            if ended.returncode:
                failed.append(name)
            print(f"== {name}: {'failed' if ended.returncode else 'passed'} in {seconds:.1f} s")
            print(ended.stdout, end="", flush=True)
    print(f"failed: {', '.join(sorted(failed))}" if failed else "every part passed", end="")
    print(f"; {time.monotonic() - began:.0f} s")
    return 1 if failed else 0


def run(words: list[object]) -> tuple[subprocess.CompletedProcess[str], float]:
    """Run one part; return how it ended, and its seconds."""
    began = time.monotonic()
    ended = subprocess.run(
        [*map(str, words)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    return ended, time.monotonic() - began


if __name__ == "__main__":
    sys.exit(main())
