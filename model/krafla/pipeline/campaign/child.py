"""Seeds played in a child process, so that a seed that kills its process is known and counted."""

from __future__ import annotations

import multiprocessing
import pickle
import signal
import traceback
from collections import Counter, deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Protocol

from krafla.child_processes import end_with_parent
from krafla.pipeline.campaign.rows import DIED, SeedRow, lost_row, worker_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from multiprocessing.connection import Connection

    from krafla.fuzz.engine.runs import Runs

__all__ = ["Playing", "played_in_child"]

_DEATHS_MAX: Final = 3
_READY: Final = "ready"
_PATIENCE_SECONDS: Final = 10


class Playing(Protocol):
    """What plays seeds, once it has loaded what it needs; a child gets it as bytes."""

    @property
    def runs(self) -> Runs:
        """What is played."""

    def load(self) -> None:
        """Prepare this process."""

    def play(self, seed: int, worker: str) -> SeedRow:
        """Return the row of one seed."""


def played_in_child(player: Playing, seeds: Sequence[int]) -> Iterator[SeedRow]:
    """Yield the row of each seed, in order.

    A child plays them. Where it dies, another one goes on; a seed at which three children died is
    lost. ``RuntimeError`` if a child cannot play at all.
    """
    waiting, deaths = deque(seeds), Counter[int]()
    while waiting:
        for row in _answers(player, list(waiting)):
            assert row.seed == waiting.popleft(), "a child answers in order"
            yield row
        if not waiting:
            return
        seed = waiting[0]
        deaths[seed] += 1
        if deaths[seed] >= _DEATHS_MAX:
            waiting.popleft()
            detail = "the process that played it died each time, or was killed"
            yield lost_row(seed, player.runs.profile_of(seed), DIED, detail, "")


def _answers(player: Playing, seeds: list[int]) -> Iterator[SeedRow]:
    """Yield what one child answers, until it has ended."""
    # Spark's own pickle also takes what is defined in a notebook.
    from pyspark import cloudpickle

    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    payload = cloudpickle.dumps((player, seeds))  # type: ignore[no-untyped-call]  # it has no types
    child = context.Process(target=_play, args=(theirs, payload), daemon=True)
    child.start()
    theirs.close()
    try:
        first = _received(ours)
        if first != _READY:
            raise RuntimeError(f"a child process cannot play: {first or 'it died at its start'}")
        while (row := _received(ours)) is not None:
            yield row
    finally:
        ours.close()
        child.join(_PATIENCE_SECONDS)
        child.kill()
        child.join()


def _received(connection: Connection) -> Any:
    """Return the next message of a child; ``None`` if it is gone."""
    # A child that is killed while it writes leaves part of a message.
    with suppress(EOFError, OSError, pickle.UnpicklingError):
        return connection.recv()
    return None


def _play(connection: Connection, payload: bytes) -> None:
    """Play seeds in this process, which is a child, and send their rows."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    try:
        player, seeds = pickle.loads(payload)  # noqa: S301 - the parent's own
        player.load()
    except BaseException as error:
        connection.send("".join(traceback.format_exception(error)))
        raise
    connection.send(_READY)
    worker = worker_name()
    for seed in seeds:
        connection.send(player.play(seed, worker))
    connection.close()
