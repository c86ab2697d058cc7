"""`python -m kraft.sim.lease`: play a seed and print a summary."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from kraft.sim.common.recording import to_json
from kraft.sim.common.step import Done
from kraft.sim.lease.cluster import digest, status
from kraft.sim.lease.configuration import PROFILES, ConfigurationError
from kraft.sim.lease.runs import Run, run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

COLUMNS = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Play a run and print a short table of it; return 0, or 2 if it could not be played."""
    options = _parser().parse_args(arguments)
    try:
        configuration = PROFILES[options.profile](options.brokers, options.processes)
    except ConfigurationError as error:
        sys.stderr.write(f"kraft.sim.lease: {error}\n")
        return 2
    played = run(configuration, options.seed, options.steps)
    sys.stdout.write("".join(f"{line}\n" for line in table(played)))
    if options.record is not None:
        try:
            options.record.write_bytes(to_json(played.recording))
        except OSError as error:
            sys.stderr.write(f"kraft.sim.lease: {options.record}: {error.strerror}\n")
            return 2
    return 0


def table(played: Run) -> Iterator[str]:
    """Yield the lines of a summary: the faults, how often each action was taken, the last state."""
    last = played.last
    image = last.controller.image
    yield (
        f"seed {played.seed}: {len(played.results)} steps,"
        f" {last.controller_time_ms / 1000:.1f} simulated seconds, {len(last.log)} records"
    )
    faults = [
        f"{name} {value}" for name, value in msgspec.structs.asdict(played.plan).items() if value
    ]
    yield f"faults: {', '.join(faults) or 'none'}"
    yield ""
    taken = Counter(
        result.outcome.action for result in played.results if isinstance(result.outcome, Done)
    )
    cells = [f"{count:7,}  {action:28}" for action, count in sorted(taken.items())]
    rows = -(-len(cells) // COLUMNS)
    for row in range(rows):
        yield "".join(cells[row::rows]).rstrip()
    yield ""
    for broker_id, registration in sorted(image.registrations.items()):
        standing = "fenced" if registration.fenced else "unfenced"
        leaving = ", in controlled shutdown" if registration.in_controlled_shutdown else ""
        leading = ", leads" if broker_id in image.leads else ""
        yield f"broker {broker_id}: epoch {registration.epoch}, {standing}{leaving}{leading}"
    statuses = Counter(status(process) for process in last.processes.values())
    yield "processes: " + ", ".join(f"{count} {name}" for name, count in sorted(statuses.items()))
    yield f"digest: {digest(last)}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m kraft.sim.lease", description="Play a simulated cluster from a seed."
    )
    parser.add_argument("--seed", type=int, default=0, help="the seed of the run (0)")
    parser.add_argument("--steps", type=_natural, default=1_000, help="how many steps (1000)")
    parser.add_argument("--profile", choices=sorted(PROFILES), default="kafka-4.1")
    parser.add_argument("--brokers", type=_natural, default=3, help="how many broker ids (3)")
    parser.add_argument("--processes", type=_natural, default=4, help="processes of each id (4)")
    parser.add_argument("--record", type=Path, help="keep the run in this file, as JSON")
    return parser


def _natural(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
