"""The pytest plugin in a project of somebody else: pytest as its own program, run once."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.forked import PYTEST, forked

from krafla.testing import ModelValue, Spec
from krafla.testing.found_files import LIST_NAME
from krafla.traces import (
    Claim,
    ClaimKind,
    Observation,
    Origin,
    PartialTrace,
    SpecText,
    Step,
    Trace,
    write_trace,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Mapping

HERE = Path(__file__).parent
C1, C2 = ModelValue("c1"), ModelValue("c2")
PROJECT = """
[project]
specs = "specs"

[[machine]]
name = "wrong"
class = "wrong_lock:WrongDriver"

[[machine]]
name = "right"
class = "lock_server:LockDriver"

[[machine]]
name = "blind"
class = "wrong_lock:Blind"

[[machine]]
name = "wrong, and blind"
class = "wrong_lock:WrongAndBlind"

[[machine]]
name = "shy"
class = "wrong_lock:Shy"
"""
WRONG = """
from lock_server import MISTAKES, LockDriver, LockServer, driver_of

from krafla.testing import Refused, Taken, action, member_of

WrongDriver = driver_of(list(MISTAKES)[2])


class Blind(LockDriver):
    hidden = ("Acquire",)

    def acquire(self, client):
        self.lock.acquire(client)
        return Taken.nothing

    def observe(self):
        return {"holder": self.lock.holder}


class KeepsIt(LockServer):
    def release(self, client):
        pass


class WrongAndBlind(Blind):
    server = KeepsIt


class Shy(LockDriver):
    @action("Acquire", client=member_of("Client"), may_refuse=True)
    def acquire(self, client):
        return Refused if client == "c1" else self.lock.acquire(client)
"""
TESTS = """
import pytest
from lock_server import LockDriver
from wrong_lock import WrongDriver

from krafla.testing import counterexamples, drive, random_walks, shortest_paths, spec_trace


@spec_trace(LockDriver, random_walks(2, 9), shortest_paths("actions"), shortest_paths("conjuncts"))
def test_right(trace):
    assert drive(LockDriver, trace).steps


HELD = counterexamples(invariants=["HolderInv"])


@spec_trace("specs/Lock.tla", shortest_paths("conjuncts"), HELD)
@pytest.mark.parametrize("times", [1])
def test_wrong(trace, times, tmp_path):
    assert tmp_path.is_dir()
    drive(WrongDriver, trace)


@spec_trace("specs/NoLock.tla", shortest_paths("actions"))
def test_missing(trace):
    raise AssertionError("there is no such spec")


class TestInAClass:
    @spec_trace(LockDriver, random_walks(1, 3))
    def test_method(self, trace):
        assert len(trace) == 4


def test_fixtures(krafla_spec, krafla_validate):
    spec = krafla_spec("specs/Lock.tla")
    assert krafla_spec("specs/Lock.tla") is spec
    assert len(krafla_spec("specs/Lock.tla", {"Client": {1}, "Nobody": 0}).initial_states()) == 1
    krafla_validate("traces/whole.trace.ndjson")
    krafla_validate("traces/whole.trace.ndjson", spec="specs/Lock.tla")


def test_validate_tells(krafla_validate):
    krafla_validate("traces/bad.trace.ndjson")
