"""Programs that a test runs as processes, but whose imports are made once.

A copy of a process that has imported everything runs the program: with its own folder, environment,
output and exit status, and nothing left for the next run. Starting Python and importing takes ten
times as long as what such a test asks.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# What a program prints while it is imported is no answer.
ANSWERS = """
import os
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
"""
# A program defines `run`, which takes arguments and returns a status.
PYTEST = """
import os, sys, tempfile
import pytest

def run(arguments):
    return pytest.main(arguments)

# What pytest and its plugins import when they begin, they have imported then.
with tempfile.TemporaryDirectory(prefix="krafla-empty-") as empty:
    os.chdir(empty)
    run(["-q", "-p", "no:cacheprovider"])
    os.chdir("/")
"""
LINTER = """
import sys
from importlinter.cli import lint_imports

def run(places):
    sys.path[:0] = places
    return lint_imports(no_cache=True)
"""
# Then each line of the input is a run, and each line of the output what came of it.
SERVER = """
import atexit, json, os, sys, tempfile, traceback

def play(order):
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    try:
        return run(order["arguments"])
    except SystemExit as ended:
        return ended.code or 0
    except BaseException:
        traceback.print_exc()
        return 70

for line in sys.stdin:
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        child = os.fork()
        if not child:
            os.dup2(output.fileno(), 1)
            os.dup2(errors.fileno(), 2)
            status = int(play(json.loads(line)))
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        output.seek(0)
        errors.seek(0)
        answers.write(json.dumps([status, output.read(), errors.read()]) + "\\n")
        answers.flush()
"""


class Forked:
    """A program whose runs are copies of one process, which ends with this one."""

    def __init__(self, program: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", ANSWERS + program + SERVER],
            env={**_environment(), "COLUMNS": "200"},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, bufsize=1,
        )  # fmt: skip
        atexit.register(self._process.communicate)

    def run(
        self, folder: Path, *arguments: object, environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Return how a run in a folder ended, and what it said."""
        words = [*map(str, arguments)]
        given: dict[str, Any] = {
            "folder": str(folder),
            "arguments": words,
            "environment": dict(_environment() if environment is None else environment),
        }
        self._process.stdin.write(json.dumps(given) + "\n")
        status, output, errors = json.loads(self._process.stdout.readline())
        return subprocess.CompletedProcess(words, status, output, errors)


@functools.cache
def forked(program: str) -> Forked:
    """Return the process of this test process for a program."""
    return Forked(program)


def _environment() -> dict[str, str]:
    """Return the environment without what pytest has set for this process."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
