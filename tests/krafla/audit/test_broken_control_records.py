"""Logs whose control records break a rule of RaftLog, each refused at the record to blame."""

from __future__ import annotations

import shutil

import pytest
from tests.krafla.audit.breaking import NOTHING, TIME
from tests.krafla.audit.control_records import (
    ABORT,
    BEGIN,
    COPY,
    DYNAMIC,
    END,
    METADATA_VERSION,
    STATIC,
    A,
    B,
    C,
    D,
    bytes_of,
    checkpoint_of,
    continued,
    control,
    data,
    leads,
    level,
    voters,
    with_control,
    written,
)
from tests.krafla.audit.editing import LOG, METADATA

from krafla.audit.result import Weight
from krafla.audit.run import audit
from krafla.audit.specs import RAFT
from krafla.verdict import ExitCode

THREE = ((1, A), (2, B), (3, C))
IDS = (1, 2, 3)
WINS = leads(3000, STATIC, STATIC[:2])
DYNAMIC_WINS = leads(2, IDS, (2, 3))
HEADER = (3, {"version": 0, "lastContainedLogTimestamp": TIME})


def begun(*records):
    """Return the batch that begins epoch 2."""
    return control(2, *records)


STATIC_LOGS = {
    "a leader that is no voter": (
        [begun(leads(9, STATIC, STATIC))], (0, 0), "BeginEpoch", "new_leader"),
    "a leader that is no voter, with its own vote": (
        [begun(leads(9, STATIC, (9, 3000, 3001)))], (0, 0), "BeginEpoch", "Agree"),
    "a leader without its own vote": (
        [begun(leads(3000, STATIC, STATIC[1:]))], (0, 0), "BeginEpoch", "new_leader"),
    "a leader with its own vote only": (
        [begun(leads(3000, STATIC, (3000,)))], (0, 0), "BeginEpoch", "2 * Cardinality"),
    "a leader without votes": (
        [begun(leads(3000, STATIC, ()))], (0, 0), "BeginEpoch", "new_leader"),
    "the vote of an observer": (
        [begun(leads(3000, STATIC, (3000, 3001, 7)))], (0, 0), "BeginEpoch", "Agree"),
    "a vote that is counted twice": (
        [begun(leads(3000, STATIC, (3000, 3000)))], (0, 0), "BeginEpoch", "twice"),
    "a static voter that is gone": (
        [begun(leads(3000, STATIC[:2], STATIC[:2]))], (0, 0), "BeginEpoch", "Agree"),
    "a static voter that is new": (
        [begun(leads(3000, (*STATIC, 3003), STATIC))], (0, 0), "BeginEpoch", "Agree"),
    "a static voter in another's place": (
        [begun(leads(3000, (3000, 3001, 3003), STATIC[:2]))], (0, 0), "BeginEpoch", "Agree"),
    "a leader that lists no voters": (
        [begun(leads(3000, (), ()))], (0, 0), "BeginEpoch", "set # {}"),
    "a voter that is listed twice": (
        [begun(leads(3000, (*STATIC, 3000), STATIC))], (0, 0), "BeginEpoch", "twice"),
    "the second epoch with other voters than the first two": (
        [begun(WINS), data(2), control(3, leads(3001, (3001,), (3001,)))],
        (2, 0), "BeginEpoch", "v.id = w.id"),
    "another leader of the same epoch": (
        [control(1, WINS)], (0, 0), "BeginEpoch", "e > epoch"),
    "a leader that begins its epoch twice": (
        [begun(WINS), control(2, WINS)], (1, 0), "BeginEpoch", "e > epoch"),
    "a leader that begins its epoch twice in one batch": (
        [begun(WINS, WINS)], (0, 1), "BeginEpoch", "e > epoch"),
    "an epoch without its leader's record": (
        [data(2)], (0, 0), "OtherRecord", "e = epoch"),
    "an epoch that begins with a transaction": (
        [data(2, BEGIN, NOTHING, END)], (0, 0), "BeginTransaction", "e = epoch"),
    "an epoch that begins with its version": (
        [begun(level(1), voters(*((n, A) for n in STATIC)), WINS)],
        (0, 0), "WriteVersion", "e = epoch"),
    "voters at kraft.version 0": (
        [control(1, voters((3000, A), (3001, B), (3002, C)))],
        (0, 0), "WriteVoters", "kraft_version > 0"),
    "a record of kraft.version 0": (
        [control(1, level(0), voters((3000, A), (3001, B), (3002, C)))],
        (0, 0), "WriteVersion", "last ="),
    "a leader that begins with kraft.version 0 and voters": (
        [begun(WINS, level(0), voters((3000, A), (3001, B), (3002, C)))],
        (0, 1), "WriteVersion", "version > 0"),
    "kraft.version 1 without voters": (
        [control(1, level(1)), data(1)], (1, 0), "OtherRecord", 'last # "KRaftVersion"'),
    "kraft.version 1 without voters, and another leader": (
        [control(1, level(1)), begun(WINS)], (1, 0), "BeginEpoch", 'last # "KRaftVersion"'),
    "kraft.version 1 twice": (
        [control(1, level(1), level(1))], (0, 1), "WriteVersion", 'last # "KRaftVersion"'),
    "kraft.version 1 with other voters": (
        [control(1, level(1), voters((3000, A), (3001, B)))],
        (0, 1), "WriteVoters", "Agree"),
    "kraft.version 1 with one voter more": (
        [control(1, level(1), voters((3000, A), (3001, B), (3002, C), (3003, D)))],
        (0, 1), "WriteVoters", "Agree"),
    "a record of checkpoints": ([control(1, HEADER)], (0, 0), "Next", "checkpoints only"),
}  # fmt: skip
"""By name: the batches after a real log, (batch, record) to blame, action, what is false."""


