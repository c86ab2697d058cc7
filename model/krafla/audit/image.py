"""The image: what a log's records about brokers, features and partitions add up to.

Replay is total: a record that makes no sense, such as a change of an unregistered broker, changes
nothing. The invariants report it.

Kafka: ClusterControlManager.replay, ReplicationControlManager.replay, FeatureControlManager.replay.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from krafla.audit.broker_registrations import BrokerRegistration, registration_of
from krafla.audit.change_reader import ChangeReader
from krafla.audit.directories import directory_online, led_in_lost_directories
from krafla.audit.entities import ENTITY_API_KEYS, Entities
from krafla.audit.partition_state import epochs_of, made_without_elr, state_of
from krafla.audit.partitions import Partitions, key_of
from kraft.ids import uuid_bytes
from kraft.records.lease import (
    FENCE,
    UNFENCE,
    BrokerRegistrationChangeRecord,
    FenceBrokerRecord,
    RegisterBrokerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
)
from kraft.records.metadata_schemas import (
    ABORT_TRANSACTION,
    BEGIN_TRANSACTION,
    CLEAR_ELR,
    END_TRANSACTION,
    FEATURE_LEVEL,
    PARTITION,
    REGISTER_CONTROLLER,
    REMOVE_TOPIC,
    ZK_MIGRATION_STATE,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krafla.audit.partition_state import PartitionState
    from kraft.records.lease import LeaseRecord
    from kraft.records.record import MetadataRecord
    from kraft.records.schema import Fields

NO_MIGRATION, MIGRATION, PRE_MIGRATION, POST_MIGRATION = 0, 1, 2, 3
"""States of a migration from ZooKeeper. Kafka: ZkMigrationState."""
METADATA_VERSION: Final = "metadata.version"
MV_3_4_IV0, MV_4_0_IV0 = 8, 22
"""Metadata versions: the first with migrations from ZooKeeper, and the first without."""
ELR_FEATURE: Final = "eligible.leader.replicas.version"
IMAGE_API_KEYS: Final = frozenset(
    schema.api_key
    for schema in (
        PARTITION,
        FEATURE_LEVEL,
        BEGIN_TRANSACTION,
        END_TRANSACTION,
        ABORT_TRANSACTION,
        CLEAR_ELR,
        ZK_MIGRATION_STATE,
    )
) | ENTITY_API_KEYS  # fmt: skip
"""Records outside the lease that the image or an invariant reads, except partition changes."""


class Image:
    """What the records of a log add up to; changed in place, record by record.

    `displaced` are brokers whose new incarnation replaced an unfenced one, or that registered again
    and were fenced by that, or that were fenced when a migration copied their partitions, until
    they are fenced or unfenced again. `History` takes them out where no controller of the log
    leaves them in the ISR. `left_over` are brokers in a controlled shutdown that a failover may
    have broken off: they keep partitions until they are fenced.
    `astray` are the states of partitions whose leader may lead in a directory that is not online:
    a displaced broker came back without that directory, or a known bug elected the leader there.
    A partition that changes is excused no longer: Kafka elects anew in each change.
    `led_by_inactive` are the states of partitions whose leader a known bug elected, though it was
    not active; until it is fenced or unfenced.
    `emptied` has, by a partition's state, the ELR that a record of this operation took from it
    because a replica moved; the operation's next record is made from the state before that.

    `zk_migration` is the state of the migration from ZooKeeper; `copies_in_1` says that Kafka 3.4
    began it, with the state 1; `copies_unsaid` that a checkpoint has a broker that migrates and no
    state, as Kafka 3.4 writes none. `leader` is the node that leads,
    `voters` are those that the last LeaderChangeMessage lists; None if that is not known.
    `kraft_version` is the level of kraft.version with which that leader began, 0 if no record says.
    Without `excuses`, the log is judged as one of Kafka 4.1, which needs none.
    """

    def __init__(self, *, excuses: bool = True) -> None:
        self._excuses = excuses
        self.registrations: dict[int, BrokerRegistration] = {}
        self.features: dict[str, int] = {}
        self.displaced: set[int] = set()
        self.left_over: set[int] = set()
        self.astray: set[PartitionState] = set()
        self.led_by_inactive: set[PartitionState] = set()
        self.emptied: dict[PartitionState, frozenset[int]] = {}
        self.zk_migration: int | None = None
        self.copies_in_1 = False
        self.copies_unsaid = False
        self.leader: int | None = None
        self.voters: frozenset[int] | None = None
        self.kraft_version = 0
        self.changes = ChangeReader()
        self.partitions = Partitions(self.changes)
        self.entities = Entities()
        self._before_transaction: Image | None = None

    def apply_lease(self, record: LeaseRecord) -> None:
        """Replay a record of the lease."""
        if isinstance(record, RegisterBrokerRecord):
            self._register(record)
        elif isinstance(record, UnregisterBrokerRecord):
            self.registrations.pop(record.broker_id, None)
            self.led_by_inactive = {s for s in self.led_by_inactive if s.leader != record.broker_id}
            self._take_out(record.broker_id)
        elif isinstance(record, FenceBrokerRecord):
            self._change(record.broker_id, fenced=FENCE)
        elif isinstance(record, UnfenceBrokerRecord):
            self._change(record.broker_id, fenced=UNFENCE)
        elif isinstance(record, BrokerRegistrationChangeRecord):
            self._change(
                record.broker_id,
                fenced=record.fenced,
                shutting_down=bool(record.in_controlled_shutdown),
                directories=record.log_dirs,
            )
        self.partitions.forget_transitions()

    def apply_other(self, record: MetadataRecord) -> None:
        """Replay a record that is neither of the lease nor a change of a partition."""
        fields = record.fields
        if record.api_key == PARTITION.api_key:
            self.partitions.put(key_of(fields), state_of(fields), epochs_of(fields))
        elif record.api_key in ENTITY_API_KEYS:
            self.entities.apply(record.api_key, fields)
            if record.api_key == REGISTER_CONTROLLER.api_key:
                self.partitions.forget_transitions()
            if record.api_key == REMOVE_TOPIC.api_key:
                self.partitions.remove_topic(uuid_bytes(fields["topicId"]))
        elif record.api_key == FEATURE_LEVEL.api_key:
            self._feature(fields)
        elif record.api_key == ZK_MIGRATION_STATE.api_key:
            state = fields["zkMigrationState"]
            self.copies_in_1 |= self.zk_migration is None and state == MIGRATION
            self.zk_migration = state
            self.partitions.forget_transitions()
        elif record.api_key == CLEAR_ELR.api_key:
            name = fields["topicName"]
            if not name or name in self.entities.topics:
                self.partitions.clear_elr(self.entities.topics[name] if name else None)
                self.astray |= {s._replace(elr=(), last_known_elr=()) for s in self.astray}
        elif record.api_key == BEGIN_TRANSACTION.api_key:
            self._before_transaction = self.copy()
        elif record.api_key == END_TRANSACTION.api_key:
            self._before_transaction = None

    @property
    def metadata_version(self) -> int | None:
        """The finalized metadata version, None before the log names one."""
        return self.features.get(METADATA_VERSION)

    @property
    def elr_enabled(self) -> bool:
        """Whether eligible leader replicas (KIP-966) are in use."""
        return self.features.get(ELR_FEATURE, 0) > 0

    @property
    def is_migrating(self) -> bool:
        """Whether a migration from ZooKeeper is in progress (KIP-866)."""
        return self.zk_migration in (PRE_MIGRATION, MIGRATION) or self._is_unsaid

    @property
    def is_copying(self) -> bool:
        """Whether ZooKeeper's metadata may be being copied; Kafka 3.4 never leaves its state 1."""
        if self.zk_migration == MIGRATION:
            return self.copies_in_1
        return self.zk_migration == PRE_MIGRATION or self._is_unsaid

    @property
    def may_migrate(self) -> bool:
        """Whether a controller may be configured to migrate: the end of a migration changes none.

        Metadata version 4.0-IV0 needs a release without migrations. From 3.7-IV0 on each controller
        registers with what it is configured to.

        Kafka: ControllerRegistrationManager.sendControllerRegistration.
        """
        if self.is_migrating:
            return True
        is_over = self.zk_migration == POST_MIGRATION and (self.metadata_version or 0) < MV_4_0_IV0
        return is_over and not self._none_is_set_to_migrate()

    def note_emptied(self, before: PartitionState, after: PartitionState) -> None:
        """Note a change that empties the ELR as if eligible leader replicas were disabled."""
        if self.elr_enabled and before.elr and made_without_elr(before, after):
            self.emptied[after] = self.emptied.get(after, frozenset()).union(before.elr)
            self.partitions.forget_transitions()

    def forget_emptied(self) -> None:
        """Note that an operation has ended."""
        if self.emptied:
            self.emptied.clear()
            self.partitions.forget_transitions()

    def excused_among(self, brokers: Iterable[int]) -> list[int]:
        """Return which of some brokers are excused and inactive.

        They keep what they have and gain nothing: only an active broker is elected or joins an ISR.
        """
        kept = self.excused().intersection(brokers)
        return sorted(kept - self.active()) if kept else []

    @property
    def _is_unsaid(self) -> bool:
        """Whether a migration of Kafka 3.4 is in progress whose state the image does not have."""
        is_old = self.metadata_version == MV_3_4_IV0
        return self.copies_unsaid and self.zk_migration is None and is_old

    @property
    def _is_lax(self) -> bool:
        """Whether a displaced broker may keep what it has."""
        return self._excuses and not self.elr_enabled

    def _none_is_set_to_migrate(self) -> bool:
        if not self.voters or not self.voters <= self.entities.controllers.keys():
            return False
        return not self.voters & self.entities.set_to_migrate

    def before_transaction(self) -> Image | None:
        """Return the image before the open transaction; None if none is open."""
        return self._before_transaction

    def active(self) -> frozenset[int]:
        """Return the ids of brokers that may lead partitions and be in sync."""
        return frozenset(b for b, registered in self.registrations.items() if registered.active)

    def excused(self) -> frozenset[int]:
        """Return the brokers that may lead although they are inactive.

        Without eligible leader replicas (KIP-966), before Kafka 4.0, a new incarnation could
        replace an unfenced one without a change of its partitions; they change when the broker is
        next fenced or unfenced (KAFKA-18106). In every release, those in `left_over` may lead.
        """
        return frozenset(self.left_over | self.displaced if self._is_lax else self.left_over)

    def excuse_copied(self, partition: Fields) -> None:
        """Excuse the in-sync brokers of a partition that a migration copies.

        They are registered, but a broker is unfenced only after it has caught up.

        Kafka: KRaftMigrationDriver.areZkBrokersReadyForMigration.
        """
        if self.is_copying:
            copied = self.registrations.keys() & set(partition["isr"])
            self.displaced |= copied - self.active()
            self.partitions.forget_transitions()

    def copy(self) -> Image:
        """Return an independent copy."""
        twin = Image(excuses=self._excuses)
        twin.registrations = dict(self.registrations)
        twin.features = dict(self.features)
        twin.displaced, twin.left_over = set(self.displaced), set(self.left_over)
        twin.astray, twin.emptied = set(self.astray), dict(self.emptied)
        twin.led_by_inactive = set(self.led_by_inactive)
        twin.zk_migration, twin.copies_in_1 = self.zk_migration, self.copies_in_1
        twin.copies_unsaid = self.copies_unsaid
        twin.leader, twin.voters = self.leader, self.voters
        twin.kraft_version = self.kraft_version
        twin.changes = self.changes
        twin.partitions = self.partitions.copy()
        twin.entities = self.entities.copy()
        return twin

    def _register(self, record: RegisterBrokerRecord) -> None:
        broker = record.broker_id
        before = self.registrations.get(broker)
        is_new = before is None or before.incarnation != record.incarnation_id
        if is_new:
            self.left_over.discard(broker)
        if before is not None and not before.fenced and (is_new or record.fenced):
            # No partition changes with it (KAFKA-18106; the same incarnation: KAFKA-16757).
            self.displaced.add(broker)
        self.registrations[broker] = registration_of(record)
        self.astray = {
            s for s in self.astray if not directory_online(s, s.leader, self.registrations)
        }
        if self._is_lax and broker in self.displaced:
            # Unfencing a broker changes only partitions without a leader.
            led = led_in_lost_directories(self.partitions.states.values(), self.registrations)
            self.astray |= {state for state in led if state.leader == broker}

    def _take_out(self, broker: int) -> None:
        """Excuse a broker no longer: its partitions change with it."""
        self.displaced.discard(broker)
        self.left_over.discard(broker)
        self.astray = {state for state in self.astray if state.leader != broker}

    def _change(
        self,
        broker: int,
        *,
        fenced: int,
        shutting_down: bool = False,
        directories: tuple[str, ...] = (),
    ) -> None:
        before = self.registrations.get(broker)
        if before is None:
            return
        if fenced:
            self.led_by_inactive = {s for s in self.led_by_inactive if s.leader != broker}
        if fenced == FENCE:
            self._take_out(broker)
        elif fenced:
            self.displaced.discard(broker)
        self.registrations[broker] = replace(
            before,
            fenced=before.fenced if fenced == 0 else fenced == FENCE,
            in_controlled_shutdown=before.in_controlled_shutdown or shutting_down,
            directories=tuple(sorted(directories)) or before.directories,
        )

    def _feature(self, fields: Fields) -> None:
        self.partitions.forget_transitions()
        if fields["featureLevel"]:
            self.features[fields["name"]] = fields["featureLevel"]
        else:
            self.features.pop(fields["name"], None)
