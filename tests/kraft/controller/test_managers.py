"""Any sequence of manager requests: their records are consistent."""

from __future__ import annotations

from dataclasses import replace as with_changes

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kraft.controller.partitions import TOPIC, epoch_of
from tests.kraft.controller.test_features import ALL, cluster

from kraft.controller.operations.access_control import create_acls, delete_acls
from kraft.controller.operations.client_quotas import alter_client_quotas
from kraft.controller.operations.config_definitions import GROUP_RESOURCE
from kraft.controller.operations.configurations import (
    incremental_alter_configs,
    legacy_alter_configs,
)
from kraft.controller.operations.controller_registration import register_controller
from kraft.controller.operations.defaults import Defaults
from kraft.controller.operations.delegation_tokens import (
    create_delegation_token,
    expire_delegation_token,
    renew_delegation_token,
    sweep_expired_delegation_tokens,
)
from kraft.controller.operations.features import update_features
from kraft.controller.operations.leader_eligibility import ELIGIBLE_LEADER_REPLICAS
from kraft.controller.operations.producer_ids import allocate_producer_ids
from kraft.controller.operations.scram import alter_user_scram_credentials
from kraft.errors import ErrorCode
from kraft.ids import Uuid
from kraft.image.metadata_image import EMPTY_IMAGE, METADATA_VERSION
from kraft.image.replay import replay
from kraft.image.snapshot import snapshot_records
from kraft.records.topics import BROKER_RESOURCE, TOPIC_RESOURCE
from kraft.rpc.access_control import AclBinding, AclFilter, CreateAclsRequest, DeleteAclsRequest
from kraft.rpc.allocate_producer_ids import AllocateProducerIdsRequest
from kraft.rpc.client_quotas import AlterClientQuotasRequest, ClientQuotaAlteration
from kraft.rpc.configurations import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
    ConfigOperation,
    IncrementalAlterConfigsRequest,
    ReplacedConfigs,
)
from kraft.rpc.controller_registration import ControllerRegistrationRequest
from kraft.rpc.delegation_tokens import (
    CreateDelegationTokenRequest,
    ExpireDelegationTokenRequest,
    RenewDelegationTokenRequest,
)
from kraft.rpc.node_description import SupportedFeature
from kraft.rpc.scram import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kraft.rpc.update_features import FeatureUpdate, UpdateFeaturesRequest, UpgradeType

DEFAULTS = Defaults(delegation_token_secret_key="key")
BOOLEANS = st.booleans()


def several(strategy, most=3):
    """Draw a tuple of some."""
    return st.lists(strategy, max_size=most).map(tuple)


RESOURCES = st.sampled_from(
    [
        (TOPIC_RESOURCE, TOPIC),
        (TOPIC_RESOURCE, "bar"),
        (BROKER_RESOURCE, ""),
        (BROKER_RESOURCE, "0"),
        (BROKER_RESOURCE, "9"),
        (GROUP_RESOURCE, "g"),
    ]
)
NAMES = st.sampled_from(["cleanup.policy", "min.insync.replicas", "retention.ms", "no.such"])
VALUES = st.sampled_from(["1", "2", "compact", "delete", "compact,delete", "", None])
OF_LISTS = (ConfigOperation.APPEND, ConfigOperation.SUBTRACT)
# A list that no value is added to or taken from deposes the controller, as Kafka's:
# test_configurations.py has that.
CONFIGS = st.builds(AlterableConfig, NAMES, VALUES, st.sampled_from(ConfigOperation)).filter(
    lambda one: one.value is not None or one.config_operation not in OF_LISTS
)
USERS = st.sampled_from(["alice", "bob", ""])
MECHANISMS = st.sampled_from([1, 2, 3])
PRINCIPALS = st.sampled_from(["User:alice", "User:bob", "Group:staff"])
NUMBERS = st.integers(0, 4)
TOKEN_IDS = tuple(Uuid(f"{number}".rjust(21, "T") + "A") for number in range(100))
ENTITIES = st.sampled_from(
    [(("user", "alice"),), (("ip", None),), (("client-id", "c"), ("user", None)), ()]
)
QUOTAS = st.tuples(
    st.sampled_from(["producer_byte_rate", "connection_creation_rate", "request_percentage"]),
    st.sampled_from([1.0, 2.5, 0.0, None]),
)
UPDATES = st.builds(
    FeatureUpdate,
    st.sampled_from([METADATA_VERSION, ELIGIBLE_LEADER_REPLICAS, "group.version", "no.such"]),
    st.sampled_from([0, 1, 2, 22, 23, 26, 27]),
    st.sampled_from(UpgradeType),
)
BINDINGS = st.builds(
    AclBinding, st.sampled_from([1, 2, 3]), st.sampled_from(["a", "b", ""]), NUMBERS,
    PRINCIPALS, st.just("*"), st.sampled_from([1, 3, 4]), st.sampled_from([2, 3]),
)  # fmt: skip
FILTERS = st.builds(
    AclFilter, NUMBERS, st.sampled_from([None, "a", "ab"]), NUMBERS, st.none() | PRINCIPALS
)
REQUESTS = st.one_of(
    st.builds(
        IncrementalAlterConfigsRequest,
        several(st.builds(lambda key, changes: AlterConfigsResource(*key, changes),
                          RESOURCES, several(CONFIGS))), BOOLEANS,
    ),
    st.builds(
        AlterConfigsRequest,
        several(st.builds(lambda key, configs: ReplacedConfigs(*key, configs),
                          RESOURCES, several(st.tuples(NAMES, VALUES)))), BOOLEANS,
    ),
    st.builds(CreateAclsRequest, several(BINDINGS)),
    st.builds(DeleteAclsRequest, several(FILTERS)),
    st.builds(
        AlterUserScramCredentialsRequest,
        several(st.builds(ScramCredentialDeletion, USERS, MECHANISMS), 2),
        several(st.builds(ScramCredentialUpsertion, USERS, MECHANISMS,
                          st.sampled_from([1, 4096]), st.just(b"salt"), st.just(b"salted")), 2),
    ),
    st.builds(CreateDelegationTokenRequest, st.none() | PRINCIPALS, several(PRINCIPALS)),
    st.builds(RenewDelegationTokenRequest, st.just(b"")),
    st.builds(ExpireDelegationTokenRequest, st.just(b""), st.sampled_from([-1, 10])),
    st.builds(
        AlterClientQuotasRequest,
        several(st.builds(ClientQuotaAlteration, ENTITIES, several(QUOTAS))), BOOLEANS,
    ),
    st.builds(UpdateFeaturesRequest, several(UPDATES, 2), BOOLEANS),
    st.builds(AllocateProducerIdsRequest, st.sampled_from([0, 9]), st.just(epoch_of(0))),
    st.builds(
        ControllerRegistrationRequest, st.sampled_from([3001, 3002]), st.just("C" * 21 + "A"),
        BOOLEANS, st.just(()),
        st.just(tuple(SupportedFeature(one.name, one.minimum, one.maximum) for one in ALL)),
    ),
)  # fmt: skip


