"""The types of constants and variables, as the module declares them.

A variable has the type of the set that ``TypeOK`` puts it in. A constant that is used as a set
gets its own sort. A constant that an ASSUME puts in a set has that set's type. Any other constant
is a value of its own; it differs from others where an ASSUME says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.oracle.errors import SpecError
from krafla.oracle.syntax import Apply, Call, Module, Name, Node, Number, String, Symbol, children
from krafla.proofs.assignments import used
from krafla.proofs.assumed import learn_what_differs, symbol_of, with_members
from krafla.proofs.errors import Untranslatable
from krafla.proofs.terms import AtomTerm, Term, everything
from krafla.proofs.translate import Scope, Translator
from krafla.proofs.types import (
    TYPE_INVARIANT,
    ElementType,
    FunctionType,
    Mismatch,
    SetType,
    Type,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from krafla.proofs.algebra import Algebra
    from krafla.proofs.translate import Rule

__all__ = [
    "conjuncts",
    "constants",
    "empty_sets",
    "every_node",
    "largest_number",
    "literals",
    "variable_types",
]

# The arguments of these operators that are sets.
_SET_ARGUMENTS = {
    "\\in": (1,), "\\notin": (1,), "\\subseteq": (0, 1), "\\union": (0, 1),
    "\\intersect": (0, 1), "\\": (0, 1), "SUBSET": (0,), "$SetOfFcns": (0, 1),
    "IsFiniteSet": (0,), "Cardinality": (0,),
}  # fmt: skip


def every_node(module: Module) -> Iterator[Node]:
    """Yield every expression of a module and of the modules it extends."""
    waiting = [node for _, node in module.assumptions]
    waiting += [definition.body for definition in module.operators.values()]
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        waiting += children(node)
        if isinstance(node, Call):
            waiting.append(node.definition.body)


def literals(module: Module) -> Iterator[str]:
    """Yield the strings that a module writes; names of fields are among them."""
    return (node.value for node in every_node(module) if isinstance(node, String))


def largest_number(module: Module) -> int:
    """Return the largest numeral that a module writes."""
    return max((one.value for one in every_node(module) if isinstance(one, Number)), default=0)


def conjuncts(
    node: Node, scope: Scope, name: str
) -> Iterator[tuple[str, Node, Scope]]:  # fmt: skip
    """Yield the conjuncts of a formula with their names and scopes, through definitions.

    The name is the operator that the conjunct is, or the operator around it with a number.
    """
    if isinstance(node, Call) and not node.definition.is_recursive:
        inside = scope.calling(node.definition, node.arguments)
        found = list(conjuncts(node.definition.body, inside, node.definition.name))
        yield from found
    elif isinstance(node, Apply) and node.operator in ("$ConjList", "\\land"):
        parts = [part for part in node.arguments if part is not None]
        for index, part in enumerate(parts, start=1):
            yield from conjuncts(part, scope, f"{name}.{index}")
    else:
        yield name, node, scope


def empty_sets(module: Module) -> Iterator[Untranslatable]:
    """Yield the refusal of each constant that is used as a set and may be empty."""
    assumed = [
        entry for name, node in module.assumptions for entry in conjuncts(node, Scope(), name)
    ]
    not_empty, sets = set(with_members(assumed)), set(_used_as_sets(module))
    for symbol in module.constants:
        if symbol.key in sets and symbol.key not in not_empty:
            yield Untranslatable(
                symbol.name,
                "may be an empty set, and a proof needs an element; where it never is, write "
                f"ASSUME {symbol.name} # {{}}",
                symbol.place,
            )


def constants(
    module: Module, algebra: Algebra, rules: Mapping[str, Rule]
) -> dict[int, Term]:  # fmt: skip
    """Return the value of each constant, by its symbol's key.

    ``Untranslatable`` if a set may be empty: z3 has no empty sorts.
    """
    found: dict[int, Term] = {}
    assumed = [
        entry for name, node in module.assumptions for entry in conjuncts(node, Scope(), name)
    ]
    members: dict[int, list[tuple[Node, Scope]]] = {}
    for key, domain in _memberships(assumed):
        members.setdefault(key, []).append(domain)
    not_empty = set(with_members(assumed))
    sets = {*_used_as_sets(module), *not_empty}
    for refusal in empty_sets(module):
        raise refusal
    for symbol in module.constants:
        if symbol.key in sets:
            element = ElementType(symbol.name)
            found[symbol.key] = everything(element, algebra.sorts.all_of(element))
        elif symbol.key not in members:
            found[symbol.key] = AtomTerm(symbol.name)
    translator = Translator(algebra, rules, found)
    learn_what_differs(assumed, found, algebra.sorts.apart, translator.set)
    waiting = [one for one in module.constants if one.key in members and one.key not in sets]
    while waiting:
        names = [symbol.name for symbol in waiting]
        later = []
        for symbol in waiting:
            value = _member_of(symbol, members[symbol.key], translator, names)
            if value is None:
                later.append(symbol)
            else:
                found[symbol.key] = value
        if later == waiting:
            raise Untranslatable(
                names[0], f"the sets of {', '.join(names)} depend on each other", later[0].place
            )
        waiting = later
    return found


def _member_of(
    symbol: Symbol, domains: list[tuple[Node, Scope]], translator: Translator, waiting: list[str]
) -> Term | None:
    """Return an unknown member of the last of some sets that has a translation.

    None if a set needs a constant that has no value yet: it may be declared later.
    """
    algebra = translator.algebra
    refused: Untranslatable | None = None
    is_waiting = False
    for node, scope in reversed(domains):
        try:
            element = translator.set(node, scope).element
            return algebra.sorts.declare(symbol.name, element, algebra.flatten)(())
        except Mismatch as error:
            refused = refused or Untranslatable(symbol.name, str(error), symbol.place)
        except Untranslatable as error:
            is_waiting = is_waiting or error.operator in waiting
            refused = refused or error
    if refused is not None and not is_waiting:
        raise refused
    return None


def _used_as_sets(module: Module) -> Iterator[int]:
    for node in every_node(module):
        used: list[Node | None] = []
        if isinstance(node, Apply):
            used += [bound.domain for bound in node.bounds]
            used += [node.arguments[index] for index in _SET_ARGUMENTS.get(node.operator, ())]
            if node.operator == "$SetOfRcds":
                used += [pair.arguments[1] for pair in node.arguments if isinstance(pair, Apply)]
        for one in used:
            if isinstance(one, Name) and one.symbol.kind == "constant":
                yield one.symbol.key


def _memberships(
    entries: list[tuple[str, Node, Scope]],
) -> Iterator[tuple[int, tuple[Node, Scope]]]:
    r"""Yield the key of each symbol x with the set S of a conjunct ``x \in S``."""
    for _, node, scope in entries:
        if isinstance(node, Apply) and node.operator == "\\in":
            element, domain = node.arguments
            symbol = symbol_of(element, scope)
            if symbol is not None and domain is not None:
                yield symbol.key, (domain, scope)


def variable_types(
    module: Module, algebra: Algebra, rules: Mapping[str, Rule], known: Mapping[int, Term]
) -> dict[int, Type]:  # fmt: skip
    """Return the type of each variable by its symbol's key; ``Untranslatable`` if one has none.

    ``SpecError``, with the remedy, if the module has no ``TypeOK``.
    """
    if TYPE_INVARIANT not in module.operators:
        raise SpecError(
            f"{module.name} has no operator {TYPE_INVARIANT}: define it as the type of each"
            " variable; it is proved with the rest",
            str(module.path),
        )
    definition = module.operator(TYPE_INVARIANT)
    entries = list(conjuncts(definition.body, Scope(), TYPE_INVARIANT))
    translator = Translator(algebra, rules, known)
    found: dict[int, Type] = {}
    for key, (node, scope) in _memberships(entries):
        if key not in found and _is_constant(node, scope):
            found[key] = translator.set(node, scope).element
    for _, node, scope in entries:
        if isinstance(node, Apply) and node.operator == "\\subseteq":
            left, right = node.arguments
            if right is None or not _is_constant(right, scope):
                continue
            symbol = symbol_of(left, scope)
            if symbol is not None and symbol.key not in found:
                found[symbol.key] = SetType(translator.set(right, scope).element)
            symbol = _domain_of(left, scope)
            if symbol is not None and symbol.key not in found:
                argument = translator.set(right, scope).element
                result = _result(entries, symbol, translator)
                if result is not None:
                    found[symbol.key] = FunctionType(argument, result, is_total=False)
    for symbol in module.variables:
        if symbol.key not in found:
            raise Untranslatable(
                symbol.name,
                f"{TYPE_INVARIANT} does not say what it is by a set without variables",
                symbol.place,
            )
    return found


def _is_constant(node: Node, scope: Scope) -> bool:
    """Return whether a set uses no variable, so that it says what another one can hold."""
    return not any(used(node, scope, is_primed=False))


def _domain_of(node: Node | None, scope: Scope) -> Symbol | None:
    if isinstance(node, Apply) and node.operator == "DOMAIN":
        return symbol_of(node.arguments[0], scope)
    return None


def _result(
    entries: list[tuple[str, Node, Scope]], function: Symbol, translator: Translator
) -> Type | None:
    r"""Return what ``\A x \in DOMAIN f : f[x] \in R`` says about the results of f."""
    for _, node, scope in entries:
        if not (isinstance(node, Apply) and node.operator == "$BoundedForall"):
            continue
        (bound, *more), (body,) = node.bounds, node.arguments
        if more or _domain_of(bound.domain, scope) != function:
            continue
        if isinstance(body, Apply) and body.operator == "\\in":
            applied, image = body.arguments
            if not (isinstance(applied, Apply) and applied.operator == "$FcnApply"):
                continue
            if image is None or not _is_constant(image, scope):
                continue
            if symbol_of(applied.arguments[0], scope) == function:
                return translator.set(image, scope).element
    return None
