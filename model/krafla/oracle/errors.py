"""What can go wrong between a question and TLC's evaluator; all are ``KraflaError``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krafla.oracle.explain import Explanation
    from krafla.oracle.state import State

__all__ = [
    "AmbiguousStep",
    "EvaluationError",
    "IncompleteAction",
    "JvmError",
    "NotEnabled",
    "SpecError",
    "UnexpectedPostState",
    "ValueOutOfRange",
]


class JvmError(KraflaError):
    """There is no usable Java virtual machine in this process."""


class SpecError(KraflaError):
    """A spec does not parse, or its configuration does not fit it; the place is a line."""


class EvaluationError(KraflaError):
    """TLC could not evaluate an expression, as when a record lacks a field."""


class IncompleteAction(EvaluationError):  # noqa: N818 - the name says what is wrong
    """An action leaves open what becomes of some variables: the spec is at fault."""

    def __init__(self, spec: str, action: str, variables: Iterable[str]) -> None:
        names = ", ".join(sorted(variables))
        super().__init__(
            f"{spec}: {action} does not say what becomes of {names}; UNCHANGED <<{names}>> would "
            "let them stay"
        )


class ValueOutOfRange(KraflaError):  # noqa: N818 - the name says what is wrong
    """TLC cannot hold a value: a number beyond 32 bits, or a model value without declaration."""


class NotEnabled(KraflaError):  # noqa: N818 - a word of TLA+
    """The named action allows no step from this state; ``explanation`` says why."""

    def __init__(self, explanation: Explanation) -> None:
        super().__init__(str(explanation))
        self.explanation = explanation


class UnexpectedPostState(KraflaError):  # noqa: N818 - names the finding
    """The action is enabled, but leads to none of the states that were expected."""

    def __init__(self, explanation: Explanation) -> None:
        super().__init__(str(explanation))
        self.explanation = explanation


class AmbiguousStep(KraflaError):  # noqa: N818 - names the finding
    """The action leads to several states, and nothing said which; ``outcomes`` has them."""

    def __init__(self, action: str, outcomes: tuple[State, ...], variables: list[str]) -> None:
        super().__init__(
            f"{action} leads to {len(outcomes)} states that differ in {', '.join(variables)}: "
            "say which one is expected"
        )
        self.outcomes = outcomes
