"""Which constants are different from which values."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from krafla.proofs.types import AtomType, Mismatch, RecordType

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krafla.proofs.types import Alternative

__all__ = ["Apart"]


class Apart:
    """The pairs of a constant and another constant, or a shape of records, that are different.

    Nothing else is: two constants of a model may have one value.
    """

    def __init__(self) -> None:
        self._known: set[tuple[Alternative | tuple[str, ...], ...]] = set()

    def learn(self, constant: AtomType, other: Alternative) -> None:
        """Take note that a constant differs from another, or from all records of a shape."""
        self._known |= {(constant, _key(other)), (_key(other), constant)}

    def check(self, alternatives: Iterable[Alternative]) -> None:
        """Raise ``Mismatch`` if two of the alternatives may be one value."""
        for one, other in combinations(alternatives, 2):
            if isinstance(one, RecordType) and isinstance(other, RecordType):
                continue
            if one != other and (_key(one), _key(other)) not in self._known:
                constant, value = (other, one) if isinstance(one, RecordType) else (one, other)
                is_constant = isinstance(value, AtomType)
                wanted = f"{constant} # {value}" if is_constant else f"{constant} \\notin {value}"
                raise Mismatch(
                    f"nothing says that {constant} differs from {value}: ASSUME {wanted}"
                )


def _key(alternative: Alternative) -> Alternative | tuple[str, ...]:
    return alternative.names if isinstance(alternative, RecordType) else alternative
