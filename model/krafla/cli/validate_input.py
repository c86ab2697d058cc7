"""What ``krafla validate`` is given: traces, or the logs of programs with the spec for them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from krafla.cli.spec_options import SpecOptions
    from krafla.match import MatchReport
    from krafla.match.spec_source import SpecSource
    from krafla.traces import PartialTrace

__all__ = ["Bounds", "Subject", "logs_subject", "subject"]

_ORDER = "in an order that krafla chose: the files have no clocks"


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of a search, each ``None`` if the file says it: hidden actions, and how many.

    ``hidden`` is empty unless the options say otherwise, and ``None`` for any action. ``only``
    names the variables that are compared.
    """

    hidden: tuple[str, ...] | None = ()
    hidden_max: int | None = None
    only: tuple[str, ...] | None = None

    def set_in(self, trace: PartialTrace) -> PartialTrace:
        """Return the trace with these bounds instead of its own."""
        if self.hidden != ():
            trace = replace(trace, hidden=self.hidden)
        if self.hidden_max is not None:
            trace = replace(trace, hidden_max=self.hidden_max)
        return trace


@dataclass(frozen=True, slots=True)
class Subject:
    """A trace to validate, the spec for it if it names none, the property that it may break.

    ``cut`` is the place where the file was cut short, ``doubt`` says why a step that does not fit
    may be one of the spec all the same, ``order`` where the order of its steps is from.
    """

    trace: PartialTrace
    source: SpecSource | None = None
    excused: str | None = None
    cut: str | None = None
    doubt: str | None = None
    order: str | None = None

    def validated(self, frontier: int, progress: Callable[[int, int], None]) -> MatchReport:
        """Return the report on it; nothing is known behind the place where it was cut."""
        from krafla.match.validation import validate

        report = validate(
            self.trace, frontier=frontier, excused=self.excused, source=self.source,
            progress=progress,
        )  # fmt: skip
        doubt = None if self.cut is None else f"{self.cut} was cut short"
        if report.accepted < len(self.trace):
            doubt = self.doubt
        return replace(report, doubt=report.doubt or doubt, order=self.order)


def subject(path: Path, bounds: Bounds, options: SpecOptions) -> Subject:
    """Return the trace or the log in a file. ``KraflaError`` says what is wrong with it."""
    from krafla.cli.recording import any_trace_in, is_log
    from krafla.match.trace_check import excused_by
    from krafla.traces import Trace, partial

    if is_log(path, for_a_spec=options.spec is not None):
        return logs_subject([path], bounds, options)
    if options.has_constants:
        raise KraflaError("a trace has its constants: leave out --cfg, --constants", str(path))
    found = any_trace_in(path)
    excused = None
    if isinstance(found, Trace):
        excused = excused_by(found)
        found = partial(found, bounds.hidden)
    observations = tuple(
        replace(one, place=one.place or f"{path}:{line}")
        for line, one in enumerate(found.observations, start=2)
    )
    found = replace(bounds.set_in(found), observations=observations)
    return Subject(_narrowed(found, bounds, None, str(path)), excused=excused)


def logs_subject(paths: Sequence[Path], bounds: Bounds, options: SpecOptions) -> Subject:
    """Return a log, or the logs of several processes as one, in an order that fits best."""
    from krafla.match.log_check import ordered, trace_of_log
    from krafla.traces.log_merge import merged
    from krafla.traces.plain_log import read_log

    try:
        given = options.given()
    except KraflaError as error:
        if options.spec is not None:
            raise
        place = ", ".join(filter(None, (str(paths[0]), error.place)))
        raise KraflaError(f"a plain log, and {error.message}", place) from None
    logs = [read_log(path) for path in paths]
    log = logs[0] if len(logs) == 1 else merged(logs)
    trace = bounds.set_in(trace_of_log(log, given.source, given.constants))
    trace = _narrowed(trace, bounds, given.source, log.name)
    trace, was_cut = ordered(trace, log, given.source)
    doubt = "of the orders that the clocks leave open only some were tried" if was_cut else None
    order = _ORDER if log.moments is not None and not log.has_clocks else None
    return Subject(trace, given.source, cut=log.cut, doubt=doubt, order=order)


def _narrowed(
    trace: PartialTrace, bounds: Bounds, source: SpecSource | None, name: str
) -> PartialTrace:
    from krafla.match.validation import narrowed

    if bounds.only is None:
        return trace
    try:
        return narrowed(trace, bounds.only, source)
    except KraflaError as error:
        raise KraflaError(error.message, f"{name}, --only") from None
