"""The trace of a violation: whatever reads it again says the same of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from shutil import copy
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.forked import PYTEST, forked
from tests.krafla.testing.lock_machines import RefusesButWaits, machine_of

from krafla.match.trace_check import check_trace
from krafla.match.validation import validate
from krafla.report.explain.outcome import outcome_of
from krafla.testing import Judge, PartialTrace, SpecViolation, Trace, read_trace, write_trace
from krafla.testing.origins import MACHINE, SESSION
from krafla.traces import Observation, dumps, loads_any
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.testing import Spec

SPECS = Path(__file__).parent / "specs"
WHOLE = {"holder": "c1", "queue": ["c2"]}


def violated(judge: Judge, call: Callable[[Judge], None]) -> SpecViolation:
    judge.start({"holder": "Nobody", "queue": []})
    judge.step("Acquire", "c1", seen={"holder": "c1", "queue": []})
    judge.step("Acquire", "c2", seen=WHOLE)
    with pytest.raises(SpecViolation) as caught:
        call(judge)
    return caught.value


@pytest.mark.parametrize(
    "call",
    [
        lambda j: j.step("Release", "c1", seen={"holder": "c2", "queue": ["c2"]}),
        lambda j: j.step("Release", "c2", seen=WHOLE),
        lambda j: j.step("Acquire", "c9", seen={"holder": "c1", "queue": ["c2", "c9"]}),
        lambda j: j.step("Release", "c1", seen={"holder": "c1"}),
        lambda j: j.step("Acquire", "c9", seen={("queue", 2): "c9"}),
        lambda j: j.step(None, seen={"holder": "c3"}),
    ],
)
def test_a_step_that_the_spec_does_not_have_is_denied_again(
    lock_spec: Spec, call: Callable[[Judge], None]
) -> None:
    violation = violated(Judge(lock_spec), call)
    trace = loads_any(dumps(violation.trace))
    assert trace == violation.trace
    if isinstance(trace, PartialTrace):
        report = validate(trace)
        assert (report.verdict, report.accepted) == (Verdict.VIOLATED, 3)
        return
    found = check_trace(trace)
    assert (found.verdict, found.steps) == (Verdict.VIOLATED, 3)
    outcome = outcome_of(trace)
    assert outcome is not None
    assert outcome.falsehoods or "Next has no" in outcome.headline


def test_a_property_that_a_step_breaks_is_found_broken_again(lock_spec: Spec) -> None:
    judge = Judge(lock_spec, invariants=["ShortInv"])
    seen = {"holder": "c1", "queue": ["c2", "c3"]}
    trace = violated(judge, lambda one: one.step("Acquire", "c3", seen=seen)).trace
    assert isinstance(trace, Trace)
    # All its steps are steps of the spec.
    assert check_trace(trace).rejection is None
    outcome = outcome_of(trace)
    assert outcome is not None
    assert outcome.sentences == (
        "At most one client waits.", "ShortInv is false in the state after step 3"
    )  # fmt: skip


def test_a_wrong_refusal_is_denied_again_where_all_was_seen(lock_spec: Spec) -> None:
    trace = violated(Judge(lock_spec), lambda one: one.refuse("Release", "c1")).trace
    assert isinstance(trace, PartialTrace)
    assert trace.observations[-1].kind == "refusal"
    report = validate(trace)
    assert (report.verdict, report.accepted) == (Verdict.VIOLATED, len(trace) - 1)


def check_denied_again(violation: SpecViolation) -> None:
    trace = loads_any(dumps(violation.trace))
    assert trace == violation.trace
    if isinstance(trace, PartialTrace):
        report = validate(trace)
        assert (report.verdict, report.accepted) == (Verdict.VIOLATED, len(trace) - 1)


QUESTIONS = st.one_of(
    st.tuples(st.just("stay"), st.sampled_from([None, (), (1,), (2,), (1, 2), (2, 1)])),
    st.tuples(st.sampled_from(["refuse", "Read"]), st.sampled_from([1, 2])),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(QUESTIONS, min_size=1, max_size=4))
def test_a_saved_trace_is_judged_as_the_live_judge_did(
    mail_spec: Spec, questions: list[tuple[str, Any]]
) -> None:
    judge = Judge(mail_spec, hidden=["Deliver"])
    judge.step("Send", "ann", 1)
    judge.step("Send", "ann", 2)
    for kind, what in questions:
        try:
            if kind == "stay":
                judge.stay(None if what is None else {("inbox", "ann"): list(what)})
            elif kind == "refuse":
                judge.refuse("Read", "ann", what)
            else:
                judge.step("Read", "ann", what)
        except SpecViolation as violation:
            check_denied_again(violation)
            return
    trace = judge.trace
    if not isinstance(trace, PartialTrace):
        return
    assert validate(trace).accepted == len(trace)
    for letter in (1, 2):
        # Both have the same candidates: they allow the same steps.
        more = (*trace.observations, Observation("Read", ("ann", letter)))
        is_found = validate(replace(trace, observations=more)).accepted == len(more)
        assert is_found == judge.allows("Read", "ann", letter)


def test_a_trace_is_written_and_read_by_the_name_of_a_file(lock_spec: Spec, tmp_path: Path) -> None:
    trace = violated(Judge(lock_spec), lambda one: one.refuse("Release", "c1")).trace
    write_trace(trace, str(tmp_path / "found.ndjson"))
    assert read_trace(str(tmp_path / "found.ndjson")) == trace


@pytest.mark.parametrize(("maker", "status"), [(MACHINE, 1), (SESSION, 0), ("tlc", 0)])
def test_a_failure_of_a_machine_is_no_test_without_the_machine(
    lock_spec: Spec, tmp_path: Path, maker: str, status: int
) -> None:
    trace = violated(Judge(lock_spec), lambda one: one.step("Release", "c2", seen=WHOLE)).trace
    assert isinstance(trace, Trace)
    assert trace.origin is not None
    made = replace(trace, origin=replace(trace.origin, made_by=maker))
    write_trace(made, tmp_path / "kept.trace.ndjson")
    ended = forked(PYTEST).run(tmp_path)
    assert ended.returncode == status, ended.stdout
    said = "no krafla.toml here lists a machine of Lock. Add [[machine]] with its name,"
    assert (said in ended.stdout) == (status == 1)


# pytest runs in a folder from which it does not find this package.
DRIVER = f"""\
import sys

