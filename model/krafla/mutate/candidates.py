"""A place where a mistake can be put, as the operators of mutation hand it over."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

from krafla.mutate.calls import has_primes, nodes
from krafla.mutate.edits import Edit, Kept, one_line, without_comments
from krafla.oracle.syntax import Apply, At, Call, Let, Name, Number, String, Symbol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from krafla.mutate.edits import Part, Source
    from krafla.oracle.sources import Place
    from krafla.oracle.syntax import Definition, Node

__all__ = [
    "Candidate",
    "Initial",
    "MutationOperator",
    "Spot",
    "is_number",
    "is_of_type",
    "items_of",
    "target_name",
]

# How SANY's names for operators are written.
_SPELLINGS = {
    "\\land": ("/\\", "\\land"),
    "\\lor": ("\\/", "\\lor"),
    "$ConjList": ("/\\", "\\land"),
    "$DisjList": ("\\/", "\\lor"),
    "\\leq": ("=<", "<=", "\\leq"),
    "\\geq": (">=", "\\geq"),
    "/=": ("#", "/="),
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """One mistake: an edit, the expression it concerns, and a word for the change."""

    edit: Edit
    place: Place
    what: str


@dataclass(frozen=True, slots=True)
class Initial:
    """The value that Init gives a variable, and the text that says it in other modules as well."""

    variable: Symbol
    value: Node
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Spot:
    """A definition to be mutated, with the surroundings that operators may ask about.

    ``initial`` has the values of Init that can be written here. ``siblings`` maps a string to the
    one that replaces it. ``is_initial``: it concerns only where behaviours begin.
    """

    definition: Definition
    source: Source
    initial: Mapping[str, Initial]
    siblings: Mapping[str, str]
    is_initial: bool
    primed: Callable[[Node], bool] = has_primes

    def nodes(self) -> Iterator[Apply]:
        """Yield the applications in the definition that stand in its own text."""
        module = self.definition.place.module
        for node in nodes(self.definition.body):
            if isinstance(node, Apply) and node.place.module == module:
                yield node

    def text(self, node: Node) -> str:
        """Return an expression's text on one line."""
        if isinstance(node, At):
            return "@"
        return one_line(self.source.at(node.place))

    def replace(self, node: Node, what: str, *parts: str | Node) -> Candidate:
        """Return the mistake that an expression is replaced, but for an ``@``."""
        span = self.source.span(node.place)
        written = tuple(self._written(part) for part in parts)
        return Candidate(Edit(span.start, span.end, written), node.place, what)

    def _written(self, part: str | Node) -> Part:
        if isinstance(part, str):
            return part
        # SANY gives an @ the place of the whole entry, so that its text is not found there.
        return "@" if isinstance(part, At) else self.source.span(part.place)

    def retoken(self, node: Apply, new: str, what: str) -> Candidate | None:
        """Return the mistake that an operator between expressions is another one.

        ``None`` where its sign cannot be told from the text.
        """
        operands = list(items_of(node))
        parts: list[Part] = []
        start = end = -1
        for before, after in pairwise(operands):
            gap = Kept(self.source.end(before.place), self.source.start(after.place))
            sign = self._sign(gap, _SPELLINGS.get(node.operator, (node.operator,)))
            if sign is None:
                return None
            parts += [new] if start < 0 else [Kept(end, sign.start), new]
            start, end = (sign.start if start < 0 else start), sign.end
        if node.operator.startswith("$"):
            # The first item of a list has its bullet before it.
            head = self._bullet(node, operands[0])
            if head is None:
                return None
            parts, start = [new, Kept(head.end, start), *parts], head.start
        return Candidate(Edit(start, end, tuple(parts)), node.place, what)

    def _sign(self, gap: Kept, spellings: Iterable[str]) -> Kept | None:
        text = without_comments(self.source.text[gap.start : gap.end])
        found = [(text.find(one), one) for one in spellings if text.count(one) == 1]
        if len(found) != 1:
            return None
        offset, spelling = found[0]
        return Kept(gap.start + offset, gap.start + offset + len(spelling))

    def _bullet(self, node: Apply, first: Node) -> Kept | None:
        gap = Kept(self.source.start(node.place), self.source.start(first.place))
        return self._sign(gap, _SPELLINGS[node.operator])


class MutationOperator(Protocol):
    """A kind of mistake: yields each place of a definition where it can be made."""

    def __call__(self, spot: Spot) -> Iterator[Candidate]:
        """Yield the mistakes in a definition."""
        ...


def items_of(node: Apply) -> Iterator[Node]:
    """Yield the arguments of an operator; of a chain of "and" or "or", those of the whole chain."""
    for argument in node.arguments:
        if (
            isinstance(argument, Apply)
            and argument.operator == node.operator
            and node.operator in ("\\land", "\\lor")
        ):
            yield from items_of(argument)
        elif argument is not None:
            yield argument


def target_name(node: Node) -> str:
    """Return the name under which a value is kept: of a variable, a field or an operator."""
    if isinstance(node, Name):
        return node.symbol.name
    if isinstance(node, Call):
        return node.definition.name
    if isinstance(node, Let):
        return target_name(node.body)
    if isinstance(node, Apply) and node.operator == "$RcdSelect":
        field = node.arguments[1]
        return field.value if isinstance(field, String) else ""
    if isinstance(node, Apply) and node.operator in ("$FcnApply", "'"):
        return target_name(node.arguments[0]) if node.arguments[0] is not None else ""
    return ""


def is_number(node: Node | None, value: int) -> bool:
    """Return whether an expression is this numeral."""
    return isinstance(node, Number) and node.value == value


def is_of_type(node: Node) -> bool:
    """Return whether an expression only tests the type of a message."""
    return (
        isinstance(node, Apply)
        and node.operator in ("=", "/=", "\\in", "\\notin")
        and node.arguments[0] is not None
        and target_name(node.arguments[0]) == "type"
    )
