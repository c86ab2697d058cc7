"""Implementation and spec in lockstep: every step of a simulated cluster is judged."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from krafla.oracle.difference import Difference, differences
from krafla.oracle.explain import Explanation
from krafla.refinement.actions import SpecAction, parameters_of, refused_action
from krafla.refinement.judgement import (
    Agreed,
    Divergence,
    Failed,
    Finding,
    Judgement,
    PropertyViolated,
)
from krafla.refinement.lease_spec import load_lease
from krafla.refinement.vocabulary import Vocabulary
from krafla.values import same
from kraft.sim.outcome import Refused

if TYPE_CHECKING:
    from collections.abc import Collection

    from krafla.oracle.state import State
    from krafla.refinement.lease import LeaseMapping
    from krafla.refinement.lease_spec import LeaseSpec
    from krafla.values import Value
    from kraft.sim.choices import Choice
    from kraft.sim.cluster import Cluster
    from kraft.sim.configuration import Configuration
    from kraft.sim.step import StepResult

__all__ = ["Judge"]

# What Serving depends on: nobody begins or ceases to serve but by a change of these.
_SERVING_READS: Final = frozenset({"status", "lease_age"})


class Judge:
    """The judge of one run. It stops at its first finding: what follows means nothing.

    ``state`` is where the spec is, ``steps`` counts the judgements given.
    """

    def __init__(
        self,
        configuration: Configuration,
        also: Collection[str] = (),
        *,
        lease: LeaseSpec | None = None,
        mapping: LeaseMapping | None = None,
    ) -> None:
        self.lease = lease or load_lease(Vocabulary.of(configuration), also)
        self.mapping = mapping or self.lease.mapping
        self.state: State = self.lease.initial
        self.steps = 0
        self.finding: Finding | None = None
        self._cluster: Cluster | None = None
        self._variables: dict[str, Value] = {}
        self._last_changed: dict[str, Value] = {}

    def judge(self, step: StepResult) -> Judgement:
        """Return what the spec says of the next step of the run."""
        assert self.finding is None, "the run was judged already"
        self.steps += 1
        judgement = self._enter(step.before) or self._judge(step)
        if isinstance(judgement, Agreed):
            self._cluster = step.after
        else:
            self.finding = judgement
        return judgement

    def reaches(self, witness: str) -> bool:
        """Return whether the last step led to a state that a witness asks for."""
        return self.lease.reaches(witness, self.state, self._last_changed)

    def fail(self, choice: Choice, error: Exception) -> Failed:
        """Return the finding that the implementation failed on a choice."""
        self.steps += 1
        name = type(error).__name__
        self.finding = Failed(self.steps, choice, f"{name}: {error}" if str(error) else name)
        return self.finding

    def _enter(self, cluster: Cluster) -> Divergence | PropertyViolated | None:
        """Find the spec where the step begins: at Init, or where the last step ended."""
        if cluster is self._cluster:
            return None
        variables = self.mapping.variables(cluster)
        if any(not same(self.state[name], value) for name, value in variables.items()):
            return self._elsewhere(variables)
        self._variables = variables
        # From here on only what a step changes is asked: this once, everything.
        broken = self.lease.all_broken_by(self.state, self.state)
        return self._violation(SpecAction("Init", ()), broken[0], self.state) if broken else None

    def _judge(self, step: StepResult) -> Judgement:
        variables = self.mapping.variables(step.after)
        parameters = parameters_of(self.mapping, step.before, step.choice)
        if isinstance(step.outcome, Refused):
            return self._judge_refusal(step, step.outcome.reason, variables)
        assert parameters is not None, f"{step.choice} was possible on nothing that exists"
        action = SpecAction(step.outcome.action, parameters)
        before = self.state
        changed = self._changed(variables)
        reached = self.lease.spec.rebind(before, changed) if changed else before
        if reached not in self.lease.spec.outcomes(before, action.name, *parameters):
            return self._divergence(action, variables, reached)
        broken = self.lease.broken_by(before, reached, changed)
        if broken is not None:
            return self._violation(action, broken, reached)
        if not _SERVING_READS.isdisjoint(changed):
            expected = self.lease.spec.evaluate("ServingProcesses", reached)
            got = self.mapping.serving(step.after)
            if got != expected:
                return self._serves_otherwise(action, expected, got)
        self.state, self._variables, self._last_changed = reached, variables, changed
        return Agreed(action)

    def _serves_otherwise(self, action: SpecAction, expected: Value, got: Value) -> Divergence:
        """Return that the implementation decides otherwise than the spec who may serve."""
        finding = "the implementation takes other processes for servers than the spec"
        details = differences("ServingProcesses", expected, got)
        return Divergence(
            self.steps, action, Explanation(finding, (), details), ("ServingProcesses",)
        )

    def _changed(self, variables: dict[str, Value]) -> dict[str, Value]:
        """Return what the last step changed; equal values are one object, see the mapping."""
        old = self._variables
        return {name: value for name, value in variables.items() if value is not old[name]}

    def _judge_refusal(
        self, step: StepResult, reason: str, variables: dict[str, Value]
    ) -> Judgement:
        """Expect a choice to be refused only where the spec has no step, and to change nothing."""
        changed = self._changed(variables)
        reached = self.lease.spec.rebind(self.state, changed) if changed else self.state
        parameters = parameters_of(self.mapping, step.before, step.choice)
        name = refused_action(step.choice)
        action = SpecAction(name or "Deliver", parameters or ())
        if reached != self.state:
            return self._changed_though_refused(action, variables, reached)
        if name is not None and parameters is not None:
            allowed = self.lease.spec.outcomes(self.state, name, *parameters)
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
        explanation = Explanation(f"{action} was refused, and yet changed the state", (), details)
        broken = self.lease.all_broken_by(self.state, reached)
        return Divergence(self.steps, action, explanation, _variables_of(details), broken)

    def _elsewhere(self, variables: dict[str, Value]) -> Divergence:
        details = self._differences(variables)
        explanation = Explanation("the step begins where the spec is not", (), details)
        return Divergence(self.steps, SpecAction("Init", ()), explanation, _variables_of(details))

    def _divergence(
        self, action: SpecAction, variables: dict[str, Value], reached: State
    ) -> Divergence:
        explanation = self.lease.spec.explain(
            self.state, action.name, action.parameters, after=variables
        )
        broken = self.lease.all_broken_by(self.state, reached)
        differing = _variables_of(explanation.differences)
        return Divergence(self.steps, action, explanation, differing, broken)

    def _violation(self, action: SpecAction, name: str, reached: State) -> PropertyViolated:
        spec = self.lease.spec
        explanation = (
            spec.explain_action_property(name, self.state, reached)
            if name in self.lease.properties.steps
            else spec.explain_invariant(name, reached)
        )
        return PropertyViolated(self.steps, action, name, explanation)

    def _differences(self, variables: dict[str, Value]) -> tuple[Difference, ...]:
        return tuple(
            difference
            for name, value in sorted(variables.items())
            for difference in differences(name, self.state[name], value)
        )


def _variables_of(details: tuple[Difference, ...]) -> tuple[str, ...]:
    return tuple(sorted({re.split(r"[.\[]", detail.path)[0] for detail in details}))
