"""`krafla audit` as a process of its own: it ends, even where the JVM had nothing to do."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

SECONDS_MAX = 120.0  # far more than it takes; a process that waits for Java never ends


@pytest.mark.parametrize(("make", "status"), [(False, 2), (True, 2)])
def test_an_audit_with_nothing_to_judge_ends(tmp_path, make, status):
    path = tmp_path / "nothing"
    if make:
        path.mkdir()
    finished = subprocess.run(
        [sys.executable, "-c", "from krafla.cli import main; main()", "audit", str(path)],
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert finished.returncode == status, finished.stdout + finished.stderr
    assert str(path) in finished.stdout
    assert "Traceback" not in finished.stderr


@pytest.mark.parametrize("after", [0.35, 0.45, 0.6, 1.0])
def test_an_interrupt_ends_it_also_while_java_starts(corpus, after):
    process = subprocess.Popen(
        [sys.executable, "-c", "from krafla.cli import main; main()", "audit", str(corpus)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        # A shell may have had this process ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=SECONDS_MAX)
    # On a slow machine Python itself has not come to our program yet.
    assert process.returncode in {130, -signal.SIGINT}, said
    assert "FATAL" not in said
