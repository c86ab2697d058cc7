"""A controller to drive by hand, over a Raft that commits on demand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kraft.controller import events
from kraft.controller.configuration import Configuration
from kraft.controller.effects import Append, Effect, Fatal, Reply
from kraft.controller.machine import on_event
from kraft.controller.operation_table import OPERATIONS, Operations
from kraft.controller.operations.defaults import Defaults
from kraft.controller.operations.errors import ControllerError
from kraft.controller.operations.result import Result
from kraft.controller.state import ControllerState, first_state, visible
from kraft.errors import ErrorCode
from kraft.ids import NodeId, Offset, OffsetAndEpoch
from kraft.image.metadata_image import METADATA_VERSION, MetadataImage
from kraft.records.cluster import FeatureLevelRecord
from kraft.records.topics import TOPIC_RESOURCE, ConfigRecord

if TYPE_CHECKING:
    from kraft.controller.operation_context import OperationContext
    from kraft.records.typed_record import TypedRecord

ME, OTHER = NodeId(1), NodeId(2)
LATEST = 27
VERSION = FeatureLevelRecord(METADATA_VERSION, LATEST)
CONFIGURATION = Configuration(Defaults(ME), (VERSION,))


@dataclass(frozen=True)
class Put:
    """Write values, one record each; refuse if the first has another value than `expected`."""

    values: tuple[tuple[str, str], ...]
    expected: str | None = None
    is_atomic: bool = True
    fails: bool = False


@dataclass(frozen=True)
class Get:
    """Read a value."""

    name: str


def value_of(image: MetadataImage, name: str) -> str | None:
    return image.configurations.get((TOPIC_RESOURCE, "t"), {}).get(name)


def config(name: str, value: str) -> ConfigRecord:
    return ConfigRecord(TOPIC_RESOURCE, "t", name, value)


def _put(asked: OperationContext) -> Result[str]:
    put: Put = asked.request
    if put.fails:
        raise KeyError("a mistake")
    if put.values and put.expected is not None:
        name, _ = put.values[0]
        if value_of(asked.image, name) != put.expected:
            raise ControllerError(ErrorCode.INVALID_REQUEST, "it is another value")
    records = tuple(config(*one) for one in put.values)
    return Result(records, "done", put.is_atomic)


PLAIN = Operations(
    {**OPERATIONS.writes, Put: _put}, {Get: lambda image, get: value_of(image, get.name)}
)


@dataclass
class Player:
    """Drives a controller. `log` has its appended batches, of which `committed` are handed over."""

    state: ControllerState = field(default_factory=lambda: first_state(CONFIGURATION, 0))
    operations: Operations = PLAIN
    now_ms: int = 0
    log: list[events.CommittedBatch] = field(default_factory=list)
    committed: int = 0
    effects: tuple[Effect, ...] = ()
    kraft_version: int = 0

    @property
    def log_end(self) -> Offset:
        return Offset(self.log[-1].base_offset + self.log[-1].count if self.log else 0)

    @property
    def image(self) -> MetadataImage:
        return visible(self.state).image

    def handle(self, event: events.Event) -> tuple[Effect, ...]:
        step = on_event(self.state, event, self.operations)
        self.state, self.effects = step.state, step.effects
        for effect in step.effects:
            if isinstance(effect, Append):
                assert effect.base_offset == self.log_end
                self.write(effect.epoch, effect.records)
        return step.effects

    def write(self, epoch: int, records: tuple[TypedRecord, ...], count: int = 0) -> None:
        count = count or len(records)
        self.log.append(events.CommittedBatch(self.log_end, epoch, records, count, 100 * count))

    def commit(self, count: int = 1) -> tuple[Effect, ...]:
        batches = tuple(self.log[self.committed : self.committed + count])
        self.committed += len(batches)
        return self.handle(events.BatchesCommitted(self.now_ms, batches))

    def commit_all(self) -> tuple[Effect, ...]:
        return self.commit(len(self.log) - self.committed)

    def lead(self, epoch: int = 1) -> tuple[Effect, ...]:
        """Write and commit the record that begins an epoch, and tell the controller of it."""
        self.write(epoch, (), 1)
        self.commit_all()
        return self.handle(events.LeaderChanged(self.now_ms, epoch, ME))

    def follow(self, epoch: int) -> tuple[Effect, ...]:
        return self.handle(events.LeaderChanged(self.now_ms, epoch, OTHER))

    def ask(self, request: Any, token: str = "t") -> tuple[Effect, ...]:
        return self.handle(
            events.RequestReceived(self.now_ms, token, request, kraft_version=self.kraft_version)
        )

    def load(self, end: int, *records: TypedRecord, epoch: int = 1) -> tuple[Effect, ...]:
        return self.handle(events.SnapshotLoaded(self.now_ms, OffsetAndEpoch(end, epoch), records))


def active() -> Player:
    """Return an active controller whose bootstrap records are committed."""
    player = Player()
    player.lead()
    player.commit_all()
    return player


def replies(effects: tuple[Effect, ...]) -> list[tuple[Any, Any]]:
    """Return the tokens and answers in order; an error as its code."""
    found = [(one.token, one.response) for one in effects if isinstance(one, Reply)]
    return [(token, getattr(response, "error_code", response)) for token, response in found]


def reason(effects: tuple[Effect, ...]) -> str:
    """Return the reason of the only effect, which is Fatal."""
    (fatal,) = effects
    assert isinstance(fatal, Fatal)
    return fatal.reason


def put(**values: str) -> Put:
    return Put(tuple(values.items()))
