"""Checks of what an active controller remembers of brokers: sessions, reports, departures.

No log shows that. The checks keep what a controller should remember, from the requests that reached
it, and compare what it does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.stack.controller_effects import appended_by, response_of
from krafla.fuzz.stack.eligibility_checks import (
    MINIMUM,
    check_cleared,
    check_eligible,
    check_not_eligible,
)
from krafla.fuzz.stack.permissions import is_elr_enabled
from kraft.controller import effects as does
from kraft.controller import events
from kraft.controller.state import is_active
from kraft.errors import ErrorCode
from kraft.records.lease import (
    FENCE,
    UNFENCE,
    BrokerRegistrationChangeRecord,
    FenceBrokerRecord,
    RegisterBrokerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
)
from kraft.records.topics import ConfigRecord, PartitionChangeRecord
from kraft.rpc import BrokerHeartbeatRequest, BrokerRegistrationRequest

if TYPE_CHECKING:
    from krafla.fuzz.stack.committed_log import CommittedLog
    from kraft.controller.events import CommittedBatch
    from kraft.controller.state import ControllerState
    from kraft.image.metadata_image import MetadataImage
    from kraft.sim.raft.steps import ListenerStep, SimStep

__all__ = ["SOFT_STATE_PROPERTIES", "SoftStateChecks"]

SOFT_STATE_PROPERTIES: Final = (
    "DuplicateHasSessionProp", "EligibleBelowMinimumProp", "FencedOnlyWhenDueProp",
    "LostDirectoryIsRecordedProp", "ShutdownGrantedInTimeProp", "ShutdownSeenByAllProp",
    "StaleIsFencedProp", "UncleanIsNotEligibleProp", "UnfencedOnlyCaughtUpProp",
    "UnfencedWhenCaughtUpProp",
)  # fmt: skip

_PATIENCE: Final = 40
"""The most times that a controller may be woken before it fences a stale broker."""
_OF_BROKERS: Final = (
    BrokerRegistrationChangeRecord,
    FenceBrokerRecord,
    RegisterBrokerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
)
_Key = tuple[int, int]
"""A broker and its epoch."""


@dataclass(slots=True)
class _Tenure:
    """What one process was told while it was active; times are those of its events.

    ``reported`` is cleared by each record about a broker, as in the controller; ``last_reported``
    is not. ``leaving`` has the offset that all other brokers must have seen. ``registered`` has the
    offsets of registrations that the controller wrote itself: a request that arrives twice is
    written twice. ``loaded_end`` is the end of the last snapshot that the process has loaded, which
    raised the offsets of the registrations in it; one that it made itself raises none.
    """

    contacts: dict[_Key, int] = field(default_factory=dict)
    reported: dict[int, int] = field(default_factory=dict)
    last_reported: dict[_Key, int] = field(default_factory=dict)
    leaving: dict[_Key, int] = field(default_factory=dict)
    overdue: dict[int, int] = field(default_factory=dict)
    registered: dict[_Key, int] = field(default_factory=dict)
    loaded_end: int = 0


class SoftStateChecks:
    """The tenure of each active process, and where each broker registered last."""

    def __init__(self, committed_log: CommittedLog) -> None:
        self._tenures: dict[int, _Tenure] = {}
        self._registered: dict[_Key, int] = {}
        self._loaded: dict[int, int] = {}
        committed_log.observers.append(self._note_registrations)

    def _note_registrations(
        self, batch: CommittedBatch, _before: MetadataImage, _after: MetadataImage
    ) -> None:
        for offset, record in enumerate(batch.records, start=batch.base_offset):
            if isinstance(record, RegisterBrokerRecord):
                self._registered[record.broker_id, record.broker_epoch] = offset

    def check(self, step: SimStep, listener: ListenerStep) -> None:
        """Check a step of a controller. Raises Violated."""
        before, after, event = listener.before, listener.after, listener.event
        loaded_end = self._loaded_by(step, listener)
        if not is_active(before):
            if is_active(after):
                self._tenures[step.incarnation] = _begin(before, event.now_ms, loaded_end)
            return
        tenure = self._tenures.setdefault(step.incarnation, _Tenure(loaded_end=loaded_end))
        if isinstance(event, events.RequestReceived) and is_active(after):
            if isinstance(event.request, BrokerHeartbeatRequest):
                self._heartbeat(tenure, listener, event)
            elif isinstance(event.request, BrokerRegistrationRequest):
                _check_registration(tenure, listener, event)
        for record in appended_by(listener):
            if isinstance(record, _OF_BROKERS):
                self._record(tenure, listener, record)
            elif isinstance(record, PartitionChangeRecord):
                check_eligible(listener, record)
            elif isinstance(record, ConfigRecord) and record.name == MINIMUM:
                check_cleared(listener, record)
        if isinstance(event, events.Poll):
            _check_stale(tenure, before, event.now_ms)
        if not is_active(after):
            del self._tenures[step.incarnation]

    def _loaded_by(self, step: SimStep, listener: ListenerStep) -> int:
        """Return the end of the last snapshot that a process has loaded, or began with."""
        if isinstance(listener.event, events.SnapshotLoaded):
            self._loaded[step.incarnation] = listener.after.snapshot_end
        return self._loaded.setdefault(step.incarnation, listener.before.snapshot_end)

    def _heartbeat(
        self, tenure: _Tenure, listener: ListenerStep, event: events.RequestReceived
    ) -> None:
        request: BrokerHeartbeatRequest = event.request
        image = listener.before.written.image
        key = request.broker_id, request.broker_epoch
        registration = image.brokers.get(request.broker_id)
        response = response_of(listener, event.token)
        if registration is None or registration.epoch != request.broker_epoch:
            return
        granted = getattr(response, "should_shut_down", False)
        answered = getattr(response, "error_code", None) is ErrorCode.NONE
        leads = any(one.leader == request.broker_id for one in image.partitions.values())
        if key in tenure.leaving and answered:
            _check_leaving(tenure, image, key, granted=granted, leads=leads)
        elif answered and request.want_shut_down and not granted and not registration.fenced:
            tenure.leaving[key] = listener.after.write_end - 1
        tenure.contacts[key] = event.now_ms
        tenure.reported[request.broker_id] = request.current_metadata_offset
        tenure.last_reported[key] = request.current_metadata_offset
        if answered:
            _check_directories(listener, request)
            self._check_caught_up(tenure, listener, request, told=response.is_caught_up)
        wants = not (request.want_fence or request.want_shut_down)
        if registration.fenced and wants and answered:
            self._check_unfenced(tenure, listener, request)

    def _registration_of(self, tenure: _Tenure, key: _Key) -> int | None:
        """Return the offset of a broker's last registration, as the active controller knows it."""
        return tenure.registered.get(key, self._registered.get(key))

    def _check_unfenced(
        self, tenure: _Tenure, listener: ListenerStep, request: BrokerHeartbeatRequest
    ) -> None:
        """Check that a broker is unfenced once it has read its registration and what was loaded."""
        at = self._registration_of(tenure, (request.broker_id, request.broker_epoch))
        if at is None or request.current_metadata_offset < max(at, tenure.loaded_end):
            return
        if not any(_unfences(one, request.broker_id) for one in appended_by(listener)):
            raise Violated(
                "UnfencedWhenCaughtUpProp",
                f"broker {request.broker_id} has read all before {request.current_metadata_offset} "
                f"and its registration at {at}, yet stays fenced",
            )

    def _check_caught_up(
        self,
        tenure: _Tenure,
        listener: ListenerStep,
        request: BrokerHeartbeatRequest,
        *,
        told: bool,
    ) -> None:
        """Check that a broker hears that it has caught up exactly if it has read its registration.

        A controller that has loaded a snapshot may wait until a broker has read all of it.

        Kafka: ReplicationControlManager.processBrokerHeartbeat, ClusterControlManager.replay,
        QuorumController.handleLoadSnapshot.
        """
        key = request.broker_id, request.broker_epoch
        at, read = self._registration_of(tenure, key), request.current_metadata_offset
        if at is None or not (key in tenure.registered or at < listener.before.committed_end):
            # Another controller wrote a registration that this one does not know yet.
            return
        if read < at if told else read >= max(at, tenure.loaded_end):
            raise Violated(
                "AnsweredIsCommittedInv",
                f"broker {key[0]}, which has read up to {read}, hears that it has "
                f"{'' if told else 'not '}caught up; its registration is at {at}",
            )

    def _record(self, tenure: _Tenure, listener: ListenerStep, record: Any) -> None:
        broker_id, key = record.broker_id, (record.broker_id, record.broker_epoch)
        if _fences(record):
            _check_fence(tenure, listener, key)
            tenure.leaving.pop(key, None)
        elif _unfences(record, broker_id):
            self._check_unfence(tenure, listener, key)
        elif isinstance(record, RegisterBrokerRecord):
            # As Kafka is built: a process that registers again is no longer shutting down.
            tenure.leaving.pop(key, None)
            tenure.registered[key] = _offset_of(listener, record)
        tenure.reported.pop(broker_id, None)

    def _check_unfence(self, tenure: _Tenure, listener: ListenerStep, key: _Key) -> None:
        request = getattr(listener.event, "request", None)
        at = self._registration_of(tenure, key)
        if (
            isinstance(request, BrokerHeartbeatRequest)
            and key == (request.broker_id, request.broker_epoch)
            and not (request.want_fence or request.want_shut_down)
            and at is not None
            and request.current_metadata_offset >= at
        ):
            return
        raise Violated(
            "UnfencedOnlyCaughtUpProp",
            f"broker {key[0]} of epoch {key[1]}, whose registration is at {at}, is unfenced "
            f"on {request}",
        )

    def forget(self, incarnation: int) -> None:
        """Forget the tenure of a process that has ended."""
        self._tenures.pop(incarnation, None)
        self._loaded.pop(incarnation, None)


