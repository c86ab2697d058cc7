"""What every test shares: Hypothesis profiles, the corpus of real logs, skips that do not hide."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

IN_CI = bool(os.environ.get("CI"))

# A profile never has a deadline: a slow machine is no finding. CI draws the same examples at each
# run, so that a red build is red again; the search for new ones is left to dev and nightly.
settings.register_profile("dev", deadline=None, max_examples=50)
settings.register_profile("ci", deadline=None, max_examples=200, derandomize=True, print_blob=True)
settings.register_profile(
    "nightly",
    deadline=None,
    max_examples=10_000,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ci" if IN_CI else "dev")


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The directory of real metadata logs that KRAFLA_CORPUS names."""
    folder = os.environ.get("KRAFLA_CORPUS")
    if not folder:
        pytest.skip("KRAFLA_CORPUS does not name a directory of real logs")
    path = Path(folder)
    assert path.is_dir(), f"KRAFLA_CORPUS is not a directory: {folder}"
    return path


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Under CI a skipped test has failed: what did not run has shown nothing."""
    report = yield
    return _unskipped(report, item.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Under CI a skipped module has failed, too."""
    report = yield
    return _unskipped(report, collector.nodeid)


def _unskipped(report, name):
    if IN_CI and report.outcome == "skipped" and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{name} was skipped, and CI is set: {reason}"
    return report
