"""The outcome of a trace: the false property, or the step that the spec does not have, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from krafla.report.explain.difference_rows import NOT_THERE, difference_rows
from krafla.report.explain.layout import layout_of
from krafla.report.explain.meaning import Meanings
from krafla.traces.trace import ClaimKind
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from krafla.match.nearest import Nearest
    from krafla.match.trace_check import Rejection
    from krafla.oracle.blame import Reason
    from krafla.oracle.explain import Explanation
    from krafla.report.explain.words import Words
    from krafla.traces import Claim, Conjunct, Step, Trace
    from krafla.values import Value

__all__ = [
    "HERE_REFUSED",
    "Falsehood",
    "Outcome",
    "detailed",
    "falsehoods_of",
    "nearest_step",
    "outcome_by",
    "outcome_of",
    "outcome_of_claim",
    "outcome_of_rejection",
    "outcome_told",
]  # fmt: skip

_LEFT_MAX = 4
_OF_A_STATE = (ClaimKind.INVARIANT, ClaimKind.ACTION_PROPERTY)
_BROKEN = {
    ClaimKind.DEADLOCK: "no action is enabled any more",
    ClaimKind.ASSERTION: "an assertion of the spec is false",
    ClaimKind.EVALUATION: "the spec cannot be evaluated",
    ClaimKind.FAILURE: "the implementation raised an error",
}
_NOT_ALLOWED = "the code did what the spec does not allow"
_NOT_A_STEP = "the spec does not have this step"
HERE_REFUSED = "the code refuses this"
"""The mark of an action that the code should have taken."""


@dataclass(frozen=True, slots=True)
class Falsehood:
    """A formula that is false: its text and place, what is wrong with it, the values in it.

    ``via`` are the definitions that lead to it, outermost first. A value in ``values`` has a name,
    a short text and the whole text.
    """

    place: str
    text: str
    note: str = ""
    values: tuple[tuple[str, str, str], ...] = ()
    via: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The finding about a trace, at its step ``step``, in one sentence and in detail.

    ``name`` is a property or an action, ``meaning`` its sentence in the spec; ``is_property`` says
    that this sentence is what is violated. ``here`` marks the step. ``differences`` list where two
    sides, named by ``sides``, are not the same: the part and its two values. ``breaks`` are further
    properties that do not hold, with their sentences. ``nearest`` is the step of the spec that was
    most likely meant. ``source`` says where the finding comes from: the spec, asked now, or only
    the file. ``is_bad`` is false if nothing bad is known of the trace.
    """

    step: int
    headline: str
    is_bad: bool = True
    name: str = ""
    meaning: str = ""
    falsehoods: tuple[Falsehood, ...] = ()
    differences: tuple[tuple[str, str, str], ...] = ()
    source: str = ""
    nearest: str = ""
    is_property: bool = False
    here: str = ""
    breaks: tuple[tuple[str, str], ...] = ()
    sides: tuple[str, str] = ("spec expects", "was done")

    @property
    def sentences(self) -> tuple[str, str]:
        """Return the sentence that says what is violated, and the one that says more about it."""
        if self.is_property and self.is_bad and self.meaning:
            return self.meaning, self.headline
        return self.headline, f"{self.name}: {self.meaning}" if self.meaning else ""


def outcome_of(trace: Trace, *, asks: bool = True) -> Outcome | None:
    """Return the outcome of a trace, judged by the spec unless ``asks`` is false.

    If the spec cannot be asked (no Java, another module, a trace that does not fit), the outcome is
    the claim in the file, and ``source`` says why. ``None`` if the trace has no state.
    """
    if not trace.steps:
        return None
    why = "as the file says, the spec was not asked"
    if asks:
        try:
            found = _asked(trace)
            return replace(found, source=found.source + _other_text(trace))
        except KraflaError as error:
            reason = layout_of(trace).words.text(str(error))
            why = f"as the file says; the spec could not be asked: {reason}"
    return _as_claimed(trace, why)


def outcome_by(
    trace: Trace, explanation: Explanation | None, breaks: Iterable[str] = ()
) -> Outcome:
    """Return the outcome that a trace claims, with the judge's explanation of it.

    ``breaks`` are the names of further properties that do not hold at its end.
    """
    claim = trace.claim
    words, last = layout_of(trace).words, len(trace.steps) - 1
    found = _as_claimed(trace, "")
    if explanation is None:
        return found
    if claim is not None and claim.kind is ClaimKind.DIVERGENCE:
        told = outcome_told(trace, last, found.headline, explanation, found.name)
        finding = explanation.finding
        if not (explanation.reasons or explanation.differences):
            told = replace(told, headline=f"step {last}: {words.told(finding)}")
        meanings = Meanings(trace.spec, trace.text)
        more = tuple((words.text(name), meanings.of(name)) for name in breaks)
        return replace(told, breaks=more, source="")
    return replace(found, falsehoods=falsehoods_of(explanation.reasons, words))


