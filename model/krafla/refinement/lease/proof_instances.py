"""Small models of the lease: in them `krafla prove` compares its actions with TLC's."""

from __future__ import annotations

from typing import Any

from krafla.proofs.agreement import Instance
from krafla.values import ModelValue

__all__ = ["lease_instances"]

_BROKER_1, _BROKER_2 = ModelValue("b1"), ModelValue("b2")
_PROCESS_1, _PROCESS_2 = ModelValue("p1"), ModelValue("p2")
_BASE: dict[str, Any] = {
    "Broker": {_BROKER_1},
    "Incarnation": {_PROCESS_1},
    "BrokerOf": {_PROCESS_1: _BROKER_1},
    "SessionTimeout": 1,
    "BrokerTimeout": 1,
    "MaxSkew": 0,
    "SelfFence": False,
    "Reorder": False,
    "Nil": ModelValue("Nil"),
}
_ONE_ID: dict[str, Any] = {
    "Incarnation": {_PROCESS_1, _PROCESS_2},
    "BrokerOf": {_PROCESS_1: _BROKER_1, _PROCESS_2: _BROKER_1},
}
_TWO_IDS: dict[str, Any] = {
    "Broker": {_BROKER_1, _BROKER_2},
    "Incarnation": {_PROCESS_1, _PROCESS_2},
    "BrokerOf": {_PROCESS_1: _BROKER_1, _PROCESS_2: _BROKER_2},
}
# The further constants of the module with two running brokers.
_NAMES: dict[str, Any] = {
    "b1": _BROKER_1,
    "b2": _BROKER_2,
    "p1": _PROCESS_1,
    "p2": _PROCESS_2,
    "p3": ModelValue("p3"),
    "MaxLogEnd": 6,
    "MaxInFlight": 1,
}
_ONE_MESSAGE = "Cardinality(DOMAIN messages) <= 1"
# A controlled shutdown is deep in the graph, so the second process is idle and no time passes.
_ONE_ACTS = r"""
  /\ Bounds
  /\ status[p2] = "RUNNING" /\ request_age[p2] = NoAge /\ applied_offset[p2] = 3
  /\ \A b \in Broker : contact_age[b] = 0"""


def lease_instances(limit: int = 8) -> tuple[Instance, ...]:
    """Return models that together have, for each action of the lease, states with it enabled.

    ``limit`` is the number of states compared for each action in each model.
    """
    return (
        Instance(
            "1 broker, 1 process, in order, 2 records", "BrokerLease", _BASE,
            rf"log_end <= 2 /\ {_ONE_MESSAGE}", limit=limit,
        ),
        Instance(
            "1 broker, 2 processes that fence themselves, 1 record", "BrokerLease",
            {**_BASE, **_ONE_ID, "SelfFence": True, "MaxSkew": 1},
            rf"log_end <= 1 /\ {_ONE_MESSAGE}", limit=limit,
        ),
        Instance(
            "2 running brokers, in any order, 6 records", "MCBrokerLeaseTwo",
            {**_BASE, **_TWO_IDS, **_NAMES, "Reorder": True},
            _ONE_ACTS, "BothRunning", limit=limit, states=2000,
        ),
    )  # fmt: skip
