"""The error for what the translation from TLA+ to z3 refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from krafla.oracle.sources import Place

__all__ = ["Untranslatable"]

# What a spec writes where SANY has a name of its own.
_WRITTEN = {
    "$AngleAct": "<<A>>_v", "$BoundedChoose": "CHOOSE", "$BoundedExists": "\\E",
    "$BoundedForall": "\\A", "$CartesianProd": "\\X", "$Case": "CASE", "$ConjList": "/\\",
    "$DisjList": "\\/", "$Except": "EXCEPT", "$FcnApply": "f[x]",
    "$FcnConstructor": "[x \\in S |-> e]", "$IfThenElse": "IF", "$Pair": "field",
    "$NonRecursiveFcnSpec": "f[x \\in S]", "$RcdConstructor": "[field |-> e]",
    "$RcdSelect": "r.field", "$RecursiveFcnSpec": "f[x \\in S], by itself", "$SF": "SF_v",
    "$SetEnumerate": "{e}", "$SetOfAll": "{e : x \\in S}", "$SetOfFcns": "[S -> T]",
    "$SetOfRcds": "[field: S]", "$SquareAct": "[A]_v", "$SubsetOf": "{x \\in S : P}",
    "$TemporalExists": "\\EE", "$TemporalForall": "\\AA", "$Tuple": "<< >>",
    "$UnboundedChoose": "CHOOSE", "$UnboundedExists": "\\E", "$UnboundedForall": "\\A",
    "$WF": "WF_v",
}  # fmt: skip
_OF_BEHAVIOURS = frozenset(
    {"[]", "<>", "~>", "-+->", "$WF", "$SF", "$TemporalExists", "$TemporalForall"}
)


class Untranslatable(KraflaError):  # noqa: N818 - says what the expression is
    """An expression has no translation, because of its ``operator``.

    The place is the file and line. The translation never guesses.
    """

    def __init__(self, operator: str, reason: str, place: Place) -> None:
        told = _WRITTEN.get(operator, operator)
        super().__init__(f"{told}: {reason}", f"{place.path or place.module}:{place.line}")
        self.operator = operator

    @classmethod
    def unknown(cls, operator: str, place: Place) -> Untranslatable:
        """Return the error for a built-in operator that no rule translates."""
        reason = "this operator has no translation"
        if operator in _OF_BEHAVIOURS:
            reason = "this speaks of behaviours, and what is proved of a module speaks of states"
        return cls(operator, reason, place)
