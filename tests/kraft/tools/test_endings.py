"""How the command ends where it has not begun yet, and where nobody reads it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

KRAFT = [sys.executable, "-m", "kraft"]
# A module in the place of the first slow import.
INTERRUPTED = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(20)\n"


def test_an_interrupt_while_the_command_is_imported_leaves_no_trace(tmp_path):
    (tmp_path / "typer.py").write_text(INTERRUPTED)
    path = f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    done = subprocess.run(
        [*KRAFT, "quorum", "--help"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")


@pytest.mark.parametrize("words", [["--help"], ["quorum", "describe", "--help"]])
def test_a_help_that_nobody_reads_has_the_status_of_a_closed_pipe(words):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [*KRAFT, *words], stdout=writing, stderr=subprocess.PIPE, timeout=60, check=False
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")
