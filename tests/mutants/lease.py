"""Seeded bugs of the lease implementation, each with what must notice it.

A mutant replaces small functions of kraft by wrong ones. Most are bugs that Kafka had, or that the
KIPs warn of.
"""

from __future__ import annotations

from msgspec.structs import replace
from tests.mutants import lease_bugs as bugs
from tests.mutants.mutant import Mutant

from kraft.controller.operations.cluster_control import Decision
from kraft.records.lease import UnregisterBrokerRecord

_HEEDING = (
    "KeepFenced", "UnfenceBroker", "KeepUnfenced", "FenceOnRequest", "BeginControlledShutdown",
    "ContinueControlledShutdown", "ShutDownNow",
)  # fmt: skip
_FENCING = ("ShutDownNow", "FenceStaleBroker", "FenceOnRequest")
_LIFECYCLE = "kraft.broker.lease"
_ACTIVE = "kraft.sim.lease.active_controller"
_CONTROL = "kraft.controller.operations.cluster_control"
_HEARTBEATS = "kraft.controller.operations.heartbeats"

MUTANTS = (
    Mutant(
        "unfence before catching up", "KAFKA-13959",
        {f"{_HEARTBEATS}.is_caught_up": bugs.always(True)},
        ("UnfenceBroker",),
        conjunct="NextBrokerState(b, m) = next", breaks="UnfencedSawOwnRegistrationProp",
    ),
    Mutant(
        "amending takes a new epoch", "KAFKA-16952",
        {
            f"{_CONTROL}.register_broker": bugs.registering(
                lambda record, image: replace(record, broker_epoch=image.log_end),
                Decision.AMEND_REGISTRATION,
            )
        },
        ("AmendRegistration",), "registrations", breaks="EpochFollowsIncarnationProp",
    ),
    Mutant(
        "amending fences again", "KAFKA-16757",
        {
            f"{_CONTROL}.register_broker": bugs.registering(
                lambda record, _: replace(record, fenced=True), Decision.AMEND_REGISTRATION
            )
        },
        ("AmendRegistration",), "registrations", breaks="AmendKeepsStateProp",
    ),
    Mutant(
        "amending keeps what was reported", "BrokerHeartbeatManager.register",
        {f"{_ACTIVE}.after_record": bugs.keeps_after(bugs.is_amendment)},
        ("AmendRegistration",), "metadata_offset",
    ),
    Mutant(
        "a newcomer displaces a live session", "KIP-631",
        {f"{_CONTROL}.has_valid_session": bugs.always(False)},
        ("RegisterBroker",), conjunct="HasValidSession(b)", breaks="SessionProtectsProp",
    ),
    Mutant(
        "only unfenced brokers have sessions", "Kafka before BrokerHeartbeatTracker",
        {f"{_CONTROL}.register_broker": bugs.newcomer_displaces_fenced},
        ("RegisterBroker",), conjunct="HasValidSession(b)", breaks="SessionProtectsProp",
    ),
    Mutant(
        "a new registration inherits the session", "BrokerHeartbeatManager.register",
        {f"{_ACTIVE}.after_record": bugs.keeps_after(bugs.is_displacement)},
        ("RegisterBroker",), "contact_age",
    ),
    Mutant(
        "a new registration is not fenced", "KIP-631",
        {
            f"{_CONTROL}.register_broker": bugs.registering(
                lambda record, _: replace(record, fenced=False), Decision.REGISTER_BROKER
            )
        },
        ("RegisterBroker",), "registrations", breaks="NewRegistrationIsFencedProp",
    ),
    Mutant(
        "a refusal carries the epoch of the other", "KIP-631, DUPLICATE_BROKER_REGISTRATION",
        {f"{_CONTROL}.register_broker": bugs.refused_with_the_epoch},
        ("RefuseRegistration",), "messages",
    ),
    Mutant(
        "any epoch is heard", "ClusterControlManager.checkBrokerEpoch",
        {f"{_CONTROL}.is_current_epoch": bugs.any_registered},
        ("KeepFenced", "KeepUnfenced", "ContinueControlledShutdown"),
        conjunct="registrations[b].epoch = m.epoch",
    ),
    Mutant(
        "a heartbeat does not renew the session", "BrokerHeartbeatManager.touch",
        {f"{_ACTIVE}.touch": bugs.touch_without_contact},
        _HEEDING, "contact_age",
    ),
    Mutant(
        "a heartbeat does not report its offset", "BrokerHeartbeatManager.touch",
        {f"{_ACTIVE}.touch": bugs.touch_without_offset},
        _HEEDING, "metadata_offset",
    ),
    Mutant(
        "a broker leaves before the others have seen it", "KIP-841",
        {f"{_HEARTBEATS}.is_shutdown_seen": bugs.always(True)},
        ("ShutDownNow",), conjunct="NextBrokerState(b, m) = next",
        breaks="LeaveAwaitsOthersProp", profile="shutdowns",
    ),
    Mutant(
        "each heartbeat moves the shutdown offset", "KAFKA-14292",
        {f"{_ACTIVE}.on_broker_heartbeat_request": bugs.overwrites_shutdown_offset},
        ("ContinueControlledShutdown",), "controlled_shutdown_offset", profile="shutdowns",
    ),
    Mutant(
        "a failover starts no sessions", "KAFKA-18138",
        {f"{_ACTIVE}.fresh_heartbeats": bugs.activation(bugs.always(None))},
        ("FailOver",), "contact_age", breaks="UnfencedHasSessionInv",
    ),
    Mutant(
        "a failover counts the time before it", "ClusterControlManager.activate",
        {
            f"{_ACTIVE}.fresh_heartbeats": bugs.activation(
                lambda registration, now_ms: None if registration.fenced else now_ms - 1
            )
        },
        ("FailOver",), "contact_age",
    ),
    Mutant(
        "a failover gives fenced brokers sessions", "ClusterControlManager.activate",
        {f"{_ACTIVE}.fresh_heartbeats": bugs.activation(lambda _, now_ms: now_ms)},
        ("FailOver",), "contact_age",
    ),
    Mutant(
        "a session ends at its timeout", "BrokerHeartbeatTracker.hasValidSession",
        {f"{_HEARTBEATS}.is_within_session": bugs.session_ends_at_timeout},
        ("FenceStaleBroker",), conjunct="contact_age[b] > SessionTimeout",
    ),
    Mutant(
        "fencing does not end a controlled shutdown", "BrokerHeartbeatManager.fence",
        {f"{_ACTIVE}.after_record": bugs.fence_keeps_shutdown},
        _FENCING, "controlled_shutdown_offset", breaks="ShuttingDownIsUnfencedInv",
    ),
    Mutant(
        "fencing leaves the leaderships", "ReplicationControlManager.handleBrokerFenced",
        {f"{_ACTIVE}.replay": bugs.fence_keeps_leaderships},
        _FENCING, "leads", breaks="OnlyActiveBrokersLeadInv",
    ),
    Mutant(
        "unregistering keeps the soft state", "BrokerHeartbeatManager.remove",
        {
            f"{_ACTIVE}.after_record": bugs.keeps_after(
                lambda record, _: isinstance(record, UnregisterBrokerRecord)
            )
        },
        ("UnregisterBroker",), "contact_age", breaks="SoftStateOfRegisteredInv",
    ),
    Mutant(
        "replay ignores a change", "ClusterControlManager.replayRegistrationChange",
        {f"{_ACTIVE}.replay": bugs.replay_ignores_unfence},
        ("UnfenceBroker",), "registrations",
    ),
    Mutant(
        "a broker takes late answers", "BrokerLifecycleManager",
        {f"{_LIFECYCLE}.on_request_timeout": bugs.stays_connected},
        ("RequestTimeout",), "messages", breaks="OneRequestInFlightInv",
    ),
    Mutant(
        "two requests in flight", "KAFKA-15950",
        {f"{_LIFECYCLE}.can_send_heartbeat": bugs.sends_while_waiting},
        ("SendHeartbeat",), conjunct="~Waiting(i)",
    ),
    Mutant(
        "a fenced broker runs", "BrokerLifecycleManager.BrokerHeartbeatResponseEvent",
        {f"{_LIFECYCLE}.state_after": bugs.runs_on_any_reply},
        ("HandleHeartbeatResponse",), "status",
    ),
    Mutant(
        "a broker of a stale epoch leaves", "BrokerLifecycleManager.BrokerHeartbeatResponseEvent",
        {f"{_LIFECYCLE}.state_after": bugs.leaves_when_told_stale},
        ("HandleHeartbeatResponse",), "status",
    ),
    Mutant(
        "a stale epoch renews the lease", "KIP-343",
        {f"{_LIFECYCLE}.on_heartbeat_response": bugs.stale_answer_is_success},
        ("HandleHeartbeatResponse",), "lease_age", profile="restless-self-fencing",
    ),
    Mutant(
        "the lease begins after the request was sent", "KIP-343",
        {f"{_LIFECYCLE}.lease_start_of": lambda _, request: request.sent_ms + 1},
        ("HandleHeartbeatResponse",), "lease_age", profile="restless-self-fencing",
    ),
    Mutant(
        "a lease is void at its timeout already", "KIP-343",
        {f"{_LIFECYCLE}.lease_is_void": bugs.lease_is_void_early},
        ("Tick",), "ServingProcesses", profile="restless-self-fencing",
    ),
    Mutant(
        "a broker serves on when its lease is void", "KIP-343",
        {f"{_LIFECYCLE}.lease_is_void": lambda *_: False},
        ("Tick", "HandleHeartbeatResponse"), "ServingProcesses", profile="restless-self-fencing",
    ),
    Mutant(
        "a process that ended keeps its epoch", "BrokerLease!Exit",
        {f"{_LIFECYCLE}.without_memory": bugs.remembers_its_epoch},
        ("RequestShutdown", "HandleHeartbeatResponse"), "broker_epoch",
        breaks="EndedKeepsNothingInv",
    ),
)  # fmt: skip
