"""Where a partial trace has no behaviour, in the words in which failures are told."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from krafla.report.explain.account import Account, Section
from krafla.report.explain.layout import layout_of
from krafla.report.explain.outcome import Outcome, nearest_step, outcome_told
from krafla.report.explain.view import view_of
from krafla.traces import Step, Trace

if TYPE_CHECKING:
    from krafla.match.report import MatchReport, Stuck
    from krafla.report.explain.words import Words
    from krafla.traces import Observation

__all__ = ["account_of_match"]

# A clock that starts with the program takes three years to get here, and one of 1970 is past it.
_CLOCK_MIN_MS, _CLOCK_END_MS = 100_000_000_000, 100_000_000_000_000
_SIDES = ("spec expects", "was seen")


def account_of_match(report: MatchReport, headline: str | None = None) -> Account | None:
    """Return the observation that fits no step, why, and the behaviour up to it.

    None if every observation has a behaviour. Of several candidates the first is told whole; of the
    others what the spec has against each. ``headline`` says what is wrong, if not where it stands
    in a trace.
    """
    if not report.stuck:
        return None
    first, *others = report.stuck
    trace = _behaviour(report, first)
    words = layout_of(trace).words
    outcome = _outcome(report, first, trace, words, headline)
    lines = tuple(
        f"{number}: {_after(one, words)}, {words.told(one.explanation.finding)}"
        for number, one in enumerate(others, start=2)
    )
    title = f"{report.candidates:,} states of the spec fit so far; in the others"
    sections = (Section(title, lines),) if lines else ()
    return Account(outcome, view_of(trace, outcome) if trace.steps else None, sections)


def _behaviour(report: MatchReport, stuck: Stuck) -> Trace:
    """Return the candidate's steps as a trace of the spec."""
    steps = tuple(
        Step(one.action, one.parameters, one.state.as_function()) for one in stuck.behaviour
    )
    return Trace(report.trace.spec, steps, report.trace.constants, model=report.trace.model)


def _outcome(
    report: MatchReport, stuck: Stuck, trace: Trace, words: Words, headline: str | None
) -> Outcome:
    observation = report.trace.observations[report.accepted]
    action = observation.action or ""
    place = f", at {words.text(observation.place)}" if observation.place else ""
    seen = (
        f"observation {report.accepted + 1:,} of {len(report.trace):,}, {_call(observation, words)}"
    )
    name = words.text(stuck.broken or action)
    if headline is not None:
        headline = words.told(headline)
    elif stuck.broken is not None and not stuck.behaviour:
        headline = f"{name} is false in the initial state"
    elif stuck.broken is not None:
        headline = f"{name} is false after {seen}{place}"
    else:
        headline = f"{seen}, is no step of the spec here{place}"
        if not (stuck.explanation.reasons or stuck.explanation.differences):
            headline += f": {words.told(stuck.explanation.finding)}"
    told = outcome_told(trace, len(trace) - 1, headline, stuck.explanation, name)
    return replace(
        told, sides=_SIDES, here="", is_property=stuck.broken is not None,
        nearest=nearest_step(stuck.nearest, words, action, observation.parameters)
        if observation.seen else "",
    )  # fmt: skip


def _call(observation: Observation, words: Words) -> str:
    """Return an observed action with its parameters, as far as they are known, and its time."""
    call = words.text(observation.action or "a step of any action")
    if observation.parameters:
        shown = ("_" if one is None else words.value(one) for one in observation.parameters)
        call += f"({', '.join(shown)})"
    return call if observation.time_ms is None else f"{call} at {_moment(observation.time_ms)}"


def _moment(time_ms: int) -> str:
    """Return a time: that of the day if it counts from 1970, else the milliseconds."""
    if not _CLOCK_MIN_MS <= time_ms < _CLOCK_END_MS:
        return f"{time_ms:,} ms"
    moment = datetime.fromtimestamp(time_ms // 1000, tz=UTC)
    return f"{moment:%H:%M:%S}.{time_ms % 1000:03} UTC"


def _after(stuck: Stuck, words: Words) -> str:
    hidden = ", ".join(words.call(one.action, one.parameters) for one in stuck.hidden)
    return f"after hidden {hidden}" if hidden else "with no hidden step before it"
