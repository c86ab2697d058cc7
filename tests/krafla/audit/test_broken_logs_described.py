"""Checkpoints that hold more than the image that their log has, or hold it in another way."""

from __future__ import annotations

import google_crc32c
import pytest
from tests.krafla.audit.breaking import (
    LISTENER,
    OTHER,
    TIME,
    checkpoint,
    checkpoint_name,
    feature,
    partition,
    topic,
)
from tests.krafla.audit.old_logs import OldLog
from tests.krafla.audit.test_broken_logs_checkpoints import END, MOVED, SAME, SETUP, node
from tests.krafla.audit.test_broken_logs_written import acl, config, quota, scram, token

from krafla.audit.run import audit
from kraft.records.builder import control_batch, metadata_batch

NAN = quota(value=float("nan"))
THINGS = {
    "an ACL": acl(), "a quota": quota(), "a quota of NaN": NAN,
    "a credential": scram(), "a token": token(),
    "a configuration": config(name="background.threads", value="5"),
}  # fmt: skip


def kinds(folder, loading):
    found = audit([folder], loading=loading).clusters[0].all_findings()
    return [(one.kind, one.offset) for one in found]


def instead(api_key, **fields):
    """Return the records of the checkpoint, the first of a type preceded by another one of it."""
    place = next(place for place, r in enumerate(SAME) if r[0] == api_key)
    key, version, known = SAME[place]
    return [*SAME[:place], (key, version, {**known, **fields}), *SAME[place:]]


@pytest.mark.parametrize("api_key", [2, 12, 27])
def test_a_checkpoint_that_describes_one_thing_twice_is_rejected(tmp_path, loading, api_key):
    node(tmp_path, 0, [SETUP, MOVED], {END: instead(api_key)})
    assert ("S3", END) in kinds(tmp_path, loading)


def test_a_partition_that_another_record_of_the_checkpoint_replaces_is_rejected(tmp_path, loading):
    node(tmp_path, 0, [SETUP, MOVED], {END: instead(3, leader=2)})
    assert kinds(tmp_path, loading) == [("S3", END)]


@pytest.mark.parametrize("what", THINGS)
@pytest.mark.parametrize(("times", "held"), [(1, True), (2, False)])
def test_each_thing_is_described_once(tmp_path, loading, what, times, held):
    thing = THINGS[what]
    records = [*SAME, *[thing] * times]
    node(tmp_path, 0, [SETUP, [thing], MOVED], {END + 1: records})
    assert kinds(tmp_path, loading) == ([] if held else [("S3", END + 1)])


@pytest.mark.parametrize(("described", "held"), [([NAN], True), ([quota()], False), ([], False)])
def test_a_quota_of_nan_equals_only_itself(tmp_path, loading, described, held):
    node(tmp_path, 0, [SETUP, [NAN], MOVED], {END + 1: [*SAME, *described]})
    assert kinds(tmp_path, loading) == ([] if held else [("L4", END + 1)])


@pytest.mark.parametrize(
    ("record", "held"),
    [
        (config(name="background.threads", value=None), False),
        (config(name="background.threads", value=""), True),
        (quota(value=0.0, remove=True), False),
        (quota(), True),
        (feature("share.version", 0), False),
    ],
)
def test_a_record_that_removes_something_stands_in_no_checkpoint(tmp_path, loading, record, held):
    node(tmp_path, 0, [SETUP, *[[record]] * held, MOVED], {END + held: [*SAME, record]})
    assert kinds(tmp_path, loading) == ([] if held else [("S3", END)])


@pytest.mark.parametrize(
    ("moved", "held"), [(None, True), (12, False), (0, False), (27, False), (2, False)]
)
def test_a_checkpoint_has_the_order_in_which_kafka_writes_it(tmp_path, loading, moved, held):
    first = next((r for r in SAME if r[0] == moved), None)
    records = SAME if first is None else [*(r for r in SAME if r is not first), first]
    node(tmp_path, 0, [SETUP, MOVED], {END: records})
    assert kinds(tmp_path, loading) == ([] if held else [("S3", END)])


