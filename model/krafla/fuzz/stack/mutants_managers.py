"""Seeded bugs of controllers besides brokers and topics: entries, credentials, settings, tasks."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from krafla.fuzz.engine.mutant import seed_bug
from kraft.controller.operations.errors import ControllerError
from kraft.controller.operations.result import Generated
from kraft.errors import ErrorCode
from kraft.records.security import RemoveAccessControlEntryRecord, RemoveUserScramCredentialRecord
from kraft.records.topics import NO_LEADER

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.fuzz.engine.mutant import Mutant, Probe

__all__ = ["MANAGERS"]

MANAGERS: Final[list[Mutant]] = []
_seed = partial(seed_bug, MANAGERS)


def _generating(right: Any, probe: Probe, wrong: Callable[[Any], Any]) -> Any:
    """Return a `generate` that produces other records than the operation does."""

    def generate(turn: Any, operation: Any, request: Any, chance: int) -> Any:
        found = right(turn, operation, request, chance)
        if not isinstance(found, Generated):
            return found
        records = probe.choose(found.result.records, wrong(found.result.records))
        return replace(found, result=replace(found.result, records=records))

    return generate


@_seed(
    "entry-is-removed-twice",
    "KAFKA-13892",
    "kraft.controller.write_path:generate",
    "An entry that two filters of a request match is removed by each of them.",
)
def _removed_twice(right: Any, probe: Probe) -> Any:
    def wrong(records: Any) -> Any:
        again = [one for one in records if isinstance(one, RemoveAccessControlEntryRecord)]
        return (*records, *again)

    return _generating(right, probe, wrong)


@_seed(
    "nothing-is-deleted",
    "audit O6",
    "kraft.controller.operations.scram:_record",
    "A record deletes a credential that does not exist.",
)
def _deletes_nothing(right: Any, probe: Probe) -> Any:
    def _record(image: Any, change: Any) -> Any:
        try:
            return right(image, change)
        except ControllerError as error:
            missing = error.code is ErrorCode.RESOURCE_NOT_FOUND
            probe.trigger(different=missing)
            if not missing:
                raise
            return RemoveUserScramCredentialRecord(change.name, change.mechanism)

    return _record


@_seed(
    "eligible-by-the-old-minimum",
    "KIP-966",
    "kraft.controller.operations.configurations:clear_elr_records",
    "Replicas that were eligible by another min.insync.replicas stay eligible.",
)
def _old_minimum(right: Any, probe: Probe) -> Any:
    def clear_elr_records(image: Any, records: Any) -> Any:
        return probe.choose(right(image, records), [])

    return clear_elr_records


@_seed(
    "balance-fails-without-a-leader",
    "sabotage",
    "kraft.controller.operations.elections:balance_partition_leaders",
    "The task that elects preferred leaders fails if a partition has no leader.",
)
def _fails_without_leader(right: Any, probe: Probe) -> Any:
    def balance_partition_leaders(image: Any, defaults: Any) -> Any:
        fails = any(one.leader == NO_LEADER for one in image.partitions.values())
        probe.trigger(different=fails)
        if fails:
            raise KeyError(NO_LEADER)
        return right(image, defaults)

    return balance_partition_leaders


@_seed(
    "nothing-waits-its-turn",
    "sabotage",
    "kraft.controller.empty_requests:empty_answer",
    "A request for nothing waits for what is pending, and only the active controller grants it.",
)
def _nothing_waits(right: Any, probe: Probe) -> Any:
    def empty_answer(request: Any) -> Any:
        return probe.choose(right(request), None)

    return empty_answer
