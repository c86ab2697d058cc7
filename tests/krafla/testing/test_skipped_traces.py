"""A test of traces that were all skipped, or that has none, does not end with 0."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest
from tests.forked import PYTEST, forked
from tests.krafla.testing.conftest import SPECS

if TYPE_CHECKING:
    from pathlib import Path

TESTS = """
import functools

import pytest

from krafla.testing import Refused, counterexamples, drive, random_walks, spec_trace


class Moody:
    spec = "Lock.tla"

    def __init__(self):
        self.holder, self.queue = "Nobody", []

    def acquire(self, client):
        if client == self.holder or client in self.queue:
            raise Refused
        if self.holder == "Nobody":
            self.holder = client
        else:
            self.queue.append(client)

    def release(self, client):
        if client != self.holder:
            raise Refused
        self.holder = self.queue.pop(0) if self.queue else "Nobody"

    def observe(self):
        return {"holder": self.holder, "queue": self.queue}


WALKS = random_walks(2, 4, seed=1)
HELD = counterexamples(invariants=["HolderInv"])


@pytest.mark.parametrize("times", [1, 2])
@spec_trace(Moody, HELD)
def test_all(trace, times):
    drive(Moody, trace)


@spec_trace(Moody, HELD, WALKS)
def test_some(trace):
    drive(Moody, trace)


class TestSkips:
    @spec_trace(Moody, WALKS)
    def test_by_itself(self, trace):
        pytest.skip("as its author wants")


@spec_trace(Moody)
def test_none(trace):
    drive(Moody, trace)


@spec_trace(Moody, WALKS)
def test_forgetful(trace):
    assert Moody().holder == "Nobody"


class TestForgets:
    @spec_trace(Moody, WALKS)
    def test_forgetful_too(self, *, trace):
        pass


@spec_trace(Moody, WALKS)
def test_mindful(trace):
    def later():
        return len(trace.steps)

    assert later() == 5


def passing(test):
    @functools.wraps(test)
    def around(*given, **named):
        test(*given, **named)

    return around


@spec_trace(Moody, WALKS)
@passing
def test_mindful_too(trace):
    drive(Moody, trace)


def test_mindful_three(trace, times=[]):
    held, times = trace, times
    drive(Moody, held)


test_mindful_three = spec_trace(Moody, WALKS)(test_mindful_three)
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("skipped")
    for name in ("Lock.tla", "Lock.cfg"):
        shutil.copyfile(SPECS / name, folder / name)
    (folder / "test_skipped.py").write_text(TESTS)
    return folder


@pytest.mark.parametrize("spread", [(), ("-n", "2")])
def test_a_test_that_was_skipped_for_each_of_its_traces_is_no_success(
    project: Path, spread: tuple[str, ...]
) -> None:
    ended = forked(PYTEST).run(project, "-k", "all or some", "-p", "no:randomly", *spread)
    assert "2 passed, 3 skipped" in ended.stdout
    assert ended.returncode == 1
    _, _, told = ended.stdout.partition("= traces that were all skipped =")
    assert told.strip("= \n").splitlines()[0] == (
        "test_skipped.py::test_all: all of its 2 traces were skipped, which is no success; "
        "the first: HolderInv holds in all 16 states of Lock"
    )


@pytest.mark.parametrize("chosen", ["some", "by_itself", "all and 2"])
def test_a_test_of_which_a_trace_was_driven_or_deselected_ends_with_0(
    project: Path, chosen: str
) -> None:
    ended = forked(PYTEST).run(project, "-k", chosen)
    assert (ended.returncode, "all skipped" in ended.stdout) == (0, False), ended.stdout


def test_a_test_without_a_source_of_traces_fails_with_a_sentence(project: Path) -> None:
    ended = forked(PYTEST).run(project, "-k", "none")
    assert ended.returncode == 1
    assert "a test of @spec_trace has no trace: name a source of traces, such as" in ended.stdout
    assert "trace_tests.py" not in ended.stdout


def test_a_test_that_does_nothing_with_its_trace_fails_with_a_sentence(project: Path) -> None:
    ended = forked(PYTEST).run(project, "-k", "forgetful or mindful")
    assert re.search(r"[2-9] failed, [2-9] passed", ended.stdout), ended.stdout
    for name in ("test_forgetful", "test_forgetful_too"):
        said = (
            f"{name} does nothing with its trace, so it tests nothing: call drive(Machine, trace)"
        )
        assert said in ended.stdout
    assert "mindful" not in ended.stdout.partition("short test summary")[2]