MIGRATING_LOGS = {
    "a leader that aborts its own transaction": (
        [data(1, COPY, ABORT)], (0, 1), "AbortTransaction", 'transaction = "Left"'),
    "a leader that writes in a transaction left open": (
        [data(1, COPY, NOTHING), begun(WINS), data(2)],
        (2, 0), "OtherRecord", "AbortTransaction"),
    "a leader that ends a transaction left open": (
        [data(1, COPY), begun(WINS), data(2, END)],
        (2, 0), "EndTransaction", "AbortTransaction"),
    "a leader that begins another transaction": (
        [data(1, COPY), begun(WINS), data(2, COPY)],
        (2, 0), "BeginTransaction", "AbortTransaction"),
    "a leader that writes before it aborts": (
        [data(1, COPY), begun(WINS), data(2, NOTHING, ABORT)],
        (2, 0), "OtherRecord", "AbortTransaction"),
    "the leader after the next writes in a transaction left open": (
        [data(1, NOTHING, COPY), begun(WINS), control(3, WINS), data(3)],
        (3, 0), "OtherRecord", "AbortTransaction"),
    "the same leader, elected again, goes on in its transaction": (
        [begun(WINS), data(2, COPY), control(3, WINS), data(3)],
        (3, 0), "OtherRecord", "AbortTransaction"),
}  # fmt: skip
"""As `STATIC_LOGS`, after `MIGRATING`."""


