"""The configuration of a simulated cluster: processes, timeouts, and network behaviour."""

from __future__ import annotations

from typing import Final

import msgspec

from kraft.ids import BrokerId, IncarnationId, uuid_bytes
from kraft.profile import KAFKA_4_1, KIP_631

SESSION_TIMEOUT_MS: Final = KAFKA_4_1.session_timeout_ms  # broker.session.timeout.ms
HEARTBEAT_INTERVAL_MS: Final = KAFKA_4_1.heartbeat_interval_ms  # broker.heartbeat.interval.ms


class ConfigurationError(ValueError):
    """A configuration that no cluster can have; the message names the field and the value."""


class ProcessIdentity(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One broker process: its incarnation id, and the broker id it is configured with."""

    incarnation_id: IncarnationId
    broker_id: BrokerId


class Configuration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything about a run that is not a choice: the constants of BrokerLease, in milliseconds.

    `broker_timeout_ms` is None where brokers do not fence themselves, as in Kafka; then
    `max_skew_ms` is 0. With `reorder`, a request that timed out may arrive after its successor, and
    requests may arrive twice. `heartbeat_interval_ms` and `request_timeout_ms` only guide the
    scheduler.

    Raises ConfigurationError if a value is out of range or a process is listed twice.
    """

    processes: tuple[ProcessIdentity, ...]
    session_timeout_ms: int = SESSION_TIMEOUT_MS
    heartbeat_interval_ms: int = HEARTBEAT_INTERVAL_MS
    request_timeout_ms: int = SESSION_TIMEOUT_MS // 2
    broker_timeout_ms: int | None = None
    max_skew_ms: int = 0
    reorder: bool = True

    def __post_init__(self) -> None:
        """Refuse an impossible configuration."""
        if not self.processes:
            raise ConfigurationError("processes: there is none")
        ids = [identity.incarnation_id for identity in self.processes]
        for incarnation_id in sorted(ids):
            if ids.count(incarnation_id) > 1:
                raise ConfigurationError(f"processes: {incarnation_id} is listed twice")
            try:
                uuid_bytes(incarnation_id)
            except ValueError as error:
                raise ConfigurationError(f"processes: {error}") from None
        positive = ("session_timeout_ms", "heartbeat_interval_ms", "request_timeout_ms")
        for name in positive:
            if getattr(self, name) < 1:
                raise ConfigurationError(f"{name}: {getattr(self, name)} is not positive")
        if self.broker_timeout_ms is not None and self.broker_timeout_ms < 1:
            raise ConfigurationError(f"broker_timeout_ms: {self.broker_timeout_ms} is not positive")
        if self.max_skew_ms < 0:
            raise ConfigurationError(f"max_skew_ms: {self.max_skew_ms} is negative")
        if self.max_skew_ms and self.broker_timeout_ms is None:
            raise ConfigurationError(
                f"max_skew_ms: {self.max_skew_ms}, but brokers that do not fence themselves"
                " have no use for a clock"
            )


def broker_ids(configuration: Configuration) -> tuple[BrokerId, ...]:
    """Return the broker ids that have a process, sorted."""
    return tuple(sorted({identity.broker_id for identity in configuration.processes}))


def processes(broker_count: int, processes_per_broker: int) -> tuple[ProcessIdentity, ...]:
    """Return identities with readable incarnation ids, such as `broker-1-process-2---A`."""
    return tuple(
        ProcessIdentity(_incarnation_id(broker, process), BrokerId(broker))
        for broker in range(1, broker_count + 1)
        for process in range(1, processes_per_broker + 1)
    )


def kafka_4_1(broker_count: int = 3, processes_per_broker: int = 4) -> Configuration:
    """Return Kafka 4.1's defaults: heartbeats every 2 s, sessions of 9 s, no self-fencing."""
    return Configuration(processes(broker_count, processes_per_broker))


def kip_631(broker_count: int = 3, processes_per_broker: int = 4) -> Configuration:
    """Return the defaults KIP-631 published: heartbeats every 3 s, sessions of 18 s."""
    return Configuration(
        processes(broker_count, processes_per_broker),
        session_timeout_ms=KIP_631.session_timeout_ms,
        heartbeat_interval_ms=KIP_631.heartbeat_interval_ms,
        request_timeout_ms=KIP_631.session_timeout_ms // 2,
    )


def kip_343(broker_count: int = 3, processes_per_broker: int = 4) -> Configuration:
    """Return brokers that fence themselves as in KIP-343: later than the controller does."""
    return Configuration(
        processes(broker_count, processes_per_broker),
        broker_timeout_ms=SESSION_TIMEOUT_MS + 3_000,
        max_skew_ms=1_000,
    )


def self_fencing(broker_count: int = 3, processes_per_broker: int = 4) -> Configuration:
    """Return brokers that fence themselves before the controller does, over ordered connections.

    This is KIP-343 with the timeouts swapped: only then does no fenced broker serve.
    """
    return Configuration(
        processes(broker_count, processes_per_broker),
        broker_timeout_ms=SESSION_TIMEOUT_MS - 1_000,
        max_skew_ms=1_000,
        reorder=False,
    )


def promises_no_overlap(configuration: Configuration) -> bool:
    """Return whether no process serves after it was fenced, unless a live broker is unregistered.

    A lease plus the clock skew must not outlast a session, and no request that asks to be fenced
    may arrive late.

    Spec: BrokerLeaseProperties!NoOverlapInv.
    """
    broker_timeout_ms = configuration.broker_timeout_ms
    return (
        broker_timeout_ms is not None
        and not configuration.reorder
        and broker_timeout_ms + configuration.max_skew_ms <= configuration.session_timeout_ms
    )


PROFILES: Final = {
    "kafka-4.1": kafka_4_1,
    "kip-343": kip_343,
    "kip-631": kip_631,
    "self-fencing": self_fencing,
}


def _incarnation_id(broker: int, process: int) -> IncarnationId:
    # The text is also a UUID in URL-safe base64: 22 characters, the last one without stray bits.
    return IncarnationId(f"broker-{broker}-process-{process}".ljust(21, "-") + "A")
