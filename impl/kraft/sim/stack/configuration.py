"""The configuration of a stack besides its quorum, and the knobs that a seed draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kraft.chance import Stream
from kraft.controller.operations.leader_eligibility import ELIGIBLE_LEADER_REPLICAS
from kraft.image.metadata_image import METADATA_VERSION
from kraft.image.versions import LATEST_METADATA_VERSION
from kraft.records.cluster import FeatureLevelRecord

if TYPE_CHECKING:
    from kraft.records.typed_record import TypedRecord

_OLDER: Final = (6, 7, 12, 14, 17, 22)


@dataclass(frozen=True, slots=True)
class StackKnobs:
    """The values that a seed draws once for everything above Raft. Times are in milliseconds.

    Operators send a request every `admin_every_ms` on average, for at most `topics` topics of at
    most `partitions` partitions. Brokers send heartbeats every `heartbeat_interval_ms`, and are
    fenced after `session_timeout_ms` without one. Producers append every `produce_every_ms`, and
    followers fetch every `fetch_every_ms`. Each broker has `log_directories` directories.

    Every `edge_every_ms` on average operators also ask for something invalid, at a limit, or only
    validated; never if that is 0. A delegation token lives for `token_lifetime_ms` at most, for
    half of that unless it is renewed; there are no tokens if that is 0.

    One in `rare_kraft_versions` processes of brokers supports the kraft.versions 1 alone, 0 alone
    or none, the others 0 and 1; all do if that is 0. Runs that were recorded before a knob of the
    last three have it at 0.
    """

    metadata_version: int = LATEST_METADATA_VERSION
    eligible_leader_replicas: bool = True
    unclean_leader_election: bool = False
    min_insync_replicas: int = 1
    admin_every_ms: int = 300
    topics: int = 3
    partitions: int = 4
    session_timeout_ms: int = 3_000
    heartbeat_interval_ms: int = 600
    snapshot_bytes: int = 4_000
    produce_every_ms: int = 400
    fetch_every_ms: int = 250
    replica_lag_ms: int = 2_000
    log_directories: int = 2
    edge_every_ms: int = 0
    token_lifetime_ms: int = 0
    rare_kraft_versions: int = 0


def draw_stack_knobs(seed: int) -> StackKnobs:
    """Return the knobs of a seed: mostly the newest metadata version, now and then an older one."""
    chance = Stream(seed, "cluster knobs")
    version = LATEST_METADATA_VERSION
    if chance.below(4) == 0:
        version = chance.choice(_OLDER)
    elr = version >= LATEST_METADATA_VERSION and bool(chance.below(2))
    return StackKnobs(
        version,
        elr,
        chance.below(4) == 0,
        chance.choice((1, 1, 2)),
        chance.choice((100, 200, 400)),
        chance.choice((1, 3, 5)),
        chance.choice((1, 3, 6)),
        chance.choice((2_000, 3_000, 9_000)),
        chance.choice((300, 600)),
        chance.choice((1_000, 4_000, 100_000)),
        chance.choice((200, 500)),
        chance.choice((150, 300)),
        chance.choice((1_000, 2_000)),
        chance.choice((1, 2, 3)),
        chance.choice((150, 300, 600)),
        chance.choice((0, 2_000, 6_000, 20_000)),
        chance.choice((0, 4)),
    )


def bootstrap_of(knobs: StackKnobs) -> tuple[TypedRecord, ...]:
    """Return the bootstrap records of the cluster.

    Kafka: BootstrapMetadata.
    """
    records: list[TypedRecord] = [FeatureLevelRecord(METADATA_VERSION, knobs.metadata_version)]
    if knobs.eligible_leader_replicas:
        records.append(FeatureLevelRecord(ELIGIBLE_LEADER_REPLICAS, 1))
    return tuple(records)
