"""Rules for sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import z3  # type: ignore[import-untyped]  # z3 ships no types

from krafla.proofs.algebra import both_candidates
from krafla.proofs.errors import Untranslatable
from krafla.proofs.infinite import has_infinite
from krafla.proofs.logic import operands
from krafla.proofs.terms import (
    Scalar,
    SetTerm,
    Term,
    boolean,
    conjunction,
    disjunction,
    empty_set,
    integer,
    negation,
)
from krafla.proofs.types import INTEGER, NOTHING, Mismatch, SetType, Type, joined

if TYPE_CHECKING:
    from krafla.oracle.syntax import Apply
    from krafla.proofs.translate import Rule, Scope, Translator

__all__ = ["SET_RULES"]

# The longest interval between literals that is written out.
_MOST_LISTED = 64


def number(member: Term) -> z3.ArithRef:
    """Return z3's expression of an integer; ``Mismatch`` for any other value."""
    if not isinstance(member, Scalar) or member.type != INTEGER:
        raise Mismatch(f"{member.type} is no number")
    assert isinstance(member.expression, z3.ArithRef)
    return member.expression


def _naturals(_translator: Translator, _node: Apply, _scope: Scope) -> Term:
    return SetTerm(INTEGER, lambda member: number(member) >= 0, is_infinite=True)


def _interval(translator: Translator, node: Apply, scope: Scope) -> Term:
    low, high = (translator.number(one, scope) for one in operands(node))
    numbers: tuple[Term, ...] | None = None
    are_literal = z3.is_int_value(low) and z3.is_int_value(high)
    if are_literal and high.as_long() - low.as_long() < _MOST_LISTED:
        numbers = tuple(map(integer, range(low.as_long(), high.as_long() + 1)))
    return SetTerm(
        INTEGER,
        lambda member: conjunction(low <= number(member), number(member) <= high),
        numbers,
        numbers is not None,
    )


def _member(translator: Translator, node: Apply, scope: Scope) -> Term:
    element, domain = operands(node)
    return boolean(translator.set(domain, scope).contains(translator.term(element, scope)))


def _not_member(translator: Translator, node: Apply, scope: Scope) -> Term:
    element, domain = operands(node)
    found = translator.set(domain, scope).contains(translator.term(element, scope))
    return boolean(negation(found))


def _enumeration(translator: Translator, node: Apply, scope: Scope) -> Term:
    members = tuple(translator.term(one, scope) for one in operands(node))
    if not members:
        return empty_set()
    element: Type = NOTHING
    for member in members:
        element = joined(element, member.type)
    equal = translator.algebra.equal
    found = SetTerm(
        element,
        lambda one: disjunction(*(equal(one, member) for member in members)),
        members,
        is_listed=True,
        has_infinite=any(has_infinite(translator.algebra, member) for member in members),
    )
    compare(translator, found, found)
    return found


def compare(translator: Translator, left: SetTerm, right: SetTerm) -> None:
    """Compare the members of two sets, or of one with each other, as TLC does to make a set.

    What that takes is recorded, even if nothing else asks for the members. ``Mismatch`` if TLC may
    not be able to.
    """
    if left is right and left.candidates is not None and len(left.candidates) < 2:
        return
    apart = translator.algebra.sorts.apart
    apart.check_type(joined(left.element, right.element))
    if apart.listener is None or not apart.has_records:
        return
    with translator.repeating():
        for member in left.candidates or ():
            if left.is_listed:
                right.contains(member)
            else:
                translator.inside(left, right.contains)(member)


def _filter(translator: Translator, node: Apply, scope: Scope) -> Term:
    ranges = translator.ranges(node, scope)
    if len(ranges) != 1:
        raise Untranslatable("{x \\in S : P}", "takes one name or tuple", node.place)
    ((bound, domain),) = ranges
    (condition,) = operands(node)

    def satisfies(member: Term) -> z3.BoolRef:
        return translator.formula(condition, translator.bind(bound, member, scope, node.place))

    holds = translator.inside(domain, satisfies)
    if translator.is_requiring:
        # TLC evaluates the condition for every member, also where only one is asked for.
        for sample in _samples(translator, domain):
            holds(sample)
    return SetTerm(
        domain.element,
        lambda member: conjunction(domain.contains(member), holds(member)),
        domain.candidates,
        is_infinite=domain.is_infinite,
        has_infinite=domain.has_infinite,
        is_lazy=domain.is_lazy,
    )


def _samples(translator: Translator, domain: SetTerm) -> tuple[Term, ...]:
    """Return the members that a set may have, or one that stands for all of them."""
    if domain.candidates is not None:
        return domain.candidates
    try:
        return (translator.algebra.sorts.bound(domain.element, "sample")[0],)
    except Mismatch:
        # z3 has no sample of sets and functions. Of those in SUBSET S and [S -> T], TLC asks the
        # condition of the member in question only.
        if domain.is_lazy:
            return ()
        raise


