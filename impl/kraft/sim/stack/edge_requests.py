"""Requests of operators at the edges: invalid, at a limit, only validated, or for one more thing.

Each function here draws requests of one kind; about half of them are granted. Operators ask for
everything that the controller has an operation for, but what only its own nodes ask: those
requests carry the state of a broker's or controller's process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kraft.controller.operations.leader_eligibility import ELIGIBLE_LEADER_REPLICAS
from kraft.ids import BrokerEpoch, BrokerId, DirectoryId, PartitionId, TopicId
from kraft.image.metadata_image import METADATA_VERSION
from kraft.image.versions import LATEST_METADATA_VERSION
from kraft.rpc import UnregisterBrokerRequest
from kraft.rpc.access_control import AclBinding, AclFilter, CreateAclsRequest, DeleteAclsRequest
from kraft.rpc.allocate_producer_ids import AllocateProducerIdsRequest
from kraft.rpc.assign_replicas import AssignReplicasToDirsRequest
from kraft.rpc.client_quotas import AlterClientQuotasRequest, ClientQuotaAlteration
from kraft.rpc.delegation_tokens import (
    CreateDelegationTokenRequest,
    ExpireDelegationTokenRequest,
    RenewDelegationTokenRequest,
)
from kraft.rpc.elect_leaders import PREFERRED_ELECTION, UNCLEAN_ELECTION, ElectLeadersRequest
from kraft.rpc.partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ListPartitionReassignmentsRequest,
    ReassignablePartition,
)
from kraft.rpc.scram import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kraft.rpc.topics import (
    CreatableTopic,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
    CreateTopicsRequest,
    DeleteTopicsRequest,
)
from kraft.rpc.update_features import FeatureUpdate, UpdateFeaturesRequest, UpgradeType
from kraft.sim.stack.edge_configs import (
    draw_alter_configs,
    draw_incremental_alter_configs,
    topic_settings,
)
from kraft.sim.stack.requests import draw_from

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.sim.stack.requests import Ask

_UNKNOWN_BROKER: Final = BrokerId(99)
_FOREVER: Final = 2**63 - 1
_NAMES: Final = ("f", "g", "h")
"""Few names, so that a deleted topic is soon followed by another of its name."""
_BAD_NAMES: Final = ("", ".", "..", "no/slash", "x" * 250, "f")
_LONGEST_NAME: Final = "y" * 249
_NO_TOPIC: Final = TopicId("n" * 21 + "A")
_NO_DIRECTORY: Final = DirectoryId("d" * 21 + "A")
_USERS: Final = ("ann", "bob", "cid")


def _one_in(ask: Ask, many: int) -> bool:
    return ask.chance.below(many) == 0


def _allocate_producer_ids(ask: Ask) -> Any:
    """Ask for a block on behalf of a broker, now and then under an epoch that it does not have."""
    broker_id = ask.chance.choice((*ask.brokers, _UNKNOWN_BROKER))
    registration = ask.image.brokers.get(broker_id)
    epoch = BrokerEpoch(-1) if registration is None else registration.epoch
    if _one_in(ask, 4):
        epoch = BrokerEpoch(epoch + ask.chance.choice((-1, 1)))
    return AllocateProducerIdsRequest(broker_id, epoch)


def _alter_quotas(ask: Ask) -> Any:
    chance = ask.chance
    user, client = ("user", chance.choice((*_USERS, None))), ("client-id", "c")
    entity: tuple[tuple[str, str | None], ...] = chance.choice(
        ((user,), (user, client), (client, user), (("client-id", None),), (("user", ""),),
         (("ip", "127.0.0.1"),), (("ip", None),), (("ip", "nowhere!"),), (("group", "x"),), (),
         (("user", "dan"), user))
    )  # fmt: skip
    is_address = bool(entity) and entity[0][0] == "ip"
    name = "connection_creation_rate" if is_address else "consumer_byte_rate"
    value = chance.choice((1.0, 2.0**31 - 1, None, None, 2.0**64, 0.0, 1.5))
    ops: tuple[tuple[str, float | None], ...] = ((name, value),)
    if _one_in(ask, 3):
        other = chance.choice(("request_percentage", "no_such_rate", name))
        ops = (*ops, (other, chance.choice((12.5, None))))
    one = ClientQuotaAlteration(entity, ops)
    entries = (one, one) if _one_in(ask, 8) else (one,)
    return AlterClientQuotasRequest(entries, validate_only=_one_in(ask, 4))


def _reassign(ask: Ask) -> Any:
    """Ask for replicas that cannot be, for as many as before, or for those that are there."""
    chance, found = ask.chance, ask.partition()
    if found is None:
        nothing = ReassignablePartition("nothing", PartitionId(0), ask.brokers[:1])
        return AlterPartitionReassignmentsRequest((nothing,))
    topic, index = found
    present = ask.image.partitions[topic.topic_id, index].replicas
    first = ask.brokers[0]
    target = chance.choice(
        ((), (first, first), (_UNKNOWN_BROKER,), present, present[::-1], ask.replicas(), None)
    )
    name, number = topic.name, index
    if _one_in(ask, 6):
        name, number = chance.choice(((name, PartitionId(1_000)), ("nothing", index)))
    return AlterPartitionReassignmentsRequest(
        (ReassignablePartition(name, number, target),),
        allow_replication_factor_change=not _one_in(ask, 3),
    )


def _list_reassignments(ask: Ask) -> Any:
    found = ask.topic()
    asked: list[tuple[str, tuple[PartitionId, ...]]] = [("nothing", (PartitionId(0),))]
    if found is not None:
        asked.append((found.name, (*found.partition_ids, PartitionId(1_000))))
    return ListPartitionReassignmentsRequest(tuple(asked))


def _alter_credentials(ask: Ask) -> Any:
    chance = ask.chance
    user = chance.choice((*_USERS, ""))
    mechanism = chance.choice((1, 2, 2, 3))
    deletions = (ScramCredentialDeletion(user, mechanism),)
    known = sorted(ask.image.scram_credentials)
    if known and chance.below(2):
        mechanism, user = chance.choice(known)
        deletions = (ScramCredentialDeletion(user, mechanism),)
        mechanism = chance.choice((1, 2))
    if _one_in(ask, 3):
        return AlterUserScramCredentialsRequest(deletions)
    iterations = chance.choice((4_096, 16_384, 16_384, 4_095, 16_385, 0))
    salted = b"salted %d" % ask.number
    upsertions = (ScramCredentialUpsertion(user, mechanism, iterations, b"salt", salted),)
    both = deletions if _one_in(ask, 8) else ()
    return AlterUserScramCredentialsRequest(both, upsertions)


def _assign_replicas(ask: Ask) -> Any:
    """Say for a broker where its replica is: it may be elsewhere, and then says so again."""
    chance, found = ask.chance, ask.partition()
    if found is None:
        return None
    topic, index = found
    partition = ask.image.partitions[topic.topic_id, index]
    broker_id = chance.choice((*partition.replicas, *partition.replicas, _UNKNOWN_BROKER))
    registration = ask.image.brokers.get(broker_id)
    if registration is None or not registration.directories:
        broker_id, epoch, directory = _UNKNOWN_BROKER, BrokerEpoch(0), _NO_DIRECTORY
    else:
        epoch = BrokerEpoch(registration.epoch - _one_in(ask, 6))
        directory = chance.choice(registration.directories)
    topic_id = _NO_TOPIC if _one_in(ask, 8) else topic.topic_id
    index = PartitionId(1_000) if _one_in(ask, 8) else index
    return AssignReplicasToDirsRequest(broker_id, epoch, ((directory, topic_id, index),))


def _create_acls(ask: Ask) -> Any:
    chance = ask.chance
    user = chance.choice(("User:ann", "User:bob", "User:*", "ann"))
    name = chance.choice(("t", "tt", "*", ""))
    kinds = chance.choice((2, 3, 0, 8)), chance.choice((3, 4, 4, 2))
    permission = chance.choice((2, 3, 3, 1))
    binding = AclBinding(kinds[0], name, kinds[1], user, "*", chance.choice((3, 15)), permission)
    deny = AclBinding(2, "t", 3, "User:ann", "10.0.0.1", 3, 2)
    return CreateAclsRequest((binding, deny) if _one_in(ask, 3) else (binding,))


def _delete_acls(ask: Ask) -> Any:
    chance = ask.chance
    entries = ask.image.access_control_entries
    exact = AclFilter(2, "t", 3)
    if entries:
        entry = entries[chance.choice(sorted(entries))]
        exact = AclFilter(
            entry.resource_type, entry.resource_name, entry.pattern_type, entry.principal,
            entry.host, entry.operation, entry.permission_type,
        )  # fmt: skip
    matching = AclFilter(2, "tt", 2)
    unknown = AclFilter(resource_type=chance.choice((0, 8)))
    allowing = AclFilter(permission_type=3)
    return DeleteAclsRequest(
        chance.choice(((exact,), (exact, matching), (matching,), (unknown,), (allowing,)))
    )


def _create_token(ask: Ask) -> Any:
    chance = ask.chance
    owner = chance.choice((None, None, "User:ann"))
    renewers = chance.choice(((), ("User:ANONYMOUS",), ("User:bob", "User:cid"), ("Group:all",)))
    return CreateDelegationTokenRequest(
        owner, renewers, chance.choice((-1, -1, 0, 1, 700, 3_000, _FOREVER))
    )


def _secret(ask: Ask) -> bytes:
    if not ask.secrets or _one_in(ask, 6):
        return ask.chance.choice((b"", b"no token has this"))
    return ask.chance.choice(tuple(ask.secrets))


def _renew_token(ask: Ask) -> Any:
    period = ask.chance.choice((-1, 0, 1, 500, 3_000, _FOREVER))
    return RenewDelegationTokenRequest(_secret(ask), period)


def _expire_token(ask: Ask) -> Any:
    period = ask.chance.choice((-1, 0, _FOREVER, 500, 3_000, _FOREVER))
    return ExpireDelegationTokenRequest(_secret(ask), period)


def _create_partitions(ask: Ask) -> Any:
    chance, topic = ask.chance, ask.topic()
    if topic is None or _one_in(ask, 8):
        asked = CreatePartitionsTopic("nothing", 2)
        return CreatePartitionsRequest((asked,), validate_only=_one_in(ask, 2))
    present = len(topic.partition_ids)
    more = chance.choice((0, 1, 1, -1)) if present < 2 * ask.knobs.partitions else 0
    assignments = None
    if _one_in(ask, 2):
        factor = len(ask.image.partitions[topic.topic_id, topic.partition_ids[0]].replicas)
        fitting = tuple(chance.shuffled(ask.brokers)[:factor])
        assignments = chance.choice(
            ((fitting,), (fitting,), (fitting, fitting), ((_UNKNOWN_BROKER,),), ((),), ())
        )
    asked = CreatePartitionsTopic(topic.name, present + more, assignments)
    return CreatePartitionsRequest((asked,), validate_only=_one_in(ask, 3))


def _create_topics(ask: Ask) -> Any:
    """Ask for a topic with settings, or for one that cannot be; now and then two at once."""
    chance = ask.chance
    name = chance.choice(_NAMES)
    settings = topic_settings(ask)
    topic = CreatableTopic(name, 1, 1, configs=settings)
    if _one_in(ask, 3):
        topic = chance.choice(
            (
                CreatableTopic(chance.choice(_BAD_NAMES), 1, 1),
                CreatableTopic(_LONGEST_NAME, -1, -1),
                CreatableTopic(name, 0, 1),
                CreatableTopic(name, 1, 100),
                CreatableTopic(name, 1, 1, ((PartitionId(0), ask.replicas()),)),
                CreatableTopic(name, assignments=((PartitionId(1), ask.replicas()),)),
                CreatableTopic(name, assignments=((PartitionId(0), (_UNKNOWN_BROKER,)),)),
            )
        )
    topics = (topic, topic) if _one_in(ask, 8) else (topic,)
    full = len(ask.image.topics) > ask.knobs.topics
    return CreateTopicsRequest(topics, validate_only=full or _one_in(ask, 4))


def _delete_topics(ask: Ask) -> Any:
    """Ask to delete a topic, mostly one with a setting, so that its name is used again."""
    configured = sorted(
        ask.image.topic_ids[name]
        for _, name in ask.image.configurations
        if name in ask.image.topic_ids
    )
    if configured and not _one_in(ask, 4):
        one = ask.chance.choice(configured)
        return DeleteTopicsRequest((one, one) if _one_in(ask, 4) else (one, _NO_TOPIC))
    return DeleteTopicsRequest((_NO_TOPIC,) if ask.chance.below(4) else ())


def _elect(ask: Ask) -> Any:
    found = ask.partition()
    kind = ask.chance.choice((PREFERRED_ELECTION, UNCLEAN_ELECTION, 2))
    if found is None:
        return ElectLeadersRequest(kind, (("nothing", PartitionId(0)),))
    topic, index = found
    asked = (topic.name, index), (topic.name, PartitionId(1_000))
    return ElectLeadersRequest(kind, asked)


def _unregister_broker(ask: Ask) -> Any:
    return UnregisterBrokerRequest(ask.chance.choice((_UNKNOWN_BROKER, BrokerId(-1))))


def _update_features(ask: Ask) -> Any:
    chance = ask.chance
    now = ask.image.metadata_version or 1
    up, down, lossy, unknown = (
        UpgradeType.UPGRADE,
        UpgradeType.SAFE_DOWNGRADE,
        UpgradeType.UNSAFE_DOWNGRADE,
        UpgradeType.UNKNOWN,
    )
    update = chance.choice(
        (
            FeatureUpdate(METADATA_VERSION, now, up),
            FeatureUpdate(METADATA_VERSION, LATEST_METADATA_VERSION + 1, up),
            FeatureUpdate(METADATA_VERSION, 0, lossy),
            FeatureUpdate(METADATA_VERSION, now - 1, unknown),
            FeatureUpdate(METADATA_VERSION, now - 1, up),
            FeatureUpdate(METADATA_VERSION, now - 1, lossy),
            FeatureUpdate(ELIGIBLE_LEADER_REPLICAS, 1, up),
            FeatureUpdate(ELIGIBLE_LEADER_REPLICAS, 0, down),
            FeatureUpdate(ELIGIBLE_LEADER_REPLICAS, -1, down),
            FeatureUpdate("group.version", 1, up),
            FeatureUpdate("no.such.version", 1, up),
        )
    )
    return UpdateFeaturesRequest((update,), validate_only=_one_in(ask, 2))


EDGE_OPERATIONS: Final[tuple[tuple[int, str, Callable[[Ask], Any]], ...]] = (
    (3, "edge-allocate-producer-ids", _allocate_producer_ids),
    (3, "edge-alter-quotas", _alter_quotas),
    (2, "edge-alter-configs", draw_alter_configs),
    (2, "edge-reassign", _reassign),
    (1, "edge-list-reassignments", _list_reassignments),
    (3, "edge-alter-credentials", _alter_credentials),
    (2, "edge-assign-replicas", _assign_replicas),
    (3, "edge-create-acls", _create_acls),
    (2, "edge-delete-acls", _delete_acls),
    (3, "edge-create-token", _create_token),
    (3, "edge-renew-token", _renew_token),
    (2, "edge-expire-token", _expire_token),
    (3, "edge-create-partitions", _create_partitions),
    (5, "edge-create-topics", _create_topics),
    (2, "edge-delete-topics", _delete_topics),
    (1, "edge-elect", _elect),
    (3, "edge-incremental-alter-configs", draw_incremental_alter_configs),
    (1, "edge-unregister-broker", _unregister_broker),
    (2, "edge-update-features", _update_features),
)
"""Each kind of request: its weight in the draw, its name in a plan, and what makes it."""


def draw_edge_request(ask: Ask) -> Any:
    """Return a request; None if the drawn kind makes no sense for this image."""
    return draw_from(EDGE_OPERATIONS, ask)
