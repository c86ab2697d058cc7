"""Requests and responses between brokers and the active controller, with Kafka's field names."""

from kraft.rpc.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from kraft.rpc.broker_registration import BrokerRegistrationRequest, BrokerRegistrationResponse
from kraft.rpc.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse

__all__ = [
    "BrokerHeartbeatRequest",
    "BrokerHeartbeatResponse",
    "BrokerRegistrationRequest",
    "BrokerRegistrationResponse",
    "UnregisterBrokerRequest",
    "UnregisterBrokerResponse",
]