DYNAMIC_LOGS = {
    "kraft.version falls": (
        [control(1, level(0))], (0, 0), "WriteVersion", "version >= kraft_version"),
    "kraft.version again, from no new leader": (
        [control(1, level(1), voters(*THREE))], (0, 0), "WriteVersion", "last ="),
    "two voters join at once": (
        [control(1, voters(*THREE, (4, D), (5, D)))], (0, 0), "WriteVoters", "old \\cup new"),
    "two voters leave at once": (
        [control(1, voters((1, A)))], (0, 0), "WriteVoters", "old \\cup new"),
    "one voter takes another's place": (
        [control(1, voters((1, A), (2, B), (4, D)))], (0, 0), "WriteVoters", "old \\cup new"),
    "a voter with another directory": (
        [control(1, voters((1, A), (2, B), (3, D)))], (0, 0), "WriteVoters", "old \\cup new"),
    "a node that votes with two directories": (
        [control(1, voters(*THREE, (3, D)))], (0, 0), "WriteVoters", "Cardinality(IdsOf(set))"),
    "no voters": ([control(1, voters())], (0, 0), "WriteVoters", "set # {}"),
    "voters of a new epoch without its leader's record": (
        [begun(voters(*THREE))], (0, 0), "WriteVoters", "e = epoch"),
    "the voters before the last change": (
        [begun(leads(2, (1, 2), (1, 2)))], (0, 0), "BeginEpoch", "Agree"),
    "the voters before a voter left": (
        [control(1, voters((1, A), (2, B))), begun(DYNAMIC_WINS)], (1, 0), "BeginEpoch", "Agree"),
    "the vote of a voter that left": (
        [control(1, voters((1, A), (2, B))), begun(leads(2, (1, 2), (2, 3)))],
        (1, 0), "BeginEpoch", "Agree"),
    "a leader that left": (
        [control(1, voters((2, B), (3, C))), begun(leads(1, (2, 3), (2, 3)))],
        (1, 0), "BeginEpoch", "new_leader"),
    "half of four voters": (
        [control(1, voters(*THREE, (4, D))), begun(leads(2, (1, 2, 3, 4), (2, 3)))],
        (1, 0), "BeginEpoch", "2 * Cardinality"),
    "a leader that lists another directory": (
        [begun(leads(2, ((1, A), (2, B), (3, D)), ((2, B), (1, A))))],
        (0, 0), "BeginEpoch", "Agree"),
    "the vote of another directory": (
        [begun(leads(2, THREE, ((2, B), (3, D))))], (0, 0), "BeginEpoch", "Agree"),
    "a leader that changes the voters as it begins": (
        [begun(DYNAMIC_WINS, level(1), voters((1, A), (2, B)))], (0, 2), "WriteVoters", "Agree"),
    "a leader that begins with a version without voters": (
        [begun(DYNAMIC_WINS, level(1)), data(2)], (1, 0), "OtherRecord", 'last # "KRaftVersion"'),
    "a voter that is recorded twice": (
        [control(1, voters(*THREE, (3, C)))], (0, 0), "WriteVoters", "twice"),
}  # fmt: skip
"""As `STATIC_LOGS`, after `DYNAMIC`."""


LEGAL = {
    "static": [begun(WINS), data(2), control(5, leads(3001, STATIC, STATIC)), data(5)],
    "to dynamic": [
        control(1, level(1), voters((3002, C), (3000, A), (3001, B))),
        control(1, voters((3000, A), (3001, B))),
        begun(leads(3000, STATIC[:2], STATIC[:2])),
    ],
}
LEGAL_MIGRATING = {
    "aborted": [data(1, COPY, NOTHING), begun(WINS), control(3, WINS), data(3, ABORT, NOTHING)],
    "ended by its own leader": [
        data(1, COPY, NOTHING),
        data(1, (21, 0, {"zkMigrationState": 1}), END),
        begun(WINS),
        data(2),
    ],
    "begun again": [data(1, COPY), begun(WINS), data(2, ABORT), data(2, COPY, NOTHING)],
    "voters before the transaction is aborted": [
        data(1, COPY),
        begun(WINS),
        control(2, level(1), voters((3000, A), (3001, B), (3002, C))),
        data(2, ABORT),
    ],
}
LEGAL_DYNAMIC = {
    "a leader that removes itself goes on": [
        control(1, voters((2, B), (3, C))), data(1), begun(leads(2, (2, 3), (2, 3)))],
    "a disk is replaced": [
        control(1, voters((1, A), (2, B))), control(1, voters((1, A), (2, B), (3, D)))],
    "new endpoints": [control(1, voters(*THREE)), begun(DYNAMIC_WINS, level(1), voters(*THREE))],
    "directories in a LeaderChangeMessage": [begun(leads(2, THREE, THREE[1:])), data(2)],
    "a leader of four": [
        control(1, voters(*THREE, (4, D))), begun(leads(4, (1, 2, 3, 4), (2, 3, 4)))],
}  # fmt: skip


def found_in(folder, loading):
    return audit([folder], loading=loading).clusters[0].all_findings()


