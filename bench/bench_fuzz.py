"""What judging a step costs, and where the time goes.

Ratios are measured within one run, on the same choices. A step costs its simulation, its mapping
into the spec, and its judgement by TLC's evaluator. A run that was judged before is judged again
from memory: that is what shrinking and replaying cost.
"""

from __future__ import annotations

import gc
import sys
import time
from typing import TYPE_CHECKING

from figures import Figures, benchmark

from krafla.fuzz.engine.choice_run import play_seed
from krafla.fuzz.engine.choice_system import DEFAULT_STEPS
from krafla.fuzz.lease.system import SYSTEM
from krafla.refinement.lease.mapping import LeaseMapping
from krafla.refinement.lease.vocabulary import Vocabulary
from kraft.sim.lease.step import replay_choices

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.fuzz.engine.choice_run import ChoiceCase, Profile

WARMING_RUNS = 40
RUNS = 20
# Judged steps a second and a core, the judgement of new runs included, once the JVM is warm.
GOAL = 5_000


def seconds_of(question: Callable[[ChoiceCase], None], cases: list[ChoiceCase]) -> float:
    """Return how much processor time a question takes, asked of every case."""
    started = time.process_time()
    for case in cases:
        question(case)
    return time.process_time() - started


def simulate(case: ChoiceCase) -> None:
    """Take the steps, and nothing else."""
    for _ in replay_choices(case.configuration, case.choices):
        pass


def map_all(case: ChoiceCase) -> None:
    """Take the steps and map each into the spec."""
    mapping = LeaseMapping(Vocabulary.of(case.configuration))
    for result in replay_choices(case.configuration, case.choices):
        mapping.variables(result.after)


def judge(case: ChoiceCase) -> None:
    """Take the steps, each judged."""
    run = SYSTEM.play(case)
    assert run.finding is None, run.detail


def measure(profile: Profile) -> tuple[float, float]:
    """Print one line for a profile; return judged steps a second, of new runs and of the same."""
    gc.disable()  # as a campaign does
    for seed in range(WARMING_RUNS):
        play_seed(SYSTEM, profile, f"warm {seed}", DEFAULT_STEPS)
    started = time.process_time()
    runs = [play_seed(SYSTEM, profile, f"bench {seed}", DEFAULT_STEPS) for seed in range(RUNS)]
    fresh = time.process_time() - started
    cases = [run.case for run in runs]
    steps = sum(run.steps for run in runs)
    simulated = seconds_of(simulate, cases)
    mapped = seconds_of(map_all, cases)
    again = seconds_of(judge, cases)
    print(
        f"  {profile.name:22} {steps / fresh:9,.0f} steps/s    "
        f"simulation {simulated / fresh:4.0%}, mapping {(mapped - simulated) / fresh:4.0%}, "
        f"judged again {steps / again:9,.0f} steps/s"
    )
    return steps / fresh, steps / again


def main(_: list[str], figures: Figures) -> None:
    """Measure each profile of the default mixture."""
    print(f"judged steps a second of processor time; {RUNS} new runs of {DEFAULT_STEPS} steps")
    names = SYSTEM.default_profiles
    rates = {name: measure(SYSTEM.profile(name)) for name in dict.fromkeys(names)}
    fresh, again = (len(names) / sum(1 / rates[name][n] for name in names) for n in (0, 1))
    figures.add("lease, the default mixture", fresh, "steps/s", least=GOAL)
    figures.add("judged again / judged", again / fresh, "times", least=1)


if __name__ == "__main__":
    sys.exit(benchmark(main))