def _other_text(trace: Trace) -> str:
    """Return a remark if the trace was made with another version of the spec."""
    from krafla.match.spec_source import other_text

    found = other_text(trace)
    return "" if found is None else f"; {found}"


def _asked(trace: Trace) -> Outcome:
    claim = trace.claim
    kind = None if claim is None else claim.kind
    last = len(trace.steps) - 1
    if claim is not None and claim.property is not None and kind in _OF_A_STATE:
        return _property(trace, claim.property, claim.conjunct)
    if kind is ClaimKind.DIVERGENCE and last > 0:
        return _divergence(trace)
    if kind in {None, ClaimKind.BEHAVIOUR}:
        return _behaviour(trace)
    return _as_claimed(trace, "as the file says")


def _property(trace: Trace, name: str, claimed: Conjunct | None) -> Outcome:
    from krafla.match.claim_check import claim_shown
    from krafla.match.trace_check import check_trace

    rejection = check_trace(trace).rejection
    if rejection is not None:
        # The trace is no behaviour of the spec, so its claim means nothing.
        return outcome_of_rejection(trace, rejection)
    shown = claim_shown(trace)
    assert shown is not None, "a claimed property can be asked about"
    words = layout_of(trace).words
    if shown.explanation is None:
        headline = f"the file claims that {words.text(name)} is false, but it {shown.sentence}"
        found = _as_claimed(trace, "the spec")
        return replace(found, headline=headline, is_bad=False, falsehoods=())
    found = outcome_of_claim(trace, shown.explanation)
    if claimed is not None and not shown.is_shown:
        source = f"the spec, asked now (the file blames {words.text(claimed.place)})"
        found = replace(found, source=source)
    return found


def outcome_of_claim(trace: Trace, explanation: Explanation) -> Outcome:
    """Return the outcome of a claimed property, as the spec explains it now."""
    found = _as_claimed(trace, "the spec, asked now")
    falsehoods = falsehoods_of(explanation.reasons, layout_of(trace).words)
    return replace(found, falsehoods=falsehoods)


def _divergence(trace: Trace) -> Outcome:
    from krafla.match.trace_check import check_trace
    from krafla.match.validation import spec_of

    last = len(trace.steps) - 1
    step = trace.steps[last]
    spec = spec_of(trace)
    before = spec.state({str(n): value for n, value in trace.steps[last - 1].state.items()})
    after = {str(name): value for name, value in step.state.items()}
    explanation = spec.explain(before, step.action, step.parameters or (), after=after)
    if not (explanation.reasons or explanation.differences):
        # The action allows it; whether Next offers it is another question.
        rejection = check_trace(trace).rejection
        if rejection is not None:
            return outcome_of_rejection(trace, rejection)
    words = layout_of(trace).words
    headline = f"step {last}, {words.text(step.action)}: {_NOT_ALLOWED}"
    return outcome_told(trace, last, headline, explanation, words.text(step.action))


def _behaviour(trace: Trace) -> Outcome:
    from krafla.match.trace_check import check_trace
    from krafla.match.validation import properties_for, spec_of

    report = check_trace(trace)
    words = layout_of(trace).words
    last = len(trace.steps) - 1
    if report.rejection is None:
        headline = f"every step is one of {words.text(trace.spec)}"
        if properties_for(trace, spec_of(trace)):
            headline += ", and keeps its properties"
        return Outcome(last, headline, is_bad=False, source="the spec, asked now")
    return outcome_of_rejection(trace, report.rejection)


def outcome_of_rejection(trace: Trace, rejection: Rejection) -> Outcome:
    """Return the outcome of a trace that has a step which the spec does not have."""
    words, broken = layout_of(trace).words, rejection.broken
    name = words.text(broken or rejection.step.action)
    headline = f"{name} is false at step {rejection.index}"
    if broken is None:
        finding = _finding(words, rejection.step, rejection.explanation.finding)
        headline = f"the spec does not have step {rejection.index}: {finding}"
    told = outcome_told(trace, rejection.index, headline, rejection.explanation, name)
    if broken is not None:
        told = replace(told, is_property=True, here=f"{name} is false here")
    step = rejection.step
    nearest = nearest_step(rejection.nearest, words, step.action, step.parameters)
    return replace(told, nearest=nearest)


def nearest_step(
    nearest: Nearest | None,
    words: Words,
    action: str,
    parameters: tuple[Value | None, ...] | None,
) -> str:
    """Return the step of the spec that an observed action was likely meant to be, or nothing.

    ``action`` is empty if only values were seen.
    """
    if nearest is None or not nearest.helps(action, parameters):
        return ""
    call = words.call(nearest.action, nearest.parameters)
    left = [_left(*row) for row in difference_rows(nearest.differences, words)]
    if not left:
        return f"the spec has another step to this state: {call}"
    shown = ", ".join(left[:_LEFT_MAX]) + (", ..." if len(left) > _LEFT_MAX else "")
    return f"the nearest step of the spec is {call}; it would give {shown}"


