"""What an explanation comes to as the claim of a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.traces import Claim, Conjunct

if TYPE_CHECKING:
    from krafla.oracle.explain import Explanation
    from krafla.traces import ClaimKind

__all__ = ["claim_of", "conjunct_of"]


def claim_of(kind: ClaimKind, name: str, explanation: Explanation) -> Claim:
    """Return the claim that a property is violated, or an action denied, and by which conjunct."""
    return Claim(kind, name, conjunct_of(explanation))


def conjunct_of(explanation: Explanation) -> Conjunct | None:
    """Return the first formula that an explanation calls false; ``None`` if it names none."""
    if not explanation.reasons:
        return None
    reason = explanation.reasons[0]
    return Conjunct(reason.text, str(reason.place), reason.values)
