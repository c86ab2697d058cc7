"""Blocks of producer ids: each id is allocated once.

Kafka: ProducerIdControlManager. KIP-730.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.controller.operations.result import Result
from kraft.errors import ErrorCode
from kraft.records.cluster import ProducerIdsRecord
from kraft.rpc.allocate_producer_ids import AllocateProducerIdsResponse

if TYPE_CHECKING:
    from kraft.image.metadata_image import MetadataImage
    from kraft.rpc.allocate_producer_ids import AllocateProducerIdsRequest

BLOCK_SIZE: Final = 1000
"""The ids per block. Kafka: ProducerIdsBlock.PRODUCER_ID_BLOCK_SIZE."""

_LAST: Final = 2**63 - 1


def allocate_producer_ids(
    image: MetadataImage, request: AllocateProducerIdsRequest
) -> Result[AllocateProducerIdsResponse]:
    """Return the next block for a broker that asks under its registered epoch.

    Kafka: ProducerIdControlManager.generateNextProducerId.
    """
    registration = image.brokers.get(request.broker_id)
    if registration is None or registration.epoch != request.broker_epoch:
        return Result((), AllocateProducerIdsResponse(ErrorCode.STALE_BROKER_EPOCH))
    first = max(image.next_producer_id, 0)
    if first > _LAST - BLOCK_SIZE:
        return Result((), AllocateProducerIdsResponse(ErrorCode.UNKNOWN_SERVER_ERROR))
    record = ProducerIdsRecord(request.broker_id, request.broker_epoch, first + BLOCK_SIZE)
    response = AllocateProducerIdsResponse(producer_id_start=first, producer_id_len=BLOCK_SIZE)
    return Result((record,), response, is_atomic=False)
