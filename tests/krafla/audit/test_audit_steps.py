"""One record of a real log is edited: the audit names it and the false conjunct."""

from __future__ import annotations

import re

import pytest
from tests.krafla.audit.editing import (
    CHANGE_BROKER,
    LOG,
    METADATA,
    REGISTER,
    UNREGISTER,
    no_op_after,
    records,
    spoiled,
    to,
    to_no_op,
    with_fields,
)

from krafla.audit import history_checks
from krafla.audit.broker_registrations import BrokerRegistration
from krafla.audit.lease_steps import INVARIANTS, PROPERTIES, LeaseRun
from krafla.audit.mapping import LogStep, Place
from krafla.audit.result import Weight
from krafla.audit.run import audit
from krafla.manifest import find_specs
from krafla.verdict import ExitCode, Verdict

# In the log of `crash`, broker 0 is registered at 17 with epoch 17, unfenced at 21, fenced at 95,
# registered again at 115; broker 1 is registered at 13; broker 2 (epoch 8) shuts down from 152 on.


@pytest.fixture(scope="module")
def crash(real_logs):
    return real_logs / "crash" / "n3000"


def registration(crash, offset):
    (found,) = (r for r in records(crash / METADATA / LOG, REGISTER) if r.offset == offset)
    return found


def first_violation(report):
    violations = [f for f in report.clusters[0].all_findings() if f.weight is Weight.VIOLATION]
    assert violations, "nothing was violated"
    return violations[0]


def refused(tmp_path, crash, loading, edits):
    """Return the refusal of an edited log, after checking how it is reported."""
    path = spoiled(crash, tmp_path / "n3000", edits)
    report = audit([path], loading=loading)
    assert report.verdict is Verdict.VIOLATED
    assert report.exit_code is ExitCode.VIOLATED
    violation = first_violation(report)
    assert violation.path == path / METADATA / LOG
    assert violation.position is not None
    assert violation.evidence.record is not None
    named = [name for name, _ in violation.evidence.state]
    assert named == ["registrations", "log_end", "epoch_floor"]
    return violation


def false_texts(violation):
    return [" ".join(conjunct.text.split()) for conjunct in violation.evidence.false]


def test_a_change_with_the_epoch_of_another_incarnation_is_refused(tmp_path, crash, loading):
    found = refused(tmp_path, crash, loading, {95: with_fields(brokerEpoch=16)})
    assert found.offset == 95
    assert found.evidence.rule == "UntimedLease!FenceBroker"
    assert dict(found.evidence.parameters) == {"b": 0, "epoch": 16, "offset": 95}
    assert false_texts(found) == ["registrations[b].epoch = epoch"]
    assert ("registrations[b].epoch", "17", "17") in found.evidence.false[0].values
    assert "UntimedLease" in found.evidence.false[0].place
    assert "epoch 17" in found.evidence.expected


def test_a_registration_that_was_left_out_is_noticed(tmp_path, crash, loading):
    found = refused(tmp_path, crash, loading, {13: to_no_op})
    assert found.offset == 14
    assert found.evidence.rule == "UntimedLease!UnfenceBroker"
    assert "b \\in DOMAIN registrations" in " ".join(false_texts(found))
    assert "not registered" in found.evidence.expected


def test_an_unfencing_of_an_unregistered_broker_is_refused(tmp_path, crash, loading):
    offset = no_op_after(crash / METADATA / LOG, 30)
    record = to(CHANGE_BROKER, 0, brokerId=7, brokerEpoch=12, fenced=-1)
    found = refused(tmp_path, crash, loading, {offset: record})
    assert found.offset == offset
    assert "b \\in DOMAIN registrations" in " ".join(false_texts(found))


def test_an_unfencing_of_an_unfenced_broker_is_refused(tmp_path, crash, loading):
    offset = no_op_after(crash / METADATA / LOG, 30)
    record = to(CHANGE_BROKER, 0, brokerId=0, brokerEpoch=17, fenced=-1)
    found = refused(tmp_path, crash, loading, {offset: record})
    assert found.offset == offset
    assert false_texts(found) == ["registrations[b].fenced"]
    assert "UnfenceBroker" not in found.evidence.expected
    assert "FenceBroker" in found.evidence.expected


