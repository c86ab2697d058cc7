"""How often each conjunct of an action was evaluated, and how often it held.

TLC counts expressions, and prints a count at the outermost place at which all counts inside agree.
A conjunct is evaluated as often as the first thing in it that has a count. It held as often as
the conjunct after it was evaluated: TLC takes conjuncts in their order, and stops at the first
that is false. Where this does not follow, the number is unknown and nothing is claimed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from krafla.oracle.syntax import Apply, Call, Instance, Let, Name, children

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krafla.oracle.sources import Place
    from krafla.oracle.syntax import Definition, Module, Node
    from krafla.tlc.output import Count
    from krafla.tlc.run import ActionCoverage

__all__ = ["Conjunct", "conjuncts_of"]

_AND = frozenset({"$ConjList", "\\land"})
_OR = frozenset({"$DisjList", "\\lor"})
_PRIMED = frozenset({"'", "UNCHANGED"})
# Arguments that are not always evaluated with the whole: all but the first of these operators.
_LAZY = _AND | _OR | {"=>", "$IfThenElse", "$Case"}
_NESTED_MAX = 40
_Span: TypeAlias = tuple[str, int, int, int, int]
_Spans: TypeAlias = tuple[_Span, ...]


@dataclass(frozen=True, slots=True)
class Conjunct:
    """One conjunct: how deep it is nested, where it stands, its text, and its counts.

    ``kind`` is ``guard``, ``effect`` (it fixes a primed variable) or ``choice`` (what follows,
    one deeper, is tried for each value or branch). ``evaluated`` and ``held`` are ``None`` where
    the counts do not tell.
    """

    depth: int
    kind: str
    place: Place
    text: str
    evaluated: int | None
    held: int | None = None

    @property
    def is_never_reached(self) -> bool:
        """Return whether TLC never evaluated it."""
        return self.evaluated == 0

    @property
    def is_never_false(self) -> bool:
        """Return whether it is a guard that was never false."""
        return self.kind == "guard" and bool(self.evaluated) and self.evaluated == self.held


def conjuncts_of(module: Module, action: ActionCoverage) -> tuple[Conjunct, ...]:
    """Return the conjuncts of an action in their order; none if the module has no such operator."""
    definition = module.operators.get(action.name)
    if definition is None:
        return ()
    return tuple(_Walk(module, definition, action.counts).rows(action.taken))


class _Walk:
    def __init__(
        self, module: Module, definition: Definition, counts: Sequence[Sequence[Count]]
    ) -> None:
        self._text = module.sources.text
        self._definition = definition
        self._counts = counts
        self._primed: dict[int, bool] = {}
        self._uses: Counter[int] = Counter()
        self._count_uses(definition.body, 0)

    def rows(self, taken: int) -> Iterator[Conjunct]:
        """Yield the conjuncts of the action's body, which was satisfied ``taken`` times."""
        yield from self._rows(self._definition.body, 0, taken, ())

    def _rows(self, node: Node, depth: int, after: int | None, above: _Spans) -> Iterator[Conjunct]:
        """Yield the rows of a part; ``after`` is how often what follows it was evaluated."""
        node = _inside(node)
        if isinstance(node, Apply) and node.operator in _AND:
            yield from self._conjunction(node, depth, after, (*above, _span(node)))
        elif depth < _NESTED_MAX and self._is_primed(node) and self._branches(node):
            yield from self._choice(node, depth, after, (*above, _span(node)))
        elif self._is_primed(node):
            yield self._row(node, depth, "effect", None, above)
        else:
            held = None if self._multiplies(node) else after
            yield self._row(node, depth, "guard", held, above)

    def _conjunction(
        self, node: Apply, depth: int, after: int | None, above: _Spans
    ) -> Iterator[Conjunct]:
        parts = [part for part in node.arguments if part is not None]
        following = [after]
        for part in reversed(parts[1:]):
            count = self._evaluated(part, above)
            passes = self._is_primed(part) and not self._multiplies(part)
            # A conjunct that fixes a variable is true whenever it is reached.
            following.insert(0, following[0] if count is None and passes else count)
        is_dead = False
        for part, count in zip(parts, following, strict=True):
            for row in self._rows(part, depth, count, above):
                found = replace(row, evaluated=0) if is_dead and row.evaluated is None else row
                stops = found.is_never_reached or (found.kind == "guard" and found.held == 0)
                is_dead = is_dead or (found.depth == depth and stops)
                yield found

    def _choice(
        self, node: Node, depth: int, after: int | None, above: _Spans
    ) -> Iterator[Conjunct]:
        branches = self._branches(node)
        head = self._text(node.place).partition("\n")[0].strip()
        body = branches[0]
        if len(branches) == 1 and body.place.line == node.place.line:
            head = head[: max(0, body.place.column - node.place.column)].strip() or head
        if isinstance(node, Apply) and node.operator in _OR:
            head = f"one of {len(branches)}"
        yield Conjunct(depth, "choice", node.place, head, self._evaluated(node, above))
        for number, branch in enumerate(branches, start=1):
            inner = _inside(branch)
            if len(branches) > 1:
                words = ("THEN", "ELSE") if _operator(node) == "$IfThenElse" else ()
                word = words[number - 1] if words else f"alternative {number}"
                count = self._evaluated(inner, above)
                yield Conjunct(depth + 1, "choice", branch.place, word, count)
            # It is not known which of several branches led to the next conjunct.
            several = len(branches) > 1
            yield from self._rows(inner, depth + 1 + several, None if several else after, above)

    def _branches(self, node: Node) -> list[Node]:
        """Return the parts of a choice among steps; none if the node is no such choice."""
        if isinstance(node, Call):
            body = _inside(node.definition.body)
            whole = isinstance(body, Apply) and (body.operator in _AND or self._branches(body))
            return [body] if whole else []
        if not isinstance(node, Apply):
            return []
        arguments = [one for one in node.arguments if one is not None]
        if node.operator in _OR or node.operator == "$BoundedExists":
            return arguments
        if node.operator == "$IfThenElse":
            return arguments[1:]
        return []

    def _row(self, node: Node, depth: int, kind: str, held: int | None, above: _Spans) -> Conjunct:
        evaluated = self._evaluated(node, above)
        if held is not None and evaluated is not None and held > evaluated:
            held = None
        return Conjunct(depth, kind, node.place, self._text(node.place), evaluated, held)

    def _evaluated(self, node: Node, above: _Spans) -> int | None:
        way = self._way(_inside(node), 0)
        if way is None:
            return None
        return sum(_number(counts, (*above, *map(_span, way))) for counts in self._counts)

    def _way(self, node: Node, nested: int) -> list[Node] | None:
        """Return the parts from a node down to the first in it that TLC counts."""
        node = _inside(node)
        # A name that is a whole conjunct is looked up and not counted.
        if nested > _NESTED_MAX or (nested == 0 and isinstance(node, Name)):
            return None
        if isinstance(node, Name):
            return [node]
        if isinstance(node, Call):
            if self._uses[id(node.definition)] > 1:
                # Its counts are those of all its uses together.
                return None
            below = self._way(node.definition.body, nested + 1)
            return None if below is None else [node, *below]
        if not isinstance(node, Apply):
            return None
        for part in _first(node):
            below = self._way(part, nested + 1)
            if below is not None:
                return [node, *below]
        return None

    def _is_primed(self, node: Node) -> bool:
        known = self._primed.get(id(node))
        if known is None:
            self._primed[id(node)] = False
            parts = [*children(node)]
            if isinstance(node, Call):
                parts.append(node.definition.body)
            known = _operator(node) in _PRIMED or any(map(self._is_primed, parts))
            self._primed[id(node)] = known
        return known

    def _multiplies(self, node: Node) -> bool:
        """Return whether TLC continues more than once from a guard that holds."""
        node = _inside(node)
        if isinstance(node, Call):
            return self._multiplies(node.definition.body)
        operator = _operator(node)
        if operator in _OR or operator == "$BoundedExists":
            return True
        if isinstance(node, Apply) and operator == "\\in":
            return _operator(_inside(next(children(node)))) == "'"
        parts = children(node) if operator in _AND or operator == "$IfThenElse" else ()
        return any(map(self._multiplies, parts))

    def _count_uses(self, node: Node, nested: int) -> None:
        if nested > _NESTED_MAX:
            return
        if isinstance(node, Call):
            self._uses[id(node.definition)] += 1
            if self._uses[id(node.definition)] <= 2:
                self._count_uses(node.definition.body, nested + 1)
        for part in children(node):
            self._count_uses(part, nested)


