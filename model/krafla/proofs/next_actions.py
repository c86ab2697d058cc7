r"""The actions of Next, among which its disjunctions and quantifiers choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from krafla.oracle.syntax import Apply, Bound, Call, Definition, Name, Node, Symbol, children
from krafla.proofs.errors import Untranslatable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from krafla.oracle.sources import Place

__all__ = ["NextAction", "Parameter", "next_actions"]


@dataclass(frozen=True, slots=True, eq=False)
class Parameter:
    """A parameter of an action: the name that Next binds, and its set.

    ``within`` has the keys of the names that the quantifiers around this one bind.
    """

    symbol: Symbol
    domain: Node
    within: frozenset[int]


@dataclass(frozen=True, slots=True, eq=False)
class _Quantified:
    """A name that Next binds, and the keys of those that were bound around it."""

    bound: Bound
    within: frozenset[int]


_Bounds: TypeAlias = "Mapping[int, _Quantified]"


@dataclass(frozen=True, slots=True, eq=False)
class NextAction:
    """An action as Next uses it: once, or at several places with other sets.

    ``uses`` has the parameters at each place, as many as the action takes.
    """

    definition: Definition
    uses: tuple[tuple[Parameter, ...], ...]

    @property
    def name(self) -> str:
        """Return the name of its operator."""
        return self.definition.name

    @property
    def place(self) -> Place:
        """Return the place of its definition."""
        return self.definition.place


def next_actions(definition: Definition) -> tuple[NextAction, ...]:
    r"""Return the actions of a next-state relation of the form ``\/ \E x \in S : A(x)``.

    An action that Next names twice is one action with two uses. ``Untranslatable`` if an argument
    is not a quantified name, which would have no set, or if two actions have one name.
    """
    found: dict[str, NextAction] = {}
    for action, parameters in _leaves(definition.body, {}):
        known = found.get(action.name)
        if known is not None and known.definition is not action:
            raise Untranslatable(action.name, "two actions of Next have this name", action.place)
        uses = () if known is None else known.uses
        found[action.name] = NextAction(action, (*uses, parameters))
    return tuple(found.values())


def _leaves(node: Node, bounds: _Bounds) -> Iterator[tuple[Definition, tuple[Parameter, ...]]]:
    if isinstance(node, Apply) and node.operator in ("$DisjList", "\\lor"):
        for part in node.arguments:
            if part is not None:
                yield from _leaves(part, bounds)
    elif isinstance(node, Apply) and node.operator == "$BoundedExists":
        within = frozenset(bounds)
        more = {
            symbol.key: _Quantified(bound, within)
            for bound in node.bounds
            for symbol in bound.symbols
        }
        (body,) = node.arguments
        assert body is not None
        yield from _leaves(body, {**bounds, **more})
    elif isinstance(node, Call) and not node.arguments and _chooses(node.definition.body):
        yield from _leaves(node.definition.body, bounds)
    elif isinstance(node, Call):
        parameters = tuple(_parameter(argument, bounds) for argument in node.arguments)
        _check_sets(node, parameters, bounds)
        _check_all_taken(node, parameters, bounds)
        yield node.definition, parameters
    else:
        raise Untranslatable("Next", "chooses among actions with names only", node.place)


def _chooses(node: Node) -> bool:
    """Return whether a node only chooses among operators."""
    if isinstance(node, Apply) and node.operator in ("$DisjList", "\\lor", "$BoundedExists"):
        return all(isinstance(part, Call) or _chooses(part) for part in node.arguments if part)
    return False


def _check_sets(node: Call, parameters: tuple[Parameter, ...], bounds: _Bounds) -> None:
    """Refuse a set that depends on a quantified name which the action does not take before it."""
    taken: set[int] = set()
    for parameter in parameters:
        for name in _names(parameter.domain):
            if name.symbol.key in bounds and name.symbol.key not in taken:
                raise Untranslatable(
                    "Next",
                    f"the set of {parameter.symbol.name} depends on {name.symbol.name}, which"
                    f" {node.definition.name} does not take before it", name.place,
                )  # fmt: skip
        taken.add(parameter.symbol.key)


def _check_all_taken(
    node: Call,
    parameters: tuple[Parameter, ...],
    bounds: _Bounds,
) -> None:
    """Refuse a set from which the action takes nothing: no obligation asks what it means.

    A CONSTANT needs none: used as a set, it is one.
    """
    taken = {parameter.symbol.key for parameter in parameters}
    for key, quantified in bounds.items():
        domain = quantified.bound.domain
        is_constant = isinstance(domain, Name) and domain.symbol.kind == "constant"
        if key not in taken and not is_constant:
            raise Untranslatable(
                "Next", f"has a set from which {node.definition.name} takes nothing", node.place
            )


def _names(node: Node) -> Iterator[Name]:
    if isinstance(node, Name):
        yield node
    for part in children(node):
        yield from _names(part)


def _parameter(argument: Node, bounds: _Bounds) -> Parameter:
    found = bounds.get(argument.symbol.key) if isinstance(argument, Name) else None
    if found is not None and found.bound.domain is not None and not found.bound.is_tuple:
        assert isinstance(argument, Name)
        return Parameter(argument.symbol, found.bound.domain, found.within)
    raise Untranslatable("Next", "an argument must be a quantified name", argument.place)
