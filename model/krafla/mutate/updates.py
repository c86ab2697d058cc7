"""Mistakes in the effect of a step: updates, unchanged variables, numbers and names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.mutate.calls import nodes
from krafla.mutate.candidates import is_number, target_name
from krafla.mutate.guards import is_ordered_name
from krafla.oracle.syntax import Apply, At, Call, Name, Number, String

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.mutate.candidates import Candidate, Spot
    from krafla.oracle.syntax import Node

__all__ = ["UPDATES", "strings_of_types"]

# What cannot be a number, whatever the name it is kept under.
_NO_NUMBERS = frozenset(
    {"$FcnConstructor", "$RcdConstructor", "$Tuple", "$SetEnumerate", "$SubsetOf", "$SetOfAll",
     "$Except", "$IfThenElse", "$Case", "$SetOfFcns", "TRUE", "FALSE", "\\union", "\\"}
)  # fmt: skip
_SETS = {"\\union": "\\cup", "\\intersect": "\\cap", "\\": "\\"}


def drop_update(spot: Spot) -> Iterator[Candidate]:
    """Let a variable, or one entry of those an EXCEPT sets, keep its value."""
    for node in spot.nodes():
        if node.operator in ("=", "\\in") and _primed(node.arguments[0]) is not None:
            name, value = _primed(node.arguments[0]), node.arguments[1]
            if value is not None and spot.text(value) != name:
                yield spot.replace(
                    node, f"does not set {name}: {spot.text(node)}", f"{name}' = {name}"
                )
        elif node.operator == "$Except" and (
            len(node.arguments) > 2 or not _is_whole_update(spot, node)
        ):
            yield from _kept_entries(spot, node)


def _kept_entries(spot: Spot, node: Apply) -> Iterator[Candidate]:
    for pair in node.arguments[1:]:
        value = pair.arguments[1] if isinstance(pair, Apply) else None
        if value is not None and not isinstance(value, At):
            entry = _entry(spot, node, pair)
            yield spot.replace(value, f"does not set {entry} to {spot.text(value)}", "@")


def _is_whole_update(spot: Spot, node: Apply) -> bool:
    """Return whether a variable is set to this EXCEPT alone, and the EXCEPT is of that variable."""
    for outer in spot.nodes():
        if outer.operator == "=" and any(one is node for one in outer.arguments):
            base = node.arguments[0]
            return isinstance(base, Name) and _primed(outer.arguments[0]) == base.symbol.name
    return False


def _primed(node: Node | None) -> str | None:
    if isinstance(node, Apply) and node.operator == "'":
        (inner,) = node.arguments
        if isinstance(inner, Name) and inner.symbol.kind == "variable":
            return inner.symbol.name
    return None


def reset_unchanged(spot: Spot) -> Iterator[Candidate]:
    """Set a variable that should stay as it is to the value it had in the beginning."""
    for node in spot.nodes():
        if node.operator != "UNCHANGED":
            continue
        (argument,) = node.arguments
        if argument is None:
            continue
        items = [(spot.text(item), _variables(item)) for item in _listed(argument)]
        for position, (_, variables) in enumerate(items):
            for name in variables:
                found = spot.initial.get(name)
                if found is None:
                    continue
                rest = [text for text, _ in items[:position]]
                rest += [other for other in variables if other != name]
                rest += [text for text, _ in items[position + 1 :]]
                kept = f"UNCHANGED <<{', '.join(rest)}>> /\\ " if rest else ""
                yield spot.replace(
                    node, f"resets {name} to {found.text}", f"({kept}{name}' = {found.text})"
                )


def _listed(node: Node) -> list[Node]:
    if isinstance(node, Apply) and node.operator == "$Tuple":
        return [one for one in node.arguments if one is not None]
    return [node]


def _variables(node: Node) -> list[str]:
    """Return the variables in a tuple, through the definitions of tuples."""
    if isinstance(node, Name):
        return [node.symbol.name]
    if isinstance(node, Call):
        return _variables(node.definition.body)
    if isinstance(node, Apply) and node.operator == "$Tuple":
        return [name for one in node.arguments if one is not None for name in _variables(one)]
    return []


def off_by_one(spot: Spot) -> Iterator[Candidate]:
    """Be wrong by one: where something is counted, and in epochs and offsets."""
    for node in spot.nodes():
        if node.operator in ("+", "-"):
            yield from _arithmetic(spot, node)
        elif node.operator == "$RcdConstructor":
            for pair in node.arguments:
                if isinstance(pair, Apply) and isinstance(pair.arguments[0], String):
                    yield from _shifted(spot, pair.arguments[0].value, pair.arguments[1])
        elif node.operator == "$Except":
            for pair in node.arguments[1:]:
                if isinstance(pair, Apply):
                    yield from _shifted(spot, _kept_under(node, pair), pair.arguments[1])


def _arithmetic(spot: Spot, node: Apply) -> Iterator[Candidate]:
    left, right = node.arguments
    if left is None or right is None:
        return
    text = spot.text(node)
    if is_number(right, 1):
        yield spot.replace(node, f"is one less: {text}" if node.operator == "+" else
                           f"is one more: {text}", "(", left, ")")  # fmt: skip
        yield spot.replace(right, f"counts two for one: {text}", "2")
    elif isinstance(right, Number):
        yield spot.replace(right, f"is off by one: {text}", str(right.value + 1))
    else:
        yield spot.replace(node, f"is one more: {text}", "(", node, " + 1)")


def _shifted(spot: Spot, name: str, value: Node | None) -> Iterator[Candidate]:
    """Yield the off-by-one mistakes in a value kept under the name of an epoch or an offset."""
    if value is None or not is_ordered_name(name) or isinstance(value, At | String):
        return
    if isinstance(value, Apply) and (value.operator in _NO_NUMBERS or value.operator in "+-"):
        return
    text = spot.text(value)
    yield spot.replace(value, f"sets {name} one too high: {text}", "(", value, " + 1)")
    yield spot.replace(value, f"sets {name} one too low: {text}", "(", value, " - 1)")


def _kept_under(node: Apply, pair: Apply) -> str:
    """Return the name of what an EXCEPT sets: the last field, or the function itself."""
    (path,) = (one for one in pair.arguments[:1] if isinstance(one, Apply))
    last = path.arguments[-1]
    if isinstance(last, String):
        return last.value
    base = node.arguments[0]
    return "" if base is None else target_name(base)


def _entry(spot: Spot, node: Apply, pair: Node | None) -> str:
    if not isinstance(pair, Apply):
        return "an entry"
    name = _kept_under(node, pair)
    base = node.arguments[0]
    return f"{name} of {spot.text(base)}" if base is not None and name else "an entry"


def sibling_string(spot: Spot) -> Iterator[Candidate]:
    """Take another state, error or role of the same kind."""
    types = strings_of_types(spot.definition.body)
    module = spot.definition.place.module
    for node in nodes(spot.definition.body):
        if not isinstance(node, String) or node.place.module != module:
            continue
        sibling = spot.siblings.get(node.value)
        if sibling is None or id(node) in types:
            continue
        if spot.source.at(node.place) == f'"{node.value}"':
            yield spot.replace(node, f'says "{sibling}" for "{node.value}"', f'"{sibling}"')


def strings_of_types(body: Node) -> set[int]:
    """Return the ids of the strings that name the type of a message: these are not confused."""
    found: set[int] = set()
    for node in nodes(body):
        if not isinstance(node, Apply):
            continue
        parts = [one for one in node.arguments if one is not None]
        names = {target_name(one) for one in parts}
        names |= {one.value for one in parts[:1] if isinstance(one, String)}
        if "type" in names and node.operator in ("$Pair", "=", "/=", "\\in", "\\notin"):
            found.update(id(inner) for part in parts for inner in nodes(part))
    return found


def flip_boolean(spot: Spot) -> Iterator[Candidate]:
    """Swap TRUE and FALSE in an assignment."""
    for node in spot.nodes():
        if node.operator != "$Pair":
            continue
        value = node.arguments[1]
        if isinstance(value, Apply) and value.operator in ("TRUE", "FALSE"):
            new = "FALSE" if value.operator == "TRUE" else "TRUE"
            yield spot.replace(value, f"says {new} in {spot.text(node)}", new)


def drop_operand(spot: Spot) -> Iterator[Candidate]:
    """Drop what is added to a set, removed from it, or intersected with it."""
    for node in spot.nodes():
        if node.operator in _SETS and not _sets_its_own(spot, node):
            left = node.arguments[0]
            assert left is not None, "an operator between two sets has both"
            if isinstance(left, At):
                # That is an entry which keeps its value.
                continue
            yield spot.replace(node, f"is only the first set of {spot.text(node)}", "(", left, ")")


def _sets_its_own(spot: Spot, node: Apply) -> bool:
    r"""Return whether this is ``x' = x \cup S``, which without S is a dropped update."""
    left = node.arguments[0]
    return isinstance(left, Name) and any(
        outer.operator == "="
        and any(one is node for one in outer.arguments)
        and _primed(outer.arguments[0]) == left.symbol.name
        for outer in spot.nodes()
    )


UPDATES = {
    "drop-update": drop_update,
    "reset-unchanged": reset_unchanged,
    "off-by-one": off_by_one,
    "sibling-string": sibling_string,
    "flip-boolean": flip_boolean,
    "drop-operand": drop_operand,
}
