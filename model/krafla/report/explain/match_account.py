"""Where a partial trace has no behaviour, in the words in which failures are told."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from krafla.counted import counted
from krafla.match.render import facts_of
from krafla.match.seen import with_part
from krafla.report.explain.account import Account, Section
from krafla.report.explain.layout import layout_of
from krafla.report.explain.match_lines import (
    NO_STEP,
    MatchLine,
    known_parameters,
    match_lines,
    refused_at_end,
)
from krafla.report.explain.outcome import HERE_REFUSED, Outcome, nearest_step, outcome_told
from krafla.report.explain.view import StepNote, view_of
from krafla.traces import Step, Trace
from krafla.values import Function

if TYPE_CHECKING:
    from krafla.match.report import MatchReport, Stuck
    from krafla.report.explain.view import TraceView
    from krafla.report.explain.words import Words
    from krafla.traces import Observation

__all__ = ["account_of_match", "view_of_match"]

# A clock that starts with the program takes three years to get here, and one of 1970 is past it.
_CLOCK_MIN_MS, _CLOCK_END_MS = 100_000_000_000, 100_000_000_000_000
_SIDES = ("spec expects", "was seen")
_ANY_STEP = "a step"
# How the last line of a story marks an observation without a step.
_HERE = {"stay": "the spec is in another state", "refusal": HERE_REFUSED}


def account_of_match(report: MatchReport, headline: str | None = None) -> Account | None:
    """Return the observation that fits no step, why, and the behaviour up to it.

    None if every observation has a behaviour. Of several candidates the first is told whole; of the
    others what the spec has against each. ``headline`` says what is wrong, if not where it stands
    in a trace.
    """
    if not report.stuck:
        return None
    first, *others = report.stuck
    lines = _at_the_end(report, match_lines(report, first.behaviour))
    trace = _told(report, lines)
    words = layout_of(trace).words
    outcome = _outcome(report, first, trace, words, headline)
    rest = tuple(
        f"{number}: {_after(one, words)}, {words.told(one.explanation.finding)}"
        for number, one in enumerate(others, start=2)
    )
    states = counted(report.candidates, "state")
    is_hidden = any(one.hidden for one in others)
    reach = ", or go on by hidden steps" if is_hidden else ""
    title = f"candidate 1 is told above; the spec can be in {states} so far{reach}; the others"
    sections = (Section(title, rest),) if rest else ()
    view = view_of(trace, outcome, _notes_to_the_end(report, lines, words)) if lines else None
    return Account(outcome, view, sections)


def view_of_match(report: MatchReport) -> TraceView | None:
    """Return a behaviour that fits the observations, or as many as fit, and what is wrong then.

    Hidden steps are marked. The facts say how much was matched, and which variables were never
    seen: the spec chose them. ``None`` if no initial state fits.
    """
    account = account_of_match(report)
    if account is None:
        lines = match_lines(report, report.behaviour)
        trace = _told(report, lines)
        view = view_of(trace, None, _notes(lines, layout_of(trace).words))
    elif account.view is None:
        return None
    else:
        view = account.view
    words = view.layout.words
    facts = [(name, words.text(fact)) for name, fact in facts_of(report)]
    known = {str(name) for name in view.trace.steps[0].state}
    seen = {str(part[0]) for one in report.trace.observations for part, _ in one.seen}
    if known - seen:
        facts.append(("never seen", words.text(", ".join(sorted(known - seen)))))
    return replace(view, facts=(*view.facts, *facts), judged_by="validate")


def _at_the_end(report: MatchReport, lines: tuple[MatchLine, ...]) -> tuple[MatchLine, ...]:
    """Return the lines of a candidate's story with the observation that it cannot take."""
    if not lines:
        # A trace that does not begin where the spec does has no step.
        return ()
    refused = refused_at_end(report)
    observation = report.trace.observations[report.accepted]
    step = _observed(observation, refused or observation, lines[-1].step.state)
    return (*lines, MatchLine(step, refused or observation, observation.kind != "stay"))


def _told(report: MatchReport, lines: tuple[MatchLine, ...]) -> Trace:
    """Return the lines of a story as a trace of the spec."""
    of = report.trace
    steps = tuple(one.step for one in lines)
    return Trace(of.spec, steps, of.constants, model=of.model, text=of.text)


def _observed(seen: Observation, named: Observation, before: Function) -> Step:
    """Return the observation that fits no step as a step to what was seen, and its name."""
    state = dict(before)
    for (name, *path), value in seen.seen:
        if name in state:
            state[name] = with_part(state[name], tuple(path), value)
    if named.kind == "stay":
        return Step(NO_STEP, None, Function(state))
    return Step(named.action or _ANY_STEP, known_parameters(named), Function(state))


def _notes(lines: tuple[MatchLine, ...], words: Words) -> dict[int, StepNote]:
    """Return what is to be said of the lines of a story."""
    return {
        number: one.note(words)
        for number, one in enumerate(lines)
        # A trace need not say that it begins.
        if number or one.observation is not None
    }


def _notes_to_the_end(
    report: MatchReport, lines: tuple[MatchLine, ...], words: Words
) -> dict[int, StepNote]:
    """Return the same, and what is to be said of the observation that fits none, the last line."""
    found, last = _notes(lines[:-1], words), report.trace.observations[report.accepted]
    nothing = "nothing changed" if last.seen else "nothing was seen of its state"
    found[len(lines) - 1] = replace(lines[-1].note(words), nothing=nothing)
    return found


def _outcome(
    report: MatchReport, stuck: Stuck, trace: Trace, words: Words, headline: str | None
) -> Outcome:
    observation = report.trace.observations[report.accepted]
    refused = refused_at_end(report)
    action = (refused or observation).action or ""
    name = words.text(stuck.broken or action)
    headline = _headline(report, stuck, words) if headline is None else words.told(headline)
    told = outcome_told(trace, len(trace) - 1, headline, stuck.explanation, name)
    here = told.here if observation.kind == "step" else _HERE[observation.kind]
    return replace(
        told, sides=_SIDES, here=here if stuck.broken is None else f"{name} is false here",
        is_property=stuck.broken is not None,
        nearest=nearest_step(stuck.nearest, words, action, observation.parameters)
        if observation.seen else "",
    )  # fmt: skip


def _headline(report: MatchReport, stuck: Stuck, words: Words) -> str:
    """Return which observation fits no step, and where it was read."""
    observation = report.trace.observations[report.accepted]
    place = words.text(observation.place)
    where = f", {place if place.startswith('after ') else f'at {place}'}" if place else ""
    which = f"observation {report.accepted + 1:,} of {len(report.trace):,}"
    finding = words.told(stuck.explanation.finding)
    if observation.kind != "step":
        return f"{which}{where}: {finding}"
    seen = f"{which}, {_call(observation, words)}"
    if stuck.broken is not None:
        name = words.text(stuck.broken)
        is_first = not stuck.behaviour
        return f"{name} is false {'in the initial state' if is_first else f'after {seen}{where}'}"
    if stuck.explanation.reasons or stuck.explanation.differences:
        return f"{seen}, is no step of the spec here{where}"
    return f"{seen}, is no step of the spec here{where}: {finding}"


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
    return f"after hidden {hidden}" if hidden else "without a hidden step"
