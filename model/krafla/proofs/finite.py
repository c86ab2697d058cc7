"""Models of formulas over a few elements, by writing out every quantifier.

z3 finds contradictions among quantified formulas fast, but seldom finds models of them. So a model
is sought in a small world: a few elements of each set, a few messages, small numbers. There every
quantifier is a finite conjunction or disjunction. A model found there satisfies the formulas over
these elements only, so TLC's evaluator must check it. If none is found, a larger world may still
have one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import z3  # type: ignore[import-untyped]  # z3 ships no types

from krafla.proofs.domains import LOWEST, Domain
from krafla.proofs.terms import FunctionTerm, Scalar
from krafla.proofs.types import ElementType, FunctionType, RecordType, UnionType

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence

    from krafla.proofs.theory import Theory
    from krafla.proofs.types import Type

__all__ = ["Found", "SmallWorlds"]


@dataclass(frozen=True, slots=True)
class World:
    """The size of a world: elements of each set, members of each bag, and the largest number.

    The numbers that the module writes are in every world.
    """

    elements: int
    members: int
    number: int


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A model, and the values of expressions in it; ``symbols`` are the terms of the formulas."""

    model: z3.ModelRef
    domain: Domain
    bags: Sequence[tuple[z3.FuncDeclRef, z3.BoolRef]]
    symbols: Sequence[z3.ExprRef]
    places: Mapping[int, z3.BoolRef]

    def another(self, constants: Collection[str], variables: Collection[str]) -> z3.BoolRef:
        """Return the formula that some variable has another value, with the same constants."""
        # z3 has its own names for the elements of a model; another model may have others.
        names = [
            (self.value(one), one)
            for candidates in self.domain.elements.values()
            for one in candidates
            if one.sort().kind() == z3.Z3_UNINTERPRETED_SORT
        ]
        same, others = [], []
        for symbol in self.symbols:
            name = str(symbol.decl().name())
            value = z3.substitute(self.value(symbol), *names)
            variable, _, state = name.partition("@")
            if name in constants:
                same.append(symbol == value)
            elif state.startswith("before") and variable in variables and self._counts(symbol):
                others.append(symbol != value)
        return z3.And(*same, z3.Or(*others))

    def _counts(self, symbol: z3.ExprRef) -> bool:
        """Return whether a symbol describes the state: its place in a bag is not empty."""
        used = self.places.get(symbol.get_id())
        if used is not None:
            return bool(z3.is_true(self.value(used)))
        name = f"{symbol.decl().name()}.domain"
        bag = next((has for has, _ in self.bags if str(has.name()) == name), None)
        if bag is None:
            return True
        place = symbol.children()[: bag.arity()]
        return len(place) < bag.arity() or bool(z3.is_true(self.value(bag(*place))))

    def value(self, expression: z3.ExprRef) -> z3.ExprRef:
        """Return the value of an expression, which may depend on the members of a bag."""
        asked = z3.substitute_funs(expression, *self.bags)
        return self.model.eval(asked, model_completion=True)


# The worlds in the order in which they are tried, so that a small model is found first.
SMALL = (World(1, 1, 3), World(2, 2, 4), World(3, 3, 6))
# A limit in z3's steps (its rlimit), about one second; most models take a tenth of it.
_EFFORT = 40_000_000
# The most messages a step adds to a bag: a response, and a request with another flag.
_ADDED = 2


class SmallWorlds:
    """Searches for models of formulas of one theory, in one world after the other.

    What a search has written out is kept for the next: the cases of a proof share their hypotheses.
    """

    def __init__(self, theory: Theory) -> None:
        self._theory = theory
        self._searches: dict[World, _Search] = {}

    def model(self, formulas: Sequence[z3.BoolRef]) -> Found | None:
        """Return a model of the formulas in the first of the worlds that has one, or None.

        The bags of the state ``before`` have only the members of the world. The limit of each
        search is counted in z3's own steps, so that the answer is the same on any machine.
        """
        return next(self.models(formulas), None)

    def models(
        self, formulas: Sequence[z3.BoolRef]
    ) -> Generator[Found, Collection[str] | None, None]:
        """Yield models as ``model`` does, all in one world with the same constants.

        All have different states ``before``. The caller can send names of variables: no later model
        has their values of the last one.
        """
        for world in SMALL:
            if world not in self._searches:
                self._searches[world] = _Search(self._theory, world, ("before",))
            found = self._searches[world].models(formulas, self._theory.constants.keys())
            first = next(found, None)
            if first is not None:
                variables = yield first
                while True:
                    try:
                        variables = yield found.send(variables)
                    except StopIteration:
                        return