def refused(found, said):
    """Return the action and the offset of RaftLog's refusal, which is the first finding.

    Its reason contains what is said.
    """
    refusals = [f for f in found if f.kind.startswith(RAFT)]
    assert refusals, f"held, expected a refusal that says {said!r}: {found}"
    first = refusals[0]
    texts = [first.detail, *(one.text for one in first.evidence.false)]
    assert any(said in text for text in texts), texts
    assert all(f.offset is None or f.offset >= first.offset for f in found), found
    return first.kind.removeprefix(f"{RAFT}!"), first.offset


@pytest.mark.parametrize("name", STATIC_LOGS)
def test_a_log_of_static_voters_is_refused_at_the_record(tmp_path, loading, name):
    batches, (batch, record), action, said = STATIC_LOGS[name]
    bases = written(tmp_path, batches, dynamic=False)
    assert refused(found_in(tmp_path, loading), said) == (action, bases[batch] + record)


@pytest.mark.parametrize("name", MIGRATING_LOGS)
def test_a_log_with_a_transaction_left_open_is_refused_at_the_record(tmp_path, loading, name):
    batches, (batch, record), action, said = MIGRATING_LOGS[name]
    bases = written(tmp_path, batches, dynamic=False, migrating=True)
    assert refused(found_in(tmp_path, loading), said) == (action, bases[batch] + record)


@pytest.mark.parametrize("name", DYNAMIC_LOGS)
def test_a_log_of_recorded_voters_is_refused_at_the_record(tmp_path, loading, name):
    batches, (batch, record), action, said = DYNAMIC_LOGS[name]
    bases = written(tmp_path, batches, dynamic=True)
    assert refused(found_in(tmp_path, loading), said) == (action, bases[batch] + record)


@pytest.mark.parametrize("name", [*LEGAL, *LEGAL_MIGRATING, *LEGAL_DYNAMIC])
def test_a_log_that_kafka_may_write_holds(tmp_path, loading, name):
    batches = {**LEGAL, **LEGAL_MIGRATING, **LEGAL_DYNAMIC}[name]
    begun = {"dynamic": name in LEGAL_DYNAMIC, "migrating": name in LEGAL_MIGRATING}
    written(tmp_path, batches, **begun)
    assert found_in(tmp_path, loading) == ()


def test_a_log_that_begins_without_a_leader_is_refused(tmp_path, loading):
    (tmp_path / METADATA).mkdir()
    (tmp_path / METADATA / LOG).write_bytes(bytes_of(0, [data(0, METADATA_VERSION)])[0])
    assert refused(found_in(tmp_path, loading), "e > 0") == ("OtherRecord", 0)


@pytest.mark.parametrize(
    ("log", "offset", "fields", "action"),
    [
        ("combined", 58, {"voters": ()}, "WriteVoters"),
        ("combined", 57, {"kRaftVersion": 0}, "WriteVersion"),
        ("combined", 70, {"grantingVoters": ()}, "BeginEpoch"),
        ("combined", 77, {"leaderId": 2}, "BeginEpoch"),
        ("failover", 889, {"voters": ({"voterId": 3001}, {"voterId": 3002})}, "BeginEpoch"),
        ("failover", 851, {"grantingVoters": ({"voterId": 3000},)}, "BeginEpoch"),
    ],
    ids=["voters", "version", "votes", "leader", "listed", "majority"],
)
def test_a_real_log_with_another_control_record_is_refused(
    tmp_path, loading, real_logs, log, offset, fields, action
):
    node = next((real_logs / log).glob(f"n*/{METADATA}/*.log")).parent.parent
    shutil.copytree(node, tmp_path / "n")
    logs = sorted((tmp_path / "n" / METADATA).glob("*.log"))
    path = max(one for one in logs if int(one.stem) <= offset)
    path.write_bytes(with_control(path, offset, **fields))
    found = [f for f in found_in(tmp_path, loading) if f.weight is Weight.VIOLATION]
    assert refused([f for f in found if f.kind.startswith(RAFT)], "") == (action, offset)


CHECKPOINTS = {
    "other voters": ((level(1), voters((1, A), (2, B))), "Agree"),
    "another directory": ((level(1), voters((1, A), (2, B), (3, D))), "Agree"),
    "no voters": ((level(1),), "set # {}"),
    "no version": ((), "version = kraft_version"),
    "one voter twice": ((level(1), voters(*THREE, (1, A))), "twice"),
}


