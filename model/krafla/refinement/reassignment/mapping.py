"""A simulated partition as a state of Reassignment, and a choice as one of its actions.

This changes the notation and holds no rule of the protocol. Where spec and code differ, one of them
is fixed, never this file.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from krafla.refinement.common.interner import Interner
from krafla.refinement.common.judged_spec import StepMapping
from krafla.refinement.lease.vocabulary import NIL
from krafla.refinement.reassignment.notation import RECOVERY, eligibility_value, partition_value
from krafla.values import function, record
from kraft.errors import ErrorCode
from kraft.sim.reassignment import choices
from kraft.sim.reassignment.cluster import partition_of
from kraft.sim.reassignment.step import find

if TYPE_CHECKING:
    from krafla.values import Value
    from kraft.broker.partition_leader import PartitionLeader
    from kraft.ids import BrokerId
    from kraft.image.entries import Partition
    from kraft.rpc.alter_partition import AlterPartitionRequest, AlterPartitionResponse
    from kraft.sim.reassignment.choices import Choice
    from kraft.sim.reassignment.cluster import Cluster, Configuration, Envelope

__all__ = ["ELR_NAMES", "ReassignmentMapping"]

_OF_MESSAGES: Final = (choices.Deliver, choices.RetryAlterPartition)


ELR_NAMES: Final = {
    **{
        name: f"{name}Elr"
        for name in (
            "StartReassignment", "CancelReassignment", "ElectUncleanLeader", "FenceBroker",
            "UnfenceBroker", "RegisterBroker", "GrantAlterPartition",
        )
    },
    "LearnPartition": "PartitionLearned",
    "SendAlterPartition": "RequestSent",
    "RefuseAlterPartition": "RequestRefused",
    "HandleAlterPartitionResponse": "AnswerReceived",
}  # fmt: skip
"""The names that ReassignmentElr gives to actions of Reassignment; it has no others."""


class ReassignmentMapping(StepMapping):
    """The mapping for one configuration. Equal values are one object while they are remembered."""

    def __init__(self, configuration: Configuration) -> None:
        self._brokers = tuple(sorted(configuration.brokers))
        self._names = ELR_NAMES if configuration.min_isr is not None else {}
        self._values: Interner[Value] = Interner()

    def variables(self, cluster: Cluster) -> dict[str, Value]:
        """Return the values of all variables. Spec: Reassignment!vars, ReassignmentElr!elr_vars."""
        partition = partition_of(cluster)
        rows = tuple(self._row(cluster, broker_id) for broker_id in self._brokers)
        views = tuple(cluster.leading.get(broker_id) for broker_id in self._brokers)
        bag = Counter(self.message(one) for one in cluster.network)
        interned = self._values.get
        values = {
            "partition": interned(("partition", partition), lambda: _partition(partition)),
            "registrations": interned(
                ("registrations", rows),
                lambda: self._by_broker([_registration(*row) for row in rows]),
            ),
            "leading": interned(
                ("leading", views), lambda: self._by_broker([_view(view) for view in views])
            ),
            "messages": interned(("messages", frozenset(bag.items())), lambda: function(bag)),
        }
        if self._names and partition is not None:
            values["eligibility"] = interned(
                ("eligibility", partition), lambda: eligibility_value(partition)
            )
        return values

    def action_of(self, action: str) -> str:
        """Return the spec's name of an action of the simulation."""
        return self._names.get(action, action)

    def message(self, envelope: Envelope) -> Value:
        """Return a message. Spec: Reassignment!IsMessage."""
        request, response = envelope.request, envelope.response
        return self._values.get(
            (request, response),
            lambda: _request(request) if response is None else _response(request, response),
        )

    def parameters_of(self, cluster: Cluster, choice: Choice) -> tuple[Value, ...] | None:
        """Return the parameters of the action a choice stands for, by the cluster before it."""
        if isinstance(choice, _OF_MESSAGES):
            envelope = find(cluster, choice.message_id)
            return None if envelope is None else (self.message(envelope),)
        if isinstance(choice, choices.SendStrayRequest):
            return (_stray(choice),)
        if isinstance(choice, choices.StartReassignment):
            return (choice.target,)
        broker_id = getattr(choice, "broker_id", None)
        if broker_id is None:
            return ()
        if broker_id not in self._brokers:
            return None
        if isinstance(choice, choices.SendAlterPartition):
            return broker_id, frozenset(choice.isr)
        return (broker_id,)

    def refused_action(self, choice: Choice) -> str | None:
        """Return the action that a refused choice would have been; a delivery has none."""
        return None if isinstance(choice, choices.Deliver) else type(choice).__name__

    def _row(self, cluster: Cluster, broker_id: BrokerId) -> tuple[int, bool, bool, bool]:
        registration = cluster.image.brokers.get(broker_id)
        epoch = cluster.last_epochs[broker_id]
        if registration is None:
            return epoch, False, True, False
        return epoch, True, registration.fenced, registration.in_controlled_shutdown

    def _by_broker(self, results: list[Value]) -> Value:
        return function(zip(self._brokers, results, strict=True))


def _partition(partition: Partition | None) -> Value:
    return NIL if partition is None else partition_value(partition)


def _registration(epoch: int, registered: bool, fenced: bool, shutting_down: bool) -> Value:
    return record(
        epoch=epoch, registered=registered, fenced=fenced, in_controlled_shutdown=shutting_down
    )


def _view(view: PartitionLeader | None) -> Value:
    if view is None:
        return NIL
    return record(
        leader_epoch=view.leader_epoch,
        partition_epoch=view.partition_epoch,
        replicas=frozenset(view.replicas),
        isr=frozenset(view.isr),
        pending=frozenset(view.pending),
    )


def _request(request: AlterPartitionRequest) -> Value:
    (data,) = request.partitions
    return record(
        type="AlterPartitionRequest",
        broker=request.broker_id,
        broker_epoch=request.broker_epoch,
        leader_epoch=data.leader_epoch,
        partition_epoch=data.partition_epoch,
        isr=function(data.new_isr_with_epochs),
        recovery=RECOVERY[data.leader_recovery_state],
    )


def _stray(choice: choices.SendStrayRequest) -> Value:
    return record(
        type="AlterPartitionRequest",
        broker=choice.broker_id,
        broker_epoch=choice.broker_epoch,
        leader_epoch=choice.leader_epoch,
        partition_epoch=choice.partition_epoch,
        isr=function(choice.isr),
        recovery=RECOVERY[choice.leader_recovery_state],
    )


def _response(request: AlterPartitionRequest, response: AlterPartitionResponse) -> Value:
    (data,) = request.partitions
    answer = response.partitions[0] if response.partitions else None
    code = response.error_code if answer is None else answer.error_code
    granted = answer is not None and code is ErrorCode.NONE
    return record(
        type="AlterPartitionResponse",
        broker=request.broker_id,
        leader_epoch=data.leader_epoch,
        partition_epoch=data.partition_epoch,
        error=code.name,
        new_isr=frozenset(answer.isr if answer is not None and granted else ()),
        new_partition_epoch=answer.partition_epoch if answer is not None and granted else 0,
    )
