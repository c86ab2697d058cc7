"""Implementation and spec in lockstep: the spec judges every step of a simulated cluster.

This is the lockstep of the protocols whose runs are lists of choices, where a mapping gives the
spec's state. `krafla.refinement.common.action_lockstep` says why Raft and the stack have another
one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krafla.oracle.difference import Difference, differences
from krafla.refinement.common.judgement import (
    Agreed,
    Divergence,
    Failed,
    Finding,
    Judgement,
    PropertyViolated,
    SpecAction,
    variables_of,
)
from krafla.testing import Explanation
from krafla.values import same
from kraft.sim.common.step import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from krafla.refinement.common.judged_spec import Disagreement, JudgedSpec, StepMapping
    from krafla.testing import State
    from krafla.values import Value

__all__ = ["Judge", "judge_by"]


def judge_by(load: Callable[[Any], JudgedSpec[Any]]) -> Callable[[Any, Collection[str]], Judge]:
    """Return the function that makes the judge of one run of a configuration.

    The judge that is made takes no conditional properties.
    """

    def judge(configuration: Any, also: Collection[str] = ()) -> Judge:
        assert not also, "only BrokerLease has properties that must be asked for"
        return Judge(load(configuration))

    return judge


class Judge:
    """The judge of one run. It stops at its first finding: later steps have nothing to compare.

    ``state`` is the spec's current state; ``steps`` counts the judged steps.
    """

    def __init__(self, judged: JudgedSpec[Any], *, mapping: StepMapping | None = None) -> None:
        self.judged = judged
        self.mapping = mapping or judged.mapping
        self.state: State = judged.initial
        self.steps = 0
        self.finding: Finding | None = None
        self._cluster: Any = None
        self._variables: dict[str, Value] = {}
        self._last_changed: dict[str, Value] = {}

    def judge(self, step: Any) -> Judgement:
        """Return what the spec says of the next step of the run."""
        assert self.finding is None, "a run is not judged beyond its finding"
        self.steps += 1
        judgement = self._enter(step.before) or self._judge(step)
        if isinstance(judgement, Agreed):
            self._cluster = step.after
        else:
            self.finding = judgement
        return judgement

    def reaches(self, witness: str) -> bool:
        """Return whether the last step reached the state that a witness describes."""
        return self.judged.reaches(witness, self.state, self._last_changed)

    def fail(self, choice: Any, error: Exception) -> Failed:
        """Record and return the finding that the implementation failed on a choice."""
        self.steps += 1
        name = type(error).__name__
        self.finding = Failed(self.steps, choice, f"{name}: {error}" if str(error) else name)
        return self.finding

    def _enter(self, cluster: Any) -> Divergence | PropertyViolated | None:
        """Check that the step begins in the spec's state: Init, or where the last step ended."""
        if cluster is self._cluster:
            return None
        variables = self.mapping.variables(cluster)
        if any(not same(self.state[name], value) for name, value in variables.items()):
            return self._wrong_beginning(variables)
        self._variables = variables
        # Later steps check only what they change, so the first state is checked in full.
        broken = self.judged.all_broken_by(self.state, self.state)
        return self._violation(SpecAction("Init", ()), broken[0], self.state) if broken else None

    def _judge(self, step: Any) -> Judgement:
        variables = self.mapping.variables(step.after)
        parameters = self.mapping.parameters_of(step.before, step.choice)
        if isinstance(step.outcome, Refused):
            return self._judge_refusal(step, step.outcome.reason, variables)
        assert parameters is not None, f"{step.choice} was possible, but names what does not exist"
        action = SpecAction(self.mapping.action_of(step.outcome.action), parameters)
        before = self.state
        changed = self._changed(variables)
        reached = self.judged.spec.rebind(before, changed) if changed else before
        if reached not in self.judged.spec.outcomes(before, action.name, *parameters):
            return self._divergence(action, variables, reached)
        broken = self.judged.broken_by(before, reached, changed)
        if broken is not None:
            return self._violation(action, broken, reached)
        other = self.mapping.disagreement(self.judged.spec, reached, step.after, changed.keys())
        if other is not None:
            return self._disagrees(action, other)
        self.state, self._variables, self._last_changed = reached, variables, changed
        return Agreed(action)

    def _disagrees(self, action: SpecAction, other: Disagreement) -> Divergence:
        """Return the finding that an operator has another value in the implementation."""
        details = differences(other.operator, other.expected, other.got)
        return Divergence(
            self.steps, action, Explanation(other.finding, (), details), (other.operator,)
        )

    def _changed(self, variables: dict[str, Value]) -> dict[str, Value]:
        """Return the variables that the step changed. The mapping makes equal values one object."""
        old = self._variables
        return {name: value for name, value in variables.items() if value is not old[name]}

    def _judge_refusal(self, step: Any, reason: str, variables: dict[str, Value]) -> Judgement:
        """Check that the spec has no such step either, and that the refusal changed nothing."""
        changed = self._changed(variables)
        reached = self.judged.spec.rebind(self.state, changed) if changed else self.state
        parameters = self.mapping.parameters_of(step.before, step.choice)
        name = self.mapping.refused_action(step.choice)
        name = None if name is None else self.mapping.action_of(name)
        action = SpecAction(name or "Deliver", parameters or ())
        if reached != self.state:
            return self._changed_though_refused(action, variables, reached)
        if name is not None and parameters is not None:
            allowed = self.judged.spec.outcomes(self.state, name, *parameters)
            if allowed:
                return self._refused_though_allowed(action, reason)
        return Agreed(None)

    def _refused_though_allowed(self, action: SpecAction, reason: str) -> Divergence:
        finding = f"the implementation refuses {action} ({reason}), the spec allows it"
        return Divergence(self.steps, action, Explanation(finding))

    def _changed_though_refused(
        self, action: SpecAction, variables: dict[str, Value], reached: State
    ) -> Divergence:
        details = self._differences(variables)
        explanation = Explanation(f"{action} was refused but changed the state", (), details)
        broken = self.judged.all_broken_by(self.state, reached)
        return Divergence(self.steps, action, explanation, variables_of(details), broken)

    def _wrong_beginning(self, variables: dict[str, Value]) -> Divergence:
        details = self._differences(variables)
        explanation = Explanation("the step does not begin in the spec's state", (), details)
        return Divergence(self.steps, SpecAction("Init", ()), explanation, variables_of(details))

    def _divergence(
        self, action: SpecAction, variables: dict[str, Value], reached: State
    ) -> Divergence:
        explanation = self.judged.spec.explain(
            self.state, action.name, action.parameters, after=variables
        )
        broken = self.judged.all_broken_by(self.state, reached)
        differing = variables_of(explanation.differences)
        return Divergence(self.steps, action, explanation, differing, broken)

    def _violation(self, action: SpecAction, name: str, reached: State) -> PropertyViolated:
        spec = self.judged.spec
        explanation = (
            spec.explain_action_property(name, self.state, reached)
            if name in self.judged.properties.steps
            else spec.explain_invariant(name, reached)
        )
        return PropertyViolated(self.steps, action, name, explanation)

    def _differences(self, variables: dict[str, Value]) -> tuple[Difference, ...]:
        return tuple(
            difference
            for name, value in sorted(variables.items())
            for difference in differences(name, self.state[name], value)
        )
