"""The choices of the environment: one class for each action of Reassignment it can cause."""

from __future__ import annotations

from typing import TypeAlias

from kraft.ids import BrokerEpoch, BrokerId  # noqa: TC001 - msgspec reads the types
from kraft.sim.common.recording import BaseChoice


class StartReassignment(BaseChoice, frozen=True, tag=True):
    """Let an operator give the partition other replicas.

    Spec: Reassignment!StartReassignment.
    """

    target: tuple[BrokerId, ...]


class CancelReassignment(BaseChoice, frozen=True, tag=True):
    """Let an operator cancel a reassignment.

    Spec: Reassignment!CancelReassignment.
    """


class ElectPreferredLeader(BaseChoice, frozen=True, tag=True):
    """Elect the preferred leader.

    Spec: Reassignment!ElectPreferredLeader.
    """


class ElectUncleanLeader(BaseChoice, frozen=True, tag=True):
    """Let an operator request an unclean election.

    Spec: Reassignment!ElectUncleanLeader.
    """


class DeleteTopic(BaseChoice, frozen=True, tag=True):
    """Let an operator delete the topic.

    Spec: Reassignment!DeleteTopic.
    """


class UnregisterBroker(BaseChoice, frozen=True, tag=True):
    """Let an operator unregister a broker.

    Spec: Reassignment!UnregisterBroker.
    """

    broker_id: BrokerId


class FenceBroker(BaseChoice, frozen=True, tag=True):
    """Fence a broker.

    Spec: Reassignment!FenceBroker.
    """

    broker_id: BrokerId


class UnfenceBroker(BaseChoice, frozen=True, tag=True):
    """Unfence a broker.

    Spec: Reassignment!UnfenceBroker.
    """

    broker_id: BrokerId


class BeginControlledShutdown(BaseChoice, frozen=True, tag=True):
    """Let a broker begin a controlled shutdown.

    Spec: Reassignment!BeginControlledShutdown.
    """

    broker_id: BrokerId


class RegisterBroker(BaseChoice, frozen=True, tag=True):
    """Let a new process of a broker register.

    Spec: Reassignment!RegisterBroker.
    """

    broker_id: BrokerId


class LearnPartition(BaseChoice, frozen=True, tag=True):
    """Let a broker replay the metadata.

    Spec: Reassignment!LearnPartition.
    """

    broker_id: BrokerId


class SendAlterPartition(BaseChoice, frozen=True, tag=True):
    """Let a leader ask for another ISR.

    Spec: Reassignment!SendAlterPartition.
    """

    broker_id: BrokerId
    isr: tuple[BrokerId, ...]


class RetryAlterPartition(BaseChoice, frozen=True, tag=True):
    """Let a leader resend a request that is still in flight.

    Spec: Reassignment!RetryAlterPartition.
    """

    message_id: int


class SendStrayRequest(BaseChoice, frozen=True, tag=True):
    """Send a request that no correct leader sends.

    `isr` are the members and the broker epochs that the sender claims to know.

    Spec: Reassignment!SendStrayRequest.
    """

    broker_id: BrokerId
    broker_epoch: BrokerEpoch
    leader_epoch: int
    partition_epoch: int
    isr: tuple[tuple[BrokerId, BrokerEpoch], ...]
    leader_recovery_state: int


class Deliver(BaseChoice, frozen=True, tag=True):
    """Deliver a request to the controller, or a response to the broker that asked.

    The action of the spec depends on the message and on the state of its receiver.
    """

    message_id: int


Choice: TypeAlias = (
    StartReassignment
    | CancelReassignment
    | ElectPreferredLeader
    | ElectUncleanLeader
    | DeleteTopic
    | UnregisterBroker
    | FenceBroker
    | UnfenceBroker
    | BeginControlledShutdown
    | RegisterBroker
    | LearnPartition
    | SendAlterPartition
    | RetryAlterPartition
    | SendStrayRequest
    | Deliver
)