def of(*api_keys):
    return [r for r in SAME if r[0] in api_keys]


OTHER_TOPIC = topic("other", OTHER)
ITS_PARTITION = partition(topicId=OTHER)
ORDERS = {
    "topics whole": ([*of(2), *of(3), OTHER_TOPIC, ITS_PARTITION], True),
    "partitions in another order": ([*of(2), *reversed(of(3)), OTHER_TOPIC, ITS_PARTITION], True),
    "partitions before their topic": ([*of(3), *of(2), OTHER_TOPIC, ITS_PARTITION], False),
    "topics before all partitions": ([*of(2), OTHER_TOPIC, ITS_PARTITION, *of(3)], False),
    "a partition behind one of another topic": (
        [*of(2), *of(3)[:1], OTHER_TOPIC, ITS_PARTITION, *of(3)[1:]], False
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", ORDERS)
def test_a_checkpoint_describes_each_topic_whole(tmp_path, loading, what):
    topics, held = ORDERS[what]
    records = [*(r for r in SAME if r[0] < 2 or r[0] in (12, 27)), *topics, *of(4)]
    created = [OTHER_TOPIC, ITS_PARTITION]
    node(tmp_path, 0, [SETUP, created, MOVED], {END + 2: records})
    assert kinds(tmp_path, loading) == ([] if held else [("S3", END + 2)])


@pytest.mark.parametrize(("first", "held"), [("metadata.version", True), ("group.version", False)])
def test_a_checkpoint_begins_with_the_metadata_version(tmp_path, loading, first, held):
    features = sorted(of(12), key=lambda r: (r[2]["name"] != first, r[2]["name"]))
    node(tmp_path, 0, [SETUP, MOVED], {END: [*features, *(r for r in SAME if r[0] != 12)]})
    assert kinds(tmp_path, loading) == ([] if held else [("S3", END)])


@pytest.mark.parametrize(("behind", "held"), [(True, True), (False, False)])
def test_the_state_of_a_migration_stands_behind_the_features(tmp_path, loading, behind, held):
    log = OldLog(19, 19)
    state = (21, 0, {"zkMigrationState": 0})
    log.add(state)
    path = log.write(tmp_path) / checkpoint_name(log.end)
    brokers = [log.register(b, epoch=e, fenced=False) for b, e in sorted(log.epochs.items())]
    first = [*log.batches[0], state] if behind else [state, *log.batches[0]]
    path.write_bytes(checkpoint([*first, *brokers]))
    assert kinds(tmp_path, loading) == ([] if held else [("S3", log.end)])


def test_a_record_of_another_version_than_the_metadata_version_dictates_is_rejected(
    tmp_path, loading
):
    log = OldLog(19, 19)
    log.topic()
    brokers = [log.register(b, epoch=e, fenced=False) for b, e in sorted(log.epochs.items())]
    topic, (key, version, placed) = log.batches[-1]
    path = log.write(tmp_path) / checkpoint_name(log.end)
    same = [feature("metadata.version", 19), *brokers, topic]
    path.write_bytes(checkpoint([*same, (key, version, placed)]))
    assert kinds(tmp_path, loading) == []
    more = {"eligibleLeaderReplicas": None, "lastKnownElr": None}
    path.write_bytes(checkpoint([*same, (key, 2, {**placed, **more})]))
    assert kinds(tmp_path, loading) == [("L1", log.end)]


@pytest.mark.parametrize(
    ("level", "owner", "held"), [(7, 0, True), (19, 0, False), (19, -1, True), (7, -1, True)]
)
def test_producer_ids_have_no_owner_in_a_checkpoint_since_kafka_3_5(
    tmp_path, loading, level, owner, held
):
    log = OldLog(level, level)
    ids = {"brokerId": 0, "brokerEpoch": log.epochs[0], "nextProducerId": 1000}
    log.add((15, 0, ids))
    brokers = [log.register(b, epoch=e, fenced=False) for b, e in sorted(log.epochs.items())]
    known = {name for batch in log.batches for r in batch if r[0] == 0 for name in r[2]}
    brokers = [(*r[:2], {k: v for k, v in r[2].items() if k in known}) for r in brokers]
    path = log.write(tmp_path) / checkpoint_name(log.end)
    described = (15, 0, {**ids, "brokerId": owner})
    path.write_bytes(checkpoint([feature("metadata.version", level), *brokers, described]))
    assert kinds(tmp_path, loading) == ([] if held else [("W3", log.end)])


def resealed(raw, place, value):
    raw = bytearray(raw)
    raw[place] ^= value
    raw[17:21] = google_crc32c.value(bytes(raw[21:])).to_bytes(4, "big")
    return bytes(raw)


def parts():
    """Return the three batches of the checkpoint `SAME`: header, records, footer."""
    whole = checkpoint(SAME)
    head = control_batch(0, 1, TIME, [(3, {"version": 0, "lastContainedLogTimestamp": TIME})])
    foot = control_batch(1 + len(SAME), 1, TIME, [(4, {"version": 0})])
    return head, whole[len(head) : -len(foot)], foot


@pytest.mark.parametrize(
    ("batch", "place", "value", "kind"),
    [
        (1, 42, 2, "W1"),
        (1, 50, 1, "W1"),
        (0, 42, 2, "W1"),
        (1, -1, 2, "W2"),
        (0, -1, 2, "W2"),
        (1, 60, 0, None),
    ],
    ids=[
        "two times",
        "a producer",
        "two times of the header",
        "another time of a record",
        "another time of the header's record",
        "as Kafka writes it",
    ],
)
def test_a_batch_of_a_checkpoint_has_one_header(tmp_path, loading, batch, place, value, kind):
    target = node(tmp_path, 0, [SETUP, MOVED], {})
    batches = list(parts())
    if place < 0:  # the timestamp delta of the first record, after its length and attributes
        place = 63 if batches[batch][61] < 128 else 64
    batches[batch] = resealed(batches[batch], place, value)
    (target / checkpoint_name(END)).write_bytes(b"".join(batches))
    assert kinds(tmp_path, loading) == ([] if kind is None else [(kind, END)])


VERSION = (5, {"version": 0, "kRaftVersion": 1})
VOTER = {"voterId": 3000, "voterDirectoryId": OTHER, "endpoints": (LISTENER,),
         "kRaftVersionFeature": {"minSupportedVersion": 0, "maxSupportedVersion": 1}}  # fmt: skip
VOTERS = (6, {"version": 0, "voters": (VOTER,)})
LEADER = (2, {"version": 0, "leaderId": 3000, "voters": (), "grantingVoters": ()})


@pytest.mark.parametrize(
    ("first", "later", "held"),
    [
        ((VERSION, VOTERS), (), True), ((VERSION,), (), True), ((), (), True),
        ((VOTERS,), (), False), ((), (VERSION,), False), ((VERSION, VOTERS), (VOTERS,), False),
        ((LEADER,), (), False), ((), (LEADER,), False),
    ],
)  # fmt: skip
def test_a_checkpoint_has_its_voters_once_after_its_header(tmp_path, loading, first, later, held):
    head = (3, {"version": 0, "lastContainedLogTimestamp": TIME})
    data, offset = [control_batch(0, 1, TIME, [head, *first])], 1 + len(first)
    data.append(metadata_batch(offset, 1, TIME, SAME))
    offset += len(SAME)
    if later:
        data.append(control_batch(offset, 1, TIME, list(later)))
    data.append(control_batch(offset + len(later), 1, TIME, [(4, {"version": 0})]))
    target = node(tmp_path, 0, [SETUP, MOVED], {})
    (target / checkpoint_name(END)).write_bytes(b"".join(data))
    found = audit([tmp_path], loading=loading).clusters[0].all_findings()
    assert any(one.kind == "corrupt" for one in found) is not held
