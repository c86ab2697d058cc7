"""Run every benchmark of this folder, one after another: `python bench/run.py [NAME...]`.

Runs `bench_NAME.py` for each name, or all of them, as processes. A benchmark that fails is a row
that says so; the others go on. At the end a table in Markdown: the machine, each figure, its goal,
and with `--against FILE` (the JSON of an earlier run) what has changed by more than noise.

Exit status: 0 if every goal was met; 1 if one was missed; else 2 if a benchmark failed; 130 after
Ctrl-C, with the table so far.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import results
from figures import FILE_VARIABLE, Figure
from machine import facts
from results import Result, Results, ResultsError

from krafla.child_processes import ChildGroup
from krafla.files import check_writable
from krafla.scratch import scratch_folder
from krafla.verdict import KraflaError

HERE = Path(__file__).parent
# No benchmark takes half of that.
LIMIT_SECONDS = 600
KEPT_LINES = 3


def main(arguments: list[str]) -> int:
    """Run, print and write what was asked for; return the exit status."""
    options = parsed(arguments)
    known = {path.stem.removeprefix("bench_"): path for path in sorted(HERE.glob("bench_*.py"))}
    unknown = [name for name in options.names if name not in known]
    if unknown:
        print(f"no benchmark named {', '.join(unknown)}; there are: {', '.join(known)}")
        return 2
    try:
        before = None if options.against is None else results.read(options.against)
        for path in (options.markdown, options.json):
            check_writable(path)
    except (ResultsError, KraflaError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    chosen = {name: known[name] for name in options.names or known}
    found, is_whole = run_all(chosen, before.seconds() if before else {}, options.limit)
    now = Results(facts(), found)
    page = "".join(f"{line}\n" for line in results.page(now, before))
    print(page)
    if not is_whole:
        print("bench: interrupted, no file is written")
        return 130
    if options.markdown is not None:
        options.markdown.write_text(page, encoding="utf-8")
    if options.json is not None:
        options.json.write_text(json.dumps(now.document(), indent=1) + "\n", encoding="utf-8")
    return now.exit_status


def parsed(arguments: list[str]) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="bench/run.py", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks; all by default")
    parser.add_argument("--against", type=Path, metavar="FILE", help="the JSON of an earlier run")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table there")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    parser.add_argument("--limit", type=float, default=LIMIT_SECONDS, help="seconds for each")
    return parser.parse_args(arguments)


def run_all(
    chosen: dict[str, Path], known: dict[str, float], limit: float
) -> tuple[list[Result], bool]:
    """Run the benchmarks; return what each measured, and whether all of them were run."""
    found: list[Result] = []
    began = time.monotonic()
    try:
        for number, (name, path) in enumerate(chosen.items(), start=1):
            left = sum(known.get(one, 0.0) for one in [*chosen][number - 1 :])
            said = f", about {left / 60:.1f} min left" if left else ""
            passed = (time.monotonic() - began) / 60
            print(f"== [{number}/{len(chosen)}] {name}: after {passed:.1f} min{said}", flush=True)
            found.append(run_one(name, path, limit))
            print(flush=True)
    except KeyboardInterrupt:
        return found, False
    return found, True


def run_one(name: str, path: Path, limit: float) -> Result:
    """Run a benchmark as a process of its own, with all that it starts; show what it says."""
    started = time.monotonic()
    with scratch_folder("bench") as scratch, ChildGroup() as group:
        kept = scratch / "figures"
        process = subprocess.Popen(
            [sys.executable, str(path)],
            env={**os.environ, FILE_VARIABLE: str(kept), "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            process_group=group.id,
        )
        is_late = threading.Event()
        late = threading.Timer(limit, lambda: (is_late.set(), group.end()))
        late.start()
        lines: list[str] = []
        try:
            for line in process.stdout:
                print(line, end="", flush=True)
                lines = [*lines, line.strip()][-KEPT_LINES:]
            status = process.wait()
        finally:
            late.cancel()
        texts = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    figures = [Figure(**json.loads(text)) for text in texts]
    seconds = time.monotonic() - started
    if is_late.is_set():
        failure = f"stopped after {limit:g} s"
    elif (
        status not in (0, 1) or not figures or (status == 1 and all(one.is_met for one in figures))
    ):
        failure = f"exit status {status}: {' / '.join(lines) or 'it said nothing'}"
    else:
        failure = ""
    return Result(name, round(seconds, 1), figures, failure)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
