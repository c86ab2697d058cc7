"""Which request is which operation, where partitions and brokers are not concerned.

Configurations, access control, credentials, tokens, quotas, features, producer ids, controllers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kraft.controller.operation_context import Operation, OperationContext, new_uuids, of_image
from kraft.controller.operations.access_control import create_acls, delete_acls
from kraft.controller.operations.client_quotas import alter_client_quotas
from kraft.controller.operations.configurations import (
    incremental_alter_configs,
    legacy_alter_configs,
)
from kraft.controller.operations.controller_registration import register_controller
from kraft.controller.operations.delegation_tokens import (
    create_delegation_token,
    expire_delegation_token,
    renew_delegation_token,
)
from kraft.controller.operations.features import update_features
from kraft.controller.operations.producer_ids import allocate_producer_ids
from kraft.controller.operations.scram import alter_user_scram_credentials
from kraft.rpc.access_control import CreateAclsRequest, DeleteAclsRequest
from kraft.rpc.allocate_producer_ids import AllocateProducerIdsRequest
from kraft.rpc.client_quotas import AlterClientQuotasRequest
from kraft.rpc.configurations import AlterConfigsRequest, IncrementalAlterConfigsRequest
from kraft.rpc.controller_registration import ControllerRegistrationRequest
from kraft.rpc.delegation_tokens import (
    CreateDelegationTokenRequest,
    ExpireDelegationTokenRequest,
    RenewDelegationTokenRequest,
)
from kraft.rpc.scram import AlterUserScramCredentialsRequest
from kraft.rpc.update_features import UpdateFeaturesRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kraft.controller.operations.result import Result


def _of_request(operation: Callable[..., Result[Any]]) -> Operation:
    """Return the operation of a function that takes image and request only."""
    return lambda asked: operation(asked.image, asked.request)


def _create_acls(asked: OperationContext) -> Result[Any]:
    request: CreateAclsRequest = asked.request
    return create_acls(asked.image, request, new_uuids(asked.chance, len(request.creations)))


def _create_token(asked: OperationContext) -> Result[Any]:
    (token_id,) = new_uuids(asked.chance, 1)
    return create_delegation_token(
        asked.image, asked.defaults, asked.request, asked.principal, token_id, asked.now_ms
    )


def _of_token(operation: Callable[..., Result[Any]]) -> Operation:
    return lambda asked: operation(
        asked.image, asked.defaults, asked.request, asked.principal, asked.now_ms
    )


MANAGER_WRITES: Final[Mapping[type[Any], Operation]] = {
    AllocateProducerIdsRequest: _of_request(allocate_producer_ids),
    AlterClientQuotasRequest: _of_request(alter_client_quotas),
    AlterConfigsRequest: of_image(legacy_alter_configs),
    AlterUserScramCredentialsRequest: _of_request(alter_user_scram_credentials),
    ControllerRegistrationRequest: _of_request(register_controller),
    CreateAclsRequest: _create_acls,
    CreateDelegationTokenRequest: _create_token,
    DeleteAclsRequest: _of_request(delete_acls),
    ExpireDelegationTokenRequest: _of_token(expire_delegation_token),
    IncrementalAlterConfigsRequest: of_image(incremental_alter_configs),
    RenewDelegationTokenRequest: _of_token(renew_delegation_token),
    UpdateFeaturesRequest: of_image(update_features),
}
"""By the type of the request."""
