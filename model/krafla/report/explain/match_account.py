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
from krafla.report.explain.outcome import HERE_REFUSED, Outcome, nearest_step, outcome_told
from krafla.report.explain.view import StepNote, view_of
from krafla.traces import Step, Trace
from krafla.values import Function

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krafla.match.report import MatchReport, Stuck, Taken
    from krafla.report.explain.view import TraceView
    from krafla.report.explain.words import Words
    from krafla.traces import Observation

__all__ = ["account_of_match", "view_of_match"]

# A clock that starts with the program takes three years to get here, and one of 1970 is past it.
_CLOCK_MIN_MS, _CLOCK_END_MS = 100_000_000_000, 100_000_000_000_000
_SIDES = ("spec expects", "was seen")
_ANY_STEP, _NO_STEP = "a step", "no step"
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
    trace = _behaviour(report, first)
    words = layout_of(trace).words
    outcome = _outcome(report, first, trace, words, headline)
    lines = tuple(
        f"{number}: {_after(one, words)}, {words.told(one.explanation.finding)}"
        for number, one in enumerate(others, start=2)
    )
    states = counted(report.candidates, "state")
    is_hidden = any(one.hidden for one in others)
    reach = ", or go on by hidden steps" if is_hidden else ""
    title = f"candidate 1 is told above; the spec can be in {states} so far{reach}; the others"
    sections = (Section(title, lines),) if lines else ()
    view = view_of(trace, outcome, _notes(report, first, words)) if trace.steps else None
    return Account(outcome, view, sections)


def view_of_match(report: MatchReport) -> TraceView | None:
    """Return a behaviour that fits the observations, or as many as fit, and what is wrong then.

    Hidden steps are marked. The facts say how much was matched, and which variables were never
    seen: the spec chose them. ``None`` if no initial state fits.
    """
    account = account_of_match(report)
    if account is None:
        trace = _whole(report, _steps(report.behaviour))
        words = layout_of(trace).words
        view = view_of(trace, None, _step_notes(report, report.behaviour, words))
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


def _behaviour(report: MatchReport, stuck: Stuck) -> Trace:
    """Return the candidate's steps as a trace of the spec, then what was observed after them.

    A trace that does not begin where the spec does has no step.
    """
    steps = _steps(stuck.behaviour)
    if steps:
        observation = report.trace.observations[report.accepted]
        steps = (*steps, _observed(observation, steps[-1].state))
    return _whole(report, steps)


def _steps(behaviour: Sequence[Taken]) -> tuple[Step, ...]:
    return tuple(Step(one.action, one.parameters, one.state.as_function()) for one in behaviour)


def _whole(report: MatchReport, steps: tuple[Step, ...]) -> Trace:
    of = report.trace
    return Trace(of.spec, steps, of.constants, model=of.model, text=of.text)


def _observed(observation: Observation, before: Function) -> Step:
    """Return the observation that fits no step as a step to what was seen."""
    state = dict(before)
    for (name, *path), value in observation.seen:
        if name in state:
            state[name] = with_part(state[name], tuple(path), value)
    if observation.kind == "stay":
        return Step(_NO_STEP, None, Function(state))
    given = observation.parameters
    known = tuple(one for one in given or () if one is not None)
    parameters = known if known == given else None
    return Step(observation.action or _ANY_STEP, parameters, Function(state))


def _notes(report: MatchReport, stuck: Stuck, words: Words) -> dict[int, StepNote]:
    """Return what is to be said of the steps, and of the observation that fits none."""
    found = _step_notes(report, stuck.behaviour, words)
    last = report.trace.observations[report.accepted]
    nothing = "nothing changed" if last.seen else "nothing was seen of its state"
    found[len(stuck.behaviour)] = StepNote(_by(last, words), last.kind != "stay", nothing)
    return found


def _step_notes(
    report: MatchReport, behaviour: Sequence[Taken], words: Words
) -> dict[int, StepNote]:
    """Return which steps are hidden, and which came of a call that their action does not tell."""
    found = {}
    for number, one in enumerate(behaviour):
        if number and one.observation is None:
            found[number] = StepNote("hidden", is_counted=False)
        elif one.observation is not None:
            by = _by(report.trace.observations[one.observation], words)
            if by:
                found[number] = StepNote(by)
    return found


def _by(observation: Observation, words: Words) -> str:
    """Return the call that an observation came of, if it is said."""
    call = observation.call
    if call is None or call == "same":
        return "" if call is None else "in the same call"
    given = ["..."] if call.parameters is None else map(words.value, call.parameters)
    return f"by {words.text(call.method)}({', '.join(given)})"


def _outcome(
    report: MatchReport, stuck: Stuck, trace: Trace, words: Words, headline: str | None
) -> Outcome:
    observation = report.trace.observations[report.accepted]
    action = observation.action or ""
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
