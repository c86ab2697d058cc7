"""A controller of all metadata to drive by hand, with its state, its time and its last records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.kraft.controller.partitions import LATEST, TOPIC, TOPIC_ID, directory

from kraft.controller.operations.broker_heartbeats import (
    heartbeats_on_activation,
    maybe_fence_stale_broker,
    process_broker_heartbeat,
    process_expired_broker_heartbeat,
    replay_with_heartbeats,
)
from kraft.controller.operations.broker_registration import register_broker, unregister_broker
from kraft.controller.operations.defaults import Defaults
from kraft.controller.operations.heartbeats import (
    HeartbeatState,
    begin_controlled_shutdown,
    heartbeat_state,
    touch,
)
from kraft.controller.operations.leader_eligibility import ELIGIBLE_LEADER_REPLICAS
from kraft.controller.operations.written import NOTHING_WRITTEN, written_from_snapshot
from kraft.ids import NO_OFFSET, BrokerEpoch, BrokerId, IncarnationId, Offset, PartitionId
from kraft.image.entries import UNASSIGNED, BrokerRegistration, Partition
from kraft.image.metadata_image import METADATA_VERSION
from kraft.records.cluster import FeatureLevelRecord
from kraft.records.topics import TOPIC_RESOURCE, ConfigRecord, PartitionRecord, TopicRecord
from kraft.rpc import BrokerHeartbeatRequest, BrokerRegistrationRequest
from kraft.rpc.node_description import Listener, SupportedFeature

if TYPE_CHECKING:
    from kraft.controller.operations.result import Generated
    from kraft.records.typed_record import TypedRecord

CLUSTER = "a-cluster"
SESSION_TIMEOUT_MS = 9_000
FEATURES = (
    SupportedFeature(METADATA_VERSION, 1, LATEST),
    SupportedFeature(ELIGIBLE_LEADER_REPLICAS, 0, 1),
)


def incarnation(broker: int, process: int = 1) -> IncarnationId:
    """Return the incarnation of a broker process."""
    return IncarnationId(f"{broker}x{process}".rjust(21, "P") + "A")


class ClusterDriver:
    """The active controller of a log that only sets feature levels."""

    def __init__(
        self, *, metadata_version: int = LATEST, min_isr: int | None = None, **defaults: Any
    ) -> None:
        settings = {"cluster_id": CLUSTER, "broker_session_timeout_ms": SESSION_TIMEOUT_MS}
        self.defaults = Defaults(**settings | defaults)
        self.now_ms = 0
        self.appended: tuple[TypedRecord, ...] = ()
        self.written = NOTHING_WRITTEN
        self.heartbeats = heartbeats_on_activation(self.written, self.defaults, self.now_ms)
        self.min_isr = min_isr
        self.write(FeatureLevelRecord(METADATA_VERSION, metadata_version))
        if min_isr is not None:
            self.write(FeatureLevelRecord(ELIGIBLE_LEADER_REPLICAS, 1))

    def register(self, broker: int = 1, process: int = 1, *, kraft_version: int = 0, **fields: Any):
        """Send a registration; return the response."""
        usual = {
            "cluster_id": CLUSTER,
            "features": FEATURES,
            "listeners": (Listener("PLAINTEXT", f"host-{broker}", 9092),),
            "log_dirs": (directory(broker),),
        }
        request = BrokerRegistrationRequest(
            BrokerId(broker), incarnation(broker, process), **usual | fields
        )
        return self._take(
            register_broker(
                self.written, self.heartbeats, self.defaults, request, self.now_ms, kraft_version
            )
        )

    def heartbeat(self, broker: int = 1, *, expired: bool = False, **fields: Any):
        """Send a heartbeat, by default of the registered epoch and the end of the log."""
        registration = self.written.image.brokers.get(BrokerId(broker))
        usual = {
            "broker_epoch": BrokerEpoch(-1) if registration is None else registration.epoch,
            "current_metadata_offset": Offset(self.written.end - 1),
            "want_fence": False,
            "want_shut_down": False,
        }
        process = process_expired_broker_heartbeat if expired else process_broker_heartbeat
        request = BrokerHeartbeatRequest(BrokerId(broker), **usual | fields)
        return self._take(
            process(self.written, self.heartbeats, self.defaults, request, self.now_ms)
        )

    def unfenced(self, *brokers: int) -> ClusterDriver:
        """Register brokers and unfence them; return the driver."""
        for broker in brokers:
            self.register(broker)
            assert not self.heartbeat(broker).is_fenced
        return self

    def fence_stale(self) -> bool:
        """Fence the broker that was silent longest, if its session ran out."""
        return self._take(
            maybe_fence_stale_broker(self.written, self.heartbeats, self.defaults, self.now_ms)
        )

    def unregister(self, broker: int = 1):
        """Remove a registration; return the error code."""
        generated = unregister_broker(
            self.written, self.heartbeats, self.defaults, BrokerId(broker)
        )
        return self._take(generated).error_code

    def create(self, *partitions: tuple[int, ...], isr: tuple[int, ...] | None = None) -> None:
        """Create a topic with these replicas of its partitions; the first of the ISR leads."""
        records: list[TypedRecord] = [TopicRecord(TOPIC, TOPIC_ID)]
        if self.min_isr is not None:
            value = str(self.min_isr)
            records.append(ConfigRecord(TOPIC_RESOURCE, TOPIC, "min.insync.replicas", value))
        for index, replicas in enumerate(partitions):
            members = replicas if isr is None else isr
            records.append(
                PartitionRecord(
                    PartitionId(index), TOPIC_ID, replicas, members, leader=members[0],
                    leader_epoch=0, partition_epoch=0,
                    directories=(UNASSIGNED,) * len(replicas),
                )
            )  # fmt: skip
        self.write(*records)

    def write(self, *records: TypedRecord) -> None:
        """Write records that no operation on brokers generated."""
        self.written, self.heartbeats = replay_with_heartbeats(
            self.written, self.heartbeats, records, self.written.end
        )

    def fail_over(self, *, from_snapshot: bool = False) -> None:
        """Make another controller active."""
        if from_snapshot:
            self.written = written_from_snapshot(self.written.image, self.written.end)
        self.heartbeats = heartbeats_on_activation(self.written, self.defaults, self.now_ms)

    def _take(self, generated: Generated[Any]) -> Any:
        self.appended = generated.result.records
        self.heartbeats = generated.heartbeats
        assert not generated.result.is_atomic
        self.write(*self.appended)
        if generated.shutting_down is not None:
            last = Offset(self.written.end - 1)
            self.heartbeats = begin_controlled_shutdown(
                self.heartbeats, generated.shutting_down, last
            )
        if generated.heard is not None:
            self.heartbeats = touch(self.heartbeats, generated.heard, NO_OFFSET, self.now_ms)
        return generated.result.response

    def registration(self, broker: int = 1) -> BrokerRegistration:
        """Return a broker's registration in the image."""
        return self.written.image.brokers[BrokerId(broker)]

    def partition(self, index: int = 0) -> Partition:
        """Return a partition of the image."""
        return self.written.image.partitions[TOPIC_ID, PartitionId(index)]

    def soft(self, broker: int = 1) -> HeartbeatState:
        """Return the soft state of a broker."""
        return heartbeat_state(self.heartbeats, BrokerId(broker))
