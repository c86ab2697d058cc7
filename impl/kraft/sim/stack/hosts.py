"""What is above Raft on one machine: a controller or a broker, hosted by its process.

A host is told what Raft tells a state machine, gets the messages that are not Raft's, and is woken
when something is due. Each thing that it does is a step of the simulation of its own.
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
    """The records of batches; each batch is decoded once, whoever has a copy of it."""

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
    """What controllers and brokers have in common: a process, and how to speak."""

    __slots__ = ("decoder", "process", "sim")

    kind = ""

    def __init__(self, sim: Simulation, process: Process, decoder: Decoder) -> None:
        self.sim = sim
        self.process = process
        self.decoder = decoder

    def own_ns(self) -> int:
        """Return the time by the clock of its machine, in nanoseconds."""
        return self.process.machine.clock.read(self.sim.time)

    def tell(
        self,
        before: Any,
        event: Any,
        after: Any,
        effects: tuple[Any, ...] = (),
        received: Envelope | None = None,
    ) -> None:
        """Tell observers what it did."""
        step = ListenerStep(self.kind, before, event, after, effects, self.stands())
        self.sim.emit_listener(self.process, step, received)

    def stands(self) -> str:
        """Return in a few words where the host is."""
        return ""

    def ask(self, node_id: NodeId, correlation_id: int, request: Any) -> None:
        """Send a request to a node."""
        effect = SendRequest(node_id, correlation_id, request)
        self.sim.send_request(self.process, effect, self.sim.time)

    def reply(self, token: int, response: Any) -> None:
        """Answer the request whose message has this id, if its connection is still there."""
        if token in self.process.connections:
            source = Source(self.process.connections[token].envelope.source, token)
            self.sim.send_response(self.process, SendResponse(source, response), self.sim.time)

    def accept(self, connection: Connection) -> int:
        """Return the token of a request that has come; it can be answered from now on."""
        envelope = connection.envelope
        self.process.connections[envelope.message_id] = connection
        return envelope.message_id
