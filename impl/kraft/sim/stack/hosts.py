"""The host above Raft on one machine: its process hosts a controller or a broker.

Raft calls a host like any state machine. The host also gets the messages that are not Raft's, and
is woken when something is due. Each of its actions is a separate step of the simulation.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final

from kraft.chance import derive
from kraft.controller.record_bytes import decode_records
from kraft.ids import IncarnationId, uuid_text
from kraft.raft.effects import SendRequest, SendResponse
from kraft.raft.events import Source
from kraft.sim.raft.steps import ListenerStep

if TYPE_CHECKING:
    from kraft.ids import NodeId
    from kraft.log.batches import LogBatch
    from kraft.records.typed_record import TypedRecord
    from kraft.sim.raft.cluster import Simulation
    from kraft.sim.raft.machines import Connection, Process
    from kraft.sim.raft.steps import Envelope

_KNOWN_BATCHES: Final = 4096


def incarnation_of(seed: int, number: int) -> IncarnationId:
    """Return the incarnation id of a process, by its number in the run."""
    words = (derive(seed, "incarnation", number), derive(seed, "incarnation", number, 1))
    return IncarnationId(uuid_text(b"".join(word.to_bytes(8, "big") for word in words)))


class Decoder:
    """Decodes the records of each batch once, for all replicas that have it."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[int, bytes], tuple[TypedRecord, ...]] = OrderedDict()

    def records(self, batch: LogBatch) -> tuple[TypedRecord, ...]:
        """Return the records of a batch; one of Raft's own has none."""
        if not batch.values:
            return ()
        key = batch.base_offset, batch.raw
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = decode_records(batch.values, batch.base_offset)
            if len(self._known) > _KNOWN_BATCHES:
                self._known.popitem(last=False)
        return known


class Host:
    """The common part of controllers and brokers: a process, and how it sends messages."""

    __slots__ = ("decoder", "process", "sim")

    kind = ""

    def __init__(self, sim: Simulation, process: Process, decoder: Decoder) -> None:
        self.sim = sim
        self.process = process
        self.decoder = decoder

    def own_ns(self) -> int:
        """Return the time by the machine's clock, in nanoseconds."""
        return self.process.machine.clock.read(self.sim.time)

    def tell(
        self,
        before: Any,
        event: Any,
        after: Any,
        effects: tuple[Any, ...] = (),
        received: Envelope | None = None,
    ) -> None:
        """Tell observers about a step."""
        step = ListenerStep(self.kind, before, event, after, effects, self.stands())
        self.sim.emit_listener(self.process, step, received)

    def stands(self) -> str:
        """Return the position of the host in a few words."""
        return ""

    def ask(self, node_id: NodeId, correlation_id: int, request: Any) -> None:
        """Send a request to a node."""
        effect = SendRequest(node_id, correlation_id, request)
        self.sim.send_request(self.process, effect, self.sim.time)

    def reply(self, token: int, response: Any) -> None:
        """Answer the request with this message id, if its connection still exists."""
        if token in self.process.connections:
            source = Source(self.process.connections[token].envelope.source, token)
            self.sim.send_response(self.process, SendResponse(source, response), self.sim.time)

    def accept(self, connection: Connection) -> int:
        """Return the token of an arrived request; from now on it can be answered."""
        envelope = connection.envelope
        self.process.connections[envelope.message_id] = connection
        return envelope.message_id