def _inside(node: Node) -> Node:
    """Return the expression inside a LET or an instance."""
    while isinstance(node, Let | Instance):
        node = node.body
    return node


def _operator(node: Node) -> str:
    return node.operator if isinstance(node, Apply) else ""


def _first(node: Apply) -> list[Node]:
    """Return the parts that are evaluated whenever the node is, in their order."""
    parts = [one for one in node.arguments if one is not None]
    if node.bounds:
        return [one.domain for one in node.bounds[:1] if one.domain is not None]
    if node.operator in {"=", "\\in"} and _operator(parts[0]) == "'":
        return parts[1:]
    if node.operator == "$Case":
        return parts[:1]
    if node.operator in _PRIMED:
        return []
    return parts[:1] if node.operator in _LAZY else parts


def _span(node: Node) -> _Span:
    place = node.place
    return place.module, place.line, place.column, place.end_line, place.end_column


def _number(counts: Sequence[Count], way: _Spans) -> int:
    """Return the sum of the innermost counts on the way down to a node.

    A count covers everything below it, unless counts of a part are printed.
    """
    total = 0
    for index, count in enumerate(counts):
        if count.span in way:
            following = counts[index + 1 : index + 2]
            is_innermost = not following or following[0].depth <= count.depth
            if is_innermost or count.span == way[-1]:
                total += count.number
    return total
