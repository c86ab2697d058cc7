"""The parameters of an action: unknown values, which are among those that Next takes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from krafla.proofs.errors import Untranslatable
from krafla.proofs.terms import conjunction, disjunction
from krafla.proofs.translate import Scope
from krafla.proofs.types import NOTHING, Mismatch, joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    import z3  # type: ignore[import-untyped]  # z3 ships no types

    from krafla.proofs.next_actions import NextAction, Parameter
    from krafla.proofs.terms import Term
    from krafla.proofs.translate import Translator
    from krafla.proofs.types import Type

__all__ = ["bounds_of", "unknown_parameters"]


def unknown_parameters(translator: Translator, action: NextAction) -> tuple[Term, ...]:
    """Return unknown parameters of an action, with the types that Next gives them."""
    algebra = translator.algebra
    scopes = [Scope()] * len(action.uses)
    terms: list[Term] = []
    for formal, *given in zip(action.definition.formals, *action.uses, strict=True):
        stem = f"{action.name}.{formal.name}"
        element: Type = NOTHING
        try:
            for parameter, scope in zip(given, scopes, strict=True):
                element = joined(element, translator.set(parameter.domain, scope).element)
            declaration = algebra.sorts.declare(stem, element, algebra.flatten)
        except Mismatch as error:
            raise Untranslatable(stem, str(error), action.place) from None
        terms.append(declaration(()))
        scopes = [
            scope.binding({parameter.symbol.key: terms[-1]})
            for parameter, scope in zip(given, scopes, strict=True)
        ]
    return tuple(terms)


def bounds_of(
    translator: Translator, action: NextAction, parameters: Sequence[Term]
) -> list[z3.BoolRef]:
    """Return the formulas that the parameters of an action are among those that Next takes.

    Where Next names the action several times, each place has its own sets. Two parameters of one
    name are one value.
    """
    places = [_of_use(translator, action, use, parameters) for use in action.uses]
    return places[0] if len(places) == 1 else [disjunction(*(conjunction(*p) for p in places))]


def _of_use(
    translator: Translator, action: NextAction, use: Sequence[Parameter], parameters: Sequence[Term]
) -> list[z3.BoolRef]:
    scope = Scope()
    given: dict[int, Term] = {}
    taken: list[tuple[int, z3.BoolRef]] = []
    for parameter, term in zip(use, parameters, strict=True):
        key = parameter.symbol.key
        # TLC evaluates a set only where those of the quantifiers around it have members.
        around = [one for other, one in taken if other in parameter.within]
        try:
            with translator.assuming(partial(conjunction, *around)):
                domain = translator.set(parameter.domain, scope)
                inside = domain.contains(term)
            if key in given:
                inside = conjunction(inside, translator.algebra.equal(given[key], term))
        except Mismatch as error:
            raise Untranslatable(action.name, str(error), parameter.domain.place) from None
        if domain.has_infinite:
            raise Untranslatable(
                action.name, "takes what may be an infinite set or function",
                parameter.domain.place,
            )  # fmt: skip
        given.setdefault(key, term)
        taken.append((key, inside))
        scope = scope.binding({key: term})
    return [one for _, one in taken]
