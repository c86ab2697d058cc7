"""Quotas and producer ids: scenarios 142 and 143 of Kafka's controller."""

from __future__ import annotations

import math

import pytest
from tests.kraft.controller.partitions import epoch_of, image_of

from kraft.controller.operations.client_quotas import alter_client_quotas
from kraft.controller.operations.errors import ControllerError
from kraft.controller.operations.producer_ids import allocate_producer_ids
from kraft.errors import ErrorCode
from kraft.ids import BrokerEpoch, BrokerId
from kraft.image.errors import RefusedRecordError
from kraft.image.replay import replay
from kraft.records.cluster import ProducerIdsRecord, QuotaEntity
from kraft.rpc.allocate_producer_ids import AllocateProducerIdsRequest
from kraft.rpc.client_quotas import (
    AlterClientQuotasRequest,
    ClientQuotaAlteration,
    ClientQuotaResult,
)

IMAGE = image_of((0,))
ALICE = (("user", "alice"),)
BYTES = "producer_byte_rate"


def altered(image, *alterations, **options):
    """Return the error of each entity, and the records; an alteration is an entity and quotas."""
    entries = tuple(ClientQuotaAlteration(entity, ops) for entity, ops in alterations)
    result = alter_client_quotas(image, AlterClientQuotasRequest(entries, **options))
    replay(image, result.records)
    return [one.error_code for one in result.response.entries], result.records


@pytest.mark.parametrize(
    ("entity", "name", "value"),
    [
        (ALICE, BYTES, 1024.0),
        ((("client-id", None), ("user", None)), "consumer_byte_rate", 5.0),
        ((("client-id", "c"),), "request_percentage", 0.5),
        (ALICE, "controller_mutation_rate", 2.5),
        ((("ip", "10.0.0.1"),), "connection_creation_rate", 3.0),
        ((("ip", None),), "connection_creation_rate", 3.0),
        ((("ip", "::1"),), "connection_creation_rate", 2.0**31 - 1),
    ],
)
def test_a_quota_is_set_once_and_removed_once(entity, name, value):
    codes, records = altered(IMAGE, (entity, ((name, value),)))
    assert (codes, len(records)) == ([ErrorCode.NONE], 1)
    image = replay(IMAGE, records)
    assert altered(image, (entity, ((name, value),))) == ([ErrorCode.NONE], ())
    assert altered(image, (entity, ((name, value),)), validate_only=True)[1] == ()
    _, records = altered(image, (entity, ((name, None),)))
    assert not replay(image, records).client_quotas
    assert altered(IMAGE, (entity, ((name, None),))) == ([ErrorCode.NONE], ())


def test_the_order_of_an_entitys_parts_does_not_matter():
    pair = ("user", "alice"), ("client-id", "c")
    image = replay(IMAGE, altered(IMAGE, (pair, ((BYTES, 5.0),)))[1])
    assert altered(image, (pair[::-1], ((BYTES, 5.0),)))[1] == ()


@pytest.mark.parametrize(
    ("entity", "name", "value"),
    [
        ((), BYTES, 5.0),
        ((("group", "g"),), BYTES, 5.0),
        ((("user", ""),), BYTES, 5.0),
        ((("user", "a"), ("user", "")), BYTES, 5.0),
        ((("ip", "10.0.0.1"), ("user", "a")), BYTES, 5.0),
        ((("ip", "nowhere"),), "connection_creation_rate", 5.0),
        ((("ip", None),), BYTES, 5.0),
        (ALICE, "connection_creation_rate", 5.0),
        (ALICE, "no.such", 5.0),
        (ALICE, BYTES, 0.0),
        (ALICE, BYTES, -1.0),
        (ALICE, BYTES, 1.5),
        (ALICE, BYTES, 2.0**64),
        (ALICE, BYTES, math.inf),
        (ALICE, BYTES, math.nan),
        ((("ip", None),), "connection_creation_rate", 2.0**31),
    ],
)
def test_an_invalid_quota_is_refused_and_the_others_are_set(entity, name, value):
    good = (("user", "good"),), ((BYTES, 5.0),)
    codes, records = altered(IMAGE, (entity, (("request_percentage", None), (name, value))), good)
    assert codes == [ErrorCode.INVALID_REQUEST, ErrorCode.NONE]
    assert [one.entity[0].entity_name for one in records] == ["good"]


