"""What the wrapper costs over bare TLC, on a model of about a minute.

Both run the same model with the same flags of Java and of TLC, one worker each, by turns. The
figure is processor time of the whole run, wrapper and TLC together: wall-clock time says less on a
machine that others use too. Goal: less than 5 % more, by the medians.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time

from figures import Figures, benchmark

from krafla.manifest import load
from krafla.scratch import scratch_folder
from krafla.tlc.run import run
from krafla.verdict import KraflaError

MODEL = "MCBrokerLeaseReorder"
ROUNDS = 3
GOAL = 1.05


def processor_seconds() -> float:
    """Return the processor time used so far by this process and all that it has waited for."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def wrapped(model: object) -> tuple[float, float, list[str]]:
    """Return wall-clock and processor seconds of a wrapped run, and the command it ran."""
    cpu, wall = processor_seconds(), time.monotonic()
    result = run(model, workers=1, coverage=True, progress=lambda _: None)
    return time.monotonic() - wall, processor_seconds() - cpu, list(result.java_command)


def bare(model: object, command: list[str]) -> tuple[float, float]:
    """Return wall-clock and processor seconds of the same TLC without the wrapper.

    The command is the wrapper's own, with the model's files in place of the generated ones.
    """
    with scratch_folder("bench") as folder:
        words = list(command)
        place = words.index("-config")
        words[place + 1] = str(model.config)
        words[-1] = model.module.stem
        if "-metadir" in words:
            words[words.index("-metadir") + 1] = str(folder)
        library = "-DTLA-Library=" + ":".join(map(str, model.search_path))
        words = [library if w.startswith("-DTLA-Library=") else w for w in words]
        words = [
            f"-Djava.io.tmpdir={folder}" if w.startswith("-Djava.io.tmpdir=") else w for w in words
        ]
        cpu, wall = processor_seconds(), time.monotonic()
        finished = subprocess.run(
            words, cwd=model.module.parent, capture_output=True, text=True, check=False
        )
        seconds = time.monotonic() - wall, processor_seconds() - cpu
    found = f"{model.distinct} distinct states" in finished.stdout.replace(",", "")
    if finished.returncode or not found:
        raise KraflaError(f"bare TLC did not finish as pinned:\n{finished.stdout[-2000:]}")
    return seconds


def main(_: list[str], figures: Figures) -> None:
    """Measure each pair, and the ratio of the medians."""
    (model,) = load().select((MODEL,))
    with_wrapper, without = [], []
    for number in range(ROUNDS):
        wall, cpu, command = wrapped(model)
        with_wrapper.append(cpu)
        bare_wall, bare_cpu = bare(model, command)
        without.append(bare_cpu)
        print(
            f"round {number + 1}: wrapped {cpu:.1f} s of processor ({wall:.1f} s), "
            f"bare {bare_cpu:.1f} s ({bare_wall:.1f} s)",
            flush=True,
        )
    ratio = statistics.median(with_wrapper) / statistics.median(without)
    figures.add(f"wrapped / bare TLC, {MODEL}", ratio, "times", most=GOAL)


if __name__ == "__main__":
    sys.exit(benchmark(main))
