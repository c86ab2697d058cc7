"""Seeded bugs of replication: what is committed, what is in sync, what a follower truncates."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from krafla.fuzz.engine.mutant import seed_bug
from kraft.broker.partitions import BrokerPartitions
from kraft.broker.replica_log import truncate
from kraft.broker.replication import Leading
from kraft.ids import NO_BROKER_EPOCH

if TYPE_CHECKING:
    from krafla.fuzz.engine.mutant import Mutant, Probe

__all__ = ["DATA"]

DATA: Final[list[Mutant]] = []
_seed = partial(seed_bug, DATA)
_TROUBLE: Final = (("broker-shutdown", 2_000), ("isolation", 3_000), ("quick-restart", 1_500))


@_seed(
    "any-process-fetched",
    "KAFKA-14617",
    "kraft.broker.replication:on_fetch",
    "A leader does not note which process of a broker fetched from it.",
    (("lost-disk", 1_500), ("loss", 3_000)),
)
def _any_process_fetched(right: Any, probe: Probe) -> Any:
    def on_fetch(replica: Any, ask: Any, by: Any, epoch: Any, *rest: Any) -> Any:
        probe.trigger(different=epoch != NO_BROKER_EPOCH)
        return right(replica, ask, by, NO_BROKER_EPOCH, *rest)

    return on_fetch


@_seed(
    "commits-without-the-asked-for",
    "KIP-497",
    "kraft.broker.replication:maximal_isr",
    "A leader ignores a replica that it asked to add until the answer arrives.",
    _TROUBLE,
)
def _commits_without_the_asked_for(right: Any, probe: Probe) -> Any:
    def maximal_isr(view: Any) -> Any:
        probe.trigger(different=set(right(view)) != set(view.isr))
        return view.isr

    return maximal_isr


@_seed(
    "commits-alone",
    "sabotage",
    "kraft.broker.replication:advance_high_watermark",
    "A leader commits everything that it has itself, whatever its followers have.",
    _TROUBLE,
)
def _commits_alone(right: Any, probe: Probe) -> Any:
    def advance_high_watermark(broker_id: Any, replica: Any, *rest: Any) -> Any:
        after = right(broker_id, replica, *rest)
        end = replica.log.end_offset
        probe.trigger(different=after.high_watermark != end)
        return replace(after, high_watermark=end)

    return advance_high_watermark


@_seed(
    "all-is-stray",
    "sabotage",
    "kraft.broker.partitions:load",
    "A broker that starts takes all of its replicas for stray ones and removes them.",
    _TROUBLE,
)
def _all_is_stray(right: Any, probe: Probe) -> Any:
    def load(broker_id: Any, image: Any, logs: Any) -> Any:
        own, stray = right(broker_id, image, logs)
        probe.trigger(different=bool(own.replicas))
        found = tuple((one.directory, key) for key, one in sorted(own.replicas.items()))
        return BrokerPartitions(broker_id), (*stray, *found)

    return load


@_seed(
    "cuts-to-the-high-watermark",
    "KIP-101",
    "kraft.broker.replication:become_follower",
    "A new follower truncates its log to its own high watermark, which lags.",
    _TROUBLE,
)
def _cuts_to_the_high_watermark(right: Any, probe: Probe) -> Any:
    def become_follower(replica: Any, leader: int, leader_epoch: int) -> Any:
        after = right(replica, leader, leader_epoch)
        if after is replica:
            return after
        cut = truncate(after.log, after.high_watermark)
        probe.trigger(different=cut != after.log)
        return replace(after, log=cut)

    return become_follower


@_seed(
    "joins-at-a-stale-high-watermark",
    "KAFKA-7128",
    "kraft.broker.replication:is_follower_in_sync",
    "A new leader admits a replica that has all up to its high watermark, which is still stale.",
    _TROUBLE,
)
def _joins_at_a_stale_high_watermark(right: Any, probe: Probe) -> Any:
    def is_follower_in_sync(replica: Any, follower: Any) -> Any:
        wrong = (
            isinstance(replica.role, Leading)
            and follower.end_offset >= 0
            and follower.end_offset >= replica.high_watermark
        )
        return probe.choose(right(replica, follower), wrong)

    return is_follower_in_sync


@_seed(
    "commits-with-too-few",
    "KAFKA-15583",
    "kraft.broker.replication:has_min_isr",
    "A leader appends and commits with fewer in-sync replicas than min.insync.replicas.",
    _TROUBLE,
)
def _commits_with_too_few(right: Any, probe: Probe) -> Any:
    def has_min_isr(view: Any, min_isr: int) -> Any:
        return probe.choose(right(view, min_isr), True)

    return has_min_isr


@_seed(
    "follows-beyond-its-log",
    "sabotage",
    "kraft.broker.replication:on_fetched",
    "A follower adopts its leader's high watermark although its own log is shorter.",
)
def _follows_beyond_its_log(right: Any, probe: Probe) -> Any:
    def on_fetched(replica: Any, asked: Any, answer: Any) -> Any:
        after = right(replica, asked, answer)
        beyond = after is not replica and answer.high_watermark > after.log.end_offset
        probe.trigger(different=beyond)
        return replace(after, high_watermark=answer.high_watermark) if beyond else after

    return on_fetched
