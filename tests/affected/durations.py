"""How long each test takes, as recorded: `make test PYTEST_ARGS="-p tests.affected.durations"`.

As a plugin of pytest this module records, in the process that collects the reports.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

RECORD = Path(__file__).with_name("durations.json")
# Shorter tests are not listed: so many of them take as long as one of the others.
SECONDS_LEAST = 0.5
SECONDS_OF_OTHERS = 0.02
GROUP = re.compile(r"@[\w.-]+$")


def seconds_by_test() -> dict[str, float]:
    """Return the recorded seconds of each longer test by its name, without its group."""
    found: dict[str, float] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


def name_of(item_id: str) -> str:
    """Return the name of a test without the group that pytest-xdist appends."""
    return GROUP.sub("", item_id)


class Recorder:
    """Adds up set-up, call and teardown of each test, and writes them at the end."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take note of one phase of one test."""
        self.seconds[name_of(report.nodeid)] += report.duration

    def pytest_sessionfinish(self) -> None:
        """Write what is known: a file of which tests ran is replaced."""
        ran = {name.partition("::")[0] for name in self.seconds}
        before = {} if not RECORD.exists() else seconds_by_test()
        kept = {name: one for name, one in before.items() if name.partition("::")[0] not in ran}
        kept |= {name: round(one, 1) for name, one in self.seconds.items() if one >= SECONDS_LEAST}
        RECORD.write_text(f"{json.dumps(dict(sorted(kept.items())), indent=0)}\n")


def pytest_configure(config: pytest.Config) -> None:
    """Record where the reports come together: not in a process that only runs tests."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder())