def _begin(state: ControllerState, now_ms: int, loaded_end: int) -> _Tenure:
    """Return a tenure in which each unfenced broker has a whole session."""
    brokers = state.written.image.brokers.items()
    return _Tenure(
        {(one, each.epoch): now_ms for one, each in brokers if not each.fenced},
        loaded_end=loaded_end,
    )


def _offset_of(listener: ListenerStep, record: Any) -> int:
    """Return the offset at which a step writes a record."""
    return next(
        offset
        for effect in listener.effects
        if isinstance(effect, does.Append)
        for offset, one in enumerate(effect.records, start=effect.base_offset)
        if one is record
    )


def _fences(record: Any) -> bool:
    if isinstance(record, BrokerRegistrationChangeRecord):
        return record.fenced == FENCE
    return isinstance(record, FenceBrokerRecord)


def _unfences(record: Any, broker_id: int) -> bool:
    if isinstance(record, BrokerRegistrationChangeRecord):
        return record.broker_id == broker_id and record.fenced == UNFENCE
    return isinstance(record, UnfenceBrokerRecord) and record.broker_id == broker_id


def _check_fence(tenure: _Tenure, listener: ListenerStep, key: _Key) -> None:
    """Check that a broker is fenced only if it asked for it or its session has run out."""
    event = listener.event
    request = getattr(event, "request", None)
    if isinstance(request, BrokerHeartbeatRequest):
        mine = key == (request.broker_id, request.broker_epoch)
        if mine and (request.want_fence or request.want_shut_down or key in tenure.leaving):
            return
        raise Violated("FencedOnlyWhenDueProp", f"broker {key[0]} is fenced on {request}")
    contact = tenure.contacts.pop(key, None)
    timeout_ms = listener.before.configuration.defaults.broker_session_timeout_ms
    if contact is None or event.now_ms - contact <= timeout_ms:
        heard = "never heard of" if contact is None else f"heard {event.now_ms - contact} ms ago"
        raise Violated(
            "FencedOnlyWhenDueProp",
            f"broker {key[0]} of epoch {key[1]} is fenced, {heard}; a session is {timeout_ms} ms",
        )