def test_the_quotas_of_one_entity_are_atomic():
    both = ALICE, ((BYTES, 5.0), ("no.such", 5.0))
    assert altered(IMAGE, both) == ([ErrorCode.INVALID_REQUEST], ())
    twice = ALICE, ((BYTES, 5.0), (BYTES, 6.0))
    assert altered(IMAGE, twice) == ([ErrorCode.INVALID_REQUEST], ())


def test_an_entity_that_occurs_twice_is_refused_but_its_first_quotas_are_written():
    codes, records = altered(IMAGE, (ALICE, ((BYTES, 5.0),)), (ALICE, ((BYTES, 6.0),)))
    assert (codes, [one.value for one in records]) == ([ErrorCode.INVALID_REQUEST], [5.0])


@pytest.mark.parametrize("first", ["a", "", None])
def test_of_two_names_of_one_type_in_an_entity_the_last_counts(first):
    entity = ("user", first), ("client-id", "c"), ("user", "b")
    request = AlterClientQuotasRequest((ClientQuotaAlteration(entity, ((BYTES, 5.0),)),))
    result = alter_client_quotas(IMAGE, request)
    (answer,), (record,) = result.response.entries, result.records
    assert answer == ClientQuotaResult((("user", "b"), ("client-id", "c")))
    assert record.entity == (QuotaEntity("user", "b"), QuotaEntity("client-id", "c"))
    # It is the same entity as one that is named once.
    once = (("client-id", "c"), ("user", "b")), ((BYTES, 6.0),)
    codes, records = altered(IMAGE, (entity, ((BYTES, 5.0),)), once)
    assert (codes, [one.value for one in records]) == ([ErrorCode.INVALID_REQUEST], [5.0])


def test_a_request_with_more_quotas_than_fit_into_a_batch_is_refused():
    many = [((("user", f"u{number}"),), ((BYTES, 5.0),)) for number in range(10_001)]
    with pytest.raises(ControllerError, match="POLICY_VIOLATION"):
        altered(IMAGE, *many)


def allocated(image, broker_id=1, epoch=None):
    """Return the answer to a broker that asks for producer ids, and the records."""
    epoch = epoch_of(broker_id) if epoch is None else BrokerEpoch(epoch)
    request = AllocateProducerIdsRequest(BrokerId(broker_id), epoch)
    result = allocate_producer_ids(image, request)
    return result.response, result.records


def test_no_producer_id_is_allocated_twice():
    image, given = IMAGE, []
    for broker_id in (1, 2, 1):
        answer, records = allocated(image, broker_id)
        given += range(answer.producer_id_start, answer.producer_id_start + answer.producer_id_len)
        (record,) = records
        assert (record.broker_id, record.broker_epoch) == (broker_id, epoch_of(broker_id))
        image = replay(image, records)
    assert given == list(range(3000))
    with pytest.raises(RefusedRecordError):
        replay(image, [ProducerIdsRecord(1, 101, 3000)])


@pytest.mark.parametrize(("broker_id", "epoch"), [(1, 7), (9, 109)])
def test_a_broker_under_another_epoch_gets_no_producer_ids(broker_id, epoch):
    answer, records = allocated(IMAGE, broker_id, epoch)
    assert (answer.error_code, records) == (ErrorCode.STALE_BROKER_EPOCH, ())


def test_producer_ids_run_out_before_their_type_overflows():
    last = replay(IMAGE, [ProducerIdsRecord(1, 101, 2**63 - 1 - 1000)])
    answer, records = allocated(last)
    assert (answer.error_code, records[0].next_producer_id) == (ErrorCode.NONE, 2**63 - 1)
    answer, records = allocated(replay(last, records))
    assert (answer.error_code, records) == (ErrorCode.UNKNOWN_SERVER_ERROR, ())