@pytest.mark.parametrize("name", [None, *CHECKPOINTS])
def test_a_checkpoint_holds_the_voters_in_force(tmp_path, loading, name):
    controls, said = CHECKPOINTS.get(name, ((level(1), voters(*THREE)), ""))
    end = written(tmp_path, [data(1), data(1)], dynamic=True)[1]
    checkpoint = checkpoint_of(*controls, records=[METADATA_VERSION])
    (tmp_path / METADATA / f"{end:020}-0000000001.checkpoint").write_bytes(checkpoint)
    found = found_in(tmp_path, loading)
    if name is None:
        assert found == ()
        return
    assert refused(found, said) == ("ReadCheckpoint", end)
    assert found[0].path.name.endswith(".checkpoint")


STARTED = {
    "legal": ([data(1), begun(DYNAMIC_WINS)], None, ""),
    "other voters": ([data(1), begun(leads(2, (1, 2), (1, 2)))], (1, 0, "BeginEpoch"), "Agree"),
    "no majority": ([begun(leads(2, IDS, (2,)))], (0, 0, "BeginEpoch"), "2 * Cardinality"),
    "no leader": ([data(2)], (0, 0, "OtherRecord"), "e = epoch"),
    "two at once": ([control(1, voters((1, A)))], (0, 0, "WriteVoters"), "old \\cup new"),
    "version": ([control(1, level(0))], (0, 0, "WriteVersion"), "version >= kraft_version"),
}


@pytest.mark.parametrize("name", STARTED)
def test_a_history_starts_with_the_voters_of_its_checkpoint(tmp_path, loading, name):
    batches, blame, said = STARTED[name]
    bases = continued(tmp_path, 50, checkpoint_of(level(1), voters(*THREE)), batches)
    found = found_in(tmp_path, loading)
    if blame is None:
        assert found == ()
    else:
        assert refused(found, said) == (blame[2], bases[blame[0]] + blame[1])


def test_a_static_history_learns_its_voters_from_the_first_leader(tmp_path, loading):
    batches = [data(1), begun(WINS), control(3, leads(3000, STATIC[:2], STATIC[:2]))]
    bases = continued(tmp_path, 50, checkpoint_of(), batches)
    assert refused(found_in(tmp_path, loading), "Agree") == ("BeginEpoch", bases[2])


def test_a_checkpoint_to_start_from_that_names_no_voters_is_refused(tmp_path, loading):
    continued(tmp_path, 50, checkpoint_of(level(1)), [data(1)])
    assert refused(found_in(tmp_path, loading), "set # {}") == ("ReadCheckpoint", 50)


def test_a_node_may_be_formatted_with_other_voters_than_the_first_leader(tmp_path, loading):
    written(tmp_path, [], dynamic=True)
    formatted = checkpoint_of(level(1), voters(*THREE), records=[], epoch=0)
    (tmp_path / METADATA / f"{0:020}-{0:010}.checkpoint").write_bytes(formatted)
    assert not [f for f in found_in(tmp_path, loading) if f.kind.startswith(RAFT)]


@pytest.mark.parametrize("where", ["log", "checkpoint"])
def test_a_kraft_version_that_the_spec_does_not_know_is_inconclusive(tmp_path, loading, where):
    if where == "log":
        written(tmp_path, [control(1, level(2), voters(*THREE)), begun(leads(9, (), ()))],
                dynamic=True)  # fmt: skip
    else:
        continued(tmp_path, 50, checkpoint_of(level(2), voters(*THREE)), [data(1)])
    report = audit([tmp_path], loading=loading)
    assert report.exit_code is ExitCode.INCONCLUSIVE
    (found,) = report.clusters[0].all_findings()
    assert (found.weight, found.kind) == (Weight.INCONCLUSIVE, "kraft.version not known")


def test_records_and_steps_are_counted(tmp_path, loading):
    written(tmp_path, [data(1), data(1), begun(DYNAMIC_WINS), data(2)], dynamic=True)
    counted = audit([tmp_path], loading=loading).clusters[0].spec_counts[RAFT]
    assert (counted.judged, counted.steps) == (sum(len(r) for _, _, r in DYNAMIC) + 4, 9)
