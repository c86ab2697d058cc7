"""What operators ask for besides topics: configurations, access, credentials, quotas, features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kraft.controller.operations.leader_eligibility import ELIGIBLE_LEADER_REPLICAS
from kraft.ids import BrokerId
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
from kraft.rpc.scram import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kraft.rpc.update_features import FeatureUpdate, UpdateFeaturesRequest, UpgradeType

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.sim.stack.ask import Ask

_USERS: Final = ("ann", "bob")
_SETTINGS: Final = (
    ("min.insync.replicas", ("1", "2", "none")),
    ("unclean.leader.election.enable", ("true", "false")),
    ("retention.ms", ("1000", "-1", "soon")),
)


def alter_configs(ask: Ask) -> Any:
    """Ask for a setting of a topic, of one broker or of all of them; some cannot be."""
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


def alter_acls(ask: Ask) -> Any:
    """Ask for an entry of access control, or for the end of some."""
    chance = ask.chance
    user = f"User:{chance.choice(_USERS)}"
    if chance.below(3) == 0:
        one = AclFilter(principal=user)
        return DeleteAclsRequest((one, AclFilter()) if chance.below(2) else (one,))
    binding = AclBinding(2, chance.choice(("t", "u", "")), 3, user, "*", 3 + chance.below(2), 3)
    return CreateAclsRequest((binding, binding) if chance.below(4) == 0 else (binding,))


def alter_credentials(ask: Ask) -> Any:
    """Ask for a password, or for the end of one."""
    chance = ask.chance
    user = chance.choice(_USERS)
    if chance.below(3) == 0:
        return AlterUserScramCredentialsRequest((ScramCredentialDeletion(user, 1),))
    iterations = chance.choice((4096, 8192, 1))
    upsertion = ScramCredentialUpsertion(user, 1, iterations, b"salt", b"salted password")
    return AlterUserScramCredentialsRequest((), (upsertion,))


def alter_quotas(ask: Ask) -> Any:
    """Ask for a quota of a user, or of all of them."""
    chance = ask.chance
    who = (("user", chance.choice((*_USERS, None))),)
    value = chance.choice((1000.0, 2000.0, None, -1.0))
    return AlterClientQuotasRequest((ClientQuotaAlteration(who, (("producer_byte_rate", value),)),))


def update_features(ask: Ask) -> Any:
    """Ask for another level of the metadata version, or of the eligible leader replicas."""
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


def unregister_broker(ask: Ask) -> Any:
    """Ask for the end of a registration: mostly of one that is fenced."""
    fenced = [one for one, registration in ask.image.brokers.items() if registration.fenced]
    if fenced and ask.chance.below(4):
        return UnregisterBrokerRequest(ask.chance.choice(sorted(fenced)))
    if ask.chance.below(8):
        return None
    return UnregisterBrokerRequest(BrokerId(ask.chance.choice((*ask.brokers, BrokerId(99)))))


MANAGER_OPERATIONS: Final[tuple[tuple[int, Callable[[Ask], Any]], ...]] = (
    (3, alter_configs),
    (1, alter_acls),
    (1, alter_credentials),
    (1, alter_quotas),
    (1, update_features),
    (1, unregister_broker),
)
"""Each kind of request, and how often it is drawn."""
