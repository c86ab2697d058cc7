"""Checkpoints and votes that differ from their log: endpoints, racks, states of a migration."""

from __future__ import annotations

import json

import pytest
from tests.krafla.audit.breaking import (
    NOTHING,
    OTHER,
    SECTIONS,
    TIME,
    checkpoint,
    checkpoint_name,
    feature,
    first_refusal,
    from_start,
)
from tests.krafla.audit.editing import LOG, METADATA
from tests.krafla.audit.old_logs import OldLog, continued
from tests.krafla.audit.test_broken_logs_checkpoints import END, MOVED, SAME, SETUP, node

from krafla.audit.run import audit
from kraft.ids import ZERO_UUID
from kraft.records.builder import control_batch, metadata_batch

ENDPOINT = {"name": "P", "host": "h", "port": 1, "securityProtocol": 0}
SECURE = {"name": "S", "host": "h", "port": 2, "securityProtocol": 1}
FEATURES = next(r[2]["features"] for r in SAME if r[0] == 27)


def kinds(folder, loading):
    found = audit([folder], loading=loading).clusters[0].all_findings()
    return [(one.kind, one.offset) for one in found]


def controller(*endpoints):
    fields = {"controllerId": 3009, "incarnationId": OTHER, "zkMigrationReady": False}
    return (27, 0, {**fields, "endPoints": endpoints, "features": FEATURES})


def edited(broker, **fields):
    """Return the records of the checkpoint with other fields of a broker's registration."""
    return [(*r[:2], {**r[2], **fields}) if r[0] == 0 and r[2]["brokerId"] == broker else r
            for r in SAME]  # fmt: skip


def endpoints_of(broker):
    (found,) = (r[2]["endPoints"] for r in SAME if r[0] == 0 and r[2]["brokerId"] == broker)
    return found


@pytest.mark.parametrize(
    ("name", "value"), [("host", "elsewhere"), ("port", 9), ("securityProtocol", 3)]
)
def test_a_checkpoint_with_another_endpoint_of_a_broker_is_rejected(tmp_path, loading, name, value):
    first, *others = endpoints_of(1)
    records = edited(1, endPoints=({**first, name: value}, *others))
    node(tmp_path, 0, [SETUP, MOVED], {END: records})
    assert kinds(tmp_path, loading) == [("L4", END)]


def test_a_checkpoint_with_another_rack_is_rejected(tmp_path, loading):
    node(tmp_path, 0, [SETUP, MOVED], {END: edited(2, rack="another")})
    assert kinds(tmp_path, loading) == [("L4", END)]


def test_checkpoints_of_two_nodes_with_different_racks_are_rejected(tmp_path, loading):
    node(tmp_path / "n1", END, [[NOTHING]], {END: SAME})
    node(tmp_path / "n2", END, [[NOTHING]], {END: edited(2, rack="another")})
    found = audit([tmp_path], loading=loading).clusters[0].all_findings()
    refusal = first_refusal(found, "L6")
    assert (refusal.kind, refusal.offset) == ("L6", END)


@pytest.mark.parametrize(
    ("endpoints", "expected"),
    [
        ((SECURE, ENDPOINT), []),
        ((ENDPOINT,), [("L4", END)]),
        (({**ENDPOINT, "port": 7}, SECURE), [("L4", END)]),
        (({**ENDPOINT, "host": "elsewhere"}, SECURE), [("L4", END)]),
    ],
    ids=["another order", "one less", "another port", "another host"],
)
def test_the_endpoints_of_a_controller_in_a_checkpoint_are_those_of_its_record(
    tmp_path, loading, endpoints, expected
):
    batches = [SETUP[:-1], [controller(ENDPOINT, SECURE)], MOVED]
    records = [r for r in SAME if r[0] != 3 or r[2]["partitionId"] == 0]
    records = sorted([*records, controller(*endpoints)], key=lambda r: SECTIONS[r[0]])
    node(tmp_path, 0, batches, {END: records})
    assert kinds(tmp_path, loading) == expected


def state(number):
    return (21, 0, {"zkMigrationState": number})


def registered(log):
    return [log.register(b, epoch=epoch, fenced=False) for b, epoch in sorted(log.epochs.items())]


LEVEL = feature("metadata.version", 19)


@pytest.mark.parametrize(
    ("states", "written", "held"),
    [
        ((0,), 0, True), ((2,), 2, True), ((2, 1, 3), 3, True), ((0,), None, True), ((2,), 0, True),
        ((2, 1), None, True), ((), 0, True), ((0,), 2, False), ((2,), 1, False),
        ((2, 1), 3, False), ((2, 1, 3), 1, False),
    ],
)  # fmt: skip
def test_a_checkpoint_has_the_state_of_the_migration_or_none(
    tmp_path, loading, states, written, held
):
    log = OldLog(19, 19)
    for number in states:
        log.add(state(number))
    said = [] if written is None else [state(written)]
    path = log.write(tmp_path) / checkpoint_name(log.end)
    path.write_bytes(checkpoint([LEVEL, *said, *registered(log)]))
    assert kinds(tmp_path, loading) == ([] if held else [("L4", log.end)])


@pytest.mark.parametrize(
    ("first", "after", "second", "held"),
    [(0, NOTHING, 2, True), (0, state(0), 2, True), (2, state(1), 0, True),
     (None, NOTHING, 3, True), (2, state(1), 2, False)],
)  # fmt: skip
def test_a_node_may_forget_the_state_with_a_checkpoint_of_a_release_that_writes_none(
    tmp_path, loading, first, after, second, held
):
    log = OldLog(19, 19)
    saids = [[] if one is None else [state(one)] for one in (first, second)]
    states = [[LEVEL, *said, *registered(log)] for said in saids]
    end = continued(tmp_path, states[0], [after]) + 1
    (tmp_path / METADATA / checkpoint_name(end)).write_bytes(checkpoint(states[1]))
    assert kinds(tmp_path, loading) == ([] if held else [("L7", end)])


def voted(folder, number, *, epoch, for_node):
    """Write a node's log, led by node 3000 in its epoch, and its vote in a quorum-state file."""
    path = from_start(folder / "n", [feature("metadata.version", 27)])
    (path.parent / "meta.properties").write_text(f"version=1\ncluster.id=c\nnode.id={number}\n")
    data = {"leaderId": -1, "leaderEpoch": epoch, "votedId": for_node, "data_version": 1}
    directory = ZERO_UUID if for_node < 0 else OTHER
    (path / "quorum-state").write_text(json.dumps({**data, "votedDirectoryId": directory}))
    return path / LOG


@pytest.mark.parametrize(
    ("number", "epoch", "for_node", "held"),
    [(3001, 1, 3002, False), (3000, 1, 3001, False), (3001, 1, 3000, True), (3000, 1, 3000, True),
     (3001, 1, -1, True), (3001, 2, 3002, True), (3002, 1, 3002, True)],
)  # fmt: skip
def test_a_node_has_no_other_vote_in_an_epoch_than_the_log_says(
    tmp_path, loading, number, epoch, for_node, held
):
    log = voted(tmp_path, number, epoch=epoch, for_node=for_node)
    listed = [{"voterId": voter} for voter in (3000, 3001, 3002)]
    fields = {"version": 0, "leaderId": 3000, "voters": listed, "grantingVoters": listed[:2]}
    begun = control_batch(0, 1, TIME, [(2, fields)])
    log.write_bytes(begun + metadata_batch(1, 1, TIME, [feature("metadata.version", 27)]))
    assert kinds(tmp_path, loading) == ([] if held else [("QuorumEpoch", 0)])