def _check_stale(tenure: _Tenure, state: ControllerState, now_ms: int) -> None:
    """Check that a stale broker is fenced soon, counted in the controller's chances."""
    timeout_ms = state.configuration.defaults.broker_session_timeout_ms
    for broker_id, registration in state.written.image.brokers.items():
        contact = tenure.contacts.get((broker_id, registration.epoch), now_ms)
        if registration.fenced or now_ms - contact <= timeout_ms:
            tenure.overdue.pop(broker_id, None)
            continue
        chances = tenure.overdue[broker_id] = tenure.overdue.get(broker_id, 0) + 1
        if chances > _PATIENCE:
            raise Violated(
                "StaleIsFencedProp",
                f"broker {broker_id} was last heard {now_ms - contact} ms ago and is not fenced",
            )


def _check_leaving(
    tenure: _Tenure, image: MetadataImage, key: _Key, *, granted: bool, leads: bool
) -> None:
    """Check that a broker may shut down exactly when all remaining brokers have seen its offset."""
    offset = tenure.leaving[key]
    staying = [
        (broker_id, registration.epoch)
        for broker_id, registration in sorted(image.brokers.items())
        if not registration.fenced and (broker_id, registration.epoch) not in tenure.leaving
    ]
    behind = [one for one, epoch in staying if tenure.last_reported.get((one, epoch), -1) < offset]
    if granted and behind:
        raise Violated(
            "ShutdownSeenByAllProp",
            f"broker {key[0]} may shut down, "
            f"but broker {behind[0]} has not reported offset {offset}",
        )
    late = [one for one, _ in staying if tenure.reported.get(one, -1) < offset]
    if not granted and not late and not leads:
        raise Violated(
            "ShutdownGrantedInTimeProp",
            f"broker {key[0]} may not shut down, though it leads nothing and all have reported "
            f"offset {offset}",
        )


