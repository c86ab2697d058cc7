"""Controller registrations and partition changes are steps of their specs, or findings."""

from __future__ import annotations

import json

import pytest
from tests.krafla.audit.breaking import (
    LISTENER,
    NOTHING,
    OTHER,
    TIME,
    TOPIC,
    Broken,
    broker_change,
    change,
    directory,
    leader_change,
    partition,
    place,
    prefix,
    register,
    topic,
    written,
)
from tests.krafla.audit.editing import LOG, METADATA

from krafla.audit.registry import RECORD_INVARIANTS
from krafla.audit.render import document
from krafla.audit.report_text import text_lines
from krafla.audit.run import audit
from krafla.audit.specs import PARTITIONS, REGISTRATIONS
from kraft.ids import uuid_text
from kraft.log.segment import iter_batches
from kraft.records.builder import control_batch, metadata_batch
from kraft.records.schema import UNKNOWN_TAGGED_FIELDS

SETUP = [topic(), partition()]
INCARNATION = uuid_text(bytes(range(2, 18)))


def found_in(tmp_path, loading, *batches, blame=(0, 0)):
    """Return the report on a log with these batches, and the offset of the record to blame."""
    log, offset = written(tmp_path, Broken(list(batches), blame))
    return audit([log], loading=loading), offset


def registered(tmp_path, loading, *batches):
    """Return the findings on a new log of these control and metadata batches."""
    offset, parts = 1, [leader_change(0, 1, 1, (1,))]
    for records in batches:
        write = metadata_batch if records[0][0] in (12, 27) else control_batch
        parts.append(write(offset, 1, TIME, records))
        offset += len(records)
    (tmp_path / METADATA).mkdir()
    (tmp_path / METADATA / LOG).write_bytes(b"".join(parts))
    return audit([tmp_path], loading=loading).clusters[0]


def version(level):
    return (12, 0, {"name": "metadata.version", "featureLevel": level})


def controller(number, highest=27):
    endpoint = {"name": "C", "host": "h", "port": 1, "securityProtocol": 0}
    levels = {
        "name": "metadata.version", "minSupportedVersion": 7, "maxSupportedVersion": highest,
    }  # fmt: skip
    return (27, 0, {
        "controllerId": number, "incarnationId": INCARNATION, "zkMigrationReady": False,
        "endPoints": (endpoint,), "features": (levels,),
    })  # fmt: skip


def voters(*ids):
    return (6, {"version": 0, "voters": tuple(
        {"voterId": i, "voterDirectoryId": INCARNATION, "endpoints": (LISTENER,),
         "kRaftVersionFeature": {"minSupportedVersion": 0, "maxSupportedVersion": 1}}
        for i in ids)})  # fmt: skip


def dynamic(*ids):
    """Return the records that say which voters a static quorum has, once it is dynamic."""
    return [(5, {"version": 0, "kRaftVersion": 1}), voters(*ids)]


def test_records_about_controllers_are_stepped_and_counted(tmp_path, loading):
    batches = [
        [version(15)],
        [controller(1)],
        [controller(2)],
        [version(18)],
        [version(18)],
        [version(17)],
    ]
    cluster = registered(tmp_path, loading, dynamic(1), *batches, [voters(1, 2)])
    assert cluster.all_findings() == ()
    stepped = cluster.spec_counts[REGISTRATIONS]
    assert (stepped.steps, stepped.judged) == (4, 4)
    assert stepped.passed_over == {
        "a metadata version that is lowered": 1, "a metadata version that is written again": 1,
    }  # fmt: skip


def test_the_spec_refuses_a_level_that_a_registered_controller_does_not_support(
    tmp_path, loading, monkeypatch
):
    # O3 is violated too; this is about the spec, which lets the leader of the epoch, 1, write it.
    monkeypatch.delitem(RECORD_INVARIANTS, 12)
    batches = [[version(15)], [controller(1, 16)], [controller(2, 16)], [version(17)]]
    (found,) = registered(tmp_path, loading, *batches).all_findings()
    assert (found.kind, found.offset) == (f"{REGISTRATIONS}!UpgradeFeature", 4)
    assert "level \\in registrations[c].supported" in found.evidence.false[0].text
    assert dict(found.evidence.parameters)["writer"] == 1


@pytest.mark.parametrize(
    ("batches", "action", "conjunct"),
    [
        ([dynamic(1), [voters(2, 3)]], "ChangeVoters", r"new_voters \in"),
        ([[version(17)], dynamic(1), [voters()]], "ChangeVoters", "new_voters # {}"),
    ],
    ids=["two voters at once", "no voters"],
)
def test_the_spec_refuses_records_that_no_controller_can_write(
    tmp_path, loading, batches, action, conjunct
):
    found = registered(tmp_path, loading, *batches).all_findings()[0]
    assert (found.kind, found.offset) == (f"{REGISTRATIONS}!{action}", sum(map(len, batches)))
    assert conjunct in found.evidence.false[0].text
    assert found.path == tmp_path / METADATA / LOG


