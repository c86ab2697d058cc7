"""A trace on a machine of the project, and what came of it in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from krafla.counted import counted
from krafla.interrupted import interruption_in
from krafla.project.at_hand import at_hand
from krafla.testing.errors import Inconclusive, SpecViolation
from krafla.testing.project_lookup import surroundings_of
from krafla.testing.run_end import is_of_code, skip_in
from krafla.testing.teardown import told_of_teardown
from krafla.testing.trace_drive import Driven, drive
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.report.explain.account import Account
    from krafla.traces import Trace

__all__ = ["MachineReplay", "machine_for", "replay_on_machine"]


class MachineReplay(NamedTuple):
    """What came of a trace on a machine: how far the code was driven, and the failure."""

    verdict: Verdict
    sentence: str
    account: Account | None = None


def machine_for(trace: Trace, path: Path) -> type | None:
    """Return the machine that a trace is driven on; ``None`` if no project names one for it.

    It is one of the project at hand, or of the project around the trace's file.
    """
    if at_hand().machines():
        found = surroundings_of(at_hand().listing).machine_for(trace)
        if found is not None:
            return found
    return surroundings_of(path).machine_for(trace)


def replay_on_machine(trace: Trace, machine: type) -> MachineReplay:
    """Return what the code of a machine does with the steps of a trace.

    ``KraflaError`` if a method is missing, or trace and machine are not of one spec.
    """
    name = machine.__name__
    try:
        driven = drive(machine, trace)
    except SpecViolation as violation:
        sentence = f"{name} does what {trace.spec} does not allow{told_of_teardown(violation)}"
        return MachineReplay(Verdict.VIOLATED, sentence, violation.account)
    except Inconclusive as doubt:
        return MachineReplay(Verdict.INCONCLUSIVE, f"{name}: {doubt}")
    except BaseException as error:
        skipped = skip_in(error)
        if skipped is not None:
            return MachineReplay(Verdict.INCONCLUSIVE, f"{name} skips the test: {skipped}")
        interruption = interruption_in(error)
        if interruption is not None:
            raise interruption from None
        if not is_of_code(error):
            raise
        what = f"{type(error).__name__}: {error}{told_of_teardown(error)}"
        return MachineReplay(Verdict.VIOLATED, f"{name} raised {what}")
    return MachineReplay(Verdict.HELD, f"{name} takes {_told(driven)}")


def _told(driven: Driven) -> str:
    if driven.refused is None:
        return counted(driven.steps, "step")
    taken = counted(driven.steps - 1, "step")
    return f"{taken}, and rightly refuses {driven.refused}, which the spec does not allow there"
