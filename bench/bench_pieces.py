"""One long history judged in pieces by several processes, beside the whole in one, in one run.

    python bench/bench_pieces.py [LOG [PROCESSES]]

LOG is a `.log` file; the default is a made one with a million changes of partitions. Each process
has loaded the specs before. The first replays the log and hands out pieces, then judges the last
one. The outcomes must be equal. Goal: two processes are at least 1.3 times as fast as one.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

from bench_audit import LOG_NAME, made_log, median_seconds, provide
from figures import Figures, benchmark

from krafla.audit import pieces
from krafla.audit.inventory import take_inventory
from krafla.audit.specs import REGISTRATIONS, LoadingSpec
from krafla.audit.starts import start_of
from krafla.scratch import scratch_folder
from krafla.verdict import KraflaError
from kraft.log.directory import open_metadata_log, read_metadata_log

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.pool import Pool
    from pathlib import Path

    from krafla.audit.pieces import JudgedPiece, Piece

ROUNDS = 5
CHANGES = 110
GOAL = 1.3
_loaded: list[LoadingSpec] = []


class Taken(NamedTuple):
    """The time that one judging took."""

    seconds: float


def main(arguments: list[str], figures: Figures) -> None:
    """Measure both, by turns."""
    processes = int(arguments[1]) if len(arguments) > 1 else 2
    with scratch_folder("bench") as scratch:
        log = scratch / "__cluster_metadata-0" / LOG_NAME
        log.parent.mkdir()
        if arguments:
            provide(log, arguments)
        else:
            log.write_bytes(b"".join(made_log(CHANGES)))
        inventory = take_inventory(open_metadata_log(log.parent))
        start = start_of(inventory, [])
        if start is None:
            raise KraflaError("the log has no start to judge it from", str(log))
        state, end = pieces.first_state(start, specs()), inventory.end
        print(f"log: {end - start.offset:,} records, {log.stat().st_size:,} bytes")
        last = inventory.offsets[-2]
        cuts = pieces.cuts_for(inventory.offsets, start.offset, processes)
        with multiprocessing.get_context("spawn").Pool(processes - 1) as pool:
            pool.apply(is_ready)
            runs: dict[str, list[Taken]] = {"whole": [], "pieces": [], "replay": []}
            for _ in range(ROUNDS):
                runs["whole"].append(timed(lambda: whole(log.parent, state)))
                runs["pieces"].append(timed(lambda: parallel(log.parent, state, cuts, pool)))
                runs["replay"].append(timed(lambda: replayed(log.parent, state, last)))
            if parallel(log.parent, state, cuts, pool) != whole(log.parent, state):
                raise KraflaError("the outcome of the pieces is not that of the whole")
    report(runs, processes, figures)


def report(runs: dict[str, list[Taken]], processes: int, figures: Figures) -> None:
    """Take the figures."""
    for name, taken in runs.items():
        fastest = min(run.seconds for run in taken)
        print(f"  {name:<8}{fastest:8.2f} s fastest {median_seconds(taken):8.2f} s median")
    median = {name: median_seconds(taken) for name, taken in runs.items()}
    ratio = median["whole"] / median["pieces"]
    least = GOAL if processes == 2 else None
    figures.add(f"a history whole / in {processes} pieces", ratio, "times", least=least)
    figures.add("replaying / judging", median["replay"] / median["whole"], "times")


def specs() -> LoadingSpec:
    """Return the specs of this process, loaded."""
    if not _loaded:
        _loaded.append(LoadingSpec())
        _loaded[0].get(REGISTRATIONS)
    return _loaded[0]


def is_ready() -> bool:
    """Load the specs of a process."""
    specs()
    return True


def whole(folder: Path, state: bytes) -> object:
    """Return the outcome of a log judged as one piece."""
    log = open_metadata_log(folder)
    (piece,) = pieces.cut((), state, (), specs(), {})
    return pieces.join([pieces.judge(piece, read_metadata_log(log), specs(), {})])


def parallel(folder: Path, state: bytes, cuts: list[int], pool: Pool) -> object:
    """Return the outcome of a log judged in pieces by several processes."""
    batches = read_metadata_log(open_metadata_log(folder))
    judged = []
    for piece in pieces.cut(batches, state, cuts, specs(), {}):
        if piece.end is None:
            last = judge(folder, piece)
        else:
            judged.append(pool.apply_async(judge, (folder, piece)))
    return pieces.join([*(one.get() for one in judged), last])


def replayed(folder: Path, state: bytes, last: int) -> object:
    """Return the pieces of a log that is cut before its last batch."""
    batches = read_metadata_log(open_metadata_log(folder))
    return [*pieces.cut(batches, state, [last], specs(), {})]


def judge(folder: Path, piece: Piece) -> JudgedPiece:
    """Return a piece of a log, judged."""
    log = open_metadata_log(folder)
    return pieces.judge(piece, read_metadata_log(log), specs(), {})


def timed(work: Callable[[], object]) -> Taken:
    """Return the time that some work takes."""
    started = time.perf_counter()
    work()
    return Taken(time.perf_counter() - started)


if __name__ == "__main__":
    sys.exit(benchmark(main))
