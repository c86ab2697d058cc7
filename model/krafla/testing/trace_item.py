"""Files ``*.trace.ndjson`` as tests of pytest: judged by the spec, then driven on the code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from krafla.testing.schedule import Schedule
    from krafla.traces import Trace

__all__ = ["RETIRED", "TraceFile", "TraceItem"]

RETIRED: Final = (
    "The trace shows nothing of the code as it is now, so it is no regression test any more: "
    "record it anew, or delete its file"
)
"""What to do with a kept trace that the code need not follow, and does not."""


class TraceFile(pytest.File):
    """A file with one trace: one test."""

    def collect(self) -> Iterable[TraceItem]:
        """Return the test; the file is read when it runs."""
        yield TraceItem.from_parent(self, name="trace")


class TraceItem(pytest.Item):
    """A recorded trace, whole or partial.

    The spec must have it, and the code must follow it if the project names a machine for it.
    """

    def runtest(self) -> None:
        """Judge the trace; drive it, too. ``Departure`` if the code goes another way: it fails."""
        from krafla.testing.errors import Inconclusive, SpecViolation
        from krafla.testing.found import commands_for
        from krafla.testing.project_lookup import surroundings_of
        from krafla.testing.recorded_trace import (
            is_failure_of_machine,
            is_of_machine,
            judge_recorded,
            schedule_of,
        )
        from krafla.traces import PartialTrace, read_trace

        trace = read_trace(self.path)
        around = surroundings_of(self.path)
        spec = around.spec_for(trace)
        schedule: Trace | PartialTrace | Schedule = trace
        doubt = None
        try:
            doubt = judge_recorded(trace, spec)
        except SpecViolation as violation:
            violation.commands = commands_for(self.path, trace)
            if not isinstance(trace, PartialTrace):
                raise
            if not is_of_machine(trace) or around.machine_for(trace) is None:
                how = around.how_to_ask_code(trace)
                violation.add_note(f"The trace names no machine, so no code was asked: {how}")
                raise
            # A failure that a machine found: it must not come again.
            schedule = schedule_of(trace, spec, violation)
        machine = around.machine_for(trace)
        if machine is not None:
            self._drive(machine, schedule)
        elif doubt is not None:
            raise Inconclusive(doubt)
        elif is_failure_of_machine(trace):
            # The mistake may still be in the code.
            raise Inconclusive(
                "a machine failed on this trace. Whether it still does is not known: no "
                f"krafla.toml here lists a machine of {trace.spec}. Add [[machine]] with its name, "
                "and as its class MODULE:CLASS, such as test_lock:LockMachine"
            )

    def _drive(self, machine: type, trace: Any) -> None:
        from krafla.testing.current_test import CURRENT_TEST, CurrentTest
        from krafla.testing.machine_judge import spec_of
        from krafla.testing.trace_drive import Departure, drive

        name = self.path.name.partition(".")[0]
        token = CURRENT_TEST.set(CurrentTest(name, lambda: spec_of(machine)))
        try:
            drive(machine, trace)
        except Departure as doubt:
            doubt.add_note(RETIRED)
            raise
        finally:
            CURRENT_TEST.reset(token)

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], *arguments: Any, **options: Any
    ) -> Any:
        """Return the story of the failure; a stack of Python calls only for a mistake of ours."""
        from krafla.testing.errors import Inconclusive, SpecViolation
        from krafla.verdict import KraflaError

        if isinstance(excinfo.value, Inconclusive | SpecViolation | KraflaError):
            return "\n".join((str(excinfo.value), *getattr(excinfo.value, "__notes__", ())))
        return super().repr_failure(excinfo, *arguments, **options)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the file, under the name that it has in reports."""
        return self.path, 0, self.nodeid.partition("::")[0]