class _Search:
    def __init__(self, theory: Theory, world: World, states: Sequence[str]) -> None:
        self._world = world
        self._number = max(world.number, theory.largest_number)
        self._universe: dict[str, list[z3.ExprRef]] = {}
        self._axioms: list[z3.BoolRef] = []
        self._bags: list[tuple[z3.FuncDeclRef, z3.BoolRef]] = []
        self._places: dict[int, z3.BoolRef] = {}
        self._variables = theory.variables
        self._expanded: dict[int, z3.ExprRef] = {}
        self._leaves_of: dict[int, list[z3.ExprRef]] = {}
        # Keeps expressions alive whose ids are keys.
        self._kept: list[z3.ExprRef] = []
        for name, sort in sorted(theory.sorts.elements.items()):
            self._set(name, sort)
        for variable, type_ in theory.types.items():
            if isinstance(type_, FunctionType) and not type_.is_total and _is_open(type_.argument):
                self._bag(variable, theory.sorts.of(type_.argument), states)
        self._domain = Domain(theory.algebra, self._number, self._universe)
        self._bound_predicates(theory)
        self._results = list(self._results_of(theory, states))

    def _set(self, name: str, sort: z3.SortRef) -> None:
        elements = [z3.Const(f"{name}#{index}", sort) for index in range(self._world.elements)]
        some = z3.Const(f"{name}#", sort)
        self._universe[str(sort)] = elements
        self._axioms.append(z3.ForAll([some], z3.Or(*(some == element for element in elements))))
        if len(elements) > 1:
            self._axioms.append(z3.Distinct(*elements))

    def _bag(self, variable: str, sort: z3.SortRef, states: Sequence[str]) -> None:
        universe = self._universe.setdefault(str(sort), [])
        for state in states:
            slots = [
                z3.Const(f"{variable}@{state}#{index}", sort)
                for index in range(self._world.members)
            ]
            used = [z3.Bool(f"{slot}?") for slot in slots]
            has = z3.Function(f"{variable}@{state}.domain", sort, z3.BoolSort())
            some = z3.Var(0, sort)
            members = z3.Or(
                *(z3.And(there, some == slot) for slot, there in zip(slots, used, strict=True))
            )
            self._bags.append((has, members))
            self._kept += slots
            self._places |= {slot.get_id(): one for slot, one in zip(slots, used, strict=True)}
            universe += slots
        universe += [z3.Const(f"{variable}#{index}", sort) for index in range(_ADDED)]

    def _bound_predicates(self, theory: Theory) -> None:
        """Keep the members of sets, but those of the state after a step, within the world."""
        known = {has for has, _ in self._bags}
        for test, element in theory.sorts.predicates.values():
            if test in known or "@after" in test.name():
                continue
            count = test.arity()
            places = [z3.Var(at, test.domain(at)) for at in range(count)]
            members = iter(places[count - len(theory.sorts.flat(element)) :])
            inside = self._domain.contains(theory.sorts.unflat(element, members))
            if not z3.is_true(inside):
                sorts = [test.domain(at) for at in range(count)]
                inner = z3.Function(f"{test.name()}?", *sorts, z3.BoolSort())
                self._bags.append((test, z3.And(inside, inner(*places))))

    def _results_of(self, theory: Theory, states: Sequence[str]) -> Iterator[z3.ExprRef]:
        """Yield the results of functions over the values of the world: models differ in them."""
        for symbol in theory.module.variables:
            type_ = theory.types[symbol.name]
            if not isinstance(type_, FunctionType) or _is_open(type_.argument):
                continue
            for state in states:
                function = theory.state(state).terms[symbol.key]
                assert isinstance(function, FunctionTerm)
                found = [function.apply(at) for at in self._domain.some_values(type_.argument)]
                yield from (one.expression for one in found if isinstance(one, Scalar))

    def models(
        self, formulas: Sequence[z3.BoolRef], constants: Collection[str]
    ) -> Generator[Found, Collection[str] | None, None]:
        solver = z3.Solver()
        solver.set("rlimit", _EFFORT)
        solver.set("random_seed", 0)
        expanded = [self._expand(z3.substitute_funs(formula, *self._bags)) for formula in formulas]
        parts = [*expanded, *self._results]
        leaves = {leaf.get_id(): leaf for one in parts for leaf in self._leaves(one)}.values()
        solver.add(*expanded, *self._axioms, *self._limits(leaves))
        symbols = [leaf for leaf in leaves if _is_symbol(leaf)]
        while solver.check() == z3.sat:
            found = Found(solver.model(), self._domain, self._bags, symbols, self._places)
            variables = yield found
            solver.add(found.another(constants, variables or self._variables))

    def _expand(self, node: z3.ExprRef) -> z3.ExprRef:
        found = self._expanded.get(node.get_id())
        if found is None:
            found = self._written_out(node)
            self._expanded[node.get_id()] = found
            self._kept += [node, found]
        return found

    def _written_out(self, node: z3.ExprRef) -> z3.ExprRef:
        if z3.is_quantifier(node):
            sorts = [str(node.var_sort(index)) for index in range(node.num_vars())]
            if not all(sort in self._universe for sort in sorts):
                return node
            instances = [
                self._expand(z3.substitute_vars(node.body(), *reversed(choice)))
                for choice in product(*(self._universe[sort] for sort in sorts))
            ]
            return z3.And(*instances) if node.is_forall() else z3.Or(*instances)
        if not z3.is_app(node) or node.num_args() == 0:
            return node
        children = [node.arg(index) for index in range(node.num_args())]
        changed = [self._expand(child) for child in children]
        if all(a.eq(b) for a, b in zip(children, changed, strict=True)):
            return node
        if z3.is_and(node):
            return z3.And(*changed)
        return z3.Or(*changed) if z3.is_or(node) else node.decl()(*changed)

    def _leaves(self, expanded: z3.ExprRef) -> list[z3.ExprRef]:
        """Return the symbols and fields in a formula: what a model gives values."""
        key = expanded.get_id()
        if key not in self._leaves_of:
            self._kept.append(expanded)
            self._leaves_of[key] = [
                node for node in _nodes([expanded]) if _is_symbol(node) or _is_field(node)
            ]
        return self._leaves_of[key]

    def _limits(self, leaves: Iterable[z3.ExprRef]) -> Iterator[z3.BoolRef]:
        """Bound every number."""
        for leaf in leaves:
            if z3.is_int(leaf):
                yield leaf >= LOWEST
                yield leaf <= self._number


def _is_open(type_: Type) -> bool:
    """Return whether a bag of these members has a few places, and not any member of the world."""
    return isinstance(type_, RecordType | UnionType | ElementType)


def _is_symbol(node: z3.ExprRef) -> bool:
    return bool(z3.is_app(node) and node.decl().kind() == z3.Z3_OP_UNINTERPRETED)


def _is_field(node: z3.ExprRef) -> bool:
    return bool(z3.is_app(node) and node.decl().kind() == z3.Z3_OP_DT_ACCESSOR)


def _nodes(formulas: Iterable[z3.ExprRef]) -> Iterator[z3.ExprRef]:
    """Yield each subexpression that is not under a quantifier, once."""
    seen: set[int] = set()
    waiting = list(formulas)
    while waiting:
        node = waiting.pop()
        if node.get_id() not in seen:
            seen.add(node.get_id())
            if not z3.is_quantifier(node):
                yield node
                waiting.extend(node.children())
