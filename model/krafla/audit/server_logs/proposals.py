"""Proposals of unseen steps before a sighting, judged by the spec.

A proposal takes steps of the spec until the spec refuses one. Then the sighting is refused too, for
the spec's reason.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from krafla.audit.server_logs.lease import NIL, NO_NUMBER
from krafla.audit.server_logs.numbers import WrittenOffsets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.audit.server_logs.candidate import Candidate, StepTaker
    from krafla.audit.server_logs.operations import Operation
    from krafla.audit.server_logs.sightings import Coverage, Sighting
    from krafla.values import Value

LAST: Final = "PENDING_CONTROLLED_SHUTDOWN"
_LATER: Final = ("STARTING", "RECOVERY", "RUNNING", LAST)


class Proposals:
    """The proposals for the sightings of one cluster."""

    def __init__(self, taker: StepTaker, coverage: Coverage) -> None:
        self._taker = taker
        self._coverage = coverage

    def after_heartbeat(
        self, candidate: Candidate, sighting: Sighting, wanted: str, *, want_fence: bool = False
    ) -> Iterator[Candidate]:
        """Yield candidates in which the registered process, in state `wanted`, sent a heartbeat."""
        assert sighting.operation is not None, "only records follow a heartbeat"
        registered = candidate.of("registrations", sighting.operation.broker)
        if registered == NIL:
            yield candidate
            return
        process = registered.incarnation
        if not self.is_covered(sighting):
            candidate = self.advanced(candidate, process, wanted)
        yield self._taker.send_heartbeat(candidate, process, want_fence=want_fence) or candidate

    def advanced(self, candidate: Candidate, process: str, wanted: str) -> Candidate:
        """Return the candidate with a process without a log moved to a state, or towards it."""
        for _ in _LATER:
            status = candidate.of("status", process)
            if status not in _LATER or _LATER.index(status) >= _LATER.index(wanted):
                break
            step = self._one_further(candidate, process, status)
            if step is None:
                break
            candidate = step
        return candidate

    def _one_further(self, candidate: Candidate, process: str, status: str) -> Candidate | None:
        if status == "RUNNING":
            return self._taker.take(candidate, "RequestShutdown", process)
        answered = candidate
        if not any("is_fenced" in m for m in candidate.messages(process)):
            asked = self._taker.send_heartbeat(candidate, process, want_fence=status == "STARTING")
            answered = (asked and self._taker.handle_heartbeat(asked, process)) or candidate
        for message in answered.messages(process):
            if "is_fenced" in message:
                return self._taker.take(answered, "HandleHeartbeatResponse", message)
        return None

    def with_leadership(self, candidate: Candidate, op: Operation) -> Candidate:
        """Return the candidate in which a broker leads if it does by the log."""
        leads: Any = candidate.state["leads"]
        if not op.leads or op.broker in leads:
            return candidate
        elected = self._taker.take(candidate, "ElectLeader", op.broker)
        if elected is None:
            return candidate
        end = elected.ranks[-1].last if elected.ranks else 0
        return replace(elected, ranks=(*elected.ranks, WrittenOffsets(NO_NUMBER, NO_NUMBER, end)))

    def with_offsets_reported(self, candidate: Candidate, op: Operation) -> Candidate:
        """Return the candidate in which other brokers reported the controlled shutdown offset."""
        wanted = candidate.of("controlled_shutdown_offset", op.broker)
        if wanted == NO_NUMBER:
            return candidate
        for other in sorted(members(self._taker.spec.evaluate("StayingBrokers", candidate.state))):
            if candidate.of("metadata_offset", other) < wanted:
                process = candidate.of("registrations", other).incarnation
                candidate = self._taker.exchange_heartbeat(candidate, process) or candidate
        return candidate

    def with_contact(self, candidate: Candidate, hint: Sighting) -> Candidate:
        """Return the candidate after a heartbeat of a process, if it can have sent one."""
        process = hint.incarnation or ""
        if candidate.of("broker_epoch", process) == NO_NUMBER:
            return candidate
        return self._taker.exchange_heartbeat(candidate, process) or candidate

    def after_answer(
        self, candidate: Candidate, process: str, *, want_fence: bool
    ) -> Iterator[Candidate]:
        """Yield the candidate in which the controller answered a heartbeat of the process."""
        asked = self._taker.send_heartbeat(candidate, process, want_fence=want_fence)
        heard = None if asked is None else self._taker.handle_heartbeat(asked, process)
        if heard is not None:
            yield heard

    def with_epoch_known(self, candidate: Candidate, process: str) -> Candidate:
        """Return the candidate in which a process knows its epoch, if an answer is in flight."""
        for message in candidate.messages(process):
            if message.type == "RegistrationResponse":
                return (
                    self._taker.take(candidate, "HandleRegistrationResponse", message) or candidate
                )
        return candidate

    def after_registration_request(self, candidate: Candidate, process: str) -> Candidate:
        """Return the candidate in which a process sent a registration request before it ends.

        The request outlives the process, so it may register the process later. A process that has
        an epoch sends none.
        """
        return self._taker.send_registration(candidate, process) or candidate

    def is_covered(self, sighting: Sighting) -> bool:
        """Return whether the log of a sighting's broker covers the time of the sighting."""
        op, event = sighting.operation, sighting.event
        broker = op.broker if op is not None else None
        if broker is None and event is not None:
            broker = event.broker
        return broker is not None and self._coverage.broker(broker, sighting.time_ms)


def members(value: Value) -> list[int]:
    """Return the broker ids in a set of the spec."""
    assert isinstance(value, frozenset), "a set of brokers"
    return [member for member in value if isinstance(member, int)]
