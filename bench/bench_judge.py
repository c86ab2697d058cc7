"""What it costs a program in another language to have each step judged.

A process of `krafla judge` is asked about the steps of the lock of `examples/other-languages`:
first one at a time, as a test does, then many before the first answer is read. The same steps are
judged by `krafla.testing.Judge` in this process, and by `krafla validate` from a plain log. They
are those of a lock server with three clients, so the spec has seen most of them before.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from figures import Figures, benchmark

from krafla.match.log_check import trace_of_log
from krafla.match.spec_source import SpecSource
from krafla.match.validation import validate
from krafla.scratch import scratch_folder
from krafla.testing import Judge, Spec
from krafla.traces.plain_log import read_log
from krafla.verdict import KraflaError, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

LOCK = Path(__file__).resolve().parents[1] / "examples" / "other-languages" / "Lock.tla"
KRAFLA = (sys.executable, "-c", "from krafla.cli import main; main()")
STEPS = 20_000
WARMING = 2_000
# Bytes in a pipe are few: neither side may wait for the other to read.
AT_ONCE = 100
GOAL = 5_000


def steps(count: int) -> list[tuple[str, str, dict[str, Any]]]:
    """Return steps of a lock server: action, client, and the whole state afterwards."""
    chance = random.Random(7)
    holder, queue = "Free", []
    found: list[tuple[str, str, dict[str, Any]]] = []
    while len(found) < count:
        client, action = f"c{chance.randint(1, 3)}", ""
        if holder == "Free":
            holder, action = client, "Acquire"
        elif holder == client:
            holder, action = queue.pop(0) if queue else "Free", "Release"
        elif client not in queue:
            queue.append(client)
            action = "Enqueue"
        if action:
            found.append((action, client, {"holder": holder, "queue": list(queue)}))
    return found


def requests(count: int) -> list[bytes]:
    """Return the steps as lines."""
    lines = ({"step": a, "parameters": [c], "seen": seen} for a, c, seen in steps(count))
    return [json.dumps(line).encode() + b"\n" for line in lines]


@contextmanager
def judge() -> Iterator[subprocess.Popen[bytes]]:
    """Yield a process whose spec is loaded, with a behaviour that has begun."""
    with subprocess.Popen(
        [*KRAFLA, "judge", "--spec", str(LOCK)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            hello = answers(process, 1)
            if not hello[0].startswith(b'{"krafla_judge"'):
                raise KraflaError(f"the judge did not start: {hello[0].decode()}")
            asked(process, [b'{"start": {}}\n'])
            yield process
        finally:
            process.kill()


def answers(process: subprocess.Popen[bytes], count: int) -> list[bytes]:
    """Return the next lines of answers."""
    assert process.stdout is not None
    return [process.stdout.readline() for _ in range(count)]


def asked(process: subprocess.Popen[bytes], lines: list[bytes]) -> None:
    """Send lines together, and read their answers; each must hold."""
    assert process.stdin is not None
    process.stdin.write(b"".join(lines))
    process.stdin.flush()
    for answer in answers(process, len(lines)):
        if not answer.startswith(b'{"verdict":"held"'):
            raise KraflaError(f"a step of the lock is not held: {answer.decode()}")


def over_the_pipe(figures: Figures) -> None:
    """Measure a process from its start, and its steps."""
    lines = requests(WARMING + STEPS)
    started = time.perf_counter()
    with judge() as process:
        asked(process, lines[:1])
        figures.add("from the start of the process to the first judged step",
                    time.perf_counter() - started, "s", most=1.5)  # fmt: skip
        for line in lines[1:WARMING]:
            asked(process, [line])
        one = time.perf_counter()
        half = WARMING + STEPS // 2
        for line in lines[WARMING:half]:
            asked(process, [line])
        many = time.perf_counter()
        for first in range(half, len(lines), AT_ONCE):
            asked(process, lines[first : first + AT_ONCE])
        ended = time.perf_counter()
    figures.add("over the pipe, one at a time", STEPS / 2 / (many - one), "steps/s", least=GOAL)
    figures.add(f"over the pipe, {AT_ONCE} at once", STEPS / 2 / (ended - many), "steps/s")


def in_this_process(figures: Figures) -> None:
    """Measure the same judge without a pipe."""
    found = steps(WARMING + STEPS)
    here = Judge(Spec.load(LOCK))
    here.start()
    started = 0.0
    for number, (action, client, seen) in enumerate(found):
        if number == WARMING:
            started = time.perf_counter()
        here.step(action, client, seen=seen)
    figures.add("in this process", STEPS / (time.perf_counter() - started), "steps/s")


def from_a_log(figures: Figures) -> None:
    """Measure a plain log: reading, then judging."""
    lines = ({"action": a, "parameters": [c], "seen": seen} for a, c, seen in steps(STEPS))
    with scratch_folder("bench") as folder:
        path = folder / "lock.log"
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
        source = SpecSource(LOCK, LOCK.with_suffix(".cfg"))
        started = time.perf_counter()
        log = read_log(path)
        read = time.perf_counter()
        report = validate(trace_of_log(log, source), source=source)
        ended = time.perf_counter()
    assert report.verdict is Verdict.HELD, report.verdict
    figures.add("a plain log, read", STEPS / (read - started), "lines/s")
    figures.add("a plain log, judged", STEPS / (ended - read), "steps/s", least=GOAL)


def main(_: list[str], figures: Figures) -> None:
    """Measure the pipe, the judge without it, and logs."""
    over_the_pipe(figures)
    in_this_process(figures)
    from_a_log(figures)


if __name__ == "__main__":
    sys.exit(benchmark(main))
