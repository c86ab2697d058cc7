"""The requests of operators: one function per kind, drawn by the state of the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kraft.controller.operations.leader_eligibility import ELIGIBLE_LEADER_REPLICAS
from kraft.ids import BrokerId, PartitionId
from kraft.image.metadata_image import METADATA_VERSION
from kraft.image.versions import LATEST_METADATA_VERSION
from kraft.records.topics import BROKER_RESOURCE, TOPIC_RESOURCE
from kraft.rpc import UnregisterBrokerRequest
from kraft.rpc.access_control import AclBinding, AclFilter, CreateAclsRequest, DeleteAclsRequest
from kraft.rpc.client_quotas import AlterClientQuotasRequest, ClientQuotaAlteration
from kraft.rpc.configurations import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
    ConfigOperation,
    IncrementalAlterConfigsRequest,
    ReplacedConfigs,
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

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kraft.chance import Stream
    from kraft.image.entries import Topic
    from kraft.image.metadata_image import MetadataImage
    from kraft.sim.stack.configuration import StackKnobs

_REPLICAS_MAXIMUM: Final = 3
"""The most replicas of a partition that an operator asks for."""
_NAMES: Final = ("a", "b.c", "b_c", "d-e", "f", "g", "", "bad name")
_USERS: Final = ("ann", "bob")
_SETTINGS: Final = (
    ("min.insync.replicas", ("1", "2", "none")),
    ("unclean.leader.election.enable", ("true", "false")),
    ("retention.ms", ("1000", "-1", "soon")),
)


class Ask:
    """The input of a drawn request: a chance, and the cluster as the operator was shown it.

    `secrets` are those of the delegation tokens that operators were given last.
    """

    __slots__ = ("brokers", "chance", "image", "knobs", "number", "secrets")

    def __init__(
        self,
        chance: Stream,
        image: MetadataImage,
        brokers: tuple[BrokerId, ...],
        knobs: StackKnobs,
        number: int,
        secrets: Sequence[bytes] = (),
    ) -> None:
        self.chance = chance
        self.image = image
        self.brokers = brokers
        self.knobs = knobs
        self.number = number
        self.secrets = secrets

    def topic(self) -> Topic | None:
        """Return a topic of the image, None if it has none."""
        names = sorted(self.image.topic_ids)
        if not names:
            return None
        return self.image.topics[self.image.topic_ids[self.chance.choice(names)]]

    def partition(self) -> tuple[Topic, PartitionId] | None:
        """Return a partition of the image, None if it has none."""
        topic = self.topic()
        if topic is None or not topic.partition_ids:
            return None
        return topic, self.chance.choice(topic.partition_ids)

    def replicas(self) -> tuple[BrokerId, ...]:
        """Return one to three brokers in any order."""
        many = 1 + self.chance.below(min(_REPLICAS_MAXIMUM, len(self.brokers)))
        return tuple(self.chance.shuffled(self.brokers)[:many])


def _create_topic(ask: Ask) -> Any:
    if len(ask.image.topics) >= ask.knobs.topics:
        return None
    chance = ask.chance
    name = chance.choice(_NAMES) if chance.below(3) == 0 else f"topic-{ask.number}"
    count = 1 + chance.below(ask.knobs.partitions)
    if chance.below(3) == 0:
        assignments = tuple((PartitionId(index), ask.replicas()) for index in range(count))
        topic = CreatableTopic(name, assignments=assignments)
    else:
        factor = 1 + chance.below(min(_REPLICAS_MAXIMUM, len(ask.brokers)))
        topic = CreatableTopic(name, count, factor)
    return CreateTopicsRequest((topic,), validate_only=chance.below(10) == 0)


def _create_partitions(ask: Ask) -> Any:
    topic = ask.topic()
    if topic is None or len(topic.partition_ids) >= 2 * ask.knobs.partitions:
        return None
    count = len(topic.partition_ids) + ask.chance.below(3)
    return CreatePartitionsRequest((CreatePartitionsTopic(topic.name, count),))


def _delete_topic(ask: Ask) -> Any:
    topic = ask.topic()
    return None if topic is None else DeleteTopicsRequest((topic.topic_id,))


def _reassign(ask: Ask) -> Any:
    found = ask.partition()
    if found is None:
        return None
    topic, index = found
    target = None if ask.chance.below(4) == 0 else ask.replicas()
    return AlterPartitionReassignmentsRequest((ReassignablePartition(topic.name, index, target),))


def _list_reassignments(_ask: Ask) -> Any:
    return ListPartitionReassignmentsRequest()


def _elect(ask: Ask) -> Any:
    kind = UNCLEAN_ELECTION if ask.chance.below(4) == 0 else PREFERRED_ELECTION
    found = ask.partition()
    if found is None or ask.chance.below(3) == 0:
        return ElectLeadersRequest(kind)
    topic, index = found
    return ElectLeadersRequest(kind, ((topic.name, index),))


def _alter_configs(ask: Ask) -> Any:
    """Ask for a setting of a topic, of one broker or of all brokers; some settings are invalid."""
    chance = ask.chance
    topic = ask.topic()
    resource: tuple[int, str] = BROKER_RESOURCE, ""
    if topic is not None and chance.below(3):
        resource = TOPIC_RESOURCE, topic.name
    elif chance.below(2):
        resource = BROKER_RESOURCE, str(chance.choice(ask.brokers))
    name, values = chance.choice(_SETTINGS)
    value = chance.choice(values)
    if chance.below(4) == 0:
        return AlterConfigsRequest((ReplacedConfigs(*resource, ((name, value),)),))
    operation = ConfigOperation.DELETE if chance.below(3) == 0 else ConfigOperation.SET
    setting = AlterableConfig(name, None if operation else value, operation)
    return IncrementalAlterConfigsRequest(
        (AlterConfigsResource(*resource, (setting,)),), validate_only=chance.below(8) == 0
    )


def _alter_acls(ask: Ask) -> Any:
    """Ask to create an access control entry, or to delete some."""
    chance = ask.chance
    user = f"User:{chance.choice(_USERS)}"
    if chance.below(3) == 0:
        one = AclFilter(principal=user)
        return DeleteAclsRequest((one, AclFilter()) if chance.below(2) else (one,))
    binding = AclBinding(2, chance.choice(("t", "u", "")), 3, user, "*", 3 + chance.below(2), 3)
    return CreateAclsRequest((binding, binding) if chance.below(4) == 0 else (binding,))


def _alter_credentials(ask: Ask) -> Any:
    """Ask to set a user's SCRAM credential, or to delete it."""
    chance = ask.chance
    user = chance.choice(_USERS)
    if chance.below(3) == 0:
        return AlterUserScramCredentialsRequest((ScramCredentialDeletion(user, 1),))
    iterations = chance.choice((4096, 8192, 1))
    upsertion = ScramCredentialUpsertion(user, 1, iterations, b"salt", b"salted password")
    return AlterUserScramCredentialsRequest((), (upsertion,))


