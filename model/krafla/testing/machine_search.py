"""Random runs of a machine, judged by its spec, and what they covered."""

from __future__ import annotations

import sys
import time
import traceback
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import hypothesis
from hypothesis import HealthCheck, Phase, reporting, settings
from hypothesis.stateful import run_state_machine_as_test

from krafla.interrupted import interruption_in
from krafla.testing.errors import Inconclusive, SpecViolation
from krafla.testing.found import save, steps_before
from krafla.testing.machine_tally import CountedJudge, MachineTally
from krafla.testing.machine_verdict import unrepeated, verdict_of
from krafla.testing.run_end import is_finding
from krafla.testing.teardown import tear_down, told_of_teardown
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from krafla.testing.machine import SpecMachine

__all__ = ["Search", "SearchReport", "search"]

EXAMPLES_DEFAULT: Final = 100
# With a time limit the runs come in batches; the limit is looked at between them.
_BATCH: Final = 50
_OURS: Final = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Search:
    """How a machine is run: the first seed, how often or how long, and the steps of a run."""

    seed: int = 0
    examples: int | None = None
    seconds: float | None = None
    steps: int | None = None
    shrinks: bool = True


@dataclass(frozen=True, slots=True)
class SearchReport:
    """What came of the runs of a machine.

    ``seed`` and ``examples`` give the batch that failed, or else the whole. ``calls`` are the lines
    that call the code in the smallest failing run. ``sentence`` says what is wrong; empty if
    nothing is.
    """

    machine: str
    verdict: Verdict
    sentence: str
    tally: MachineTally
    seconds: float
    seed: int
    examples: int
    violation: SpecViolation | None = None
    calls: tuple[str, ...] = ()
    is_interrupted: bool = False


def search(
    machine: type[SpecMachine],
    how: Search,
    progress: Callable[[MachineTally], None] = lambda _: None,
) -> SearchReport:
    """Run a machine until something is found, or the examples or seconds are used up.

    Batches have the seeds ``how.seed``, the next number, and so on; one seed and one number of
    examples give one batch. ``progress`` gets the tally after each step. An interrupt ends the
    search with what was covered and found. ``KraflaError`` if the machine or its spec is at fault.
    """
    tally, began = MachineTally(), time.monotonic()
    counted = _counted(machine, tally, progress)
    done = 0
    for seed, size in _batches(how, began):
        try:
            error = _error_of(counted, seed, size, how)
        except KeyboardInterrupt as interrupt:
            error = interrupt
        done += size
        if error is not None:
            passed = time.monotonic() - began
            return _failure(machine, error, tally, passed, seed, size)
    sentence = tally.doubt
    verdict = Verdict.INCONCLUSIVE if sentence else Verdict.HELD
    passed = time.monotonic() - began
    return SearchReport(machine.__name__, verdict, sentence, tally, passed, how.seed, done)


def _batches(how: Search, began: float) -> Iterator[tuple[int, int]]:
    """Yield the seed and the number of examples of each batch, until the time is over."""
    if how.seconds is None:
        yield how.seed, how.examples or EXAMPLES_DEFAULT
        return
    left = how.examples
    for seed in count(how.seed):
        size = _BATCH if left is None else min(_BATCH, left)
        if size == 0 or (seed > how.seed and time.monotonic() - began >= how.seconds):
            return
        left = None if left is None else left - size
        yield seed, size


def _counted(
    machine: type[SpecMachine], tally: MachineTally, progress: Callable[[MachineTally], None]
) -> type[SpecMachine]:
    """Return a machine that is the same, but counts."""

    def begin(self: Any) -> None:
        machine.__init__(self)
        self.judge = CountedJudge.of(self.judge, tally, progress)

    def end(self: Any) -> None:
        # Hypothesis ends a run with errors of its own, too, as where `assume` does not hold.
        error = sys.exc_info()[1]
        is_ours = error is not None and (is_finding(error) or isinstance(error, Inconclusive))
        if tally.failed_in is None and is_ours:
            tally.failed_in = max(1, tally.runs)
        tear_down(partial(machine.teardown, self), error if is_ours else None)

    # The trace of a failure is named after the machine, and its spec is not looked for here.
    body = {"__init__": begin, "__module__": machine.__module__, "__doc__": machine.__doc__}
    body |= {"__qualname__": machine.__qualname__, "teardown": end}
    return type(machine.__name__, (machine,), body)


def _error_of(
    machine: type[SpecMachine], seed: int, examples: int, how: Search
) -> BaseException | None:
    """Return what the smallest failing run ends with; ``None`` if all runs are as they must be.

    Raises the interruption that ends them, wherever Hypothesis met it.
    """
    case: Any = machine.TestCase
    phases = (Phase.generate, Phase.shrink) if how.shrinks else (Phase.generate,)
    chosen = settings(
        case.settings, max_examples=examples, database=None, deadline=None, phases=phases,
        suppress_health_check=list(HealthCheck), report_multiple_bugs=False, print_blob=False,
        derandomize=False, stateful_step_count=how.steps or case.settings.stateful_step_count,
    )  # fmt: skip
    hypothesis.seed(seed)(machine)
    try:
        with reporting.with_reporter(lambda _: None):
            run_state_machine_as_test(machine, settings=chosen)
    except BaseException as error:  # noqa: BLE001 - what the tested code raises is a finding
        interruption = interruption_in(error)
        if interruption is not None:
            raise interruption from None
        return error
    return None


def _failure(
    machine: type[SpecMachine], error: BaseException, tally: MachineTally,
    seconds: float, seed: int, examples: int,
) -> SearchReport:  # fmt: skip
    found, remark = error, ""
    if not is_finding(error):
        found, remark = unrepeated(error, tally.found) or (error, "")
    violation = found if isinstance(found, SpecViolation) else None
    if violation is not None and violation is not error:
        # It did not come again in the last run, which saves what it finds.
        save(violation, machine)
    verdict, sentence = verdict_of(found, machine.__name__)
    if verdict is Verdict.VIOLATED and violation is None:
        sentence += _where(found)
    sentence += told_of_teardown(found)
    notes = "\n".join(getattr(error, "__notes__", ())).splitlines()
    calls = tuple(one for one in notes if one.startswith("state"))
    if not calls:
        # Hypothesis tells no example of an error that it does not play again.
        sentence += "".join(f"; {one}" for one in steps_before(found))
    return SearchReport(
        machine.__name__, verdict, f"{sentence}{remark}", tally, seconds, seed, examples,
        violation, calls, isinstance(error, KeyboardInterrupt),
    )  # fmt: skip


def _where(error: BaseException) -> str:
    """Return the place in the stranger's code where an error was raised, after a comma."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [one for one in frames if _is_theirs(Path(one.filename))]
    return f", {theirs[-1].filename}:{theirs[-1].lineno}" if theirs else ""


def _is_theirs(path: Path) -> bool:
    return not path.is_relative_to(_OURS) and "hypothesis" not in path.parts
