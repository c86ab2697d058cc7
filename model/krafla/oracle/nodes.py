"""SANY's semantic tree: which kind of node stands for which construct of TLA+."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    *("ACTION_LEVEL", "CONSTANT_LEVEL", "NodeKind", "Opcode", "Tree", "name_of", "substituted"),
    "takes_operator",
]


class NodeKind:
    """Kinds of nodes (``tla2sany.semantic.ASTConstants``)."""

    CONSTANT = 2
    VARIABLE = 3
    BUILT_IN = 7
    OPERATOR_ARGUMENT = 8
    APPLICATION = 9
    LET = 10
    FORMAL_PARAMETER = 11
    SUBSTITUTION = 13
    LABEL = 29
    THEOREM_SUBSTITUTION = 30


class Opcode:
    """Built-in operators (``tlc2.tool.ToolGlobals``); 0 is an operator of the spec."""

    USER = 0
    CHOOSE = 1
    EXISTS = 2
    FOR_ALL = 3
    CASE = 4
    CONJUNCTION_LIST = 6
    DISJUNCTION_LIST = 7
    EXCEPT = 8
    APPLY = 9
    FUNCTION = 10
    IF = 11
    FUNCTION_OF_STATE = 12
    SELECT = 15
    RECURSIVE_FUNCTION = 16
    IMAGE = 19
    SET_OF_RECORDS = 20
    SET_OF_FUNCTIONS = 21
    SELECTION = 22
    NOT = 27
    SUBSETS = 29
    UNION = 30
    DOMAIN = 31
    EQUAL = 35
    AND = 36
    OR = 37
    IMPLIES = 38
    EQUIVALENT = 39
    IS_SUBSET = 41
    IN = 42
    DIFFERENCE = 44
    INTERSECTION = 45
    JOIN = 47
    PRIME = 48
    UNCHANGED = 49
    SQUARE_ACTION = 51
    BOX = 59


ACTION_LEVEL = 2
CONSTANT_LEVEL = 0


class Tree:
    """Questions about nodes that need TLC's tables of one loaded spec."""

    def __init__(self, classes: Any, tool: Any) -> None:
        self._opcode_of = classes("tlc2.tool.BuiltInOPs").getOpCode
        self._application = classes("tla2sany.semantic.OpApplNode")
        self.definition_class = classes("tla2sany.semantic.OpDefNode")
        self._expressions = classes("tla2sany.semantic.ExprOrOpArgNode")
        self._classes = classes
        self.tool = tool

    def opcode(self, node: Any, context: Any) -> int:
        """Return the built-in operator a node applies; 0 for one of the spec's own."""
        symbol = node.getOperator()
        code = int(self._opcode_of(symbol.getName()))
        if code == Opcode.USER:
            definition = self.definition(node, context)
            if definition is not None:
                code = int(self._opcode_of(definition.getName()))
        return code

    def definition(self, node: Any, context: Any) -> Any | None:
        """Return the definition a node applies, or ``None`` for a bound name or value."""
        found = self.tool.lookup(node.getOperator(), context, False)
        return found if type(found) is self.definition_class else None

    def strip(self, node: Any) -> Any:
        """Return the expression inside a LET or a label; TLC evaluates LET by need."""
        while int(node.getKind()) in (NodeKind.LET, NodeKind.LABEL):
            node = node.getBody()
        return node

    def is_application(self, node: Any) -> bool:
        """Return whether the node applies an operator, built-in or not."""
        return int(node.getKind()) == NodeKind.APPLICATION

    def rebuilt_exists(self, quantifier: Any, body: Any) -> Any:
        r"""Return ``\E`` over the same bounds around another body."""
        return self._exists(
            quantifier,
            body,
            quantifier.getBdedQuantSymbolLists(),
            quantifier.isBdedQuantATuple(),
            quantifier.getBdedQuantBounds(),
        )

    def conjunction(self, like: Any, conjuncts: list[Any]) -> Any:
        r"""Return ``/\`` of some formulas, at the place of a node."""
        names = self._classes("util.UniqueString")
        list_of = names.uniqueStringOf("$ConjList")
        found = self._application(
            list_of, None, conjuncts, None, None, None, like.getTreeNode(), None
        )
        return _of_action(found)

    def application(self, like: Any, definition: Any) -> Any:
        """Return the application of another definition to the arguments of a node."""
        arguments = list(like.getArgs())
        return _of_action(self._application(definition, arguments, like.getTreeNode(), None))

    def with_body(self, definition: Any, body: Any) -> Any:
        """Return a definition of the same name and parameters with another body."""
        found = self.definition_class(
            definition.getName(), definition.getKind(), definition.getParams(), False, body,
            definition.getOriginallyDefinedInModuleNode(), None, definition.getTreeNode(), True,
            definition.getSource(),
        )  # fmt: skip
        return _of_action(found)

    def single_choices(self, quantifier: Any) -> Iterator[tuple[tuple[Any, ...], bool, Any, Any]]:
        r"""Yield the choices of a ``\E`` one by one: names, whether a tuple, set, an own ``\E``.

        The sets of one quantifier do not depend on its names, so the order does not matter.
        """
        body = quantifier.getArgs()[0]
        for symbols, is_tuple, domain in zip(
            quantifier.getBdedQuantSymbolLists(),
            quantifier.isBdedQuantATuple(),
            quantifier.getBdedQuantBounds(),
            strict=True,
        ):
            for names in [list(symbols)] if is_tuple else [[one] for one in symbols]:
                alone = self._exists(quantifier, body, [names], [is_tuple], [domain])
                yield tuple(names), bool(is_tuple), domain, alone

    def _exists(
        self, quantifier: Any, body: Any, symbols: Any, are_tuples: Any, domains: Any
    ) -> Any:
        return self._application(
            quantifier.getOperator().getName(),
            quantifier.getUnbdedQuantSymbols(),
            [body],
            symbols,
            are_tuples,
            domains,
            quantifier.getTreeNode(),
            None,
        )


def takes_operator(definition: Any) -> bool:
    """Return whether a parameter of an operator is an operator itself, which is no value."""
    return any(int(formal.getArity()) for formal in definition.getParams())


def name_of(argument: Any) -> int | None:
    """Return the number of the bound name that an expression is, ``None`` if it is none."""
    if int(argument.getKind()) != NodeKind.APPLICATION:
        return None
    operator = argument.getOperator()
    is_name = int(operator.getKind()) == NodeKind.FORMAL_PARAMETER
    return int(operator.getUid()) if is_name and not argument.getArgs() else None


def _of_action(node: Any) -> Any:
    """Return a new node at the level of an action; SANY has checked its parts."""
    node.levelChecked, node.level = 1, ACTION_LEVEL
    return node


def substituted(tool: Any, node: Any, context: Any) -> Any:
    """Return the context inside an INSTANCE: its names stand for expressions of the outside."""
    inside = context
    for substitution in node.getSubsts():
        value = tool.getVal(substitution.getExpr(), context, False)
        inside = inside.cons(substitution.getOp(), value)
    return inside
