"""What every test shares: Hypothesis profiles, the corpus of real logs, skips that do not hide."""

from __future__ import annotations

import gc
import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

IN_CI = bool(os.environ.get("CI"))
AT_NIGHT = bool(os.environ.get("KRAFLA_NIGHTLY"))

# These tests are about the specs beside them, whatever somebody works on besides.
os.environ.pop("KRAFLA_SPECS", None)
# Where GitHub runs them, no command that they try annotates that run.
os.environ.pop("GITHUB_ACTIONS", None)

# A shell lets what it runs in the background ignore Ctrl-C, and so would each command of a test.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A profile never has a deadline: a slow machine is no finding. CI draws the same examples at each
# run, so that a red build is red again; the search for new ones is left to dev and nightly.
settings.register_profile("dev", deadline=None, max_examples=50)
settings.register_profile("ci", deadline=None, max_examples=100, derandomize=True, print_blob=True)
settings.register_profile(
    "nightly",
    deadline=None,
    max_examples=int(os.environ.get("KRAFLA_NIGHTLY_EXAMPLES", "10000")),
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ci" if IN_CI else "dev")

# Most of what is there lives on: what was collected, and what tests have loaded. To look for
# garbage in it as often as Python does by itself is a tenth of the time of a run.
gc.set_threshold(50_000, 20, 50)


def pytest_collection_finish():
    """Take what was collected from what the garbage collector visits."""
    gc.freeze()


def pytest_unconfigure():
    # Only a test that looks at a page has started one.
    browser = sys.modules.get("tests.browser")
    if browser is not None:
        browser.close_browser()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Leave tests that take long to the night; keep those together that share a fixture.

    What a module prepares once is prepared once in each process that takes one of its tests.
    """
    if not AT_NIGHT:
        late = {item for item in items if item.get_closest_marker("nightly")}
        late |= _surplus([item for item in items if item not in late])
        config.hook.pytest_deselected(items=[item for item in items if item in late])
        items[:] = [item for item in items if item not in late]
    for item in items:
        if _shares(item) and not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(item.module.__name__))


def _surplus(items):
    """Return the cases of a test that are too many by day; those that stay are spread evenly.

    They are the same ones in whatever order the tests run: what is red is red again.
    """
    cases = {}
    for item in items:
        mark = item.get_closest_marker("by_day")
        if mark is not None:
            cases.setdefault((item.path, item.originalname, *mark.args), []).append(item)
    surplus = set()
    for (_, _, most, *_), every in cases.items():
        if len(every) > most:
            every.sort(key=lambda item: tuple(item.callspec.indices.values()))
            kept = {every[n * len(every) // most] for n in range(most)}
            surplus.update(item for item in every if item not in kept)
    return surplus


def _shares(item):
    if not isinstance(item, pytest.Function):
        return False
    definitions = item._fixtureinfo.name2fixturedefs.values()
    return any(found[-1].scope == "module" for found in definitions)


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
