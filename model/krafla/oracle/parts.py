"""The parts of a formula whose values tell a reader why it is false."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krafla.oracle.nodes import CONSTANT_LEVEL, NodeKind, Opcode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.oracle.nodes import Tree

__all__ = ["parts"]

_WHOLE = (Opcode.APPLY, Opcode.SELECT, Opcode.PRIME)
# Their values are not in their text; of a tuple or of a set of functions they are.
_COMPUTED = (
    Opcode.CHOOSE, Opcode.CASE, Opcode.EXCEPT, Opcode.FUNCTION, Opcode.FUNCTION_OF_STATE,
    Opcode.IF, Opcode.RECURSIVE_FUNCTION, Opcode.IMAGE, Opcode.SELECTION, Opcode.UNION,
    Opcode.DOMAIN, Opcode.DIFFERENCE, Opcode.INTERSECTION, Opcode.JOIN,
)  # fmt: skip
# A comparison only says again which operand is the larger.
_COMPARISONS = frozenset({"<", ">", "\\leq", "\\geq", "<=", ">=", "=<", ".."})


def parts(tree: Tree, node: Any, context: Any) -> Iterator[tuple[Any, Any]]:
    """Yield state variables, constants, names, look-ups and computed operands, outermost first.

    Each comes with the context in which it has its value. ``epoch[r]`` counts as one part, besides
    ``r``: all of ``epoch`` would be too much to read. Of a name that stands for a formula, such as
    one of a LET, the parts of the formula follow.
    """
    yield from _Parts(tree).of(node, context)


class _Parts:
    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    def of(
        self, node: Any, context: Any, *, is_inside: bool = False, is_named: bool = False
    ) -> Iterator[tuple[Any, Any]]:
        """Yield a node, if it is a part, and the parts below it.

        ``is_inside`` says that the node chooses an element; then only names are of interest.
        ``is_named`` says that it stands in a definition that was followed.
        """
        if not self._tree.is_application(node):
            for child in node.getChildren() or ():
                if child is not None and self._tree.is_application(child):
                    yield from self.of(child, context, is_inside=is_inside, is_named=is_named)
            return
        opcode = self._tree.opcode(node, context)
        if opcode == Opcode.USER:
            yield from self._of_operator(node, context, is_inside=is_inside, is_named=is_named)
            return
        if opcode in _WHOLE and not is_inside:
            yield node, context
            is_inside = True
        elif opcode in _COMPUTED and not is_inside:
            yield node, context
        elif opcode == Opcode.EQUIVALENT:
            yield from ((side, context) for side in node.getArgs())
        yield from self._below(node, context, is_inside=is_inside, is_named=is_named)

    def _below(
        self, node: Any, context: Any, *, is_inside: bool, is_named: bool
    ) -> Iterator[tuple[Any, Any]]:
        varying = [
            bound
            for bound in node.getBdedQuantBounds() or ()
            if int(bound.getLevel()) != CONSTANT_LEVEL
        ]
        for one in (*varying, *(one for one in node.getArgs() if one is not None)):
            yield from self.of(one, context, is_inside=is_inside, is_named=is_named)

    def _of_operator(
        self, node: Any, context: Any, *, is_inside: bool, is_named: bool
    ) -> Iterator[tuple[Any, Any]]:
        symbol = node.getOperator()
        kind = int(symbol.getKind())
        is_compared = str(symbol.getName().toString()) in _COMPARISONS
        if kind == NodeKind.FORMAL_PARAMETER or not (is_inside or is_compared):
            yield node, context
        yield from self._below(node, context, is_inside=is_inside, is_named=is_named)
        definition = self._tree.definition(node, context)
        if is_inside or is_named or definition is None or definition.getParams():
            return
        body = definition.getBody()
        if body is None or int(body.getLevel()) == CONSTANT_LEVEL:
            return
        inside = self._tree.tool.getOpContext(definition, node.getArgs(), context, False)
        body = self._tree.strip(body)
        if self._tree.is_application(body):
            yield from self._below(body, inside, is_inside=False, is_named=True)