PLAIN = {
    DeleteAclsRequest: delete_acls,
    AlterUserScramCredentialsRequest: alter_user_scram_credentials,
    AlterClientQuotasRequest: alter_client_quotas,
    AllocateProducerIdsRequest: allocate_producer_ids,
    ControllerRegistrationRequest: register_controller,
}
CONFIGURED = {
    IncrementalAlterConfigsRequest: incremental_alter_configs,
    AlterConfigsRequest: legacy_alter_configs,
    UpdateFeaturesRequest: update_features,
}
TOKENS = {
    RenewDelegationTokenRequest: renew_delegation_token,
    ExpireDelegationTokenRequest: expire_delegation_token,
}


def answered(image, request, now):
    """Return the answer of a manager to a request at a time, which is also the chance."""
    kind, principal = type(request), ("User:alice", "User:bob")[now % 2]
    ids = tuple(TOKEN_IDS[3 * now : 3 * now + 3])
    if kind in PLAIN:
        return PLAIN[kind](image, request)
    if kind in CONFIGURED:
        return CONFIGURED[kind](image, DEFAULTS, request)
    if kind in TOKENS:
        return TOKENS[kind](image, DEFAULTS, request, principal, now)
    if kind is CreateAclsRequest:
        return create_acls(image, request, ids[: len(request.creations)])
    return create_delegation_token(image, DEFAULTS, request, principal, ids[0], now)


def secret_in(image):
    """Return the secret of the first token, or an invalid one."""
    for token_id in sorted(image.delegation_tokens):
        request = CreateDelegationTokenRequest()
        return create_delegation_token(image, DEFAULTS, request, "", token_id, 0).response.hmac
    return b""


def errors_of(response):
    """Return all errors of an answer: its own, or those of its parts."""
    parts = [
        one
        for name in ("responses", "results", "filter_results", "entries")
        for one in getattr(response, name, ())
    ]
    return [one.error_code for one in (parts or [response]) if hasattr(one, "error_code")]


@given(several(REQUESTS, 8))
@settings(max_examples=50)
def test_every_written_record_can_be_replayed_and_refusals_and_validations_write_nothing(requests):
    image = cluster(metadata_version=27)
    for now, drawn in enumerate(requests):
        has_secret = type(drawn) in TOKENS
        request = with_changes(drawn, hmac=secret_in(image)) if has_secret else drawn
        result = answered(image, request, now)
        errors = errors_of(result.response)
        is_twice = isinstance(request, AlterClientQuotasRequest)
        if getattr(request, "validate_only", False):
            assert result.records == ()
            looked, request = request, with_changes(request, validate_only=False)
            result = answered(image, request, now)
            assert errors_of(result.response) == errors, looked
        if errors and ErrorCode.NONE not in errors and not is_twice:
            assert result.records == ()
        image = replay(image, result.records)
        assert replay(EMPTY_IMAGE, snapshot_records(image)) == image
        if isinstance(request, AllocateProducerIdsRequest | CreateDelegationTokenRequest):
            continue
        # A repeated request changes nothing, or is refused.
        again = answered(image, request, now)
        assert replay(image, again.records) == image
        if isinstance(request, CreateAclsRequest | DeleteAclsRequest | AlterClientQuotasRequest):
            assert again.records == ()


def test_a_late_sweep_removes_all_tokens():
    image = cluster()
    image = replay(image, answered(image, CreateDelegationTokenRequest(), 0).records)
    assert image.delegation_tokens
    swept = sweep_expired_delegation_tokens(image, 2**62)
    assert not replay(image, swept.records).delegation_tokens
