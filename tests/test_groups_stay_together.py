"""What a module prepares once is prepared by one process; pytest-xdist may lose that in silence."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PLANTED = """
import pathlib
import pytest

@pytest.fixture(scope="module")
def prepared():
    with pathlib.Path("prepared").open("a") as file:
        file.write("once ")

@pytest.mark.parametrize("number", range(12))
def test_it(prepared, number):
    pass

@pytest.mark.parametrize("number", range(12))
def test_other(number):
    pass
"""


@pytest.mark.nightly
def test_two_processes_prepare_what_a_module_shares_once(tmp_path):
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_planted.py").write_text(PLANTED)

    finished = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadgroup", tmp_path],
        cwd=tmp_path,
        env={k: v for k, v in os.environ.items() if not k.startswith("PYTEST_XDIST")},
        capture_output=True,
        text=True,
        check=False,
    )

    assert finished.returncode == 0, finished.stdout
    assert "2 workers" in finished.stdout
    assert (tmp_path / "prepared").read_text().split() == ["once"]
