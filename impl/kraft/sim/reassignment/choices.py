"""The choices an environment can make: one class for each action of Reassignment it can cause."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from kraft.ids import BrokerEpoch, BrokerId  # noqa: TC001 - msgspec reads the types


class _Choice(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="choice"):
    """What every choice is: an immutable, hashable value with its class's name as JSON tag."""


class StartReassignment(_Choice, frozen=True, tag=True):
    """Let the operator give the partition other replicas.

    Spec: Reassignment!StartReassignment.
    """

    target: tuple[BrokerId, ...]


class CancelReassignment(_Choice, frozen=True, tag=True):
    """Let the operator take a reassignment back.

    Spec: Reassignment!CancelReassignment.
    """


class ElectPreferredLeader(_Choice, frozen=True, tag=True):
    """Let the first replica lead.

    Spec: Reassignment!ElectPreferredLeader.
    """


class ElectUncleanLeader(_Choice, frozen=True, tag=True):
    """Let the operator have a leader at any price.

    Spec: Reassignment!ElectUncleanLeader.
    """


class DeleteTopic(_Choice, frozen=True, tag=True):
    """Let the operator delete the topic.

    Spec: Reassignment!DeleteTopic.
    """


class UnregisterBroker(_Choice, frozen=True, tag=True):
    """Let the operator remove a broker.

    Spec: Reassignment!UnregisterBroker.
    """

    broker_id: BrokerId


class FenceBroker(_Choice, frozen=True, tag=True):
    """Fence a broker.

    Spec: Reassignment!FenceBroker.
    """

    broker_id: BrokerId


class UnfenceBroker(_Choice, frozen=True, tag=True):
    """Unfence a broker.

    Spec: Reassignment!UnfenceBroker.
    """

    broker_id: BrokerId


class BeginControlledShutdown(_Choice, frozen=True, tag=True):
    """Let a broker ask for leave to stop.

    Spec: Reassignment!BeginControlledShutdown.
    """

    broker_id: BrokerId


class RegisterBroker(_Choice, frozen=True, tag=True):
    """Let a new process of a broker register.

    Spec: Reassignment!RegisterBroker.
    """

    broker_id: BrokerId


class LearnPartition(_Choice, frozen=True, tag=True):
    """Let a broker replay the metadata.

    Spec: Reassignment!LearnPartition.
    """

    broker_id: BrokerId


class SendAlterPartition(_Choice, frozen=True, tag=True):
    """Let a leader ask for another ISR.

    Spec: Reassignment!SendAlterPartition.
    """

    broker_id: BrokerId
    isr: tuple[BrokerId, ...]


class RetryAlterPartition(_Choice, frozen=True, tag=True):
    """Let a leader send a request once more that is still under way.

    Spec: Reassignment!RetryAlterPartition.
    """

    message_id: int


class SendStrayRequest(_Choice, frozen=True, tag=True):
    """Let somebody send a request that no correct leader sends.

    `isr` are the members and the broker epochs that the sender claims to know.

    Spec: Reassignment!SendStrayRequest.
    """

    broker_id: BrokerId
    broker_epoch: BrokerEpoch
    leader_epoch: int
    partition_epoch: int
    isr: tuple[tuple[BrokerId, BrokerEpoch], ...]
    leader_recovery_state: int


class Deliver(_Choice, frozen=True, tag=True):
    """Deliver a request to the controller, or an answer to the broker that asked.

    Which action of the spec that is depends on the message and on the state of who gets it.
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
