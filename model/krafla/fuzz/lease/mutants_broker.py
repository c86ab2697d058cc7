"""Seeded bugs of a broker's lease: what it sends, takes for an answer, and serves under."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from krafla.fuzz.engine.mutant import Killer, seed_bug, wrong_answer
from kraft.broker import lease
from kraft.broker.lease import BrokerState
from kraft.errors import ErrorCode

if TYPE_CHECKING:
    from krafla.fuzz.engine.mutant import Mutant

__all__ = ["BROKER"]

BROKER: Final[list[Mutant]] = []
_seed = partial(seed_bug, BROKER, profile="restless")
_seed_self_fencing = partial(seed_bug, BROKER, profile="restless-self-fencing")
_LEASE: Final = "kraft.broker.lease"


@_seed("broker-takes-late-answers", "BrokerLifecycleManager", f"{_LEASE}:on_request_timeout",
       "A broker keeps the connection of a request that timed out, and takes its late answer.",
       killer=Killer(("RequestTimeout",), "messages", breaks="OneRequestInFlightInv")
       )  # fmt: skip
@wrong_answer
def _stays_connected(_right: Any, state: Any) -> Any:
    return lease.LeaseStep(replace(state, request=None))


@_seed("two-requests-in-flight", "KAFKA-15950", f"{_LEASE}:can_send_heartbeat",
       "A broker sends a heartbeat while it waits for an answer.",
       killer=Killer(("SendHeartbeat",), conjunct="~Waiting(i)"))  # fmt: skip
@wrong_answer
def _sends_while_waiting(right: Any, state: Any, *, want_fence: bool) -> Any:
    return right(replace(state, request=None), want_fence=want_fence)


@_seed("fenced-broker-runs", "BrokerLifecycleManager.BrokerHeartbeatResponseEvent",
       f"{_LEASE}:state_after",
       "A broker runs after any answer without an error, fenced or not.",
       killer=Killer(("HandleHeartbeatResponse",), "status"))  # fmt: skip
@wrong_answer
def _runs_on_any_reply(right: Any, current: Any, response: Any) -> Any:
    if current is BrokerState.RECOVERY and response.error_code is ErrorCode.NONE:
        return BrokerState.RUNNING
    return right(current, response)


@_seed("stale-epoch-broker-leaves", "BrokerLifecycleManager.BrokerHeartbeatResponseEvent",
       f"{_LEASE}:state_after",
       "A broker in its controlled shutdown ends on an error, as on leave to shut down.",
       killer=Killer(("HandleHeartbeatResponse",), "status"))  # fmt: skip
@wrong_answer
def _leaves_when_told_stale(right: Any, current: Any, response: Any) -> Any:
    if current is BrokerState.PENDING_CONTROLLED_SHUTDOWN and response.error_code:
        return BrokerState.SHUTTING_DOWN
    return right(current, response)


@_seed_self_fencing("stale-epoch-renews-lease", "KIP-343", f"{_LEASE}:on_heartbeat_response",
                    "The answer that a broker epoch is stale renews the lease.",
                    killer=Killer(("HandleHeartbeatResponse",), "lease_age"))  # fmt: skip
@wrong_answer
def _stale_answer_is_success(right: Any, state: Any, correlation_id: int, response: Any) -> Any:
    return right(state, correlation_id, replace(response, error_code=ErrorCode.NONE))


@_seed_self_fencing("lease-begins-after-request", "KIP-343", f"{_LEASE}:lease_start_of",
                    "A lease begins after its request was sent.",
                    killer=Killer(("HandleHeartbeatResponse",), "lease_age"))  # fmt: skip
@wrong_answer
def _lease_begins_late(_right: Any, _state: Any, request: Any) -> Any:
    return request.sent_ms + 1


@_seed_self_fencing("lease-is-void-at-timeout", "KIP-343", f"{_LEASE}:lease_is_void",
                    "A lease ends at its timeout, one unit too early.",
                    killer=Killer(("Tick",), "ServingProcesses"))  # fmt: skip
@wrong_answer
def _lease_is_void_early(_right: Any, state: Any, now_ms: int) -> bool:
    if state.broker_timeout_ms is None:
        return False
    start_ms = state.lease_start_ms
    return start_ms is None or bool(now_ms - start_ms >= state.broker_timeout_ms)


@_seed_self_fencing("serves-on-with-void-lease", "KIP-343", f"{_LEASE}:lease_is_void",
                    "A broker serves on when its lease is void.",
                    killer=Killer(("Tick", "HandleHeartbeatResponse"), "ServingProcesses")
                    )  # fmt: skip
@wrong_answer
def _lease_is_never_void(*_: Any) -> bool:
    return False


@_seed("ended-process-keeps-epoch", "BrokerLease!Exit", f"{_LEASE}:without_memory",
       "A process that ended keeps its broker epoch.",
       killer=Killer(("RequestShutdown", "HandleHeartbeatResponse"), "broker_epoch",
                     breaks="EndedKeepsNothingInv"))  # fmt: skip
@wrong_answer
def _remembers_its_epoch(right: Any, state: Any) -> Any:
    return replace(right(state), broker_epoch=state.broker_epoch)
