"""What docs/kip-differences.md says that no other test shows, and its table of records."""

from __future__ import annotations

from pathlib import Path

from tests.kraft.controller.partitions import DEFAULTS, KEY, TOPIC, after, epoch_of, image_of
from tests.tidy.document_rules import table_rows

from kraft.broker.partition_leader import send_alter_partition, view_of
from kraft.controller.operations.alter_partition import alter_partition
from kraft.controller.operations.leadership import fence_broker
from kraft.controller.operations.reassignments import alter_partition_reassignments
from kraft.ids import PartitionId
from kraft.image.replay import replay
from kraft.profile import KIP_631
from kraft.records.kip631_schemas import KIP_631_SCHEMAS
from kraft.records.metadata_schemas import METADATA_SCHEMAS
from kraft.rpc.alter_partition import AlterPartitionRequest
from kraft.rpc.controller_registration import ControllerRegistrationRequest
from kraft.rpc.kip631_names import api_key_of
from kraft.rpc.partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
)

PAGE = Path(__file__).resolve().parents[2] / "docs" / "kip-differences.md"


def moving(image, target):
    """Return the image after a reassignment."""
    asked = ReassignablePartition(TOPIC, PartitionId(0), target)
    request = AlterPartitionReassignmentsRequest((asked,))
    return replay(image, alter_partition_reassignments(image, DEFAULTS, request).records)


def called(schema):
    """Return the name of a record as the page has it."""
    words = "".join(word.capitalize() for word in schema.name.split("_"))
    return f"`{words}`"


def test_the_table_of_records_is_that_of_the_schemas():
    rows = {int(row["id"]): row for _, row in table_rows(PAGE) if "id" in row}
    assert set(rows) == set(KIP_631_SCHEMAS) | set(METADATA_SCHEMAS)
    for api_key, row in rows.items():
        before, now = KIP_631_SCHEMAS.get(api_key), METADATA_SCHEMAS.get(api_key)
        if before is not None:
            assert row["the kip"] == called(before)
        assert row["kafka 4.1"] == ("-" if now is None else called(now))
        if now is not None:
            assert row["versions"] == (f"0-{now.newest}" if now.newest else "")


def test_a_registration_of_a_controller_is_request_seventy():
    assert api_key_of(ControllerRegistrationRequest) == 70
    assert api_key_of(ControllerRegistrationRequest, KIP_631) == 70


def test_what_an_unclean_election_completes_ends_with_the_next_change():
    configs = {"unclean.leader.election.enable": "true"}
    image = moving(image_of((1, 3), (3,), configs=configs), (1,))
    image = replay(image, fence_broker(image, DEFAULTS, 3))
    partition = image.partitions[KEY]
    assert (partition.leader, partition.isr, partition.removing_replicas) == (1, (1,), (3,))
    _, asked = send_alter_partition(*KEY, view_of(1, partition), (1,), {1: epoch_of(1)})
    request = AlterPartitionRequest(1, epoch_of(1), (asked,))
    done = after(image, alter_partition(image, DEFAULTS, request).records)
    assert (done.replicas, done.removing_replicas) == ((1,), ())


def test_a_replica_removed_while_too_few_are_in_sync_stays_eligible():
    image = image_of((1, 2, 3), (1,), min_isr=2, eligible_leader_replicas=(3,))
    partition = moving(image, (1,)).partitions[KEY]
    assert (partition.replicas, partition.eligible_leader_replicas) == ((1,), (3,))
