"""What learning gains: seeded bugs found in an hour of processor time, bred runs beside plain ones.

    python bench/bench_learning.py [SYSTEM] [REPETITIONS] [SECONDS] [BUG...]

For each seeded bug of a system and each repetition, a campaign of its own looks for the bug until
it is found or SECONDS of processor time are over, once with plain seeds and once in rounds that
learn. Repetitions differ in their seeds; both ways have the same seeds. The time of a bug that is
not found counts, too. The last lines say how many bugs each way found in an hour, the ratio with
the interval in which 95% of resampled repetitions lie, and the bugs for which the ways differ.
"""

from __future__ import annotations

import random
import sys
import time
from typing import TYPE_CHECKING

from figures import Figures, benchmark

from krafla.fuzz.engine.breeding import ROUND, plan_of, tried
from krafla.fuzz.engine.mutant import find_mutant
from krafla.fuzz.engine.novelty import Novelty
from krafla.fuzz.engine.system import RunOptions, find_system

if TYPE_CHECKING:
    from krafla.fuzz.engine.mutant import Mutant
    from krafla.fuzz.engine.runs import Runs

DEFAULTS = ("lease", "3", "10")
STEPS = 300
RESAMPLES = 2_000
Outcome = tuple[bool, float, int]


def main(arguments: list[str], figures: Figures) -> None:
    """Look for each bug both ways."""
    word, repetitions, seconds, *bugs = [*arguments, *DEFAULTS[len(arguments) :]]
    system = find_system(word)
    mutants = [find_mutant(name, system) for name in bugs] or list(system.mutants)
    options = RunOptions(steps=STEPS) if "--steps" in system.takes else RunOptions()
    found: dict[str, dict[bool, list[Outcome]]] = {}
    for mutant in mutants:
        for seed in range(1, int(repetitions) + 1):
            for learns in (False, True):
                runs = system.runs(seed, options)
                runs.load(brief=False)
                outcome = search(mutant, runs, float(seconds), learns=learns)
                found.setdefault(mutant.name, {}).setdefault(learns, []).append(outcome)
        print(f"{mutant.name:36} plain {told(found[mutant.name][False])}"
              f"  learning {told(found[mutant.name][True])}", flush=True)  # fmt: skip
    ratio, low, high = compared(found)
    print(f"ratio {ratio:.2f}, 95% of resamples between {low:.2f} and {high:.2f}")
    figures.add(f"{word}: bugs in an hour, learning / plain", ratio, "times")


def search(mutant: Mutant, runs: Runs, seconds: float, *, learns: bool) -> Outcome:
    """Return whether a bug was found, the seconds that it took, and the runs."""
    began, number, novelty = time.process_time(), 0, Novelty()
    waiting: list[tuple[int, bytes, dict[int, int]]] = []
    with mutant.applied() as probe:
        while time.process_time() - began < seconds:
            probe.reached = probe.triggered = 0
            if learns:
                one = tried(runs, plan_of(runs, number, novelty.parents))
                run = one.run
                waiting.append((number, one.plan, dict(one.features)))
            else:
                run = runs.play(number)
            number += 1
            if run.finding is not None and probe.triggered:
                return True, time.process_time() - began, number
            if len(waiting) == ROUND:
                novelty.add(waiting)
                waiting = []
    return False, time.process_time() - began, number


def told(outcomes: list[Outcome]) -> str:
    """Return how many searches found a bug, and their mean runs and seconds."""
    hits = sum(one[0] for one in outcomes)
    runs = sum(one[2] for one in outcomes) / len(outcomes)
    seconds = sum(one[1] for one in outcomes) / len(outcomes)
    return f"{hits:>3}/{len(outcomes)} {runs:>7.1f} runs {seconds:>6.1f} s"


def compared(found: dict[str, dict[bool, list[Outcome]]]) -> tuple[float, float, float]:
    """Return the ratio of bugs in an hour, and the bounds of most resamples of repetitions."""
    chance = random.Random(1)
    count = len(next(iter(found.values()))[True])
    ratios = sorted(
        ratio_of(found, [chance.randrange(count) for _ in range(count)]) for _ in range(RESAMPLES)
    )
    whole = ratio_of(found, list(range(count)))
    return whole, ratios[RESAMPLES // 40], ratios[-RESAMPLES // 40]


def ratio_of(found: dict[str, dict[bool, list[Outcome]]], picked: list[int]) -> float:
    """Return the ratio for some of the repetitions."""
    rates = {}
    for learns in (False, True):
        every = [ways[learns][one] for ways in found.values() for one in picked]
        rates[learns] = sum(one[0] for one in every) / sum(one[1] for one in every)
    return rates[True] / rates[False] if rates[False] else float("inf")


if __name__ == "__main__":
    sys.exit(benchmark(main))
