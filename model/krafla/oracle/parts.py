"""The parts of a formula whose values tell a reader why it is false."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krafla.oracle.nodes import CONSTANT_LEVEL, NodeKind, Opcode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.oracle.nodes import Tree

__all__ = ["parts"]

_WHOLE = (Opcode.APPLY, Opcode.SELECT, Opcode.PRIME)


def parts(tree: Tree, node: Any, context: Any) -> Iterator[Any]:
    """Yield state variables, parameters, bound names, and look-ups in them.

    ``epoch[r]`` counts as one part, besides ``r``: all of ``epoch`` would be too much to read.
    """
    yield from _parts(tree, node, context, is_inside=False)


def _parts(tree: Tree, node: Any, context: Any, *, is_inside: bool) -> Iterator[Any]:
    if int(node.getKind()) != NodeKind.APPLICATION:
        for child in node.getChildren() or ():
            if child is not None and int(child.getKind()) == NodeKind.APPLICATION:
                yield from _parts(tree, child, context, is_inside=is_inside)
        return
    opcode = tree.opcode(node, context)
    arguments = [argument for argument in node.getArgs() if argument is not None]
    if opcode == Opcode.USER:
        yield from _name(tree, node, context, is_inside=is_inside)
        for argument in arguments:
            yield from _parts(tree, argument, context, is_inside=is_inside)
        return
    if opcode in _WHOLE and not is_inside:
        yield node
        # Inside, only the names that choose the element are of interest.
        for argument in arguments:
            yield from _parts(tree, argument, context, is_inside=True)
        return
    for bound in node.getBdedQuantBounds() or ():
        yield from _parts(tree, bound, context, is_inside=is_inside)
    for argument in arguments:
        yield from _parts(tree, argument, context, is_inside=is_inside)


def _name(tree: Tree, node: Any, context: Any, *, is_inside: bool) -> Iterator[Any]:
    kind = int(node.getOperator().getKind())
    if kind == NodeKind.FORMAL_PARAMETER:
        yield node
    elif is_inside:
        return
    elif kind == NodeKind.VARIABLE or (
        int(node.getLevel()) != CONSTANT_LEVEL and tree.definition(node, context) is not None
    ):
        yield node
