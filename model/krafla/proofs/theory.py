"""A module as a theory of z3: its predicates, actions and step properties as formulas.

Everything comes from the text of the module. The z3 sorts stand for sets of any size, and numbers
have no bound.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import z3  # type: ignore[import-untyped]  # z3 ships no types

from krafla.collector import gc_paused
from krafla.oracle.errors import SpecError
from krafla.oracle.syntax import Apply, Definition, Module, read_module
from krafla.proofs import declarations
from krafla.proofs.algebra import Algebra
from krafla.proofs.assignments import Assignments, branching, used
from krafla.proofs.depth import deeply_nested
from krafla.proofs.errors import Untranslatable
from krafla.proofs.functions import FUNCTION_RULES
from krafla.proofs.logic import LOGIC_RULES
from krafla.proofs.next_actions import NextAction, next_actions
from krafla.proofs.parameters import bounds_of, unknown_parameters
from krafla.proofs.sets import SET_RULES
from krafla.proofs.sorts import Sorts
from krafla.proofs.specification import INIT, next_relation, step_formula
from krafla.proofs.terms import SetTerm, Term, conjunction, implication
from krafla.proofs.translate import Requirement, Rule, Scope, Translator
from krafla.proofs.types import TYPE_INVARIANT, Mismatch

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from krafla.oracle.sources import Place

__all__ = ["RULES", "Conjunct", "State", "Theory"]

# A limit in z3's steps (its rlimit); whether one set of records is in another takes a hundredth.
_EFFORT = 2_000_000
# Ctrl-C belongs to Python: z3 would take it for the end of its question, and go on with the next.
z3.set_param("ctrl_c", False)
RULES: Mapping[str, Rule] = {**LOGIC_RULES, **SET_RULES, **FUNCTION_RULES}


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """An unknown state: each variable is a z3 symbol named ``variable@name``."""

    name: str
    terms: Mapping[int, Term]


@dataclass(frozen=True, slots=True, eq=False)
class Conjunct:
    """One conjunct of a formula: its operator (with a number), and its place."""

    name: str
    place: Place
    formula: z3.BoolRef


class Theory:
    """One module, translated; make it with ``Theory.load``.

    ``rules`` translate the built-in operators; a test may break one.
    """

    def __init__(
        self,
        module: Module,
        rules: Mapping[str, Rule] = RULES,
        sizes: Mapping[str, int] | None = None,
        *,
        is_written_out: bool = True,
    ) -> None:
        self.module = module
        self.name = module.name
        self.sorts = Sorts(declarations.literals(module), sizes, is_written_out=is_written_out)
        self.algebra = Algebra(self.sorts)
        self._rules = rules
        self._constants = declarations.constants(module, self.algebra, rules)
        self._types = declarations.variable_types(module, self.algebra, rules, self._constants)
        self.variables = tuple(symbol.name for symbol in module.variables)
        self.constants = {symbol.name: self._constants[symbol.key] for symbol in module.constants}
        self.types = {symbol.name: self._types[symbol.key] for symbol in module.variables}
        # Every action and every proof asks for the same clauses, in the same two states.
        self._states: dict[str, State] = {}
        self._conjuncts: dict[tuple[str, State], list[Conjunct]] = {}
        self._step_properties: dict[tuple[str, State, State], z3.BoolRef] = {}
        self._check_apart()

    @classmethod
    @gc_paused()
    @deeply_nested()
    def load(
        cls,
        name: str,
        *,
        path: Path | str | None = None,
        search_path: Sequence[Path] | None = None,
        rules: Mapping[str, Rule] = RULES,
        needed: Iterable[str] = (),
    ) -> Theory:
        """Return the theory of a module; constants need no values.

        ``path`` is the module's file or folder (default: its place in the spec tree). ``needed``
        are operators that it must have. ``SpecError`` if it lacks one or does not parse,
        ``Untranslatable`` if a declaration has no translation.
        """
        module = read_module(name, None if path is None else Path(path), search_path)
        for one in needed:
            module.operator(one)
        return cls(module, rules)

    def bounded(self, sizes: Mapping[str, int], *, is_written_out: bool = True) -> Theory:
        """Return the same module over CONSTANT sets of these sizes.

        z3 finds no models of formulas with quantifiers. If ``is_written_out``, no quantifiers over
        these sets remain.
        """
        missing = [
            name
            for name, term in self.constants.items()
            if isinstance(term, SetTerm) and name not in sizes
        ]
        if missing:
            raise SpecError(f"{self.name}: sizes are also needed of {', '.join(missing)}")
        return Theory(self.module, self._rules, sizes, is_written_out=is_written_out)

    def state(self, name: str) -> State:
        """Return the unknown state of this name."""
        if name not in self._states:
            self._states[name] = self._state(name)
        return self._states[name]

    def _state(self, name: str) -> State:
        terms = {}
        for symbol in self.module.variables:
            type_ = self._types[symbol.key]
            label = f"{symbol.name}@{name}"
            try:
                terms[symbol.key] = self.sorts.declare(label, type_, self.algebra.flatten)(())
            except Mismatch as error:
                raise Untranslatable(symbol.name, str(error), symbol.place) from None
        return State(name, terms)

    def assumptions(self) -> list[Conjunct]:
        """Return the formula of each ASSUME about the constants.

        That a set is finite is left out: what holds for any set holds for every finite one.
        """
        translator = self._translator(None, None)
        return [
            Conjunct(name, node.place, translator.formula(node, scope))
            for label, assumed in self.module.assumptions
            for name, node, scope in declarations.conjuncts(assumed, Scope(), label)
            if not (isinstance(node, Apply) and node.operator == "IsFiniteSet")
        ]

    def predicate(self, name: str, state: State | None, *arguments: Term) -> z3.BoolRef:
        """Return the formula of a state predicate, or without a state of one over constants."""
        translator = self._translator(state, None)
        formula = self._applied(translator, name, arguments)
        self._refuse_choices(translator, name)
        return formula

    def conjuncts(self, name: str, state: State) -> list[Conjunct]:
        """Return the conjuncts of a state predicate without parameters, through definitions."""
        key = name, state
        if key not in self._conjuncts:
            definition = self._definition(name, 0)
            translator = self._translator(state, None)
            found = [
                Conjunct(label, node.place, translator.formula(node, scope))
                for label, node, scope in declarations.conjuncts(definition.body, Scope(), name)
            ]
            self._refuse_choices(translator, name)
            self._conjuncts[key] = found
        return self._conjuncts[key]

    @cached_property
    def largest_number(self) -> int:
        """Return the largest numeral in the module: a small world has this number too."""
        return declarations.largest_number(self.module)

    @cached_property
    def actions(self) -> tuple[NextAction, ...]:
        """Return the actions of Next, in the order of the spec; Spec must be about Next."""
        found = next_actions(next_relation(self.module))
        for action in found:
            if self.module.operators.get(action.name) is not action.definition:
                raise Untranslatable(
                    "Next", f"{action.name} is defined inside an expression", action.place
                )
        return found

    def parameters(self, action: str) -> tuple[Term, ...]:
        """Return unknown parameters of an action, with the types that Next gives them."""
        translator = self._translator(self.state("any"), None)
        return unknown_parameters(translator, self._next_action(action))

    def bounds(self, action: str, parameters: Sequence[Term], state: State) -> list[z3.BoolRef]:
        """Return the formulas that the parameters of an action are among those that Next takes."""
        return bounds_of(self._translator(state, None), self._next_action(action), parameters)

    def misfits(
        self, name: str, parameters: Sequence[Term], before: State | None, after: State
    ) -> list[Requirement]:
        """Return the requirements that what Init or an action assigns fits the variables' types.

        ``before`` is ``None`` for Init. Those that the types alone show are left out.
        """
        is_step = before is not None
        translator = self._translator(before, after) if is_step else self._translator(after, None)
        definition = self._definition(name, len(parameters))
        pairs = zip(definition.formals, parameters, strict=True)
        scope = Scope({formal.key: term for formal, term in pairs})
        assignments = Assignments(translator, self._types, is_step=is_step)
        try:
            assigned = assignments.read(definition.body, scope)
        except Mismatch as error:
            raise Untranslatable(name, str(error), definition.place) from None
        prime = "'" if is_step else ""
        for symbol in self.module.variables:
            if symbol.key not in assigned:
                raise Untranslatable(
                    name, f"leaves {symbol.name}{prime} without a value on some path",
                    definition.place,
                )  # fmt: skip
        return assignments.found

    def action(
        self, name: str, parameters: Sequence[Term], before: State, after: State
    ) -> z3.BoolRef:
        """Return the formula that a step is one of this action: for assuming, not for proving.

        The value of a CHOOSE is a constant; the formula says what is known of it.
        """
        translator = self._translator(before, after)
        formula = self._applied(translator, name, parameters)
        return conjunction(formula, *translator.facts)

    def step_property(self, name: str, before: State, after: State) -> z3.BoolRef:
        """Return the formula of ``[][A]_v``, or of an operator over two states, for a step."""
        key = name, before, after
        if key not in self._step_properties:
            body = step_formula(self._definition(name, 0).body)
            if not any(used(body, Scope(), is_primed=True)):
                raise Untranslatable(name, "is of one state; name it in implies", body.place)
            translator = self._translator(before, after)
            formula = translator.formula(body, Scope())
            self._refuse_choices(translator, name)
            self._step_properties[key] = formula
        return self._step_properties[key]

    def requirements(
        self,
        name: str,
        arguments: Sequence[Term],
        before: State | None,
        after: State | None = None,
        *,
        within_bounds: bool = False,
    ) -> list[Requirement]:
        """Return the requirements for the value of an operator to have a meaning, one by one.

        Functions are applied inside their domains, records have the fields that are read, and
        CHOOSE has a value to choose. Requirements that are plainly true are left out. Those of an
        action include what Next evaluates to choose its parameters; if ``within_bounds``, the
        action itself is evaluated only for those.
        """
        translator = self._translator(before, after, requiring=True)
        definition = self._definition(name, len(arguments))
        pairs = zip(definition.formals, arguments, strict=True)
        scope = Scope({formal.key: term for formal, term in pairs})
        is_action = after is not None and any(one.name == name for one in self.actions)
        if is_action or (name == INIT and after is None):
            translator.branching = frozenset(branching(definition.body, scope))
        with translator.meeting():
            inside = bounds_of(translator, self._next_action(name), arguments) if is_action else []
            known = conjunction(*inside) if within_bounds else z3.BoolVal(True)
            with translator.assuming(lambda: known):
                translator.formula(step_formula(definition.body), scope)
        facts = conjunction(*translator.facts)
        return [
            replace(found, formula=implication(facts, found.formula))
            for found in translator.requirements
        ]

    def assumption_requirements(self) -> list[Requirement]:
        """Return the requirements for the ASSUMEs to have a meaning, each after those before."""
        translator = self._translator(None, None, requiring=True)
        with translator.meeting(), ExitStack() as before:
            for _, assumed in self.module.assumptions:
                for _, node, scope in declarations.conjuncts(assumed, Scope(), ""):
                    if not (isinstance(node, Apply) and node.operator == "IsFiniteSet"):
                        formula = translator.formula(node, scope)
                        before.enter_context(translator.assuming(partial(conjunction, formula)))
        return translator.requirements

    def _check_apart(self) -> None:
        """Refuse a type of records that a constant beside them may be, whatever the ASSUMEs say."""
        if not self.sorts.apart.has_records:
            return
        translator = self._translator(self.state("any"), None, requiring=True)
        body = self.module.operator(TYPE_INVARIANT).body
        for _, node, scope in declarations.conjuncts(body, Scope(), TYPE_INVARIANT):
            if not (isinstance(node, Apply) and node.operator in ("\\in", "\\subseteq")):
                continue
            with translator.meeting():
                translator.formula(node, scope)
        for found in translator.requirements:
            solver = z3.Solver()
            solver.set("rlimit", _EFFORT)
            solver.add(*(one.formula for one in self.assumptions()), z3.Not(found.formula))
            if solver.check() != z3.unsat:
                raise Untranslatable(
                    TYPE_INVARIANT, "has records that a constant may be, as it is assumed to be"
                    " outside of fewer: ASSUME that it is outside of this set", found.place,
                )  # fmt: skip

    def _translator(
        self, before: State | None, after: State | None, *, requiring: bool = False
    ) -> Translator:
        return Translator(
            self.algebra,
            self._rules,
            self._constants,
            None if before is None else before.terms,
            None if after is None else after.terms,
            requiring=requiring,
        )

    def _applied(
        self, translator: Translator, name: str, arguments: Sequence[Term]
    ) -> z3.BoolRef:  # fmt: skip
        definition = self._definition(name, len(arguments))
        pairs = zip(definition.formals, arguments, strict=True)
        scope = Scope({formal.key: term for formal, term in pairs})
        return translator.formula(definition.body, scope)

    def _definition(self, name: str, parameters: int) -> Definition:
        definition = self.module.operator(name)
        if len(definition.formals) != parameters:
            raise SpecError(
                f"{name} takes {len(definition.formals)} parameters, not {parameters}",
                f"{definition.place.path}:{definition.place.line}",
            )
        return definition

    def _next_action(self, name: str) -> NextAction:
        for action in self.actions:
            if action.name == name:
                return action
        raise SpecError(f"Next of {self.name} has no action {name}", str(self.module.path))

    def _refuse_choices(self, translator: Translator, name: str) -> None:
        if translator.facts:
            raise Untranslatable(
                "CHOOSE", f"has no translation in a formula to be proved ({name})",
                self.module.operator(name).place,
            )  # fmt: skip
