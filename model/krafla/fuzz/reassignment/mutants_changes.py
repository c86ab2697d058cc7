"""Seeded bugs of AlterPartition, and of when a reassignment is complete."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from krafla.fuzz.engine.mutant import Killer, seed_bug, wrong_answer
from kraft.controller.operations import leader_eligibility
from kraft.controller.operations.errors import ControllerError
from kraft.controller.operations.partition_ask import in_progress
from kraft.errors import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.fuzz.engine.mutant import Mutant, Probe

__all__ = ["ANY_CHANGE", "CHANGES"]

CHANGES: Final[list[Mutant]] = []
ANY_CHANGE: Final = (
    "GrantAlterPartition", "StartReassignment", "CancelReassignment", "ElectPreferredLeader",
    "ElectUncleanLeader", "FenceBroker", "UnfenceBroker", "UnregisterBroker",
    "BeginControlledShutdown",
)  # fmt: skip
"""The actions that may change the partition."""
_seed = partial(seed_bug, CHANGES, profile="moves")
_seed_strays = partial(seed_bug, CHANGES, profile="strays")
_CHANGE: Final = "kraft.controller.operations.partition_change"
_ALTER: Final = "kraft.controller.operations.alter_partition"
_NONE: Final = 'ErrorFor(m) = "NONE"'
_JOINS: Final = Killer(("GrantAlterPartition",), conjunct=_NONE, breaks="IneligibleStaysOutProp")
_GRANTS_STALE: Final = replace(_JOINS, breaks="StaleRequestRejectedProp")


@_seed("completes-when-added-are-in-sync", "KAFKA-15665", f"{_CHANGE}:is_completable",
       "A reassignment completes when the added replicas are in sync, whatever the others are.",
       killer=Killer(ANY_CHANGE, "partition", breaks="TargetIsrFullBeforeDropProp"))  # fmt: skip
@wrong_answer
def _completes_when_added_are_in_sync(_right: Any, ask: Any) -> bool:
    stays = set(ask.replicas) - set(ask.removing_replicas)
    left = set(ask.isr) - set(ask.removing_replicas)
    return in_progress(ask) and bool(stays and left) and set(ask.adding_replicas) <= set(ask.isr)


@_seed("completes-with-one-in-sync", "KIP-631", f"{_CHANGE}:is_completable",
       "A reassignment that only removes replicas completes with one in sync.",
       killer=Killer(ANY_CHANGE, "partition", breaks="TargetIsrFullBeforeDropProp"))  # fmt: skip
@wrong_answer
def _completes_with_one_in_sync(_right: Any, ask: Any) -> bool:
    stays = set(ask.replicas) - set(ask.removing_replicas)
    left = set(ask.isr) - set(ask.removing_replicas)
    removes_only = not ask.adding_replicas and bool(left)
    return in_progress(ask) and bool(stays) and (removes_only or stays <= set(ask.isr))


@_seed("completes-and-keeps-removed-in-sync", "KIP-455", f"{_CHANGE}:completed",
       "The ISR keeps replicas that a completed reassignment has removed.",
       killer=Killer(ANY_CHANGE, "partition", breaks="IsrSubsetReplicasInv"))  # fmt: skip
@wrong_answer
def _keeps_removed_in_sync(right: Any, ask: Any) -> Any:
    return replace(right(ask), isr=ask.isr)


@_seed("completes-and-keeps-adding", "KIP-455", f"{_CHANGE}:completed",
       "A completed reassignment keeps its adding replicas.",
       killer=Killer(ANY_CHANGE, "partition"))  # fmt: skip
@wrong_answer
def _keeps_adding(right: Any, ask: Any) -> Any:
    return replace(right(ask), adding_replicas=ask.adding_replicas)


@_seed("fenced-replica-joins", "KAFKA-13916", f"{_ALTER}:_is_eligible",
       "A replica whose broker is fenced may join the ISR.", killer=_JOINS)  # fmt: skip
@wrong_answer
def _any_registered_may_join(_right: Any, image: Any, broker_id: Any, _epoch: Any) -> bool:
    return broker_id in image.brokers


@_seed("replica-joins-in-shutdown", "KIP-841", f"{_ALTER}:_is_eligible",
       "A replica whose broker is in a controlled shutdown may join the ISR.", killer=_JOINS
       )  # fmt: skip
@wrong_answer
def _any_unfenced_may_join(_right: Any, image: Any, broker_id: Any, _epoch: Any) -> bool:
    return broker_id in image.brokers and not image.brokers[broker_id].fenced


@_seed_strays("rebooted-replica-joins", "KAFKA-14617", f"{_ALTER}:_is_eligible",
              "A replica joins the ISR by the broker epoch of the process before.", killer=_JOINS
              )  # fmt: skip
@wrong_answer
def _any_process_may_join(_right: Any, image: Any, broker_id: Any, _epoch: Any) -> bool:
    return leader_eligibility.is_active(image, broker_id)


@_seed_strays("leader-ahead-is-fenced", "KAFKA-14154", f"{_ALTER}:validate_alter_partition",
              "A leader that knows a later leader epoch than the controller is told it is fenced.",
              killer=Killer(("RefuseAlterPartition",), "messages"))  # fmt: skip
@wrong_answer
def _fences_who_is_ahead(right: Any, *arguments: Any) -> None:
    try:
        right(*arguments)
    except ControllerError as error:
        ahead = error.code is ErrorCode.NOT_CONTROLLER
        code = ErrorCode.FENCED_LEADER_EPOCH if ahead else error.code
        raise ControllerError(code, "") from error


def _without_check(code: ErrorCode) -> Callable[[Any, Probe], Any]:
    """Return the mistake that never refuses an AlterPartition with this error."""

    def validate_alter_partition(right: Any, *arguments: Any) -> None:
        try:
            right(*arguments)
        except ControllerError as error:
            if error.code is not code:
                raise

    return wrong_answer(validate_alter_partition)


_seed_strays("leader-ahead-is-granted", "KAFKA-14154", f"{_ALTER}:validate_alter_partition",
             "A request with a later leader epoch than the controller knows is granted.",
             killer=_GRANTS_STALE)(_without_check(ErrorCode.NOT_CONTROLLER))  # fmt: skip
_seed("former-leader-is-granted", "KIP-497", f"{_ALTER}:validate_alter_partition",
      "A request of an earlier leader epoch is granted.",
      killer=_GRANTS_STALE)(_without_check(ErrorCode.FENCED_LEADER_EPOCH))  # fmt: skip
_seed("stale-partition-epoch-is-granted", "KIP-497", f"{_ALTER}:validate_alter_partition",
      "A request with an earlier partition epoch is granted.",
      killer=_GRANTS_STALE)(_without_check(ErrorCode.INVALID_UPDATE_VERSION))  # fmt: skip
_seed_strays("any-isr-is-granted", "KIP-497", f"{_ALTER}:validate_alter_partition",
             "A request for an ISR that can never be is granted.",
             killer=Killer(("GrantAlterPartition",), conjunct=_NONE))(
    _without_check(ErrorCode.INVALID_REQUEST))  # fmt: skip


@_seed_strays("former-process-is-heard", "ClusterControlManager.checkBrokerEpoch",
              f"{_ALTER}:alter_partition",
              "The AlterPartition of an earlier process of the broker counts.",
              killer=Killer(("GrantAlterPartition", "RefuseAlterPartition")))  # fmt: skip
@wrong_answer
def _hears_any_process(right: Any, image: Any, defaults: Any, request: Any) -> Any:
    registration = image.brokers.get(request.broker_id)
    if registration is not None:
        request = replace(request, broker_epoch=registration.epoch)
    return right(image, defaults, request)