def test_the_spec_refuses_a_registration_below_the_gate(tmp_path, loading, monkeypatch):
    # L1 is violated too; this is about the spec.
    monkeypatch.setattr("krafla.audit.history_checks.version_objection", lambda *_: None)
    (found,) = registered(tmp_path, loading, [version(14)], [controller(1)]).all_findings()
    assert (found.kind, found.offset) == (f"{REGISTRATIONS}!RegisterController", 2)
    assert found.evidence.false[0].text == "metadata_version >= GateLevel"
    assert INCARNATION in found.evidence.record


FENCED = broker_change(0, fenced=1)
LOSES = change(isr=(1, 2), leader=1)
BACK = broker_change(0, fenced=-1)


@pytest.mark.parametrize(
    "batches",
    [
        [[LOSES, FENCED]],
        [[LOSES, FENCED], [BACK], [change(isr=(1, 2, 0))], [change(leader=0)]],
        [[change(isr=(0, 1))], [change(isr=(0, 2))]],
        [[change(replicas=(2, 1), isr=(2, 1), leader=2)]],
        [[broker_change(0, 1, inControlledShutdown=1), LOSES]],
        [
            [change(isr=(0,))],
            [change(replicas=(1, 0, 2), removingReplicas=(2,))],
            [change(replicas=(0, 2, 1), removingReplicas=(1,))],
            [change(replicas=(2, 1, 0))],
        ],
    ],
    ids=[
        "fenced",
        "and back, preferred",
        "an ISR change of the leader",
        "moved at once",
        "shut down",
        "a target with a removing replica",
    ],
)
def test_a_change_that_may_be_requested_is_a_step(tmp_path, loading, batches):
    report, _ = found_in(tmp_path, loading, SETUP, *batches)
    assert report.clusters[0].all_findings() == ()
    stepped = report.clusters[0].spec_counts[PARTITIONS]
    assert stepped.judged == sum(r[0] == 5 for records in batches for r in records)
    assert stepped.passed_over == {}


@pytest.mark.parametrize(
    ("batches", "action"),
    [
        ([[LOSES]], "ChangeIsr"),
        ([[change(isr=(1, 2), leader=2), FENCED]], "Fence"),
        ([[change(isr=(2,), leader=2), FENCED]], "Fence"),
        ([[change(leader=1)]], "Elect"),
        ([[change(replicas=(2, 1), isr=(2, 1), leader=1)]], "NewTarget"),
    ],
    ids=["no reason", "not the first", "one too many", "not preferred", "a move"],
)
def test_the_spec_refuses_a_change_that_cannot_be_requested(tmp_path, loading, batches, action):
    report, offset = found_in(tmp_path, loading, SETUP, *batches, blame=(len(batches), 0))
    found = report.clusters[0].all_findings()[0]
    assert (found.kind, found.offset) == (f"{PARTITIONS}!{action}", offset)
    assert TOPIC in found.evidence.record
    assert found.evidence.state


def test_equal_changes_of_many_partitions_are_one_step(tmp_path, loading):
    parts = [partition(number) for number in range(50)]
    moved = [change(number, isr=(1, 2), leader=1) for number in range(50)]
    loading.memory.clear()
    report, _ = found_in(tmp_path, loading, [topic(), *parts], [*moved, FENCED])
    stepped = report.clusters[0].spec_counts[PARTITIONS]
    assert (stepped.judged, stepped.steps, stepped.passed_over) == (50, 1, {})


def test_changes_that_the_spec_does_not_model_are_skipped_and_reported(tmp_path, loading):
    again = register(0, incarnationId=OTHER, brokerEpoch=prefix()[1] + 5)
    batches = [
        [change(isr=(2, 1, 0))],
        [change(directories=(uuid_text(bytes(16)), place(1), directory(2)))],
        [change(isr=(0,))],
        [change(isr=(), leader=-1, lastKnownElr=(0,)), again],
    ]
    report, _ = found_in(tmp_path, loading, SETUP, *batches)
    cluster = report.clusters[0]
    passed = {"directories": 1, "eligible leader replicas": 1, "the order of a list": 1}
    assert cluster.spec_counts[PARTITIONS].passed_over == passed
    assert document(report)["clusters"][0]["stepped"][PARTITIONS]["passed_over"] == passed
    said = " ".join("\n".join(text_lines(report)).split())
    assert "3 records are beyond this spec: 1 for directories" in said
    assert "that is no fault, the invariants below judged them" in said


