"""Run every benchmark of this folder, one after another, and print what each measured.

``python bench/run.py [NAME...]`` runs ``bench_NAME.py`` for each name, or all of them. Each prints
its own figures, ratios measured within one run, and exits with 1 if a stated goal was missed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main(names: list[str]) -> int:
    """Return 0 if every benchmark met its goals, else 1."""
    known = {path.stem.removeprefix("bench_"): path for path in sorted(HERE.glob("bench_*.py"))}
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no benchmark named {', '.join(unknown)}; there are: {', '.join(known)}")
        return 2
    print(f"python {sys.version.split()[0]}, {os.cpu_count()} processors\n", flush=True)
    missed = []
    for name in names or known:
        print(f"== {name}", flush=True)
        finished = subprocess.run([sys.executable, str(known[name])], check=False)
        if finished.returncode:
            missed.append(name)
        print(flush=True)
    print(f"goals missed: {', '.join(missed)}" if missed else "every stated goal was met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