"""


@dataclass(frozen=True)
class Run:
    """What pytest said of the project: the outcome of each test by its id, and the whole output."""

    outcomes: Mapping[str, str]
    output: str
    folder: Path

    def story(self, test: str) -> str:
        """Return the part of the output about one failed test."""
        _, _, after = self.output.partition(f"_ {test} _")
        return after.partition("\n____")[0]


def lock_trace(*steps: tuple[str, ModelValue]) -> Trace:
    """Return the trace of the lock with these steps; a last one that is not allowed stays."""
    spec = Spec.load(HERE / "specs" / "Lock.tla")
    state = spec.initial_states()[0]
    found = [Step("Init", (), state.as_function())]
    for name, client in steps:
        state = next(iter(spec.outcomes(state, name, client)), state)
        found.append(Step(name, (client,), state.as_function()))
    return Trace("Lock", tuple(found), spec.constants_of("Lock"))


def write_traces(folder: Path) -> None:
    whole = lock_trace(("Acquire", C1), ("Acquire", C2), ("Release", C1))
    denied = lock_trace(("Acquire", C1), ("Release", C2))
    claim = Claim(ClaimKind.DIVERGENCE, "Release")
    seen = ((("holder",), C2),)
    partial = PartialTrace(
        "Lock", (Observation("Init"), Observation("Release", None, seen)), whole.constants, None
    )
    kept = ((("holder",), C1),)
    hidden = PartialTrace(
        "Lock", (Observation("Init"), Observation("Release", (C1,), kept)), whole.constants,
        ("Acquire",),
    )  # fmt: skip
    both = ((("queue",), (C1, C2)),)
    unknown = (Observation("Init"), Observation("Release", None, both))
    unoffered = (Observation("Init"), Observation("Acquire", ("x",)))
    # What ``krafla check Lock --invariant`` writes, when the lock was another one.
    old = (HERE / "specs" / "Lock.tla").read_text().replace("holder' = c ", "holder' = Nobody ")
    trial = "---- MODULE KraflaTrial ----\nEXTENDS Lock\nTriedInv == holder = Nobody\n====\n"
    config = (HERE / "specs" / "Lock.cfg").read_text() + "INVARIANT TriedInv\n"
    text = SpecText("KraflaTrial", (("KraflaTrial", trial), ("Lock", old)), config)
    tried = replace(
        lock_trace(("Acquire", C1)), machine="right", text=text,
        origin=Origin("tlc", digest=text.digest), claim=Claim(ClaimKind.INVARIANT, "TriedInv"),
    )  # fmt: skip
    traces: dict[str, Trace | PartialTrace] = {
        "tried": tried,
        "untried": tried.with_steps(
            (*tried.steps, *lock_trace(("Acquire", C1), ("Release", C1)).steps[2:])
        ),
        "whole": replace(whole, machine="right"),
        "alone": whole,
        "departed": replace(whole, machine="shy"),
        "kept": replace(denied, claim=claim, machine="right"),
        "again": replace(denied, claim=claim, machine="wrong"),
        "either": replace(denied, claim=claim),
        "gone": replace(whole, claim=claim),
        "bad": denied,
        "partial": replace(partial, machine="right"),
        "hidden": replace(hidden, machine="blind"),
        "hidden-again": replace(hidden, machine="wrong, and blind"),
        "hidden-alone": hidden,
        "unoffered": replace(hidden, observations=unoffered, machine="right"),
        "refusal": replace(whole, claim=Claim(ClaimKind.FAILURE, "Release"), machine="right"),
        "hidden-unknown": replace(hidden, observations=unknown, machine="blind"),
        "still": whole.with_steps(whole.steps[:1]),
        "lost": replace(whole, machine="nobody"),
        "foreign": replace(whole, spec="Mutex"),
    }
    folder.mkdir()
    for name, trace in traces.items():
        write_trace(trace, folder / f"{name}.trace.ndjson")
    (folder / "broken.trace.ndjson").write_text("{}\n")
    # Whoever saves failures into a folder that pytest visits has no test more.
    saved = folder.with_name("saved")
    saved.mkdir()
    for name in ("found", "kept"):
        write_trace(replace(denied, claim=claim, machine="wrong"), saved / f"{name}.trace.ndjson")
    (saved / LIST_NAME).write_text("found.trace.ndjson\n")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(HERE / "specs", folder / "specs")
    shutil.copyfile(HERE / "lock_server.py", folder / "lock_server.py")
    (folder / "krafla.toml").write_text(PROJECT)
    (folder / "wrong_lock.py").write_text(WRONG)
    (folder / "test_lock.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    write_traces(folder / "traces")
    finished = forked(PYTEST).run(folder, "-v", "-p", "no:randomly", "-p", "no:xdist", "-rs")
    outcomes = {}
    for line in finished.stdout.splitlines():
        for word in ("PASSED", "FAILED", "SKIPPED", "ERROR"):
            name, found, _ = line.partition(f" {word}")
            if found and "::" in name:
                outcomes[name] = word
    assert outcomes, finished.stdout
    return Run(outcomes, finished.stdout, folder)


def outcomes_of(run: Run, prefix: str) -> dict[str, str]:
    return {
        name.removeprefix(prefix).strip("[]"): outcome
        for name, outcome in run.outcomes.items()
        if name.startswith(prefix)
    }


def test_each_trace_of_a_source_is_a_test(run: Run) -> None:
    assert outcomes_of(run, "test_lock.py::test_right") == dict.fromkeys(
        ("walk 1", "walk 2", "Acquire", "Release", "Acquire: holder # c",
         "Acquire: c notin Waiting", "Release: holder = c"), "PASSED",
    )  # fmt: skip


def test_a_mistake_fails_where_its_conjunct_is_tried_and_a_holding_predicate_is_skipped(
    run: Run,
) -> None:
    assert outcomes_of(run, "test_lock.py::test_wrong") == {
        "Acquire: holder # c-1": "PASSED",
        "Acquire: c notin Waiting-1": "PASSED",
        "Release: holder = c-1": "FAILED",
        "HolderInv-1": "SKIPPED",
    }
    assert "HolderInv holds in all 16 states of Lock" in run.output
    story = run.story("test_wrong[Release: holder = c-1]")
    assert "holder = c\n" in story
    assert "krafla explain .krafla/found/FreesForAnyoneDriver-Release--holder---c.trace.nd" in story
    # Of the stack only the line of the test is told.
    assert "trace_drive.py" not in story
    kept = run.folder / ".krafla/found/FreesForAnyoneDriver-Release--holder---c.trace.ndjson"
    assert kept.is_file()


def test_a_source_without_its_spec_is_a_failed_test_of_one_sentence(run: Run) -> None:
    assert outcomes_of(run, "test_lock.py::test_missing") == {"traces": "FAILED"}
    story = run.story("test_missing[traces]")
    assert "NoLock" in story
    assert "trace_tests.py" not in story


def test_a_method_of_a_class_takes_traces_too(run: Run) -> None:
    assert outcomes_of(run, "test_lock.py::TestInAClass::test_method") == {"walk 1": "PASSED"}


def test_fixtures_load_specs_and_judge_traces(run: Run) -> None:
    assert run.outcomes["test_lock.py::test_fixtures"] == "PASSED"
    assert run.outcomes["test_lock.py::test_validate_tells"] == "FAILED"
    assert "holder = c" in run.story("test_validate_tells")


def test_each_trace_file_is_a_test(run: Run) -> None:
    assert outcomes_of(run, "traces/") == {
        "whole.trace.ndjson::trace": "PASSED",
        "alone.trace.ndjson::trace": "FAILED",
        "departed.trace.ndjson::trace": "FAILED",
        "kept.trace.ndjson::trace": "PASSED",
        "again.trace.ndjson::trace": "FAILED",
        "either.trace.ndjson::trace": "FAILED",
        "gone.trace.ndjson::trace": "FAILED",
        "bad.trace.ndjson::trace": "FAILED",
        "partial.trace.ndjson::trace": "PASSED",
        "tried.trace.ndjson::trace": "PASSED",
        "untried.trace.ndjson::trace": "FAILED",
        "hidden.trace.ndjson::trace": "PASSED",
        "hidden-again.trace.ndjson::trace": "FAILED",
        "hidden-alone.trace.ndjson::trace": "FAILED",
        "unoffered.trace.ndjson::trace": "FAILED",
        "refusal.trace.ndjson::trace": "PASSED",
        "hidden-unknown.trace.ndjson::trace": "FAILED",
        "still.trace.ndjson::trace": "FAILED",
        "lost.trace.ndjson::trace": "FAILED",
        "foreign.trace.ndjson::trace": "FAILED",
        "broken.trace.ndjson::trace": "FAILED",
    }


def test_a_saved_failure_is_no_test_until_it_is_copied_or_asked_for(run: Run) -> None:
    assert outcomes_of(run, "saved/") == {"kept.trace.ndjson::trace": "FAILED"}
    asked = forked(PYTEST).run(run.folder, "saved/found.trace.ndjson", "saved", "-v")
    assert "saved/found.trace.ndjson::trace FAILED" in asked.stdout
    listed = (run.folder / ".krafla" / "found" / LIST_NAME).read_text()
    assert "\nFreesForAnyoneDriver-again.trace.ndjson ../../lock_server.py::Frees" in listed


@pytest.mark.parametrize(
    ("told", "parts"),
    [
        ("the trace that no spec has", ("is not enabled", "krafla explain traces/bad.trace.ndj")),
        ("the code that has the bug again", ("holder = c", "found/FreesForAnyoneDriver-again.tr")),
        ("the hidden bug that is there again", ("found/WrongAndBlind-hidden-again.trace.nd",)),
        ("the step that Next never offers", ("found/LockDriver-unoffered.trace.ndjson",)),
        (
            "the predicate that is false too early",
            ("the trace already violates TriedInv at step 1, before its end; remove",),
        ),
        (
            "the failure of no machine",
            (
                "The trace names no machine, so no code was asked: name one in the header of the "
                'trace, its first line: "machine": "blind" or "machine": ',
            ),
        ),
        (
            "the step that nobody can ask for",
            ("observation 2 of 2 is a step without action or parameters",),
        ),
        (
            "the claim that is gone",
            ("the spec does not allow its last step, Release; remove the claim from",),
        ),
        (
            "the trace that the code need not follow",
            (
                "since step 1, Acquire(c1), the code refused, as it may",
                "so it is no regression test any more: record it anew, or delete its file",
            ),
        ),
        ("the trace of no step", ("a trace of Lock without a step shows nothing",)),
        (
            "the machine that is not there",
            ("krafla.toml: no machine 'nobody'; there are: blind, ",),
        ),
        (
            "the machine that is not named",
            ('5 machines of Lock: name one in the header of the trace, its first line: "machine"',),
        ),
        (
            "the spec that is not there",
            ("there is no module Mutex beside it or in the pro",),
        ),
        ("the file that is no trace", ("broken.trace.ndjson:1",)),
    ],
)
def test_each_failure_of_a_trace_file_is_told(run: Run, told: str, parts: tuple[str, ...]) -> None:
    assert told
    for part in parts:
        assert part in run.output


def test_no_failure_of_a_trace_file_shows_a_stack(run: Run) -> None:
    _, _, failures = run.output.partition("= FAILURES =")
    assert "Traceback" not in failures
    assert "trace_item.py" not in failures


def test_the_plugin_imports_nothing_until_it_is_used() -> None:
    program = (
        "import sys, krafla.pytest_plugin\n"
        "print(sorted(m for m in sys.modules if m.startswith('krafla.') or m == 'hypothesis'))"
    )
    finished = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert finished.stdout.strip() == "['krafla.pytest_plugin']"