def _alter_quotas(ask: Ask) -> Any:
    """Ask for a quota of one user, or of all users."""
    chance = ask.chance
    who = (("user", chance.choice((*_USERS, None))),)
    value = chance.choice((1000.0, 2000.0, None, -1.0))
    return AlterClientQuotasRequest((ClientQuotaAlteration(who, (("producer_byte_rate", value),)),))


def _update_features(ask: Ask) -> Any:
    """Ask for another level of metadata.version or eligible.leader.replicas.version."""
    chance = ask.chance
    kind = chance.choice((UpgradeType.UPGRADE, UpgradeType.UPGRADE, UpgradeType.SAFE_DOWNGRADE))
    if chance.below(3) == 0:
        update = FeatureUpdate(ELIGIBLE_LEADER_REPLICAS, chance.below(2), kind)
    else:
        now = ask.image.metadata_version or 1
        level = min(now + chance.below(4), LATEST_METADATA_VERSION)
        if kind is not UpgradeType.UPGRADE:
            level = max(1, now - chance.below(4))
        update = FeatureUpdate(METADATA_VERSION, level, kind)
    return UpdateFeaturesRequest((update,), validate_only=chance.below(6) == 0)


def _unregister_broker(ask: Ask) -> Any:
    """Ask to unregister a broker, mostly a fenced one."""
    fenced = [one for one, registration in ask.image.brokers.items() if registration.fenced]
    if fenced and ask.chance.below(4):
        return UnregisterBrokerRequest(ask.chance.choice(sorted(fenced)))
    if ask.chance.below(8):
        return None
    return UnregisterBrokerRequest(BrokerId(ask.chance.choice((*ask.brokers, BrokerId(99)))))


OPERATIONS: Final[tuple[tuple[int, str, Callable[[Ask], Any]], ...]] = (
    (6, "create-topic", _create_topic),
    (2, "create-partitions", _create_partitions),
    (1, "delete-topic", _delete_topic),
    (8, "reassign", _reassign),
    (1, "list-reassignments", _list_reassignments),
    (4, "elect", _elect),
    (3, "alter-configs", _alter_configs),
    (1, "alter-acls", _alter_acls),
    (1, "alter-credentials", _alter_credentials),
    (1, "alter-quotas", _alter_quotas),
    (1, "update-features", _update_features),
    (1, "unregister-broker", _unregister_broker),
)
"""Each kind of request: its weight in the draw, its name in a plan, and what makes it."""


def draw_request(ask: Ask) -> Any:
    """Return a request; None if the drawn kind makes no sense for this image."""
    return draw_from(OPERATIONS, ask)


def draw_from(kinds: Sequence[tuple[int, str, Callable[[Ask], Any]]], ask: Ask) -> Any:
    """Return a request of one of the kinds, drawn by their weights."""
    drawn = ask.chance.below(sum(weight for weight, _, _ in kinds))
    for weight, _, make in kinds:
        if drawn < weight:
            return make(ask)
        drawn -= weight
    raise AssertionError("a number below the sum of the weights falls into one of them")
