"""The search for a seeded bug: how many runs of a system until something notices it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from krafla.fuzz.engine.runs import Failure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from krafla.fuzz.engine.mutant import Mutant
    from krafla.fuzz.engine.system import System

__all__ = ["EXAMPLES_MAXIMUM", "SECONDS_MAXIMUM", "Search", "search", "table_lines"]

EXAMPLES_MAXIMUM: Final = 2_000
SECONDS_MAXIMUM: Final = 60.0


@dataclass(frozen=True, slots=True)
class Search:
    """How the search for a seeded bug ended: in how many runs it was reached, and triggered.

    ``failure`` is the run that noticed it, None if none did. ``seconds`` are of processor time.
    """

    mutant: Mutant
    examples: int
    reached: int
    triggered: int
    seconds: float
    failure: Failure | None


def search(
    mutant: Mutant,
    system: System,
    seed: int = 0,
    examples_maximum: int = EXAMPLES_MAXIMUM,
    seconds_maximum: float = SECONDS_MAXIMUM,
) -> Search:
    """Play runs of a system with a seeded bug until one shows it, or the budget is spent."""
    began = time.process_time()
    reached = triggered = example = 0
    failure = None
    with mutant.applied() as probe:
        while failure is None and example < examples_maximum:
            if time.process_time() - began >= seconds_maximum:
                break
            probe.reached = probe.triggered = 0
            run = system.search_run(mutant, seed, example)
            if run.finding is not None and probe.triggered:
                failure = Failure(system, seed, example, run, run)
            example += 1
            reached += bool(probe.reached)
            triggered += bool(probe.triggered)
    return Search(mutant, example, reached, triggered, time.process_time() - began, failure)


def table_lines(searches: Iterable[Search]) -> Iterator[str]:
    """Yield a table: each bug, where it was reached, triggered, detected, and what noticed it."""
    yield (
        f"{'seeded bug':29} {'source':18} {'examples':>8} {'reached':>7} {'triggered':>9} "
        f"{'seconds':>7}  detected by"
    )
    for each in searches:
        by = "nothing" if each.failure is None else each.failure.run.found_by
        yield (
            f"{each.mutant.name:29} {each.mutant.source[:18]:18} {each.examples:>8} "
            f"{each.reached:>7} {each.triggered:>9} {each.seconds:>7.1f}  {by}"
        )
