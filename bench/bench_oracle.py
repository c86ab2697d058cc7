"""What the oracle costs: loading, single steps, values, whole models.

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

from figures import Figures, benchmark

from krafla import manifest
from krafla.oracle import Exploration, Spec, explore

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLES = Path(__file__).parents[1] / "tests" / "krafla" / "oracle" / "specs"
ROUNDS = 3
STEPS = 5_000
STATES = 30_000
SMOKE = "MCBrokerLeaseSmoke"


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


def measure(title: str, load: Callable[[], Spec], figures: Figures) -> None:
    """Measure one model."""
    started = time.perf_counter()
    load()
    first = time.perf_counter() - started
    seconds, spec = best(load)
    print(f"{title} (first load {first:.2f} s, the JVM's start included, if it was not running)")
    figures.add(f"load, {title}", seconds, "s")
    seconds, explored = best(lambda: explore(spec, limit=STATES))
    figures.add(f"explore, {title}", explored.edges / seconds, "edges/s")
    bare = range(0, explored.distinct, max(1, explored.distinct // 500))
    seconds, _ = best(lambda: [spec.successors(explored.states[index]) for index in bare])
    figures.add(f"successors, {title}", len(bare) / seconds, "states/s")

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
        figures.add(f"{label}, {title}", len(steps) / min(rounds), "steps/s")
    seconds, _ = best(lambda: [spec.outcomes(*step[:2], *step[2]) for step in steps])
    figures.add(f"apply, remembered, {title}", len(steps) / seconds, "steps/s")
    seconds, _ = best(lambda: [explored.states[index].as_function() for index in bare])
    figures.add(f"state to Python, {title}", len(bare) / seconds, "states/s")


def judge(spec: Spec, step: tuple[Any, ...]) -> Any:
    """Apply a step and compare every variable, as a refinement does."""
    before, name, parameters, after = step
    return spec.apply(before, name, *parameters, expect=after)


def main(names: list[str], figures: Figures) -> None:
    """Measure the models named, or the two of the default."""
    models = {model.name: model for model in manifest.load().models}
    if not names:
        measure("Ballot", load_ballot, figures)
    for name in names or [SMOKE]:
        measure(name, lambda model=models[name]: load_model(model), figures)


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
    sys.exit(benchmark(main))
