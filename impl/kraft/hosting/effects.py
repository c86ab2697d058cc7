"""The effects of a step, performed one by one in their order.

The order is the promise of durability: a message leaves only after everything it rests on is on the
disk, and the state machine hears of a step last.

Kafka: KafkaRaftClient.poll and what it calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, get_args

from kraft.raft.effects import (
    AppendRefused,
    Durable,
    Fatal,
    HandleCommit,
    HandleLeaderChange,
    HandleLoadSnapshot,
    ResignRefused,
    SendRequest,
    SendResponse,
    ShutdownCompleted,
    SnapshotRefused,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kraft.hosting.process import HostedProcess
    from kraft.raft.effects import Effect

DURABLE: Final = frozenset(get_args(Durable))
"""The classes of the effects on the disk, which the runner performs itself."""


def perform(process: HostedProcess, effects: Sequence[Effect], start: int = 0) -> int:
    """Perform effects from `start` on, up to the next durable one; return its index.

    The runner performs that one, and calls again with the next index once it is on the disk. The
    number of effects is returned after the last one, and after one that ends the process: then
    `process.ended` is that effect.
    """
    outside = process.outside
    for index in range(start, len(effects)):
        effect = effects[index]
        if isinstance(effect, SendRequest):
            outside.send(effect.destination, effect.correlation_id, effect.request)
        elif isinstance(effect, SendResponse):
            outside.reply(effect.source.correlation_id, effect.response)
        elif effect.__class__ in DURABLE:
            return index
        elif isinstance(effect, Fatal | ShutdownCompleted):
            process.ended = effect
            break
        else:
            _tell(process, effect)
    return len(effects)


def _tell(process: HostedProcess, effect: Effect) -> None:
    listener = process.listener
    if isinstance(effect, HandleCommit):
        listener.committed(effect)
    elif isinstance(effect, HandleLoadSnapshot):
        listener.load(effect)
    elif isinstance(effect, HandleLeaderChange):
        listener.leader_changed(effect)
    elif isinstance(effect, AppendRefused):
        listener.append_refused()
    elif not isinstance(effect, ResignRefused | SnapshotRefused):
        raise TypeError(f"an effect of an unknown kind: {effect!r}")
