"""A system as a state machine of Hypothesis: its rules are what can happen, specs judge each step.

Hypothesis explores and shrinks, so use it to search from within pytest; ``krafla fuzz`` covers more
ground a second. A system that is driven by choices has a `ChoiceMachine`, one on simulated machines
a `PlanMachine`; a class of each names its system. A subclass can add rules.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NoReturn

from hypothesis.control import current_build_context
from hypothesis.stateful import RuleBasedStateMachine

from krafla.fuzz.engine.runs import save_run
from krafla.fuzz.engine.system import find_system
from krafla.report.explain.account import account_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.fuzz.engine.runs import Run
    from krafla.fuzz.engine.system import System
    from krafla.fuzz.engine.violation import Violation
    from krafla.refinement.common.judgement import Finding

__all__ = ["SystemMachine", "SystemViolationError", "machine_of"]

_WIDTH = 100


class SystemViolationError(AssertionError):
    """The implementation and the spec came apart; the message has the finding and the files.

    Each kind of finding has a class of its own, because Hypothesis tells bugs apart by their class:
    it shrinks each kind by itself, and never takes one for another.
    """


@cache
def _error_class(kind: tuple[str, ...]) -> type[SystemViolationError]:
    return type(SystemViolationError.__name__, (SystemViolationError,), {"kind": kind})


class SystemMachine(RuleBasedStateMachine):
    """The part that all machines share: what happens to a finding.

    ``folder`` gets the smallest run of each kind of finding, as `krafla replay`, `krafla explain`
    and `krafla keep` take it. ``mutant`` names the seeded bug that the implementation has, if any:
    the files must say so. ``observed`` hear of each run that ends.
    """

    system: ClassVar[System]
    folder: ClassVar[Path] = Path()
    mutant: ClassVar[str] = ""
    observed: ClassVar[tuple[Callable[[Run], object], ...]] = ()

    def fail(self, finding: Finding | Violation, run: Callable[[], Run]) -> NoReturn:
        """Raise the `SystemViolationError` of a finding; ``run`` plays what led there.

        While Hypothesis shrinks it plays hundreds of runs: only the smallest is saved and told.
        """
        text = str(finding)
        # No public name says so; Hypothesis prints the falsifying example by it.
        if current_build_context().is_final:
            found = run()
            lines = account_lines(self.system.account(found), _WIDTH)
            saved = save_run(self.system, found, self.folder, "machine", self.mutant)
            files = "\n".join(f"saved: {self.folder / name}" for name in saved)
            text = "\n".join((*(line for line, _ in lines), files))
        raise _error_class(tuple(finding.kind))(text)

    @abstractmethod
    def played(self) -> Run | None:
        """Return the run up to now; None if it has not begun."""

    def teardown(self) -> None:
        """Report a run that has ended."""
        run = self.played() if self.observed else None
        if run is not None:
            for hears in self.observed:
                hears(run)


def machine_of(name: str) -> type[SystemMachine]:
    """Return the state machine of a system by its name; ``KraflaError`` says what was meant."""
    system = find_system(name)
    found: type[SystemMachine] = import_module(f"krafla.fuzz.{system.name}.machine").MACHINE
    return found
