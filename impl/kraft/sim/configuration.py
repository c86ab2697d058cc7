"""What a simulated cluster is made of: its processes, timeouts, and what the network may do."""

from __future__ import annotations

import msgspec

from kraft.ids import BrokerId, IncarnationId  # noqa: TC001 - msgspec reads the types


class ConfigurationError(ValueError):
    """A configuration that no cluster can have; the message names the field and the value."""


class ProcessIdentity(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One broker process: its incarnation id, and the broker id it is configured with.

    Spec: BrokerLease!BrokerOf.
    """

    incarnation_id: IncarnationId
    broker_id: BrokerId


class Configuration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything about a run that is not a choice. Times are in milliseconds.

    `broker_timeout_ms` is None where brokers do not fence themselves, as in Kafka; `max_skew_ms` is
    then 0. `reorder` lets a request that was given up arrive after its successor, and lets the
    network deliver requests twice. `heartbeat_interval_ms` and `request_timeout_ms` only guide the
    scheduler.

    Raises ConfigurationError if a value is out of range or a process is listed twice.
    Spec: BrokerLease!Constants.
    """

    processes: tuple[ProcessIdentity, ...]
    session_timeout_ms: int = 9_000  # broker.session.timeout.ms
    heartbeat_interval_ms: int = 2_000  # broker.heartbeat.interval.ms
    request_timeout_ms: int = 4_500  # half a session: the channel to the controller
    broker_timeout_ms: int | None = None
    max_skew_ms: int = 0
    reorder: bool = True
