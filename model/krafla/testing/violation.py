"""A step that the spec does not have, told as `krafla explain` tells it, with its trace."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from krafla.match import MatchReport, Stuck
from krafla.match.candidate_state import SHOWN_CANDIDATES, stuck_at
from krafla.match.claims import claim_of
from krafla.match.reasons import not_offered
from krafla.match.stay import changed, refusal_of
from krafla.match.trace_check import Rejection
from krafla.oracle import Explanation
from krafla.report.explain.account import Account, Section
from krafla.report.explain.match_account import account_of_match
from krafla.report.explain.outcome import outcome_of_rejection
from krafla.report.explain.view import view_of
from krafla.testing.errors import Inconclusive, SpecViolation, Story
from krafla.traces import ClaimKind, PartialTrace, Step, Trace
from krafla.values import Function

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from krafla.match import Taken
    from krafla.match.candidate_state import CandidateState
    from krafla.match.seen import Seen
    from krafla.testing.frontier import Frontier
    from krafla.testing.grounds import Grounds
    from krafla.traces import Observation

__all__ = ["JudgedRun", "history", "not_beginning", "refused", "stuck"]


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """What was judged so far: the candidates now, and all observations.

    ``is_known``: the steps of the only candidate tell all of it.
    """

    candidates: tuple[CandidateState, ...]
    observations: tuple[Observation, ...]
    is_known: bool
    hidden_max: int


def history(grounds: Grounds, told: JudgedRun) -> Trace | PartialTrace:
    """Return what was judged so far, as a whole trace if every step is known."""
    if told.is_known and told.candidates:
        return _whole(grounds, told.candidates[0])
    return _observed(grounds, told)


def _whole(grounds: Grounds, candidate: CandidateState) -> Trace:
    steps = tuple(
        Step(one.action, one.parameters, one.state.as_function()) for one in candidate.behaviour()
    )
    return Trace(
        grounds.spec.name, steps, grounds.constants, origin=grounds.origin, text=grounds.text
    )


def _observed(grounds: Grounds, told: JudgedRun, last: Observation | None = None) -> PartialTrace:
    observations = told.observations if last is None else (*told.observations, last)
    return PartialTrace(
        grounds.spec.name, observations, grounds.constants, grounds.hidden, told.hidden_max,
        digest=grounds.origin.digest, text=grounds.text,
    )  # fmt: skip


def stuck(grounds: Grounds, told: JudgedRun, seen: Seen, frontier: Frontier) -> SpecViolation:
    """Return the violation at a step that no candidate has without breaking a property.

    Or at a stay: no candidate is where the code is, though it says that it took no step.
    """
    stays = seen.observation.kind == "stay"
    tried, broken = list(frontier.reach()), {} if stays else frontier.broken

    def tell() -> Story:
        ranked = sorted(
            tried,
            key=lambda one: (
                one.state.fingerprint not in broken,
                one.run > 0,
                seen.distance(one.state) + one.run,
            ),
        )
        shown = tuple(
            _changed(grounds, one, seen, told.observations[-1])
            if stays
            else _stuck(grounds, one, seen, broken)
            for one in ranked[:SHOWN_CANDIDATES]
        )
        if told.is_known and _is_whole(seen):
            return _whole_story(grounds, seen, ranked[0], shown)
        headline = _headline(seen, shown[0])
        return _told_of(grounds, told, seen, shown, ranked[0].behaviour(), headline)

    action, given = (None, ()) if stays else (seen.observation.action, _given(seen))
    return SpecViolation(action, given, partial(_in_time, grounds, told, seen, tell))


def _in_time(grounds: Grounds, told: JudgedRun, seen: Seen, tell: Callable[[], Story]) -> Story:
    """Return a story, or that the spec takes too long to say why.

    The nearest step is looked for among the steps of all actions, and one of them may have no end.
    """
    try:
        return grounds.ask(tell, lambda: f"{seen.place}, why the spec denies it")
    except Inconclusive as doubt:
        first = Stuck((), Explanation(str(doubt)))
        return _told_of(grounds, told, seen, (first,), (), _headline(seen, first))


def _stuck(
    grounds: Grounds,
    one: CandidateState,
    seen: Seen,
    broken: Mapping[int, tuple[str, Explanation]],
) -> Stuck:
    """Return why a candidate cannot take the step: Next does not offer it, or the action denies."""
    moves, state, action = grounds.moves, one.state, seen.observation.action
    for name, parameters, _ in moves.claimed(state, seen) if action else ():
        if state.fingerprint not in broken and not moves.gives(state, name, parameters):
            return Stuck(one.behaviour(), not_offered(moves, state, name, parameters))
    return stuck_at(grounds.spec, grounds.moves, one, seen, broken)


def _headline(seen: Seen, first: Stuck) -> str:
    """Return what is wrong with a step, in one sentence."""
    place, finding = seen.place, first.explanation.finding
    if first.broken is not None and seen.observation.kind == "stay":
        return f"{first.broken} is false after a hidden step ({place})"
    if seen.observation.kind != "step":
        return f"{place} {finding}"
    if first.broken is not None:
        return f"{first.broken} is false after {place}, {seen.observation.action or 'a step'}"
    return f"the spec does not have {place}: {finding}"


def _changed(grounds: Grounds, one: CandidateState, seen: Seen, before: Observation) -> Stuck:
    for (_, _, after), (name, explanation) in grounds.denied_hidden_steps(one.state):
        if seen.fits(after):
            return Stuck(one.behaviour(), explanation, None, name)
    return Stuck(one.behaviour(), changed(one.state, seen, before))


def not_beginning(
    grounds: Grounds, seen: Seen, broken: Mapping[int, tuple[str, Explanation]]
) -> SpecViolation:
    """Return the violation that the code begins where no initial state of the spec is."""

    def tell() -> Story:
        name, explanation = next(iter(broken.values()), (None, None))
        if explanation is None:
            explanation = grounds.not_initial(seen)
        told = JudgedRun((), (), is_known=False, hidden_max=0)
        headline = "the code does not begin where the spec does"
        if name is not None:
            headline = f"{name} is false where the code begins"
        return _told_of(grounds, told, seen, (Stuck((), explanation, None, name),), (), headline)

    return SpecViolation(seen.observation.action, (), tell)


def _given(seen: Seen) -> tuple[object, ...]:
    return tuple(... if one is None else one for one in seen.observation.parameters or ())


def _is_whole(seen: Seen) -> bool:
    """Return whether an observation is a step with all its parameters and the state after it.

    And with nothing to be said of the call in which the code took it.
    """
    observation = seen.observation
    return (
        observation.kind == "step"
        and observation.call is None
        and observation.action is not None
        and observation.parameters is not None
        and None not in observation.parameters
        and seen.state is not None
    )


def _told_of(
    grounds: Grounds,
    told: JudgedRun,
    seen: Seen,
    shown: tuple[Stuck, ...],
    behaviour: tuple[Taken, ...],
    headline: str,
    fault: str | None = None,
) -> Story:
    broken = shown[0].broken
    if broken is not None:
        subject = "has this step" if told.observations else "begins here"
        fault = _fault_of(grounds, f"The spec itself {subject} and", broken)
    trace = _observed(grounds, told, seen.observation)
    accepted = len(told.observations)
    report = MatchReport(trace, accepted, behaviour, shown, len(told.candidates))
    account = account_of_match(report, headline)
    assert account is not None, "a report that is stuck has an account"
    return Story(shown[0].explanation, trace, _blaming(account, fault), broken)


def _fault_of(grounds: Grounds, subject: str, *names: str) -> str:
    """Return that the spec itself breaks properties, by a step that Next offers.

    Every step before it is one of Next, too, and keeps the properties. So a search of the spec
    without the code comes to it, unless a bound of the cfg stops it.
    """
    broken = " or ".join(names)
    told = f"{subject} breaks {broken}: the fault is in the spec or in {broken}."
    if any(map(grounds.is_listed, names)):
        told += " krafla check asks about it without the code."
    return told


def _blaming(account: Account, fault: str | None) -> Account:
    if fault is None:
        return account
    return replace(account, sections=(*account.sections, Section("not the code alone", (fault,))))


def _whole_story(
    grounds: Grounds, seen: Seen, nearest: CandidateState, shown: tuple[Stuck, ...]
) -> Story:
    observation, first = seen.observation, shown[0]
    assert observation.action is not None, "a whole step has an action"
    parameters = tuple(one for one in observation.parameters or () if one is not None)
    step = Step(observation.action, parameters, Function(seen.values))
    whole = _whole(grounds, nearest)
    kind, name = ClaimKind.DIVERGENCE, observation.action
    if first.broken is not None:
        is_of_step = first.broken in grounds.step_properties
        kind = ClaimKind.ACTION_PROPERTY if is_of_step else ClaimKind.INVARIANT
        name = first.broken
    claim = claim_of(kind, name, first.explanation)
    found = replace(whole.with_steps((*whole.steps, step)), claim=claim)
    rejection = Rejection(len(whole), step, first.explanation, first.broken, first.nearest)
    outcome = outcome_of_rejection(found, rejection)
    account = Account(outcome, view_of(found, outcome))
    if first.broken is not None:
        fault = _fault_of(grounds, "The spec itself has this step and", first.broken)
        account = _blaming(account, fault)
    return Story(first.explanation, found, account, first.broken)


def refused(
    grounds: Grounds, told: JudgedRun, seen: Seen, reach: Iterable[CandidateState]
) -> SpecViolation:
    """Return the violation that the code refuses an action which the spec allows.

    ``reach`` are the candidates, and the states that hidden steps lead to: each of them allows it.
    """

    def tell() -> Story:
        candidate = told.candidates[0]
        action, parameters, _ = next(grounds.claimed(candidate.state, seen))
        first = Stuck(candidate.behaviour(), refusal_of(action, parameters))
        names = _broken_by_all(grounds, seen, reach)
        fault = _fault_of(grounds, "Each such step of the spec", *names) if names else None
        headline = _headline(seen, first)
        return _told_of(grounds, told, seen, (first,), first.behaviour, headline, fault)

    return SpecViolation(
        seen.observation.action, _given(seen), partial(_in_time, grounds, told, seen, tell)
    )


def _broken_by_all(grounds: Grounds, seen: Seen, reach: Iterable[CandidateState]) -> list[str]:
    """Return the properties that the steps of an action break; none if one step keeps all."""
    found: set[str] = set()
    for one in reach:
        for _, _, after in grounds.claimed(one.state, seen):
            fault = grounds.broken_by(one.state, after)
            if fault is None:
                return []
            found.add(fault[0])
    return sorted(found)
