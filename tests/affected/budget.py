"""A plugin of pytest: leaves out the slowest tests until the others fit into a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.affected.durations import SECONDS_OF_OTHERS, name_of, seconds_by_test

if TYPE_CHECKING:
    from collections.abc import Iterable

LEFT_OUT = pytest.StashKey[list[tuple[str, float]]]()
SHOWN = 10


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the budget."""
    group = parser.getgroup("affected")
    group.addoption(
        "--seconds-of-tests", type=float, help="Leave out the slowest tests above this sum."
    )
    group.addoption(
        "--never-left-out", action="append", default=[], help="A file whose tests all run."
    )


def slowest_above(seconds: dict[str, float], limit: float, kept: Iterable[str] = ()) -> list[str]:
    """Return the names to leave out, slowest first, so that the others take `limit` at most.

    Tests of the files `kept` stay, whatever they take.
    """
    total, out = sum(seconds.values()), []
    for name in sorted(seconds, key=lambda one: (-seconds[one], one)):
        if total <= limit:
            break
        if name.partition("::")[0] not in set(kept):
            out.append(name)
            total -= seconds[name]
    return out


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the slowest tests; every process leaves out the same."""
    recorded = seconds_by_test()
    seconds = {
        name: recorded.get(name, SECONDS_OF_OTHERS)
        for name in (name_of(item.nodeid) for item in items)
    }
    limit = config.getoption("--seconds-of-tests")
    out = slowest_above(seconds, limit, config.getoption("--never-left-out"))
    config.hook.pytest_deselected(items=[one for one in items if name_of(one.nodeid) in out])
    items[:] = [one for one in items if name_of(one.nodeid) not in out]
    left_out = [(name, seconds[name]) for name in out]
    if hasattr(config, "workeroutput"):
        config.workeroutput["left_out"] = left_out
    config.stash[LEFT_OUT] = left_out


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node) -> None:
    """Take what a process of pytest-xdist has left out."""
    left_out = getattr(node, "workeroutput", {}).get("left_out")
    if left_out is not None:
        node.config.stash[LEFT_OUT] = left_out


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say how many tests were left out, and which are the slowest of them."""
    left_out = config.stash.get(LEFT_OUT, [])
    if left_out:
        total = sum(seconds for _, seconds in left_out)
        terminalreporter.section("left out")
        terminalreporter.write_line(
            f"{len(left_out)} tests that this change can break were left out, for they take "
            f"{total:.0f} s; `make test` runs them all. The slowest:"
        )
        for name, seconds in left_out[:SHOWN]:
            terminalreporter.write_line(f"{seconds:7.1f} s  {name}")
