"""The source to follow: Kafka 4.1 as built, or KIP-631 as published.

Code whose behaviour differs between the two asks a profile, by default `KAFKA_4_1`. The
specifications describe Kafka 4.1, so no judge covers runs with another profile.
`docs/kip-differences.md` lists all differences, including those that no profile follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Profile:
    """The differences between the two sources that krafla can follow. Times are in milliseconds.

    `frame_version` is the first number of a record's value. `wrong_cluster_error` and
    `leader_left_out_error` are error names. `registration_is_contact` lets a registration begin or
    renew a session. `one_survivor_completes` lets a reassignment complete once at least one staying
    replica and every added replica are in sync. `broker_timeout_ms` is None where brokers do not
    fence themselves; KIP-343 has such brokers, neither source does.

    Kafka: KafkaConfig, AbstractApiMessageSerde, ApiKeys, Errors. KIP-631, KIP-343.
    """

    name: str
    frame_version: int
    broker_registration_api_key: int
    broker_heartbeat_api_key: int
    unregister_broker_api_key: int
    heartbeat_interval_ms: int
    session_timeout_ms: int
    registration_timeout_ms: int
    wrong_cluster_error: str
    leader_left_out_error: str
    registration_is_contact: bool
    one_survivor_completes: bool
    broker_timeout_ms: int | None = None


KAFKA_4_1: Final = Profile(
    name="kafka-4.1",
    frame_version=1,
    broker_registration_api_key=62,
    broker_heartbeat_api_key=63,
    unregister_broker_api_key=64,
    heartbeat_interval_ms=2_000,
    session_timeout_ms=9_000,
    registration_timeout_ms=60_000,
    wrong_cluster_error="INCONSISTENT_CLUSTER_ID",
    leader_left_out_error="NEW_LEADER_ELECTED",
    registration_is_contact=False,
    one_survivor_completes=False,
)
"""Kafka 4.1 as built, which the specifications describe."""

KIP_631: Final = Profile(
    name="kip631",
    frame_version=0,
    broker_registration_api_key=57,
    broker_heartbeat_api_key=58,
    unregister_broker_api_key=59,
    heartbeat_interval_ms=3_000,
    session_timeout_ms=18_000,
    registration_timeout_ms=60_000,
    wrong_cluster_error="INVALID_CLUSTER_ID",
    leader_left_out_error="FENCED_LEADER_EPOCH",
    registration_is_contact=True,
    one_survivor_completes=True,
)
"""KIP-631 as published."""