def _check_registration(
    tenure: _Tenure, listener: ListenerStep, event: events.RequestReceived
) -> None:
    """Check that a second process of a broker is refused exactly during the first one's session."""
    before, request = listener.before, event.request
    registration = before.written.image.brokers.get(request.broker_id)
    response = response_of(listener, event.token)
    code = getattr(response, "error_code", None)
    if registration is None or registration.incarnation_id == request.incarnation_id:
        return
    is_unclean = registration.epoch != request.previous_broker_epoch
    if code is ErrorCode.NONE and is_unclean and is_elr_enabled(before.written.image):
        check_not_eligible(listener, request.broker_id)
    contact = tenure.contacts.get((request.broker_id, registration.epoch))
    timeout_ms = before.configuration.defaults.broker_session_timeout_ms
    valid = contact is not None and event.now_ms - contact <= timeout_ms
    if valid != (code is ErrorCode.DUPLICATE_BROKER_REGISTRATION):
        if code not in {ErrorCode.NONE, ErrorCode.DUPLICATE_BROKER_REGISTRATION}:
            return
        raise Violated(
            "DuplicateHasSessionProp",
            f"another process of broker {request.broker_id} is answered {code.name}; the last "
            f"contact of the registered one was at {contact}, now is {event.now_ms}",
        )


def _check_directories(listener: ListenerStep, request: BrokerHeartbeatRequest) -> None:
    """Check that a directory that has failed is no longer registered.

    The last directory is an exception. Versions without directories register none.
    """
    registration = listener.after.written.image.brokers[request.broker_id]
    left = set(registration.directories) & set(request.offline_log_dirs)
    if left and left != set(registration.directories):
        raise Violated(
            "LostDirectoryIsRecordedProp",
            f"broker {request.broker_id} has lost {sorted(left)} and stays registered with it",
        )