def test_unknown_tagged_fields_change_no_verdict(tmp_path, loading):
    unknown = {UNKNOWN_TAGGED_FIELDS: ((77, b"\x01\x02"),)}
    of_brokers = (17, 0, {"brokerId": 0, "brokerEpoch": 17, "fenced": 1, **unknown})
    moved = change(isr=(1, 2), leader=1, **unknown)
    report, _ = found_in(tmp_path, loading, [topic(), partition(**unknown)], [moved, of_brokers])
    assert report.clusters[0].all_findings() == ()
    assert report.clusters[0].spec_counts[PARTITIONS].judged == 1
    log = tmp_path / METADATA / LOG
    kept = [r for batch in iter_batches(log) for r in batch.metadata_records()
            if UNKNOWN_TAGGED_FIELDS in r.fields]  # fmt: skip
    assert [r.fields[UNKNOWN_TAGGED_FIELDS] for r in kept] == [((77, b"\x01\x02"),)] * 3


def test_a_finding_of_the_lease_also_names_the_invariant(tmp_path, loading):
    wrong = (17, 0, {"brokerId": 0, "brokerEpoch": 16, "fenced": 1})
    report, _ = found_in(tmp_path, loading, [NOTHING, wrong])
    (found,) = report.clusters[0].all_findings()
    assert found.kind == "UntimedLease!FenceBroker"
    assert "UntimedLease!FenceBroker (B6): " in str(found)
    (written_down,) = document(report)["clusters"][0]["directories"][0]["findings"]
    assert written_down["evidence"]["invariants"] == ["B6"]
    json.dumps(document(report))


@pytest.fixture
def log(tmp_path):
    """A log of two epochs, each begun by its leader."""
    parts, end, _ = prefix()
    target = tmp_path / "n1" / METADATA
    target.mkdir(parents=True)
    begun = [leader_change(end, 2, 3000), metadata_batch(end + 1, 2, TIME, [NOTHING])]
    (target / LOG).write_bytes(b"".join([*parts, *begun]))
    return target / LOG


def test_an_epoch_begins_with_the_message_of_its_leader(log, loading):
    assert audit([log.parent], loading=loading).clusters[0].all_findings() == ()
    parts, end, _ = prefix()
    log.write_bytes(b"".join([*parts, metadata_batch(end, 2, TIME, [NOTHING])]))
    (found,) = audit([log.parent], loading=loading).clusters[0].all_findings()
    assert (found.kind, found.offset) == ("RaftLog!OtherRecord", end)


def test_an_epoch_has_one_leader_in_all_logs_of_a_cluster(tmp_path, log, loading):
    assert log.exists()
    parts, end, _ = prefix()
    other = tmp_path / "n2" / METADATA
    other.mkdir(parents=True)
    begun = [metadata_batch(end, 1, TIME, [NOTHING]), leader_change(end + 1, 2, 3001)]
    (other / LOG).write_bytes(b"".join([*parts, *begun]))
    found = audit([tmp_path], loading=loading).clusters[0].findings
    (leaders,) = (f for f in found if f.kind == "LeaderOfEpoch")
    assert (leaders.path, leaders.offset) == (other, end + 1)
    assert "node 3001 leads epoch 2" in leaders.detail


def test_a_quorum_state_that_names_another_leader_is_rejected(log, loading, real_logs):
    state = json.loads((real_logs / "crash" / "n3000" / METADATA / "quorum-state").read_text())
    state |= {"leaderEpoch": 2, "leaderId": 3001}
    (log.parent / "quorum-state").write_text(json.dumps(state))
    found = audit([log.parent], loading=loading).clusters[0].findings
    assert [f.kind for f in found] == ["LeaderOfEpoch"]


@pytest.mark.parametrize(("spoil", "code", "kind"), [(0, 1, "L8"), (1, 3, "corrupt")])
def test_an_epoch_that_falls_is_a_violation_but_a_batch_that_is_not_whole_is_not(
    log, loading, spoil, code, kind
):
    end = prefix()[1] + 2
    older = bytearray(metadata_batch(end, 1, TIME, [NOTHING]))
    older[-1] ^= spoil
    log.write_bytes(log.read_bytes() + bytes(older))
    report = audit([log.parent], loading=loading)
    assert report.exit_code == code
    assert [f.kind for f in report.clusters[0].all_findings()] == [kind]


@pytest.mark.parametrize(("back", "expected"), [(0, ()), (1, ("UntimedLease!RegisterBroker",))])
def test_a_broker_epoch_may_precede_control_records_between_two_batches(
    tmp_path, loading, back, expected
):
    """The epoch of a broker is the log end that the controller knew before a change of voters."""
    before, offset, _ = prefix()
    parts = [*before, control_batch(offset, 1, TIME, dynamic(3000, 3001, 3002))]
    fields = {"incarnationId": INCARNATION, "brokerEpoch": offset - back, "fenced": True}
    parts.append(metadata_batch(offset + 2, 1, TIME, [register(0, **fields)]))
    (tmp_path / METADATA).mkdir()
    (tmp_path / METADATA / LOG).write_bytes(b"".join(parts))
    report = audit([tmp_path / METADATA], loading=loading)
    assert tuple(one.kind for one in report.clusters[0].all_findings()) == expected