def _left(part: str, given: str, seen: str) -> str:
    """Return what a step leaves of a part, or of a set or a sequence whose member differs."""
    if given == NOT_THERE:
        return f"{part} without {seen}"
    return f"{given} in {part}" if seen == NOT_THERE else f"{part} = {given}"


def _finding(words: Words, step: Step, finding: str) -> str:
    """Return the oracle's sentence without the parameters, which the step shows already."""
    text = words.text(finding)
    whole = words.whole_call(step.action, step.parameters)
    if text.startswith(whole):
        return words.text(step.action) + text[len(whole) :]
    return words.told(text)


def outcome_told(
    trace: Trace, index: int, headline: str, explanation: Explanation, name: str
) -> Outcome:
    """Return the outcome at a step of a trace, as an explanation of the spec has it."""
    meaning = Meanings(trace.spec, trace.text).of(name)
    found = Outcome(
        index, headline, True, name, meaning, source="the spec, asked now", here=_NOT_A_STEP
    )
    return detailed(found, explanation, layout_of(trace).words)


def detailed(outcome: Outcome, explanation: Explanation, words: Words) -> Outcome:
    """Return an outcome with the false conjuncts and the differences of an explanation."""
    falsehoods = falsehoods_of(explanation.reasons, words)
    rows = difference_rows(explanation.differences, words)
    return replace(outcome, falsehoods=falsehoods, differences=rows)


def falsehoods_of(
    reasons: Iterable[Reason], words: Words, shown: Callable[[str, Value], Value] | None = None
) -> tuple[Falsehood, ...]:
    """Return the false formulas of an explanation; ``shown`` translates a named value first."""
    return tuple(one for reason in reasons for one in _flat(reason, words, (), shown))


def _flat(
    reason: Reason, words: Words, via: tuple[str, ...], shown: Callable[[str, Value], Value] | None
) -> list[Falsehood]:
    """Return a reason and its alternatives as a flat list."""
    values = reason.values
    if shown is not None:
        values = tuple((name, shown(name, value)) for name, value in values)
    lines = reason.text.splitlines()
    if reason.alternatives and len(lines) > 1:
        # Its parts follow.
        lines = [f"{lines[0]} ..."]
    found = Falsehood(
        words.text(str(reason.place)),
        "\n".join(map(words.text, lines)),
        words.told(reason.note),
        _values(values, words),
        (*via, *map(words.told, reason.via)),
    )
    count = len(reason.alternatives)
    below = [
        one
        for number, other in enumerate(reason.alternatives, start=1)
        for one in _flat(other, words, (f"alternative {number} of {count}",), shown)
    ]
    return [found, *below]


def _values(
    values: tuple[tuple[str, Value], ...], words: Words
) -> tuple[tuple[str, str, str], ...]:
    return tuple((words.told(name), words.value(one), words.whole(one)) for name, one in values)


def _as_claimed(trace: Trace, source: str) -> Outcome:
    claim = trace.claim
    words = layout_of(trace).words
    last = len(trace.steps) - 1
    if claim is None:
        return Outcome(last, "the file makes no claim about it", is_bad=False, source=source)
    if claim.kind is ClaimKind.BEHAVIOUR:
        return Outcome(last, "a behaviour of the spec", is_bad=False, source=source)
    name = words.text(claim.property or "")
    falsehoods: tuple[Falsehood, ...] = ()
    if claim.conjunct is not None:
        conjunct = claim.conjunct
        text = "\n".join(map(words.text, conjunct.text.splitlines()))
        values = _values(conjunct.values, words)
        falsehoods = (Falsehood(words.text(conjunct.place), text, "is false", values),)
    is_property = claim.kind not in _BROKEN and claim.kind is not ClaimKind.DIVERGENCE
    meaning = Meanings(trace.spec, trace.text).of(claim.property or "")
    return Outcome(
        last, _headline(trace, claim, name), True, name, meaning, falsehoods, source=source,
        is_property=is_property, here=_here(claim, name),
    )  # fmt: skip


def _headline(trace: Trace, claim: Claim, name: str) -> str:
    """Return what the claim says, and of which state or step."""
    last = len(trace.steps) - 1
    called = name or f"the {claim.kind.value}"
    if claim.kind in _BROKEN:
        return f"{_BROKEN[claim.kind]}{f': {name}' if name else ''}"
    if claim.kind is ClaimKind.DIVERGENCE:
        return f"step {last}, {name}: {_NOT_ALLOWED}"
    if claim.kind is ClaimKind.TEMPORAL_PROPERTY:
        return f"{called} is false of this behaviour"
    where = f"in the state after step {last}" if last else "in the initial state"
    if claim.kind is ClaimKind.ACTION_PROPERTY and last:
        where = f"of step {last}"
    return f"{called} is false {where}"


def _here(claim: Claim, name: str) -> str:
    if claim.kind in _BROKEN:
        return _BROKEN[claim.kind]
    return _NOT_A_STEP if claim.kind is ClaimKind.DIVERGENCE else f"{name or 'it'} is false here"
