"""TLC's own evaluator inside this process: the judge of single steps.

``Spec.load`` gives a spec; ask it for ``initial_states``, ``apply`` a named action,
``successors``, ``check_invariant``; ``explain`` says which conjunct is false and why.
"""

from krafla.oracle.errors import (
    AmbiguousStep,
    EvaluationError,
    JvmError,
    NotEnabled,
    SpecError,
    UnexpectedPostState,
    ValueOutOfRange,
)
from krafla.oracle.spec import Spec
from krafla.oracle.state import State

__all__ = [
    "AmbiguousStep",
    "EvaluationError",
    "JvmError",
    "NotEnabled",
    "Spec",
    "SpecError",
    "State",
    "UnexpectedPostState",
    "ValueOutOfRange",
]