def test_a_new_incarnation_that_starts_unfenced_is_refused(tmp_path, crash, loading):
    found = refused(tmp_path, crash, loading, {115: with_fields(fenced=False)})
    assert found.offset == 115
    assert found.evidence.rule == "UntimedLease!RegisterBroker"
    assert false_texts(found) == ["fenced"]


def test_an_amendment_with_another_epoch_is_refused(tmp_path, crash, loading):
    offset = no_op_after(crash / METADATA / LOG, 30)
    again = dict(registration(crash, 17).fields, brokerEpoch=offset, fenced=False)
    found = refused(tmp_path, crash, loading, {offset: to(REGISTER, 3, **again)})
    assert found.offset == offset
    assert found.evidence.rule == "UntimedLease!AmendRegistration"
    assert false_texts(found) == ["registrations[b].epoch = epoch"]


def test_an_amendment_that_fences_is_refused(tmp_path, crash, loading):
    offset = no_op_after(crash / METADATA / LOG, 30)
    again = dict(registration(crash, 17).fields, fenced=True)
    found = refused(tmp_path, crash, loading, {offset: to(REGISTER, 3, **again)})
    assert false_texts(found) == ["registrations[b].fenced = fenced"]


def test_an_amendment_that_changes_nothing_of_the_lease_is_legal(tmp_path, crash, loading):
    offset = no_op_after(crash / METADATA / LOG, 30)
    again = dict(registration(crash, 17).fields, fenced=False)
    path = spoiled(crash, tmp_path / "n3000", {offset: to(REGISTER, 3, **again)})
    assert audit([path], loading=loading).exit_code is ExitCode.HELD


def test_an_epoch_below_the_beginning_of_its_operation_is_refused(tmp_path, crash, loading):
    found = refused(tmp_path, crash, loading, {17: with_fields(brokerEpoch=16)})
    assert found.offset == 17
    assert false_texts(found) == ["epoch >= epoch_floor"]


def test_an_epoch_below_a_record_outside_the_registration_is_refused(tmp_path, crash, loading):
    # Records 112 to 114 change partitions and 115 registers with epoch 112: one operation.
    found = refused(tmp_path, crash, loading, {113: to_no_op})
    assert found.offset == 115
    assert false_texts(found) == ["epoch >= epoch_floor"]


def test_an_epoch_beyond_its_own_record_is_refused(tmp_path, crash, loading):
    found = refused(tmp_path, crash, loading, {17: with_fields(brokerEpoch=18)})
    assert found.offset == 17
    assert false_texts(found) == ["epoch <= offset"]


def test_a_controlled_shutdown_of_a_fenced_broker_is_refused(tmp_path, crash, loading):
    record = to(CHANGE_BROKER, 1, brokerId=0, brokerEpoch=17, inControlledShutdown=1)
    offset = no_op_after(crash / METADATA / LOG, 95)
    assert offset < 115
    found = refused(tmp_path, crash, loading, {offset: record})
    assert found.evidence.rule == "UntimedLease!BeginControlledShutdown"
    assert false_texts(found) == ["~registrations[b].fenced"]


def test_an_unregistration_under_an_old_epoch_is_refused(tmp_path, crash, loading):
    found = refused(tmp_path, crash, loading, {501: with_fields(brokerEpoch=13)})
    assert found.offset == 501
    assert found.evidence.rule == "UntimedLease!UnregisterBroker"
    assert false_texts(found) == ["registrations[b].epoch = epoch"]


def test_a_record_that_changes_two_things_is_a_violation(tmp_path, crash, loading):
    path = spoiled(crash, tmp_path / "n3000", {172: with_fields_v1()})
    found = first_violation(audit([path], loading=loading))
    assert found.offset == 172
    assert found.kind == "UntimedLease!Next"
    assert "more than one thing" in found.detail


