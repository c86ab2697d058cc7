"""`krafla audit` as a process of its own: it ends, even where the JVM had nothing to do."""

from __future__ import annotations

import subprocess
import sys

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
