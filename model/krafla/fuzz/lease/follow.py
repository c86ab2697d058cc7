"""A trace on the implementation: its schedule forced, and every state compared with the trace's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from krafla.match.spec_source import source_of, stands_alone
from krafla.match.trace_check import shows_no_step
from krafla.match.validation import choices_for, spec_of
from krafla.match.whole import Whole
from krafla.oracle.difference import Difference, differences
from krafla.refinement.common.judgement import Agreed, Failed, PropertyViolated
from krafla.refinement.common.lockstep import Judge
from krafla.refinement.lease.properties import MODULE
from krafla.refinement.lease.scenario import NotPossible, choice_of, vocabulary_of
from krafla.refinement.lease.spec import load_for
from krafla.testing import ClaimKind
from krafla.traces.spec_facts import facts_of
from krafla.values import fmt
from krafla.verdict import KraflaError, Verdict
from kraft.sim.common.step import Refused
from kraft.sim.lease.cluster import first_cluster
from kraft.sim.lease.step import step as take

if TYPE_CHECKING:
    from krafla.match import Nearest
    from krafla.refinement.common.judgement import Finding
    from krafla.testing import Explanation, Step, Trace
    from krafla.values import Function, Value

__all__ = ["Apart", "Followed", "follow"]


@dataclass(frozen=True, slots=True)
class Apart:
    """The step at which the implementation leaves the trace: what it does there instead.

    ``differences`` lead from the trace's state (expected) to the implementation's (got). If the
    spec denies the trace's step, ``explanation`` says why, and ``nearest`` what it has instead.
    """

    index: int
    step: Step
    what: str
    differences: tuple[Difference, ...] = ()
    explanation: Explanation | None = None
    nearest: Nearest | None = None

    def __str__(self) -> str:
        lines = [f"does not follow at step {self.index}, {self.step.action}: {self.what}"]
        lines += [
            f"  {one.path}: trace {_shown(one.expected)}, implementation {_shown(one.got)}"
            for one in self.differences
        ]
        if self.explanation is not None:
            first, *rest = str(self.explanation).splitlines()
            lines += [f"  the spec: {first}", *(f"  {line}" for line in rest)]
        step, nearest = self.step, self.nearest
        if nearest is not None and nearest.helps(step.action, step.parameters):
            lines.append(f"  {self.nearest}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Followed:
    """What forcing a trace upon the implementation came to.

    The implementation was in the first ``steps`` states of the trace. ``finding`` is what the spec
    says against it, ``apart`` where it left the trace though the spec has nothing against it.
    """

    trace: Trace
    steps: int
    finding: Finding | None = None
    apart: Apart | None = None

    @property
    def is_as_claimed(self) -> bool:
        """Return whether the implementation violates just what the trace claims, at its end.

        That is the property, and the conjunct of it if the claim names one.
        """
        claim, finding = self.trace.claim, self.finding
        return (
            claim is not None
            and isinstance(finding, PropertyViolated)
            and finding.name == claim.property
            and (
                claim.conjunct is None
                or claim.conjunct.text in {one.text for one in finding.explanation.reasons}
            )
            and self.steps == len(self.trace)
        )

    @property
    def verdict(self) -> Verdict:
        """Return held only for a behaviour that claims no violation and was followed to its end."""
        if self.finding is not None:
            return Verdict.VIOLATED
        is_nothing = self.trace.claims_violation or shows_no_step(self.trace)
        is_held = self.apart is None and not is_nothing
        return Verdict.HELD if is_held else Verdict.INCONCLUSIVE

    @property
    def sentence(self) -> str:
        """Return in one sentence how far the implementation followed, and what that shows."""
        steps = len(self.trace) - 1
        all_of_them = "the one step" if steps == 1 else f"all {steps} steps"
        follows = f"the implementation follows {all_of_them}"
        claim = self.trace.claim
        if self.is_as_claimed:
            assert claim is not None, "what is as claimed was claimed"
            return f"{follows} and violates {claim.property} as claimed"
        if self.finding is not None:
            taken = f"the implementation follows {self.steps - 1} of {steps} steps"
            if isinstance(self.finding, PropertyViolated):
                not_so = ", not as claimed" if self.trace.claims_violation else ""
                return f"{taken} and violates {self.finding.name}{not_so}"
            if isinstance(self.finding, Failed):
                return f"{taken} and fails"
            if claim is not None and claim.kind is ClaimKind.DIVERGENCE and self.steps > steps:
                return f"{taken}, and the spec denies the last, as claimed"
            return f"{taken}; what it does there is no step of the spec"
        if self.apart is not None:
            return f"the implementation follows {self.apart.index - 1} of {steps} steps"
        if self.trace.claims_violation:
            return f"{follows}, which shows no violation: {claim} is only claimed"
        if shows_no_step(self.trace):
            return "the trace shows no step, so there is nothing to follow"
        return f"{follows}, agreed to by the spec"


def follow(trace: Trace) -> Followed:
    """Return how far the implementation takes the steps of a trace, each judged by the spec.

    The behaviour of a lasso is followed until its state comes again, once; where the spec has no
    step that leads back, the two part after the last one. ``KraflaError`` if the trace is not one
    of the broker lease, or names an action, a node or a constant unknown there.
    """
    if not trace.steps:
        raise KraflaError(f"a trace of {trace.spec} without a single state shows nothing")
    follower = _Follower(trace)
    for index, one in enumerate(trace.steps[1:], start=1):
        ended = follower.take(index, one)
        if ended is not None:
            return ended
    return follower.end()


class _Follower:
    def __init__(self, trace: Trace) -> None:
        other = KraflaError(
            f"the implementation of the lease follows BrokerLease, not {trace.spec}"
        )
        if not stands_alone(trace):
            what = f"{trace.spec} within the bounds of {trace.model}"
            raise KraflaError(f"the implementation of the lease follows BrokerLease, not {what}")
        variables = set(spec_of(trace).variables)
        vocabulary = vocabulary_of(trace)
        claimed = trace.claim.property if trace.claim else None
        source = source_of(trace)
        self._lease = load_for(
            vocabulary,
            [name for name in facts_of(MODULE).conditional if name == claimed],
            source.module.parent if source.is_carried else None,
        )
        if set(self._lease.spec.variables) != variables:
            raise other
        self._trace = trace
        self._whole = Whole(self._lease.spec, choices_for(self._lease.spec))
        self._judge = Judge(self._lease)
        self._cluster = first_cluster(vocabulary.configuration)
        if self._differences(trace.steps[0].state):
            raise KraflaError("the trace does not begin where the implementation does", "step 0")
        for index, one in enumerate(trace.steps[1:], start=1):
            self._whole.check_names(index, one)

    def take(self, index: int, one: Step) -> Followed | None:
        """Take one step; return the end of it all if that is where it ends."""
        try:
            choice = choice_of(self._lease.mapping, self._cluster, index, one)
        except NotPossible as error:
            return self._parts(index, one, error.message)
        try:
            result = take(self._cluster, choice)
        except Exception as error:  # noqa: BLE001 - whatever the implementation raises is a finding
            return Followed(self._trace, index, self._judge.fail(choice, error))
        before = self._judge.state
        judgement = self._judge.judge(result)
        self._cluster = result.after
        details = self._differences(one.state)
        if not isinstance(judgement, Agreed):
            followed = index if details else min(index + 1, len(self._trace))
            return Followed(self._trace, followed, judgement)
        outcome = result.outcome
        if isinstance(outcome, Refused):
            what = f"the implementation refuses it: {outcome.reason}"
        elif outcome.action != one.action:
            what = f"the implementation takes {outcome.action}"
        elif details:
            what = "the implementation comes to another state"
        else:
            return None
        self._judge.state = before
        return self._parts(index, one, what, details)

    def end(self) -> Followed:
        """Close the lasso, if there is one, after all steps were taken; return the end of it all.

        Of the spec's steps that lead back the first is taken.
        """
        trace, count = self._trace, len(self._trace)
        if self._whole.stays(trace):
            return Followed(trace, count)
        closing = self._whole.closing(trace)
        if closing is not None:
            return self.take(count, closing) or Followed(trace, count)
        assert trace.lasso is not None, "only a lasso can be open"
        again = replace(trace.steps[trace.lasso], action=trace.back or "the way back")
        what = f"nothing leads back to step {trace.lasso}"
        apart = Apart(count, again, what, (), *self._whole.no_return(trace))
        return Followed(trace, count, None, apart)

    def _parts(
        self, index: int, one: Step, what: str, details: tuple[Difference, ...] = ()
    ) -> Followed:
        """Return that the two part here, with the spec's word on the trace's own step."""
        whole, state = self._whole, self._judge.state
        after, _ = whole.after(state, replace(one, state=state.as_function()), one)
        refusal = () if whole.takes(state, one, after) else whole.refusal(state, index, one)
        apart = Apart(index, one, what, details, *refusal)
        return Followed(self._trace, min(index, len(self._trace)), None, apart)

    def _differences(self, expected: Function) -> tuple[Difference, ...]:
        got = self._lease.mapping.variables(self._cluster)
        return tuple(
            detail
            for name, value in sorted(got.items())
            for detail in differences(name, expected[name], value)
        )


def _shown(value: Value | None) -> str:
    return "nothing" if value is None else fmt(value)
