"""A campaign of 20,000 seeds whose processes are killed gives what an undisturbed one gives."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from tests.krafla.pipeline.executors import python_workers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.nightly, pytest.mark.xdist_group("spark")]

SEEDS = 20_000
COMMAND = (
    sys.executable, "-c", "from krafla.cli import main; main()", "campaign", "lease", "--json",
    "--seeds", f"0..{SEEDS - 1}", "--steps", "20", "--master", "local[2]",
)  # fmt: skip
# How many workers die before the driver does, and in the run that comes to the end.
BEFORE_DRIVER, AT_LAST = 3, 4
BETWEEN_SECONDS = 4.0
PATIENCE_SECONDS = 1_800.0


@contextmanager
def running(out: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run the command of the campaign; it is killed in the end if it still runs."""
    with out.with_suffix(".json").open("wb") as said, out.with_suffix(".txt").open("wb") as shown:
        driver = subprocess.Popen([*COMMAND, str(out)], stdout=said, stderr=shown)
        try:
            yield driver
        finally:
            driver.kill()
            driver.wait()


def result(out: Path) -> dict[str, object]:
    """Return what the command said, without what names its folder."""
    said = json.loads(out.with_suffix(".json").read_text())
    return {name: said[name] for name in ("verdict", "digest", "counts", "actions", "witnesses")}


def kill_workers(driver: subprocess.Popen[bytes], count: int) -> None:
    """Kill so many of a driver's Python workers, one after another."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    killed = 0
    while killed < count:
        assert driver.poll() is None, f"the campaign ended after {killed} kills"
        assert time.monotonic() < deadline
        time.sleep(BETWEEN_SECONDS)
        workers = python_workers(driver.pid)
        # Before the waves there is one task, and Spark gives up a task that died four times.
        if len(workers) > 1:
            os.kill(workers[killed % len(workers)], signal.SIGKILL)
            killed += 1


def ended_well(out: Path, driver: subprocess.Popen[bytes]) -> bool:
    """Wait for the end, and return whether nothing was found; say what the command said if not."""
    status = driver.wait(PATIENCE_SECONDS)
    assert status == 0, out.with_suffix(".txt").read_text()[-2_000:]
    return True


def waves(out: Path) -> int:
    """Return how many loads are committed."""
    return len([*out.glob("commits/*/_SUCCESS")])


def test_ten_dead_workers_and_two_dead_drivers_change_nothing(tmp_path):
    calm, disturbed = tmp_path / "calm", tmp_path / "disturbed"
    with running(calm) as driver:
        assert ended_well(calm, driver)
    for _ in range(2):
        before = waves(disturbed)
        with running(disturbed) as driver:
            kill_workers(driver, BEFORE_DRIVER)
            while waves(disturbed) == before:
                assert driver.poll() is None, "the campaign ended before its driver was killed"
                time.sleep(BETWEEN_SECONDS)
    with running(disturbed) as driver:
        kill_workers(driver, AT_LAST)
        assert ended_well(disturbed, driver)
    assert result(disturbed) == result(calm)
    assert result(calm)["counts"]["seeds"] == SEEDS
