"""What the oracle costs: loading, single steps, values, whole models. Run it by hand.

    python bench/bench_oracle.py [MODEL ...]

Every number is the best of three rounds. MODEL is a name of specs/manifest.toml; the default is
a sample of the tests and the smoke model of the broker lease.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krafla import manifest
from krafla.oracle import Exploration, Spec, explore

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLES = Path(__file__).parents[1] / "tests" / "krafla" / "oracle" / "specs"
ROUNDS = 3
STEPS = 5_000
STATES = 30_000


def best(question: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds of the fastest round, and its answer."""
    rounds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        answer = question()
        rounds.append((time.perf_counter() - start, answer))
    return min(rounds, key=lambda entry: entry[0])


def walk(spec: Spec, explored: Exploration) -> list[tuple[Any, ...]]:
    """Return steps drawn at random, with a fixed seed."""
    chance = random.Random(1)
    steps: list[tuple[Any, ...]] = []
    while len(steps) < STEPS:
        before = explored.states[chance.randrange(explored.distinct)]
        for name, parameters, after in spec.successors(before):
            steps.append((before, name, parameters, after.as_function()))
    chance.shuffle(steps)
    return steps[:STEPS]


def measure(title: str, load: Callable[[], Spec]) -> None:
    """Print one table for one model."""
    started = time.perf_counter()
    load()
    first = time.perf_counter() - started
    seconds, spec = best(load)
    print(
        f"{title}\n  load                    {seconds:9.2f} s   (first, with the JVM {first:.2f} s)"
    )

    seconds, explored = best(lambda: explore(spec, limit=STATES))
    print(
        f"  explore                 {explored.edges / seconds:9,.0f} edges/s   "
        f"({explored.distinct:,} states, {explored.edges:,} edges, {seconds:.2f} s)"
    )
    bare = range(0, explored.distinct, max(1, explored.distinct // 500))
    seconds, _ = best(lambda: [spec.successors(explored.states[index]) for index in bare])
    print(f"  successors              {len(bare) / seconds:9,.0f} states/s")

    steps = walk(spec, explored)
    for label, question in (
        ("apply", lambda: [spec.outcomes(*step[:2], *step[2]) for step in steps]),
        ("apply, whole post-state", lambda: [judge(spec, step) for step in steps]),
    ):
        rounds = []
        for _ in range(ROUNDS):
            spec.forget()
            start = time.perf_counter()
            question()
            rounds.append(time.perf_counter() - start)
        print(f"  {label:<24}{len(steps) / min(rounds):9,.0f} steps/s")
    seconds, _ = best(lambda: [spec.outcomes(*step[:2], *step[2]) for step in steps])
    print(f"  apply, remembered       {len(steps) / seconds:9,.0f} steps/s")
    seconds, _ = best(lambda: [explored.states[index].as_function() for index in bare])
    print(f"  state to Python         {len(bare) / seconds:9,.0f} states/s")


def judge(spec: Spec, step: tuple[Any, ...]) -> Any:
    """Apply a step and compare every variable, as a refinement does."""
    before, name, parameters, after = step
    return spec.apply(before, name, *parameters, expect=after)


def main() -> None:
    """Measure the models named, or the two of the default."""
    models = {model.name: model for model in manifest.load().models}
    names = sys.argv[1:]
    if not names:
        measure("Ballot, 3 replicas", load_ballot)
        names = ["MCBrokerLeaseSmoke"]
    for name in names:
        measure(name, lambda model=models[name]: load_model(model))


def load_ballot() -> Spec:
    """Return the sample with three replicas."""
    from krafla.values import ModelValue

    replicas = {ModelValue(name) for name in ("r1", "r2", "r3")}
    constants = {"Replica": replicas, "MaxEpoch": 2, "Nil": ModelValue("Nil")}
    return Spec.load("Ballot", constants, path=SAMPLES)


def load_model(model: manifest.Model) -> Spec:
    """Return a model of the manifest."""
    return Spec.load(
        model.module.stem, path=model.module, cfg=model.config, search_path=model.search_path
    )


if __name__ == "__main__":
    main()