def with_fields_v1():
    return lambda record: (
        record.api_key,
        1,
        {"brokerId": 2, "brokerEpoch": 8, "fenced": 1, "inControlledShutdown": 1},
    )


@pytest.mark.parametrize("field", ["fenced", "inControlledShutdown"])
def test_a_change_that_kafka_does_not_define_is_a_violation(tmp_path, crash, loading, field):
    fields = {"brokerId": 2, "brokerEpoch": 8, field: 5}
    path = spoiled(crash, tmp_path / "n3000", {172: to(CHANGE_BROKER, 1, **fields)})
    found = first_violation(audit([path], loading=loading))
    assert found.offset == 172
    assert "5" in found.detail


def test_the_old_records_that_fence_and_unfence_are_the_same_actions(
    tmp_path, crash, loading, monkeypatch
):
    # Their metadata version is before 3.3-IV2, so L1 is violated; this is about their effect.
    monkeypatch.setattr(history_checks, "version_objection", lambda *_: None)
    edits = {
        14: to(8, 0, id=1, epoch=13),
        95: to(7, 0, id=0, epoch=17),
        501: to(7, 0, id=1, epoch=13),
    }
    found = refused(tmp_path, crash, loading, edits)
    assert found.offset == 501
    assert found.evidence.rule == "UntimedLease!FenceBroker"


def test_a_second_unregistration_of_a_broker_is_refused(tmp_path, crash, loading):
    offset = no_op_after(crash / METADATA / LOG, 470)
    record = to(UNREGISTER, 0, brokerId=1, brokerEpoch=131)
    found = refused(tmp_path, crash, loading, {offset: record})
    assert found.offset == 501
    assert found.evidence.rule == "UntimedLease!UnregisterBroker"


def test_an_amendment_that_takes_back_a_controlled_shutdown_is_refused(tmp_path, crash, loading):
    offset = no_op_after(crash / METADATA / LOG, 172)
    assert offset < 190
    again = dict(registration(crash, 8).fields, fenced=True, inControlledShutdown=False)
    found = refused(tmp_path, crash, loading, {offset: to(REGISTER, 3, **again)})
    assert found.offset == offset
    assert found.evidence.rule == "UntimedLease!AmendRegistration"
    assert false_texts(found) == [
        "registrations[b].in_controlled_shutdown = in_controlled_shutdown"
    ]


def test_every_property_of_the_spec_is_checked_on_a_log():
    text = (find_specs() / "lease" / "UntimedLease.tla").read_text(encoding="utf-8")
    named = set(re.findall(r"^(\w+(?:Inv|Prop)) ==", text, re.MULTILINE))
    # A record is one action, and no action changes two brokers.
    assert {*INVARIANTS, *PROPERTIES} == named - {"OneChangeARecordProp"}


def test_a_state_that_breaks_an_invariant_is_a_violation_before_any_record(loading):
    twice = {
        broker: BrokerRegistration("incarnation", 3, fenced=True, in_controlled_shutdown=False)
        for broker in (0, 1)
    }
    found = LeaseRun(loading, 10, twice).take(())
    assert (found.kind, found.evidence.rule) == ("UntimedLease!EpochUniqueInv",) * 2


@pytest.mark.parametrize("name", PROPERTIES)
def test_a_step_that_breaks_a_property_is_a_violation_under_its_name(loading, monkeypatch, name):
    spec = loading.get()
    holds = type(spec).check_action_property

    def check(self, asked, before, after):
        return asked != name and holds(self, asked, before, after)

    monkeypatch.setattr(type(spec), "check_action_property", check)
    step = LogStep("RegisterBroker", (
        ("b", 0), ("incarnation", "i"), ("epoch", 0), ("fenced", True),
        ("in_controlled_shutdown", False), ("offset", 0),
    ), 0, Place(None, 0, None))  # fmt: skip
    assert LeaseRun(loading, 0, {}).take([step]).kind == f"UntimedLease!{name}"
