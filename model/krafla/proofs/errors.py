"""The error for what the translation from TLA+ to z3 refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from krafla.oracle.sources import Place

__all__ = ["Untranslatable"]


class Untranslatable(KraflaError):  # noqa: N818 - says what the expression is
    """An expression has no translation, because of its ``operator``.

    The place is the file and line. The translation never guesses.
    """

    def __init__(self, operator: str, reason: str, place: Place) -> None:
        super().__init__(f"{operator}: {reason}", f"{place.path or place.module}:{place.line}")
        self.operator = operator
