"""Seeded bugs of the controller's core: what it answers, goes back to, replays and keeps."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from krafla.fuzz.quorum.seeding import seed_bug
from kraft.controller.quorum.effects import Reply

if TYPE_CHECKING:
    from krafla.fuzz.quorum.seeding import Mutant, Probe

__all__ = ["CORE"]

CORE: Final[list[Mutant]] = []
_seed = partial(seed_bug, CORE, system="cluster")


@_seed(
    "answers-before-commit",
    "invariant O10",
    "kraft.controller.quorum.writing:answer",
    "An answer leaves as soon as its records are appended.",
)
def _answers_before_commit(right: Any, probe: Probe) -> Any:
    def answer(turn: Any, token: Any, response: Any) -> Any:
        waits = turn.state.stable_end != turn.state.write_end
        probe.trigger(different=waits)
        if not waits:
            return right(turn, token, response)
        return turn.do(Reply(token, response))

    return answer


@_seed(
    "keeps-uncommitted",
    "KAFKA-14204",
    "kraft.controller.quorum.renouncing:renounce",
    "Who steps back keeps in memory what was never committed.",
)
def _keeps_uncommitted(right: Any, probe: Probe) -> Any:
    def renounce(turn: Any) -> Any:
        kept = turn.state.written
        right(turn)
        after = turn.state
        probe.trigger(different=kept.end != after.written.end)
        timeline = after.timeline.set(after.stable_end, kept)
        turn.change(written=kept, timeline=timeline)

    return renounce


@_seed(
    "snapshot-forgets-nothing",
    "KAFKA-14894",
    "kraft.image.snapshot:_cluster",
    "Registrations of controllers and brokers are missing from snapshots.",
)
def _snapshot_without_brokers(right: Any, probe: Probe) -> Any:
    def _cluster(image: Any) -> Any:
        records = list(right(image))
        return iter(probe.choose(records, []))

    return _cluster