sys.path.append({str(Path(__file__).parents[3])!r})

from tests.krafla.testing.lock_machines import LockMachine as Mended
from tests.krafla.testing.lock_machines import RefusesButWaits, machine_of

Wrong = machine_of(RefusesButWaits)
"""
LISTED = '[[machine]]\nname = "{0}"\nclass = "lock_driver:{0}"\n'


@pytest.mark.parametrize(
    ("maker", "machines", "said"),
    [
        (MACHINE, ("Mended",), None),
        (
            MACHINE,
            ("Wrong",),
            "after step 1 the code refused Acquire(c1), but its state is another",
        ),
        (MACHINE, ("Mended", "Wrong"), "2 machines of Lock: name one in the header of the trace"),
        (MACHINE, (), "names no machine, so no code was asked: list a machine of Lock in krafla."),
        (SESSION, ("Mended",), "so no code was asked: name one in the header of the trace, its f"),
        (None, ("Mended",), 'its first line: "machine": "Mended"'),
    ],
)
def test_the_only_machine_of_the_spec_is_asked_where_a_machine_saved_a_partial_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    maker: str | None, machines: tuple[str, ...], said: str | None,
) -> None:  # fmt: skip
    """It names none if it was saved before a krafla.toml listed the machine."""
    monkeypatch.setenv("KRAFLA_FOUND", str(tmp_path / "found"))
    machine = machine_of(RefusesButWaits)()
    machine.acquire(client="c1")
    with pytest.raises(SpecViolation):
        machine.acquire(client="c1")
    trace = read_trace(tmp_path / "found" / "RefusesButWaitsMachine.trace.ndjson")
    assert isinstance(trace, PartialTrace)
    assert (trace.machine, trace.made_by) == (None, MACHINE)
    write_trace(replace(trace, made_by=maker), tmp_path / "kept.trace.ndjson")
    (tmp_path / "specs").mkdir()
    copy(SPECS / "Lock.tla", tmp_path / "specs")
    copy(SPECS / "Lock.cfg", tmp_path / "specs")
    (tmp_path / "lock_driver.py").write_text(DRIVER)
    listed = "".join(map(LISTED.format, machines))
    (tmp_path / "krafla.toml").write_text(f'[project]\nspecs = "specs"\n{listed}')

    ended = forked(PYTEST).run(tmp_path)
    assert ended.returncode == (0 if said is None else 1), ended.stdout
    assert said is None or said in ended.stdout, ended.stdout
