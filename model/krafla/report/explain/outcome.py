"""The outcome of a trace: the false property, or the step that the spec does not have, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from krafla.report.explain.layout import layout_of
from krafla.report.explain.meaning import Meanings
from krafla.traces.trace import ClaimKind
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from krafla.match.trace_check import Rejection
    from krafla.oracle.blame import Reason
    from krafla.oracle.explain import Explanation
    from krafla.report.explain.words import Words
    from krafla.traces import Conjunct, Step, Trace
    from krafla.values import Value

__all__ = ["Falsehood", "Outcome", "outcome_of"]

_LEFT_MAX = 4
_OF_A_STATE = (ClaimKind.INVARIANT, ClaimKind.ACTION_PROPERTY)
_BROKEN = {
    ClaimKind.DEADLOCK: "no action is enabled any more",
    ClaimKind.ASSERTION: "an assertion of the spec is false",
    ClaimKind.EVALUATION: "the spec cannot be evaluated",
    ClaimKind.FAILURE: "the implementation gave up",
}


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

    ``differences`` list where the spec takes the step otherwise: the part, what the spec expects,
    what was done. ``nearest`` is the step of the spec most like it, if it is another one.
    ``source`` says where the finding comes from: the spec, asked now, or only the file.
    ``is_bad`` is false if nothing bad is known of the trace.
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


def _other_text(trace: Trace) -> str:
    """Return a remark if the trace was made with another text of the spec than the one at hand."""
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

    if check_trace(trace).rejection is not None:
        # The trace is no behaviour of the spec, so its claim means nothing.
        return _behaviour(trace)
    last = len(trace.steps) - 1
    shown = claim_shown(trace)
    assert shown is not None, "a claimed property can be asked about"
    words = layout_of(trace).words
    meaning = Meanings(trace.spec).of(name)
    if shown.explanation is None:
        headline = f"the file claims that {words.text(name)} is false, but it {shown.sentence}"
        return Outcome(last, headline, False, words.text(name), meaning, source="the spec")
    falsehoods = _falsehoods(shown.explanation, words)
    source = "the spec, asked now"
    if claimed is not None and not shown.is_shown:
        source += f" (the file blames {words.text(claimed.place)})"
    is_of_state = trace.claim is not None and trace.claim.kind is ClaimKind.INVARIANT
    where = f"in the state after step {last}" if is_of_state else f"of step {last}"
    headline = f"{words.text(name)} is false {where}"
    return Outcome(last, headline, True, words.text(name), meaning, falsehoods, source=source)


def _divergence(trace: Trace) -> Outcome:
    from krafla.match.validation import spec_of

    last = len(trace.steps) - 1
    step = trace.steps[last]
    spec = spec_of(trace)
    before = spec.state({str(n): value for n, value in trace.steps[last - 1].state.items()})
    after = {str(name): value for name, value in step.state.items()}
    explanation = spec.explain(before, step.action, step.parameters or (), after=after)
    words = layout_of(trace).words
    headline = (
        f"step {last}, {words.text(step.action)}: the implementation did what the spec does not"
    )
    return _told(trace, last, headline, explanation, words.text(step.action))


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
    rejection = report.rejection
    name = rejection.broken or rejection.step.action
    if rejection.broken is not None:
        headline = f"{words.text(name)} is false at step {rejection.index}"
    else:
        finding = _finding(words, rejection.step, rejection.explanation.finding)
        headline = f"the spec does not have step {rejection.index}: {finding}"
    told = _told(trace, rejection.index, headline, rejection.explanation, words.text(name))
    return replace(told, nearest=_nearest(words, rejection))


def _nearest(words: Words, rejection: Rejection) -> str:
    """Return the nearest step of the spec, if its call is not the one of the trace."""
    nearest, step = rejection.nearest, rejection.step
    if nearest is None or (nearest.action, nearest.parameters) == (step.action, step.parameters):
        return ""
    left = [f"{words.told(one.path)} = {_side(words, one.expected)}" for one in nearest.differences]
    call = words.call(nearest.action, nearest.parameters)
    shown = ", ".join(left[:_LEFT_MAX]) + (", ..." if len(left) > _LEFT_MAX else "")
    return f"{call}, which leaves {shown}" if left else call


def _finding(words: Words, step: Step, finding: str) -> str:
    """Return the oracle's sentence without the parameters, which the step shows already."""
    text = words.text(finding)
    whole = words.whole_call(step.action, step.parameters)
    if text.startswith(whole):
        return words.text(step.action) + text[len(whole) :]
    return words.told(text)


def _told(trace: Trace, index: int, headline: str, explanation: Explanation, name: str) -> Outcome:
    words = layout_of(trace).words
    differences = tuple(
        (words.told(one.path), _side(words, one.expected), _side(words, one.got))
        for one in explanation.differences
    )
    falsehoods = _falsehoods(explanation, words)
    meaning = Meanings(trace.spec).of(name)
    source = "the spec, asked now"
    return Outcome(index, headline, True, name, meaning, falsehoods, differences, source)


def _side(words: Words, value: Value | None) -> str:
    return "(not there)" if value is None else words.value(value)


def _falsehoods(explanation: Explanation, words: Words) -> tuple[Falsehood, ...]:
    return tuple(one for reason in explanation.reasons for one in _flat(reason, words, ()))


def _flat(reason: Reason, words: Words, via: tuple[str, ...]) -> list[Falsehood]:
    """Return a reason and its alternatives as a flat list."""
    found = Falsehood(
        words.text(str(reason.place)),
        "\n".join(map(words.text, reason.text.splitlines())),
        words.told(reason.note),
        # The values of a disjunction are those of its alternatives, which follow.
        () if reason.alternatives else _values(reason.values, words),
        (*via, *map(words.told, reason.via)),
    )
    count = len(reason.alternatives)
    below = [
        one
        for number, other in enumerate(reason.alternatives, start=1)
        for one in _flat(other, words, (f"alternative {number} of {count}",))
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
        return Outcome(last, "the file claims nothing of it", is_bad=False, source=source)
    if claim.kind is ClaimKind.BEHAVIOUR:
        return Outcome(last, "a behaviour of the spec", is_bad=False, source=source)
    name = words.text(claim.property or "")
    headline = _BROKEN.get(claim.kind, f"{claim.kind.value} {name} is violated".replace("  ", " "))
    if claim.kind in _BROKEN and name:
        headline += f": {name}"
    if claim.kind is ClaimKind.DIVERGENCE:
        headline = f"step {last}, {name}: the implementation did what the spec does not"
    falsehoods: tuple[Falsehood, ...] = ()
    if claim.conjunct is not None:
        conjunct = claim.conjunct
        text = "\n".join(map(words.text, conjunct.text.splitlines()))
        values = _values(conjunct.values, words)
        falsehoods = (Falsehood(words.text(conjunct.place), text, "is false", values),)
    meaning = Meanings(trace.spec).of(claim.property or "")
    return Outcome(last, headline, True, name, meaning, falsehoods, source=source)
