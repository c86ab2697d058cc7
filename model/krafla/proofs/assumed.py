"""What the ASSUMEs of a module say of its constants: which sets have a member, what differs.

A proof is about all constants that satisfy the ASSUMEs, and about no others. So z3 may rely on two
constants being different, or on a set having a member, only where an ASSUME says so.
"""

from __future__ import annotations

from functools import cache, partial
from itertools import combinations
from typing import TYPE_CHECKING

from krafla.oracle.syntax import Apply, Call, Name, Number
from krafla.proofs.terms import AtomTerm
from krafla.proofs.translate import Argument
from krafla.proofs.types import AtomType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from krafla.oracle.syntax import Node, Symbol
    from krafla.proofs.apart import Apart
    from krafla.proofs.terms import SetTerm, Term
    from krafla.proofs.translate import Scope

__all__ = ["learn_what_differs", "symbol_of", "with_members"]

_MIRRORED = {"<": ">", ">": "<", "\\leq": "\\geq", "\\geq": "\\leq"}


def symbol_of(node: Node | None, scope: Scope) -> Symbol | None:
    """Return the constant or variable that an expression denotes, through parameters."""
    while isinstance(node, Name):
        bound = scope.bindings.get(node.symbol.key)
        if bound is None:
            return node.symbol
        if not isinstance(bound, Argument):
            return None
        node, scope = bound.node, bound.scope
    return None


def with_members(assumed: Iterable[tuple[str, Node, Scope]]) -> Iterator[int]:
    r"""Yield the key of each symbol S that a conjunct gives a member.

    Read are ``S # {}``, ``x \in S``, ``\E x \in S : P`` and ``Cardinality(S)`` compared with a
    number.
    """
    for _, node, scope in assumed:
        found = _has_member(node, scope)
        if found is not None:
            yield found.key


def _has_member(node: Node, scope: Scope) -> Symbol | None:
    if not isinstance(node, Apply):
        return None
    if node.operator == "$BoundedExists":
        return symbol_of(node.bounds[0].domain, scope)
    if node.operator == "\\in":
        return symbol_of(node.arguments[1], scope)
    for left, operator, right in _compared(node):
        if operator == "/=" and _is_empty_set(right):
            return symbol_of(left, scope)
        if (
            isinstance(left, Apply)
            and left.operator == "Cardinality"
            and _is_positive(operator, right)
        ):
            return symbol_of(left.arguments[0], scope)
    return None


def _compared(node: Node) -> Iterator[tuple[Node | None, str, Node | None]]:
    """Yield a comparison, read from both sides; ``~(a = b)`` is one too."""
    if not isinstance(node, Apply):
        return
    if node.operator == "\\lnot":
        (inner,) = node.arguments
        if isinstance(inner, Apply) and inner.operator == "=":
            left, right = inner.arguments
            yield left, "/=", right
            yield right, "/=", left
    elif len(node.arguments) == 2:
        left, right = node.arguments
        yield left, node.operator, right
        yield right, _MIRRORED.get(node.operator, node.operator), left


def _is_empty_set(node: Node | None) -> bool:
    return isinstance(node, Apply) and node.operator == "$SetEnumerate" and not node.arguments


def _is_positive(operator: str, limit: Node | None) -> bool:
    """Return whether a number that compares so with a limit is at least 1."""
    if not isinstance(limit, Number):
        return False
    least = {"=": limit.value, "\\geq": limit.value, ">": limit.value + 1}
    if operator == "/=":
        return limit.value == 0
    return least.get(operator, 0) >= 1


def learn_what_differs(
    assumed: Iterable[tuple[str, Node, Scope]], known: Mapping[int, Term], apart: Apart,
    translated: Callable[[Node, Scope], SetTerm],
) -> None:  # fmt: skip
    r"""Take note of every ``A # B``, ``A \notin S`` and ``Cardinality({A, B}) = 2``.

    Of S, what matters are the constants and the sets of records that it lists; ``translated``
    returns such a set.
    """
    for _, node, scope in assumed:
        for left, operator, right in _compared(node):
            if operator == "/=":
                _learn(apart, _atom(left, scope, known), _atom(right, scope, known))
            elif operator == "=" and isinstance(left, Apply) and isinstance(right, Number):
                _learn_distinct(apart, left, right.value, scope, known)
        element, domain = _outside(node)
        constant = _atom(element, scope, known)
        for part, inside in _parts(domain, scope):
            if constant is None:
                break
            if part.operator == "$SetOfRcds":
                apart.learn_outside(constant, cache(partial(translated, part, inside)))
            for other in part.arguments:
                _learn(apart, constant, _atom(other, inside, known))


def _learn(apart: Apart, constant: AtomType | None, other: AtomType | None) -> None:
    if constant is not None and other is not None:
        apart.learn(constant, other)


def _learn_distinct(
    apart: Apart, counted: Apply, count: int, scope: Scope, known: Mapping[int, Term]
) -> None:
    listed = counted.arguments[0] if counted.operator == "Cardinality" else None
    if isinstance(listed, Apply) and listed.operator == "$SetEnumerate":
        members = [_atom(one, scope, known) for one in listed.arguments]
        if len(members) == count:
            for one, other in combinations(members, 2):
                _learn(apart, one, other)


def _outside(node: Node) -> tuple[Node | None, Node | None]:
    r"""Return x and S of ``x \notin S`` or ``~(x \in S)``, else nothing."""
    if isinstance(node, Apply) and node.operator == "\\lnot":
        (inner,) = node.arguments
        if isinstance(inner, Apply) and inner.operator == "\\in":
            return inner.arguments[0], inner.arguments[1]
    if isinstance(node, Apply) and node.operator == "\\notin":
        return node.arguments[0], node.arguments[1]
    return None, None


def _atom(node: Node | None, scope: Scope, known: Mapping[int, Term]) -> AtomType | None:
    symbol = symbol_of(node, scope)
    found = None if symbol is None else known.get(symbol.key)
    return AtomType(found.constant) if isinstance(found, AtomTerm) else None


def _parts(node: Node | None, scope: Scope) -> Iterator[tuple[Apply, Scope]]:
    """Yield the enumerations and sets of records of which a set is the union."""
    if isinstance(node, Call) and not node.definition.is_recursive:
        yield from _parts(node.definition.body, scope.calling(node.definition, node.arguments))
    elif isinstance(node, Apply) and node.operator == "\\union":
        for part in node.arguments:
            yield from _parts(part, scope)
    elif isinstance(node, Apply) and node.operator in ("$SetEnumerate", "$SetOfRcds"):
        yield node, scope
