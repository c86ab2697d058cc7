"""The requests of clients in this simulation: two values that are always set together.

MetadataLog leaves the meaning of requests and records open. Here, two configurations of one name
are the image. A request sets both if the first is as expected. So half a batch would be visible,
and answers depend on earlier writes, committed or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
from immutables import Map

from kraft.controller.operation_table import Operations
from kraft.controller.operations.errors import ControllerError
from kraft.controller.operations.result import Result
from kraft.errors import ErrorCode
from kraft.records.topics import TOPIC_RESOURCE, ConfigRecord

if TYPE_CHECKING:
    from kraft.controller.operation_context import OperationContext
    from kraft.image.metadata_image import MetadataImage

LEFT: Final = "left"
RIGHT: Final = "right"
_NAME: Final = "both"
_NOTHING: Final[Map[str, str]] = Map()


class SetValue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Set both values to `to` if the first is `expected`; refuse otherwise.

    Spec: MCMetadataLog!Set.
    """

    expected: int
    to: int


class Mistake(msgspec.Struct, frozen=True):
    """A request whose operation has a bug."""


def value_of(image: MetadataImage, key: str) -> int:
    """Return one of the two values; 0 before it was set. Spec: MCMetadataLog!ZeroImage."""
    return int(image.configurations.get((TOPIC_RESOURCE, _NAME), _NOTHING).get(key, "0"))


def set_value(asked: OperationContext) -> Result[ErrorCode]:
    """Return the records of a SetValue, none if the values are set already.

    Spec: MCMetadataLog!RecordsToSet, MCMetadataLog!ResultOfSet.
    """
    request: SetValue = asked.request
    if value_of(asked.image, LEFT) != request.expected:
        raise ControllerError(ErrorCode.INVALID_REQUEST, "it has another value")
    if request.expected == request.to:
        return Result((), ErrorCode.NONE)
    # 0 means no configuration, so that a value can also be removed.
    value = str(request.to) if request.to else None
    records = tuple(ConfigRecord(TOPIC_RESOURCE, _NAME, key, value) for key in (LEFT, RIGHT))
    return Result(records, ErrorCode.NONE)


def make_mistake(_: OperationContext) -> Result[None]:
    """Raise an unexpected exception. Kafka: EventHandlerExceptionInfo, RuntimeException."""
    raise RuntimeError("a bug of an operation")


OPERATIONS: Final = Operations({SetValue: set_value, Mistake: make_mistake}, {})
"""All operations of the controllers in this simulation."""
