r"""The element that keeps ``e \in S`` or ``e \subseteq S`` from being true."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krafla.oracle.nodes import Opcode
from krafla.values import Function, Value, fmt, sorted_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from krafla.oracle.spec import Spec

__all__ = ["Membership"]

_ROOM = 200


class Membership:
    """Finds the element; ``evaluated`` returns TLC's value of a node, None if it has none."""

    def __init__(self, evaluated: Callable[[Any, Any], Any | None], spec: Spec) -> None:
        self._evaluated = evaluated
        self._spec = spec
        self._tree = spec.tree

    def objection(self, node: Any, context: Any) -> str | None:
        """Return which element of a false formula is outside the set; None if it is about none."""
        if not self._tree.is_application(node):
            return None
        opcode = self._tree.opcode(node, context)
        if opcode not in (Opcode.IN, Opcode.IS_SUBSET):
            return None
        element, members = node.getArgs()
        java = self._evaluated(element, context)
        if java is None:
            return None
        value = self._spec.converter.to_python(java)
        text = self._text(element)
        if opcode == Opcode.IS_SUBSET:
            return self._of_members(value, members, context)
        found = self._outside(text, value, members, context)
        # The text and the value of the element itself are shown anyway.
        return None if found is None or found.startswith(f"{text} = ") else found

    def _outside(self, path: str, value: Value, members: Any, context: Any) -> str | None:
        """Return the innermost part of a value that is outside its set."""
        members, context = self._followed(members, context)
        opcode = self._tree.opcode(members, context) if self._tree.is_application(members) else 0
        if opcode == Opcode.SET_OF_FUNCTIONS and (mapping := _mapping(value)) is not None:
            domain, results = members.getArgs()
            if any(not self._has(domain, one, context) for one in mapping):
                return f"the domain of {path} is {fmt(frozenset(mapping), _ROOM)}"
            parts = ((f"{path}[{fmt(one)}]", mapping[one], results) for one in mapping)
            return self._first(parts, context)
        if opcode == Opcode.SET_OF_RECORDS and isinstance(value, Function):
            fields = {str(one.getArgs()[0].getRep()): one.getArgs()[1] for one in members.getArgs()}
            if fields.keys() != {*map(str, value)}:
                return f"the fields of {path} are {', '.join(map(str, value))}"
            return self._first(((f"{path}.{n}", value[n], s) for n, s in fields.items()), context)
        if opcode == Opcode.SUBSETS and isinstance(value, frozenset):
            return self._of_members(value, members.getArgs()[0], context)
        if self._has(members, value, context):
            return None
        return f"{path} = {fmt(value, _ROOM)} is not in {self._text(members)}"

    def _first(self, parts: Iterator[tuple[str, Value, Any]], context: Any) -> str | None:
        found = (self._outside(path, value, members, context) for path, value, members in parts)
        return next((one for one in found if one is not None), None)

    def _of_members(self, value: Value, members: Any, context: Any) -> str | None:
        assert isinstance(value, frozenset), "only sets have subsets"
        others = [one for one in sorted_values(value) if not self._has(members, one, context)]
        if not others:
            return None
        are = "is" if len(others) == 1 else "are"
        return f"{', '.join(map(fmt, others))} {are} not in {self._text(members)}"

    def _has(self, members: Any, value: Value, context: Any) -> bool:
        java = self._evaluated(members, context)
        return java is None or bool(java.member(self._spec.converter.to_java(value)))

    def _followed(self, node: Any, context: Any) -> tuple[Any, Any]:
        """Return the formula that a name without parameters stands for."""
        node = self._tree.strip(node)
        while self._tree.is_application(node):
            definition = self._tree.definition(node, context)
            if definition is None and type(node.getOperator()) is self._tree.definition_class:
                # TLC holds the value of a constant, not its definition.
                definition = node.getOperator()
            if definition is None or definition.getParams() or definition.getBody() is None:
                break
            context = self._tree.tool.getOpContext(definition, node.getArgs(), context, False)
            node = self._tree.strip(definition.getBody())
        return node, context

    def _text(self, node: Any) -> str:
        return " ".join(self._spec.sources.text(self._spec.sources.place(node)).split())


def _mapping(value: Value) -> Mapping[Value, Value] | None:
    if isinstance(value, tuple):
        return dict(enumerate(value, start=1))
    return value if isinstance(value, Function) else None
