"""The numbers of requests and the names of errors in KIP-631, where they differ from Kafka's.

Kafka: ApiKeys, Errors. KIP-631 "RPCs", "New Error Codes".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.errors import ErrorCode
from kraft.profile import KAFKA_4_1
from kraft.rpc.broker_heartbeat import BrokerHeartbeatRequest
from kraft.rpc.broker_registration import BrokerRegistrationRequest
from kraft.rpc.controller_registration import ControllerRegistrationRequest
from kraft.rpc.unregister_broker import UnregisterBrokerRequest

if TYPE_CHECKING:
    from kraft.profile import Profile

_KEYS: Final[dict[type, str]] = {
    BrokerRegistrationRequest: "broker_registration_api_key",
    BrokerHeartbeatRequest: "broker_heartbeat_api_key",
    UnregisterBrokerRequest: "unregister_broker_api_key",
}
_LEFT_OPEN: Final[dict[type, int]] = {ControllerRegistrationRequest: 70}
"""What KIP-919 leaves to Kafka."""


def api_key_of(request: type, profile: Profile = KAFKA_4_1) -> int:
    """Return the API key under which a text has a request about brokers or controllers.

    Raises KeyError for a request that neither KIP-631 nor KIP-919 describes.
    Kafka: ApiKeys.
    """
    if request in _LEFT_OPEN:
        return _LEFT_OPEN[request]
    key: int = getattr(profile, _KEYS[request])
    return key


def error_name_of(code: ErrorCode, profile: Profile = KAFKA_4_1) -> str:
    """Return the name of an error in a profile: Kafka's, for most errors."""
    return profile.wrong_cluster_error if code is ErrorCode.INCONSISTENT_CLUSTER_ID else code.name
