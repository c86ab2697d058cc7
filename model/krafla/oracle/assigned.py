"""The variables of which an action says something in each of its ways, told by its text alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from krafla.oracle.nodes import NodeKind, Opcode
from krafla.oracle.variables_read import variables_read

if TYPE_CHECKING:
    from krafla.oracle.spec import Spec

__all__ = ["always_assigned"]

_CONJUNCTIONS: Final = frozenset({Opcode.CONJUNCTION_LIST, Opcode.AND})
_DISJUNCTIONS: Final = frozenset({Opcode.DISJUNCTION_LIST, Opcode.OR})
_GIVES: Final = frozenset({Opcode.EQUAL, Opcode.IN})
_NONE: Final[frozenset[str]] = frozenset()
# A recursive operator has no end of definitions.
_DEPTH_MAX: Final = 20


def always_assigned(spec: Spec, node: Any, context: Any, depth: int = 0) -> frozenset[str]:
    """Return variables to which an action gives next values, whichever way through it is taken.

    There may be more: only what the text says plainly counts.
    """
    tree = spec.tree
    node = tree.strip(node)
    if not tree.is_application(node) or depth > _DEPTH_MAX:
        return _NONE
    opcode, arguments = tree.opcode(node, context), list(node.getArgs())

    def each(nodes: list[Any]) -> list[frozenset[str]]:
        return [always_assigned(spec, one, context, depth + 1) for one in nodes]

    if opcode in _CONJUNCTIONS:
        return _NONE.union(*each(arguments))
    if opcode in _DISJUNCTIONS:
        first, *others = each(arguments)
        return first.intersection(*others)
    if opcode == Opcode.IF:
        then, otherwise = each(arguments[1:])
        return then & otherwise
    if opcode == Opcode.EXISTS:
        return always_assigned(spec, arguments[0], context, depth + 1)
    if opcode == Opcode.UNCHANGED:
        return variables_read(spec, arguments[0])
    if opcode in _GIVES:
        return _next_value_of(spec, arguments[0], context)
    if opcode == Opcode.USER:
        definition = tree.definition(node, context)
        if definition is not None and definition.getBody() is not None:
            return always_assigned(spec, definition.getBody(), context, depth + 1)
    return _NONE


def _next_value_of(spec: Spec, node: Any, context: Any) -> frozenset[str]:
    """Return the variable whose next value a node is, if it is one."""
    tree = spec.tree
    if not tree.is_application(node) or tree.opcode(node, context) != Opcode.PRIME:
        return _NONE
    (inside,) = node.getArgs()
    if not tree.is_application(inside) or inside.getArgs():
        return _NONE
    symbol = inside.getOperator()
    is_variable = int(symbol.getKind()) == NodeKind.VARIABLE
    return frozenset({str(symbol.getName().toString())}) if is_variable else _NONE
