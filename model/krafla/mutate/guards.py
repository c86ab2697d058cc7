"""Mistakes in what must be true for a step: guards, branches, comparisons, quorums."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from krafla.mutate.calls import nodes
from krafla.mutate.candidates import Candidate, is_of_type, items_of, target_name
from krafla.mutate.edits import Edit
from krafla.oracle.syntax import Apply, At

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.mutate.candidates import Spot
    from krafla.oracle.syntax import Node

__all__ = ["GUARDS", "is_ordered_name"]

_CONJUNCTIONS = ("\\land", "$ConjList")
_JUNCTIONS = {"\\land": "\\/", "$ConjList": "\\/", "\\lor": "/\\", "$DisjList": "/\\"}
_STRICTER = {"\\leq": "<", "\\geq": ">", "<": "<=", ">": ">="}
# What epochs, offsets and their like are called: the last or any word of the name.
_ORDERED = frozenset(
    {
        "epoch",
        "epochs",
        "offset",
        "offsets",
        "end",
        "start",
        "watermark",
        "index",
        "version",
        "term",
    }
)
_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+")


def is_ordered_name(name: str) -> bool:
    """Return whether the words in a name are those of an epoch, an offset or the like."""
    words = [word.lower() for word in _WORD.findall(name)]
    return any(word in _ORDERED for word in words) and not {"is", "has", "can"} & set(words[:1])


def drop_guard(spot: Spot) -> Iterator[Candidate]:
    """Forget a conjunct without primes."""
    for item in _guards(spot):
        if not (isinstance(item, Apply) and item.operator == "TRUE"):
            yield spot.replace(item, f"forgets that {spot.text(item)}", "TRUE")


def negate_guard(spot: Spot) -> Iterator[Candidate]:
    """Ask for the opposite of a conjunct without primes."""
    for item in _guards(spot):
        if isinstance(item, Apply) and item.operator == "\\lnot":
            (inner,) = item.arguments
            assert inner is not None, "not without anything to negate"
            yield spot.replace(item, f"asks for the opposite of {spot.text(item)}", "(", inner, ")")
        else:
            yield spot.replace(item, f"asks for the opposite of {spot.text(item)}", "~(", item, ")")


def _guards(spot: Spot) -> Iterator[Node]:
    """Yield the conjuncts without primes, but for those that only say which message it is."""
    if spot.is_initial:
        return
    module = spot.definition.place.module
    for node in spot.nodes():
        if node.operator in _CONJUNCTIONS and not _is_chained(node, spot):
            yield from (
                item
                for item in items_of(node)
                if item.place.module == module
                and not isinstance(item, At)
                and not spot.primed(item)
                and not is_of_type(item)
            )


def swap_branches(spot: Spot) -> Iterator[Candidate]:
    """Exchange THEN and ELSE, or the results of two neighbours in a CASE."""
    for node in spot.nodes():
        if node.operator == "$IfThenElse":
            condition = node.arguments[0]
            assert condition is not None, "IF has a condition"
            if isinstance(condition, At):
                continue
            what = f"exchanges THEN and ELSE of IF {spot.text(condition)}"
            if isinstance(condition, Apply) and condition.operator == "\\lnot":
                (inner,) = condition.arguments
                assert inner is not None, "not without anything to negate"
                yield spot.replace(condition, what, "(", inner, ")")
            else:
                yield spot.replace(condition, what, "~(", condition, ")")
        elif node.operator == "$Case":
            yield from _swapped_arms(spot, node)


def _swapped_arms(spot: Spot, node: Apply) -> Iterator[Candidate]:
    results = [arm.arguments[1] for arm in node.arguments if isinstance(arm, Apply)]
    for one, other in pairwise(results):
        if one is None or other is None or isinstance(one, At) or isinstance(other, At):
            continue
        if spot.text(one) == spot.text(other):
            continue
        first, second = spot.source.span(one.place), spot.source.span(other.place)
        between = spot.source.text[first.end : second.start]
        edit = Edit(first.start, second.end, (second, between, first))
        yield Candidate(
            edit, node.place, f"exchanges the results {spot.text(one)} and {spot.text(other)}"
        )


def exchange_junction(spot: Spot) -> Iterator[Candidate]:
    """Exchange "and" and "or" between expressions without primes."""
    for node in spot.nodes():
        new = _JUNCTIONS.get(node.operator)
        if new is None or spot.is_initial or spot.primed(node) or len(list(items_of(node))) < 2:
            continue
        if _is_chained(node, spot):
            continue
        word = "or" if new == "\\/" else "and"
        found = spot.retoken(node, new, f'has "{word}" in {spot.text(node)}')
        if found is not None:
            yield found


def _is_chained(node: Apply, spot: Spot) -> bool:
    """Return whether a junction is part of a longer one, which is treated as a whole."""
    return node.operator in ("\\land", "\\lor") and any(
        outer.operator == node.operator and any(one is node for one in outer.arguments)
        for outer in spot.nodes()
    )


def loosen_comparison(spot: Spot) -> Iterator[Candidate]:
    """Get equality wrong in a comparison; let an epoch that must be equal be greater or less."""
    for node in spot.nodes():
        if node.operator in _STRICTER and not _counts(node):
            found = spot.retoken(
                node, _STRICTER[node.operator], f"is off by one in {spot.text(node)}"
            )
            if found is not None:
                yield found
        elif node.operator == "=" and not spot.primed(node) and not spot.is_initial:
            names = [target_name(one) for one in node.arguments if one is not None]
            if len(names) == 2 and all(map(is_ordered_name, names)):
                for new in (">=", "<="):
                    found = spot.retoken(node, new, f"takes {new} for = in {spot.text(node)}")
                    if found is not None:
                        yield found


def weaken_quorum(spot: Spot) -> Iterator[Candidate]:
    """Let one member fewer suffice, or half of them where more than half are needed."""
    for node in spot.nodes():
        if node.operator not in _STRICTER or not _counts(node):
            continue
        if node.operator in (">", "<"):
            found = spot.retoken(
                node,
                _STRICTER[node.operator],
                f"takes half for more than half in {spot.text(node)}",
            )
            if found is not None:
                yield found
        greater = node.arguments[0 if node.operator in (">", "\\geq") else 1]
        assert greater is not None, "a comparison has two sides"
        for inner in nodes(greater):
            if isinstance(inner, Apply) and inner.operator == "Cardinality":
                what = f"lets one less be enough in {spot.text(node)}"
                yield spot.replace(inner, what, "(", inner, " + 1)")
                break


def swap_quantifier(spot: Spot) -> Iterator[Candidate]:
    """Ask of some what must be so of all, and the other way round."""
    for node in spot.nodes():
        if node.operator not in ("$BoundedForall", "$BoundedExists"):
            continue
        if spot.is_initial or spot.primed(node):
            continue
        old, new = ("\\A", "\\E") if node.operator == "$BoundedForall" else ("\\E", "\\A")
        start = spot.source.start(node.place)
        if spot.source.text[start : start + 2] == old:
            word = "some" if new == "\\E" else "all"
            edit = Edit(start, start + 2, (new,))
            yield Candidate(edit, node.place, f"asks it of {word}: {spot.text(node)}")


def _counts(node: Apply) -> bool:
    return any(isinstance(one, Apply) and one.operator == "Cardinality" for one in nodes(node))


GUARDS = {
    "drop-guard": drop_guard,
    "negate-guard": negate_guard,
    "swap-branches": swap_branches,
    "exchange-and-or": exchange_junction,
    "off-by-one-comparison": loosen_comparison,
    "weaken-quorum": weaken_quorum,
    "swap-quantifier": swap_quantifier,
}
