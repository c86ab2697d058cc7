"""The definitions that an operator calls, and whether it has primes."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from krafla.oracle.syntax import Apply, Call, Definition, Instance, Name, Node, Operator, children

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from krafla.oracle.syntax import Module

__all__ = ["Calls", "Key", "has_primes", "key_of", "nodes"]

# A definition, whichever parse of its module it comes from: module, name, line, column.
Key: TypeAlias = tuple[str, str, int, int]


def key_of(definition: Definition) -> Key:
    """Return the key of a definition in the spec tree."""
    place = definition.place
    return place.module, definition.name, place.line, place.column


def nodes(node: Node) -> Iterator[Node]:
    """Yield a node and all nodes inside it, in the order of the text."""
    yield node
    for child in children(node):
        yield from nodes(child)


def has_primes(node: Node, _known: dict[int, bool] | None = None) -> bool:
    """Return whether an expression refers to the next state, itself or through its calls."""
    known: dict[int, bool] = {} if _known is None else _known
    for inner in nodes(node):
        if isinstance(inner, Apply) and inner.operator in ("'", "UNCHANGED", "ENABLED"):
            return True
        if isinstance(inner, Call):
            definition = inner.definition
            if id(definition) not in known:
                known[id(definition)] = False
                known[id(definition)] = has_primes(definition.body, known)
            if known[id(definition)]:
                return True
    return False


class Calls:
    """The calls between definitions of one module as a cfg completes it.

    ``replaced`` has the replacements in the cfg of operators and constants (``X <- Y``).
    """

    def __init__(self, module: Module, replaced: Mapping[str, str]) -> None:
        self._module = module
        self._replaced = {
            name: module.operators[other]
            for name, other in replaced.items()
            if other in module.operators
        }
        self._direct: dict[Key, tuple[Definition, ...]] = {}

    def named(self, names: Iterable[str]) -> list[Definition]:
        """Return the definitions that the named operators lead to, themselves included."""
        operators = self._module.operators
        return self._closure(
            [self._replaced.get(name, operators[name]) for name in names if name in operators]
        )

    def inside(self, *expressions: Node, cut: frozenset[str] = frozenset()) -> list[Definition]:
        """Return the definitions that expressions call, directly or not.

        Definitions whose name is in ``cut``, and their replacements in the cfg, are neither listed
        nor followed.
        """
        found = [one for expression in expressions for one in self._used(expression, cut)]
        return self._closure(found, cut)

    def replacements(self) -> list[Definition]:
        """Return the replacements in the cfg, and all definitions that they call."""
        return self._closure(list(self._replaced.values()))

    def _closure(
        self, waiting: list[Definition], cut: frozenset[str] = frozenset()
    ) -> list[Definition]:
        found: dict[Key, Definition] = {}
        while waiting:
            definition = waiting.pop()
            if definition.name in cut or key_of(definition) in found:
                continue
            found[key_of(definition)] = definition
            key = key_of(definition)
            if key not in self._direct:
                self._direct[key] = tuple(self._used(definition.body, frozenset()))
            waiting.extend(self._direct[key])
        return sorted(found.values(), key=key_of)

    def _used(self, expression: Node, cut: frozenset[str]) -> Iterator[Definition]:
        """Yield the definitions that an expression calls, or their replacements in the cfg."""
        called = list(_called(expression))
        operators = self._module.operators
        given = {inner.name for inner in nodes(expression) if isinstance(inner, Operator)}
        called += [operators[name] for name in sorted(given) if name in operators]
        yield from (one for one in called if not self._is_replaced(one))
        names = ({one.name for one in called} | _names(expression)) - cut
        yield from (self._replaced[name] for name in sorted(names) if name in self._replaced)

    def _is_replaced(self, definition: Definition) -> bool:
        """Return whether the cfg replaces this very definition."""
        found = self._module.operators.get(definition.name)
        return (
            definition.name in self._replaced
            and found is not None
            and key_of(found) == key_of(definition)
        )


def _called(node: Node) -> Iterator[Definition]:
    for inner in nodes(node):
        if isinstance(inner, Call):
            yield inner.definition


def _names(node: Node) -> set[str]:
    """Return the names of constants that an expression uses."""
    found = set()
    for inner in nodes(node):
        if isinstance(inner, Name) and inner.symbol.kind == "constant":
            found.add(inner.symbol.name)
        elif isinstance(inner, Instance):
            found.update(symbol.name for symbol, _ in inner.substitutions)
    return found
