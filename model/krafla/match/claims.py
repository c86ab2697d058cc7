"""An explanation of the oracle as the claim of a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.traces import Claim, Conjunct

if TYPE_CHECKING:
    from krafla.oracle.explain import Explanation
    from krafla.traces import ClaimKind

__all__ = ["claim_of", "conjunct_of"]


def claim_of(kind: ClaimKind, name: str, explanation: Explanation) -> Claim:
    """Return the claim that a property or an action is false, with the false conjunct."""
    return Claim(kind, name, conjunct_of(explanation))


def conjunct_of(explanation: Explanation) -> Conjunct | None:
    """Return the first false formula of an explanation; ``None`` if it names none."""
    if not explanation.reasons:
        return None
    reason = explanation.reasons[0]
    return Conjunct(reason.text, str(reason.place), reason.values)
