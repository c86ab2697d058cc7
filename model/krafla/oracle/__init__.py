"""TLC's own evaluator inside this process: the judge of single steps.

``Spec.load`` gives a spec; ask it for ``initial_states``, ``apply`` a named action,
``successors``, ``check_invariant``; ``explain`` says which conjunct is false and why;
``explore`` finds every state of a finite model.
"""

from krafla.oracle.actions import NamedAction
from krafla.oracle.blame import Reason
from krafla.oracle.difference import Difference, differences
from krafla.oracle.errors import (
    AmbiguousStep,
    EvaluationError,
    JvmError,
    NotEnabled,
    SpecError,
    UnexpectedPostState,
    ValueOutOfRange,
)
from krafla.oracle.explain import Explanation
from krafla.oracle.exploration import OUTSIDE, Exploration, Violation
from krafla.oracle.explore import explore
from krafla.oracle.spec import Spec
from krafla.oracle.state import State

__all__ = [
    "OUTSIDE",
    "AmbiguousStep",
    "Difference",
    "EvaluationError",
    "Explanation",
    "Exploration",
    "JvmError",
    "NamedAction",
    "NotEnabled",
    "Reason",
    "Spec",
    "SpecError",
    "State",
    "UnexpectedPostState",
    "ValueOutOfRange",
    "Violation",
    "differences",
    "explore",
]
