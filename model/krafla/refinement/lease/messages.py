"""The messages in flight, as the spec has them: a bag of messages without ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.refinement.common.interner import Interner
from krafla.values import Function, Value, function, record
from kraft.rpc import BrokerHeartbeatRequest, BrokerHeartbeatResponse, BrokerRegistrationRequest

if TYPE_CHECKING:
    from krafla.refinement.lease.vocabulary import Vocabulary
    from kraft.sim.lease.network import Envelope

__all__ = ["MessageMapping"]


class MessageMapping:
    """The mapping from envelopes to messages of the spec. Each distinct message is built once."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._processes = vocabulary.processes
        self._messages: Interner[Function] = Interner()
        self._bags: Interner[Value] = Interner()

    def message(self, envelope: Envelope) -> Function:
        """Return the message that an envelope carries.

        Spec: BrokerLease!Message.
        """
        key = (envelope.incarnation_id, envelope.payload, envelope.is_awaited)
        return self._messages.get(key, lambda: self._built(envelope))

    def bag(self, network: tuple[Envelope, ...]) -> Value:
        """Return how many copies of each message are in flight."""
        counts: dict[Function, int] = {}
        for envelope in network:
            message = self.message(envelope)
            counts[message] = counts.get(message, 0) + 1
        return self._bags.get(frozenset(counts.items()), lambda: function(counts))

    def _built(self, envelope: Envelope) -> Function:
        incarnation = self._processes[envelope.incarnation_id]
        payload = envelope.payload
        if isinstance(payload, BrokerRegistrationRequest):
            return record(
                type="RegistrationRequest", incarnation=incarnation, awaited=envelope.is_awaited
            )
        if isinstance(payload, BrokerHeartbeatRequest):
            return record(
                type="HeartbeatRequest",
                incarnation=incarnation,
                awaited=envelope.is_awaited,
                epoch=payload.broker_epoch,
                metadata_offset=payload.current_metadata_offset,
                want_fence=payload.want_fence,
                want_shut_down=payload.want_shut_down,
            )
        if isinstance(payload, BrokerHeartbeatResponse):
            return record(
                type="HeartbeatResponse",
                incarnation=incarnation,
                error=payload.error_code.name,
                is_caught_up=payload.is_caught_up,
                is_fenced=payload.is_fenced,
                should_shut_down=payload.should_shut_down,
            )
        return record(
            type="RegistrationResponse",
            incarnation=incarnation,
            error=payload.error_code.name,
            epoch=payload.broker_epoch,
        )
