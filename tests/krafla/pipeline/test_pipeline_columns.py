"""The typed columns of records say what their JSON says."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
from tests.kraft.records.samples import leader_change

from krafla.pipeline.columns import COLUMNS, columns_of
from krafla.pipeline.decode import RecordChoice, batch_rows
from krafla.pipeline.tables import RECORDS, SCHEMAS
from kraft.log.checkpoint import read_checkpoint
from kraft.log.segment import iter_batches
from kraft.records.builder import metadata_batch
from kraft.records.metadata_schemas import METADATA_SCHEMAS

REAL = Path(__file__).parents[3] / "traces" / "kafka-4.1"
NAMES = {
    "topicId": "topic_id", "partitionId": "partition_id", "brokerId": "broker_id",
    "brokerEpoch": "broker_epoch", "controllerId": "controller_id",
    "incarnationId": "incarnation_id", "leaderEpoch": "leader_epoch",
    "partitionEpoch": "partition_epoch", "replicas": "replicas", "isr": "isr",
    "addingReplicas": "adding_replicas", "removingReplicas": "removing_replicas",
    "eligibleLeaderReplicas": "eligible_leader_replicas", "resourceType": "resource_type",
    "resourceName": "resource_name", "featureLevel": "feature_level",
}  # fmt: skip


def records(batches, **choice):
    names = SCHEMAS[RECORDS].names
    rows = batch_rows(batches, "f", RecordChoice(**choice))
    found = [dict(zip(names, row, strict=True)) for table, row in rows if table == RECORDS]
    return pa.RecordBatch.from_pylist(found, SCHEMAS[RECORDS]).to_pylist()


def of_bytes(tmp_path, *batches, **choice):
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(b"".join(batches))
    return records(iter_batches(path), **choice)


def real_records():
    found = []
    for path in sorted(REAL.glob("*/*/__cluster_metadata-0/*")):
        if path.suffix == ".log":
            found += records(iter_batches(path))
        elif path.suffix == ".checkpoint":
            found += records(read_checkpoint(path))
    return found


def test_the_columns_of_real_records_are_the_fields_of_their_json():
    seen = set()
    for row in real_records():
        fields = json.loads(row["fields"])
        for field, column in NAMES.items():
            if field in fields:
                seen.add(column)
                assert row[column] == fields[field], (row["type"], column)
        if row["type"] not in ("FENCE_BROKER_RECORD", "UNFENCE_BROKER_RECORD"):
            others = COLUMNS.keys() - {"fenced", "in_controlled_shutdown", "leader", "name",
                                       "value", "controller_id"}  # fmt: skip
            filled = {name for name in others if row[name] is not None}
            given = {column for field, column in NAMES.items() if field in fields}
            # A tagged field that has its default is not in the JSON; of these, only lists.
            assert {n for n in filled - given if row[n] != []} == set(), row["type"]
    assert {"topic_id", "isr", "broker_epoch", "partition_epoch", "controller_id"} <= seen


def test_what_a_change_leaves_as_it_was_is_null(tmp_path):
    topic = "AAAAAAAAAAAAAAAAAAAAAg"
    change = {"partitionId": 3, "topicId": topic, "leader": 4}
    kept = {"partitionId": 3, "topicId": topic, "isr": [1, 2]}
    leaderless = {"partitionId": 3, "topicId": topic, "leader": -1}
    shut = {"brokerId": 1, "brokerEpoch": 9, "fenced": -1, "inControlledShutdown": 1}
    stays = {"brokerId": 1, "brokerEpoch": 9}
    fence = {"id": 1, "epoch": 9}
    pairs = [(5, 0, change), (5, 0, kept), (5, 0, leaderless), (17, 2, shut), (17, 2, stays),
             (7, 0, fence), (8, 0, fence)]  # fmt: skip
    rows = of_bytes(tmp_path, leader_change(), metadata_batch(1, 1, 0, pairs))
    first, *rows = rows
    assert first["controller_id"] is not None
    assert [row["leader"] for row in rows] == [4, None, -1, None, None, None, None]
    assert [row["isr"] for row in rows] == [None, [1, 2], *[None] * 5]
    assert [row["fenced"] for row in rows] == [None, None, None, False, None, True, False]
    assert [row["in_controlled_shutdown"] for row in rows] == [*[None] * 3, True, *[None] * 3]
    assert [row["broker_id"] for row in rows] == [*[None] * 3, *[1] * 4]
    assert [row["broker_epoch"] for row in rows] == [*[None] * 3, *[9] * 4]


def test_a_secret_is_in_no_column_unless_it_is_asked_for(tmp_path):
    secret = (4, 0, {"name": "ssl.key.password", "value": "CANARY", "resourceName": "x"})
    plain = (4, 0, {"name": "retention.ms", "value": "7", "resourceName": "x"})
    batches = leader_change(), metadata_batch(1, 1, 0, [secret, plain])
    _, hidden, shown = of_bytes(tmp_path, *batches)
    assert "CANARY" not in str(hidden)
    assert (hidden["value"], shown["value"]) == ("(redacted)", "7")
    _, asked, _ = of_bytes(tmp_path, *batches, secrets=True)
    assert asked["value"] == "CANARY"
    assert "CANARY" in asked["fields"]


def test_a_quota_has_no_text_as_its_value_and_a_name_cannot_steer_a_terminal(tmp_path):
    quota = (14, 0, {"entity": [], "key": "k", "value": 1.5})
    named = (2, 0, {"name": "a\x1b[31m", "topicId": "AAAAAAAAAAAAAAAAAAAAAg"})
    _, row, topic = of_bytes(tmp_path, leader_change(), metadata_batch(1, 1, 0, [quota, named]))
    assert row["value"] is None
    assert topic["name"] == "a\\x1b[31m"


def test_only_the_records_that_are_asked_for_become_rows_and_all_are_checked():
    path = next(REAL.glob("crash/*/__cluster_metadata-0/*.log"))
    every = records(iter_batches(path))
    for types in ({"PARTITION_CHANGE_RECORD", "LeaderChange"}, {"TOPIC_RECORD"}, set()):
        wanted = [row for row in every if row["type"] in types]
        assert records(iter_batches(path), types=frozenset(types)) == wanted
    assert {"PARTITION_CHANGE_RECORD", "LeaderChange"} <= {row["type"] for row in every}


def test_every_type_of_record_has_its_columns():
    for api_key in METADATA_SCHEMAS:
        assert len(columns_of(api_key, {})) == len(COLUMNS)
