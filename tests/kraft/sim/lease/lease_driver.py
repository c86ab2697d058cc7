"""A controller of the lease to drive by hand, with its state, its time and its last step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.controller.operations.heartbeats import HeartbeatState, heartbeat_state
from kraft.ids import BrokerEpoch, BrokerId, IncarnationId, Offset
from kraft.rpc import BrokerHeartbeatRequest, BrokerRegistrationRequest, UnregisterBrokerRequest
from kraft.sim.lease.active_controller import (
    ActiveControllerStep,
    Append,
    ControllerState,
    Reply,
    first_controller,
    on_activation,
    on_broker_heartbeat_request,
    on_broker_registration_request,
    on_election,
    on_session_expiry,
    on_unregister_broker_request,
)

if TYPE_CHECKING:
    from kraft.controller.operations.lease_view import BrokerRegistration
    from kraft.records.lease import LeaseRecord

SESSION_TIMEOUT_MS = 9_000
FIRST = IncarnationId("first-process-of-one-A")
SECOND = IncarnationId("second-process-of-oneA")


class LeaseDriver:
    """The active controller of a log that is empty at first."""

    def __init__(self) -> None:
        self.state: ControllerState = first_controller(SESSION_TIMEOUT_MS)
        self.now_ms = 0
        self.step: ActiveControllerStep | None = None

    def register(self, broker: int = 1, incarnation_id: IncarnationId = FIRST):
        """Send a registration; return the response."""
        request = BrokerRegistrationRequest(BrokerId(broker), incarnation_id)
        return self._take(on_broker_registration_request(self.state, request, self.now_ms))

    def heartbeat(
        self,
        broker: int = 1,
        *,
        offset: int | None = None,
        epoch: int | None = None,
        want_fence: bool = False,
        want_shut_down: bool = False,
    ):
        """Send a heartbeat, by default of the registered epoch and the end of the log."""
        registration = self.state.image.registrations.get(BrokerId(broker))
        if epoch is None:
            epoch = -1 if registration is None else registration.epoch
        request = BrokerHeartbeatRequest(
            BrokerId(broker),
            BrokerEpoch(epoch),
            Offset(self.log_end - 1 if offset is None else offset),
            want_fence,
            want_shut_down,
        )
        return self._take(on_broker_heartbeat_request(self.state, request, self.now_ms))

    def unfenced(self, broker: int = 1, incarnation_id: IncarnationId = FIRST) -> None:
        """Register a broker and unfence it."""
        self.register(broker, incarnation_id)
        assert not self.heartbeat(broker).is_fenced

    def leading(self, broker: int = 1, incarnation_id: IncarnationId = FIRST) -> None:
        """Register a broker, unfence it, and make it lead a partition."""
        self.unfenced(broker, incarnation_id)
        self._take(on_election(self.state, BrokerId(broker)))

    def fence_stale(self, broker: int = 1) -> None:
        """Fence a broker whose session ran out."""
        self._take(on_session_expiry(self.state, BrokerId(broker), self.now_ms))

    def unregister(self, broker: int = 1) -> None:
        """Remove a registration."""
        self._take(
            on_unregister_broker_request(self.state, UnregisterBrokerRequest(BrokerId(broker)))
        )

    def fail_over(self) -> None:
        """Make another controller active."""
        self._take(on_activation(self.state.image, SESSION_TIMEOUT_MS, self.now_ms))

    def _take(self, step: ActiveControllerStep):
        self.step, self.state = step, step.state
        replies = [effect.response for effect in step.effects if isinstance(effect, Reply)]
        return replies[0] if replies else None

    @property
    def log_end(self) -> int:
        """The offset of the next record."""
        return self.state.image.log_end

    @property
    def appended(self) -> tuple[LeaseRecord, ...]:
        """The records that the last event appended."""
        assert self.step is not None
        appends = [effect for effect in self.step.effects if isinstance(effect, Append)]
        return appends[0].records if appends else ()

    def registration(self, broker: int = 1) -> BrokerRegistration:
        """Return a broker's registration in the image."""
        return self.state.image.registrations[BrokerId(broker)]

    def soft(self, broker: int = 1) -> HeartbeatState:
        """Return the soft state of a broker."""
        return heartbeat_state(self.state.heartbeats, BrokerId(broker))