def _image(translator: Translator, node: Apply, scope: Scope) -> Term:
    ranges = translator.ranges(node, scope)
    if len(ranges) != 1:
        raise Untranslatable("{e : x \\in S}", "takes one name or tuple", node.place)
    ((bound, domain),) = ranges
    (expression,) = operands(node)

    def value(member: Term) -> Term:
        return translator.term(expression, translator.bind(bound, member, scope, node.place))

    algebra = translator.algebra
    samples = domain.candidates
    if samples is None:
        samples = (algebra.sorts.bound(domain.element, "sample")[0],)
    values = tuple(map(value, samples))
    element: Type = NOTHING
    for one in values:
        element = joined(element, one.type)
    found = SetTerm(
        element,
        lambda member: algebra.exists(
            domain, translator.inside(domain, lambda one: algebra.equal(member, value(one)))
        ),
        None if domain.candidates is None else values,
        domain.is_listed,
        is_infinite=domain.is_infinite,
        has_infinite=any(has_infinite(algebra, one) for one in values),
    )
    compare(translator, found, found)
    return found


def _union(translator: Translator, node: Apply, scope: Scope) -> Term:
    left, right = (translator.set(one, scope) for one in operands(node))
    compare(translator, left, right)
    return SetTerm(
        joined(left.element, right.element),
        lambda member: disjunction(left.contains(member), right.contains(member)),
        both_candidates(left, right),
        left.is_listed and right.is_listed,
        is_infinite=left.is_infinite or right.is_infinite,
        has_infinite=left.has_infinite or right.has_infinite,
        is_lazy=left.is_lazy or right.is_lazy,
    )


def _intersection(translator: Translator, node: Apply, scope: Scope) -> Term:
    left, right = (translator.set(one, scope) for one in operands(node))
    compare(translator, left, right)
    return SetTerm(
        joined(left.element, right.element),
        lambda member: conjunction(left.contains(member), right.contains(member)),
        right.candidates if left.candidates is None else left.candidates,
        is_infinite=left.is_infinite and right.is_infinite,
        has_infinite=left.has_infinite and right.has_infinite,
        is_lazy=left.is_lazy and right.is_lazy,
    )


def _difference(translator: Translator, node: Apply, scope: Scope) -> Term:
    left, right = (translator.set(one, scope) for one in operands(node))
    compare(translator, left, right)
    return SetTerm(
        left.element,
        lambda member: conjunction(left.contains(member), negation(right.contains(member))),
        left.candidates,
        is_infinite=left.is_infinite,
        has_infinite=left.has_infinite,
        is_lazy=left.is_lazy,
    )


def _subset(translator: Translator, node: Apply, scope: Scope) -> Term:
    left, right = (translator.set(one, scope) for one in operands(node))
    return boolean(translator.algebra.for_all(left, right.contains))


def _powerset(translator: Translator, node: Apply, scope: Scope) -> Term:
    whole = translator.set(operands(node)[0], scope)

    def contains(member: Term) -> z3.BoolRef:
        if not isinstance(member, SetTerm):
            raise Mismatch(f"{member.type} is no set")
        return translator.algebra.for_all(member, whole.contains)

    return SetTerm(
        SetType(whole.element),
        contains,
        is_infinite=whole.is_infinite,
        has_infinite=has_infinite(translator.algebra, whole),
        is_lazy=True,
    )


def _choose(translator: Translator, node: Apply, scope: Scope) -> Term:
    """Return an unspecified member that satisfies the condition of a CHOOSE.

    The same condition gives the same value; another CHOOSE may give another.
    """
    ranges = translator.ranges(node, scope)
    if len(ranges) != 1:
        raise Untranslatable("CHOOSE", "takes one name or tuple", node.place)
    ((bound, domain),) = ranges
    (condition,) = operands(node)
    algebra = translator.algebra

    def fits(member: Term) -> z3.BoolRef:
        inside = translator.bind(bound, member, scope, node.place)
        return conjunction(domain.contains(member), translator.formula(condition, inside))

    exists = algebra.exists(domain, fits)
    if algebra.sorts.has_bound_names(exists):
        raise Untranslatable("CHOOSE", "depends on a quantified name", node.place)
    translator.require(lambda: exists, node)
    return translator.choose(node, exists, domain.element, fits)


SET_RULES: dict[str, Rule] = {
    "Nat": _naturals,
    "..": _interval,
    "\\in": _member,
    "\\notin": _not_member,
    "$SetEnumerate": _enumeration,
    "$SubsetOf": _filter,
    "$SetOfAll": _image,
    # SANY calls \cup and \cap so, too.
    "\\union": _union,
    "\\intersect": _intersection,
    "\\": _difference,
    "\\subseteq": _subset,
    "SUBSET": _powerset,
    "$BoundedChoose": _choose,
}  # fmt: skip
