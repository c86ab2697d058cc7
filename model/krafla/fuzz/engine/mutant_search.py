"""The hunt for a seeded bug: how many examples of a campaign until something notices it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from krafla.fuzz.engine.machine_run import Case, play
from krafla.fuzz.engine.machine_systems import SYSTEMS
from kraft.raft.configuration import MILLISECOND
from kraft.sim.raft.configuration import draw_knobs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from krafla.fuzz.engine.machine_run import Played
    from krafla.fuzz.engine.mutant import Mutant

__all__ = ["EXAMPLES_MAXIMUM", "SECONDS_MAXIMUM", "Hunt", "hunt", "table_lines"]

EXAMPLES_MAXIMUM: Final = 2_000
SECONDS_MAXIMUM: Final = 60.0


@dataclass(frozen=True, slots=True)
class Hunt:
    """What became of a seeded bug: in how many of the examples it was reached and triggered.

    ``found`` is the run that noticed it, None if none did. ``seconds`` are of processor time.
    """

    mutant: Mutant
    examples: int
    reached: int
    triggered: int
    seconds: float
    found: Played | None

    @property
    def detected(self) -> bool:
        """Return whether something noticed it."""
        return self.found is not None


def hunt(
    mutant: Mutant,
    seed: int = 0,
    examples_maximum: int = EXAMPLES_MAXIMUM,
    seconds_maximum: float = SECONDS_MAXIMUM,
) -> Hunt:
    """Return what becomes of a seeded bug in the examples of a campaign."""
    began = time.process_time()
    reached = triggered = example = 0
    with mutant.applied() as probe:
        while example < examples_maximum and time.process_time() - began < seconds_maximum:
            probe.reached = probe.triggered = 0
            played = play(_case(mutant, seed, example), system=SYSTEMS[mutant.system])
            example += 1
            reached += bool(probe.reached)
            triggered += bool(probe.triggered)
            if played.violation is not None and probe.triggered:
                seconds = time.process_time() - began
                return Hunt(mutant, example, reached, triggered, seconds, played)
    return Hunt(mutant, example, reached, triggered, time.process_time() - began, None)


def _case(mutant: Mutant, seed: int, example: int) -> Case:
    """Return an example; every other one has the faults that the mistake asks for, if it does."""
    system = SYSTEMS[mutant.system]
    case = system.case_of(seed, example, system.kinds)
    if not mutant.focus or example % 2 == 0:
        return case
    configuration = case.configuration
    if case.above is None:
        configuration = replace(configuration, voters=3, observers=1, kraft_version=1)
    rates = tuple((kind, gap * MILLISECOND) for kind, gap in sorted(mutant.focus))
    knobs = replace(draw_knobs(case.seed, configuration), rates=rates)
    return Case(configuration, case.seed, None, knobs, case.above)


def table_lines(hunts: Iterable[Hunt]) -> Iterator[str]:
    """Yield a table: each bug, where it was reached, triggered, detected, and what noticed it."""
    yield (
        f"{'seeded bug':29} {'source':18} {'examples':>8} {'reached':>7} {'triggered':>9} "
        f"{'seconds':>7}  detected by"
    )
    for each in hunts:
        violation = None if each.found is None else each.found.violation
        by = "nothing" if violation is None else violation.property
        yield (
            f"{each.mutant.name:29} {each.mutant.source[:18]:18} {each.examples:>8} "
            f"{each.reached:>7} {each.triggered:>9} {each.seconds:>7.1f}  {by}"
        )
