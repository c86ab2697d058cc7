"""The wrong functions that the mutants of a moving partition put in place of the right ones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kraft.broker import partition_leader
from kraft.controller.operations import alter_partition, leadership, partition_ask, partition_change
from kraft.controller.operations.errors import ControllerError
from kraft.controller.operations.partition_ask import Election, in_progress, unchanged, without
from kraft.controller.operations.partition_change import Elected
from kraft.errors import ErrorCode
from kraft.records.lease import UNFENCE, BrokerRegistrationChangeRecord
from kraft.records.topics import NO_LEADER

if TYPE_CHECKING:
    from collections.abc import Callable

# The right functions, kept before any of them is replaced.
_build = partition_change.build
_elected = partition_change.elected
_completed = partition_change.completed
_validate = alter_partition.validate_alter_partition
_alter_partition = alter_partition.alter_partition
_reverted = partition_ask.reverted
_new_assignment = partition_ask.new_assignment
_on_response = partition_leader.on_alter_partition_response
_unfence_broker = leadership.unfence_broker
_is_awaited = partition_leader.is_awaited


def nothing(*_: Any, **__: Any) -> tuple[()]:
    return ()


def completes_when_those_who_come_in_are_in_sync(ask: Any) -> bool:
    stays = set(ask.replicas) - set(ask.removing_replicas)
    left = set(ask.isr) - set(ask.removing_replicas)
    return in_progress(ask) and bool(stays and left) and set(ask.adding_replicas) <= set(ask.isr)


def completes_with_one_in_sync(ask: Any) -> bool:
    stays = set(ask.replicas) - set(ask.removing_replicas)
    left = set(ask.isr) - set(ask.removing_replicas)
    removes_only = not ask.adding_replicas and bool(left)
    return in_progress(ask) and bool(stays) and (removes_only or stays <= set(ask.isr))


def completes_and_keeps_the_removed_in_sync(ask: Any) -> Any:
    return replace(_completed(ask), isr=ask.isr)


def completes_and_keeps_what_came_in(ask: Any) -> Any:
    return replace(_completed(ask), adding_replicas=ask.adding_replicas)


def without_check(code: ErrorCode) -> Callable[..., None]:
    """Return validate_alter_partition that never answers with this code."""

    def validate(image: Any, partition: Any, sender: Any, asked: Any) -> None:
        try:
            _validate(image, partition, sender, asked)
        except ControllerError as error:
            if error.code is not code:
                raise

    return validate


def answers_instead(code: ErrorCode, other: ErrorCode) -> Callable[..., None]:
    """Return validate_alter_partition that answers with another code."""

    def validate(image: Any, partition: Any, sender: Any, asked: Any) -> None:
        try:
            _validate(image, partition, sender, asked)
        except ControllerError as error:
            raise ControllerError(other if error.code is code else error.code, "") from error

    return validate


def any_registered_may_join(image: Any, broker_id: Any, _epoch: Any) -> bool:
    return broker_id in image.brokers


def any_unfenced_may_join(image: Any, broker_id: Any, _epoch: Any) -> bool:
    return broker_id in image.brokers and not image.brokers[broker_id].fenced


def any_process_may_join(image: Any, broker_id: Any, _epoch: Any) -> bool:
    return alter_partition.is_active(image, broker_id)


def any_sender(image: Any, defaults: Any, request: Any) -> Any:
    registration = image.brokers.get(request.broker_id)
    if registration is not None:
        request = replace(request, broker_epoch=registration.epoch)
    return _alter_partition(image, defaults, request)


def the_leader_stays_if_nobody_can(partition: Any, *arguments: Any, **options: Any) -> Elected:
    found = _elected(partition, *arguments, **options)
    return Elected(partition.leader, False) if found.leader == NO_LEADER else found


def anybody_alive_leads(partition: Any, ask: Any, _elr: Any, acceptable: Any, **_: Any) -> Elected:
    if partition.leader != NO_LEADER and acceptable(partition.leader):
        return Elected(partition.leader, False)
    first = next((one for one in ask.replicas if acceptable(one)), NO_LEADER)
    return Elected(first, first not in ask.isr and first != NO_LEADER)


def asks_again_after_each_shrink(partition: Any, ask: Any, fields: Any, _rules: Any) -> bool:
    dropped = not set(partition.replicas) <= set(ask.replicas)
    return dropped or ("isr" in fields and not set(partition.isr) <= set(ask.isr))


def preferred_at_any_price(
    partition: Any, ask: Any, elr: Any, acceptable: Any, **options: Any
) -> Elected:
    found = _elected(partition, ask, elr, acceptable, **options)
    if ask.election is not Election.PREFERRED or found.leader != NO_LEADER:
        return found
    first = next((one for one in ask.replicas if acceptable(one)), NO_LEADER)
    return Elected(first, first != NO_LEADER)


def joins_when_unfenced(image: Any, defaults: Any, broker_id: Any) -> tuple[Any, ...]:
    records = list(_unfence_broker(image, defaults, broker_id))
    for (topic_id, index), partition in sorted(image.partitions.items()):
        if broker_id in partition.replicas and broker_id not in partition.isr:
            ask = replace(unchanged(partition), isr=(*partition.isr, broker_id))
            rules = partition_change.ChangeRules(27)
            joined = _build(topic_id, index, partition, ask, lambda _: True, rules)
            return records[0], *([joined] if joined else [])
    return tuple(records)


def unfences_only(image: Any, _defaults: Any, broker_id: Any) -> tuple[Any, ...]:
    epoch = image.brokers[broker_id].epoch
    return (BrokerRegistrationChangeRecord(broker_id, epoch, fenced=UNFENCE),)


def reverts_and_keeps_who_joined(partition: Any, **options: Any) -> Any:
    return replace(_reverted(partition, **options), isr=partition.isr)


def reverts_to_the_target(partition: Any, **options: Any) -> Any:
    replicas = without(partition.replicas, partition.removing_replicas)
    return replace(_reverted(partition, **options), replicas=replicas)


def drops_who_leaves_at_once(partition: Any, target: Any) -> Any:
    return replace(_new_assignment(partition, target), replicas=target)


def learns_and_still_waits(broker_id: Any, partition: Any) -> Any:
    view = partition_leader.view_of(broker_id, partition)
    return None if view is None else replace(view, pending=view.replicas)


def a_refusal_ends_it(view: Any, error_code: Any, answer: Any) -> Any:
    heard = _on_response(view, error_code, answer)
    return replace(heard, pending=())


def asks_while_it_waits(broker_id: Any, view: Any, isr: Any) -> bool:
    wanted, now = set(isr), set(view.isr)
    if broker_id not in wanted or not wanted <= set(view.replicas):
        return False
    return wanted < now or (wanted > now and len(wanted - now) == 1)


def believes_what_it_asked_for(view: Any, error_code: Any, answer: Any) -> Any:
    heard = _on_response(view, error_code, answer)
    granted = answer is not None and answer.error_code is ErrorCode.NONE
    return replace(heard, isr=view.pending) if granted else heard


def any_answer_is_awaited(view: Any, _asked: Any) -> bool:
    return view is not None and bool(view.pending)
