"""What a whole run measured: its JSON, its table, and how it compares with an earlier one."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from figures import NOISE, NOISE_OF_SPEED, Figure, number

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCHEMA = 1


class ResultsError(Exception):
    """Says why a file has no results."""


@dataclass
class Result:
    """What one benchmark measured; `failure` says why it did not come to its end."""

    name: str
    seconds: float
    figures: list[Figure] = field(default_factory=list)
    failure: str = ""

    @property
    def state(self) -> str:
        """Return how it ended, in one word."""
        if self.failure:
            return "failed"
        return "met" if all(figure.is_met for figure in self.figures) else "missed"


@dataclass
class Results:
    """What a run measured, and on which machine."""

    machine: dict[str, str]
    results: list[Result]

    def document(self) -> dict[str, Any]:
        """Return the results as JSON data."""
        return {"schema": SCHEMA, "machine": self.machine, "results": [*map(asdict, self.results)]}

    @property
    def exit_status(self) -> int:
        """Return 1 if a goal was missed, else 2 if a benchmark failed, else 0."""
        states = {result.state for result in self.results}
        return 1 if "missed" in states else 2 if "failed" in states else 0

    def figures(self) -> dict[tuple[str, str], Figure]:
        """Return every figure by benchmark and name."""
        return {(one.name, figure.name): figure for one in self.results for figure in one.figures}

    def seconds(self) -> dict[str, float]:
        """Return how long each benchmark took."""
        return {one.name: one.seconds for one in self.results if not one.failure}


def read(path: Path) -> Results:
    """Return the results in a file; raises `ResultsError` if there are none."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["schema"] != SCHEMA:
            raise ResultsError(f"{path} is of schema {document['schema']}; this reads {SCHEMA}")
        results = [
            Result(**{**one, "figures": [Figure(**figure) for figure in one["figures"]]})
            for one in document["results"]
        ]
        return Results(document["machine"], results)
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise ResultsError(f"{path} has no results of benchmarks: {error!r}") from error


ABOUT = """\
# Benchmarks

`make bench` measures this on any machine, without anything but the repository and Kafka's jars;
`BENCH_ARGS="--markdown docs/benchmarks.md --json docs/benchmarks.json"` writes this page, and
`--against docs/benchmarks.json` compares with it. A ratio compares two things within one run and
says the same on most machines; only Kafka's simulation of Raft is a published figure, unless
`KRAFLA_KAFKA_SIMULATION` names its classes. A speed or a time is one of this machine. From run to
run a ratio differs by up to {ratio:.0%}, memory by {memory:.0%}, a speed or a time by {speed:.0%}:
what differs by more has changed. `bench/bench_NAME.py` says what each benchmark does.
"""


def page(now: Results, before: Results | None = None) -> Iterator[str]:
    """Yield the lines of the page: the machine, then a row for each figure and each failure."""
    yield from ABOUT.format(
        ratio=NOISE["times"], memory=NOISE["MiB"], speed=NOISE_OF_SPEED
    ).splitlines()
    yield ""
    for name, text in now.machine.items():
        yield f"* {name}: {text}"
    yield ""
    earlier = before.figures() if before is not None else {}
    compared = ["before", "now / before"] if before is not None else []
    head = ["benchmark", "figure", "value", "goal", *compared]
    yield row(head)
    yield row(["---"] * len(head))
    for result in now.results:
        for figure in result.figures:
            cells = [result.name, figure.name, figure.text, goal_of(figure)]
            yield row(
                [*cells, *change(figure, earlier.get((result.name, figure.name)))][: len(head)]
            )
        if result.failure:
            yield row([result.name, f"**failed**: {result.failure}", *[""] * (len(head) - 2)])
    yield ""
    yield from (f"{line}  " for line in ending(now))


def goal_of(figure: Figure) -> str:
    """Return the goal, and whether it was met."""
    return f"{figure.goal}: {'met' if figure.is_met else '**missed**'}" if figure.goal else ""


def change(figure: Figure, before: Figure | None) -> list[str]:
    """Return the earlier value and the ratio, marked if noise does not explain it."""
    if before is None or before.unit != figure.unit or not before.value:
        return ["", ""]
    ratio = figure.value / before.value
    if is_noise(ratio, figure.noise):
        return [before.text, f"{number(ratio)}"]
    word = "better" if figure.is_better_than(before.value) else "worse"
    return [before.text, f"**{number(ratio)}, {word}**"]


def is_noise(ratio: float, noise: float) -> bool:
    """Return whether a ratio of two runs is one that the same code may have."""
    return 1 / (1 + noise) <= ratio <= 1 + noise


def ending(now: Results) -> Iterator[str]:
    """Yield how the benchmarks ended, and how long they took."""
    by_state: dict[str, list[str]] = {}
    for result in now.results:
        by_state.setdefault(result.state, []).append(result.name)
    for state, text in (
        ("met", "Every goal met"), ("missed", "Goals missed"), ("failed", "Failed")
    ):  # fmt: skip
        if state in by_state:
            yield f"{text}: {', '.join(by_state[state])}."
    total = sum(result.seconds for result in now.results)
    each = ", ".join(f"{one.name} {one.seconds:.0f} s" for one in now.results)
    yield f"Took {total / 60:.1f} min: {each}."


def row(cells: list[str]) -> str:
    """Return a row of a table in Markdown."""
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
