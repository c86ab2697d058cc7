"""What became of a trace on the implementation, in the words in which failures are told."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from krafla.refinement.common.judgement import Divergence, Failed, PropertyViolated
from krafla.report.explain.difference_rows import difference_rows
from krafla.report.explain.layout import layout_of
from krafla.report.explain.outcome import Outcome, falsehoods_of, outcome_told

if TYPE_CHECKING:
    from krafla.fuzz.lease.follow import Apart, Followed
    from krafla.refinement.common.judgement import Finding
    from krafla.report.explain.outcome import Falsehood

__all__ = ["outcome_of_followed"]

_SIDES = ("the trace has", "the implementation has")


def outcome_of_followed(followed: Followed) -> Outcome | None:
    """Return where implementation, trace and spec differ; None if all steps were followed."""
    if followed.finding is not None:
        return _found(followed, followed.finding)
    return None if followed.apart is None else _apart(followed, followed.apart)


def _found(followed: Followed, finding: Finding) -> Outcome:
    """Return what the spec has against the implementation."""
    trace = followed.trace
    words, index = layout_of(trace).words, min(finding.index, len(trace) - 1)
    if isinstance(finding, Failed):
        error = words.text(finding.error)
        headline = f"step {index}: the implementation raised an error: {error}"
        return Outcome(index, headline, here="here")
    if isinstance(finding, PropertyViolated):
        claimed = ", as the trace claims" if followed.is_as_claimed else ""
        headline = f"{finding.name} is false after step {index} of the implementation{claimed}"
        told = outcome_told(trace, index, headline, finding.explanation, finding.name)
        return replace(told, is_property=True, here=f"{finding.name} is false here")
    assert isinstance(finding, Divergence), "the spec agrees, or this is a finding"
    own = words.call(finding.action.name, finding.action.parameters)
    step = trace.steps[index]
    instead = "" if finding.action.name == step.action else f" where the trace has {step.action}"
    headline = (
        f"step {index}: the implementation takes {own}{instead}, which the spec does not allow: "
        "one of the two is wrong"
    )
    told = outcome_told(trace, index, headline, finding.explanation, finding.action.name)
    return replace(told, here=f"the implementation takes {own}")


def _apart(followed: Followed, apart: Apart) -> Outcome:
    """Return where the implementation left the trace, and that the spec allows what it did."""
    trace, words = followed.trace, layout_of(followed.trace).words
    index, action = min(apart.index, len(trace) - 1), apart.step.action
    what = words.told(apart.what)
    if apart.explanation is None:
        headline = f"step {index}, {action}: {what}, which the spec allows, too"
        falsehoods: tuple[Falsehood, ...] = ()
    else:
        right = "it is right, for the spec does not have that step"
        headline = f"step {index}, {action}: {what}; {right}"
        falsehoods = falsehoods_of(apart.explanation.reasons, words)
    return Outcome(
        index, headline, is_bad=False, name=words.text(action), falsehoods=falsehoods,
        differences=difference_rows(apart.differences, words), sides=_SIDES,
        here="the implementation leaves the trace here",
    )  # fmt: skip
