"""Rules for functions, records and tuples."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import z3  # type: ignore[import-untyped]  # z3 ships no types

from krafla.oracle.syntax import Apply, Node, String
from krafla.proofs.algebra import both_candidates
from krafla.proofs.errors import Untranslatable
from krafla.proofs.infinite import has_infinite
from krafla.proofs.logic import operands
from krafla.proofs.sets import compare, number
from krafla.proofs.terms import (
    NO_FUNCTION,
    AtomTerm,
    FunctionTerm,
    RecordTerm,
    Scalar,
    SetTerm,
    Term,
    TupleTerm,
    conjunction,
    disjunction,
)
from krafla.proofs.types import (
    INTEGER,
    NOTHING,
    AtomType,
    FunctionType,
    Mismatch,
    RecordType,
    Type,
    UnionType,
    joined,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from krafla.oracle.sources import Place
    from krafla.proofs.translate import Rule, Scope, Translator

__all__ = ["FUNCTION_RULES"]


def _domain(translator: Translator, node: Apply, scope: Scope) -> Term:
    return translator.function(operands(node)[0], scope).domain


def _function(translator: Translator, node: Apply, scope: Scope) -> Term:
    ranges = translator.ranges(node, scope)
    if len(ranges) != 1:
        raise Untranslatable("[x \\in S |-> e]", "takes one name or tuple", node.place)
    ((bound, domain),) = ranges
    (expression,) = operands(node)

    def apply(argument: Term) -> Term:
        inside = translator.bind(bound, argument, scope, node.place)
        with translator.assuming(lambda: domain.contains(argument)):
            return translator.term(expression, inside)

    if domain.candidates == ():
        return NO_FUNCTION
    samples = domain.candidates or [translator.algebra.sorts.bound(domain.element, "sample")[0]]
    result: Type = NOTHING
    for sample in samples:
        result = joined(result, apply(sample).type)
    return FunctionTerm(domain, result, apply)


def _application(translator: Translator, node: Apply, scope: Scope) -> Term:
    applied, argument = operands(node)
    function = translator.term(applied, scope)
    at = translator.term(argument, scope)
    if isinstance(function, TupleTerm):
        index = z3.simplify(number(at))
        if not z3.is_int_value(index) or not 1 <= index.as_long() <= len(function.elements):
            raise Untranslatable("t[n]", "an element of a tuple is taken by a literal", node.place)
        return function.elements[int(index.as_long()) - 1]
    if not isinstance(function, FunctionTerm):
        raise Untranslatable("f[x]", f"{function.type} is no function", node.place)
    translator.require(lambda: function.domain.contains(at), node)
    return function.apply(at)


def _functions(translator: Translator, node: Apply, scope: Scope) -> Term:
    domain, image = (translator.set(one, scope) for one in operands(node))
    algebra = translator.algebra

    def contains(member: Term) -> z3.BoolRef:
        if not isinstance(member, FunctionTerm):
            raise Mismatch(f"{member.type} is no function")
        return conjunction(
            algebra.equal(member.domain, domain),
            algebra.for_all(domain, lambda at: image.contains(member.apply(at))),
        )

    type_ = FunctionType(domain.element, image.element, domain.is_everything)
    return SetTerm(
        type_,
        contains,
        is_infinite=domain.is_infinite or image.is_infinite,
        # Each is a function over the whole domain.
        has_infinite=has_infinite(algebra, domain) or image.has_infinite,
        is_lazy=True,
    )


def _records(translator: Translator, node: Apply, scope: Scope) -> Term:
    fields = {name: translator.set(value, scope) for name, value in _fields(node)}
    element = RecordType(tuple((name, fields[name].element) for name in sorted(fields)))
    algebra = translator.algebra

    def fits(record: RecordTerm) -> z3.BoolRef:
        if sorted(record.fields) != sorted(fields):
            joined(record.type, element)
            # Of as many fields TLC asks one by one, up to the first name that differs.
            if len(record.fields) == len(fields):
                for name in sorted(record.fields.keys() & fields):
                    fields[name].contains(record.fields[name])
            return z3.BoolVal(False)
        return conjunction(*(fields[name].contains(record.fields[name]) for name in sorted(fields)))

    def contains(member: Term) -> z3.BoolRef:
        if isinstance(member, AtomTerm):
            algebra.sorts.apart.check((AtomType(member.constant), element))
            some, _ = algebra.sorts.bound(element, "record")
            assert isinstance(some, Scalar)
            algebra.meet_shapes(some, fits, member.type)
            return z3.BoolVal(False)
        if isinstance(member, RecordTerm):
            return fits(member)
        if not isinstance(member, Scalar) or not isinstance(member.type, RecordType | UnionType):
            raise Mismatch(f"{member.type} is no record")
        joined(member.type, element)
        algebra.meet_shapes(member, fits, member.type)
        cases = []
        for shape in algebra.sorts.shapes(member.type):
            opened = algebra.opened(member, shape)
            if isinstance(opened, RecordTerm):
                is_shape = algebra.is_shape(member, shape)
                with translator.assuming(partial(conjunction, is_shape)):
                    cases.append(conjunction(is_shape, fits(opened)))
        return disjunction(*cases)

    return SetTerm(
        element,
        contains,
        is_infinite=any(one.is_infinite for one in fields.values()),
        has_infinite=any(one.has_infinite for one in fields.values()),
    )


def _fields(node: Apply) -> list[tuple[str, Node]]:
    found = []
    for pair in operands(node):
        assert isinstance(pair, Apply)
        name, value = operands(pair)
        assert isinstance(name, String)
        found.append((name.value, value))
    return found


def _record(translator: Translator, node: Apply, scope: Scope) -> Term:
    return RecordTerm({name: translator.term(value, scope) for name, value in _fields(node)})


def _select(translator: Translator, node: Apply, scope: Scope) -> Term:
    record, name = operands(node)
    assert isinstance(name, String)
    value = translator.term(record, scope)
    algebra = translator.algebra
    translator.require(lambda: algebra.has_field(value, name.value), node)
    return algebra.field(value, name.value)


def _tuple(translator: Translator, node: Apply, scope: Scope) -> Term:
    elements = tuple(translator.term(one, scope) for one in operands(node))
    return TupleTerm(elements) if elements else NO_FUNCTION


def _single(translator: Translator, node: Apply, scope: Scope) -> Term:
    argument, value = (translator.term(one, scope) for one in operands(node))
    equal = translator.algebra.equal
    domain = SetTerm(
        argument.type,
        lambda one: equal(one, argument),
        (argument,),
        is_listed=True,
        has_infinite=has_infinite(translator.algebra, argument),
    )
    return FunctionTerm(domain, value.type, lambda _: value)


def _merged(translator: Translator, node: Apply, scope: Scope) -> Term:
    left, right = (translator.function(one, scope) for one in operands(node))
    compare(translator, left.domain, right.domain)

    def contains(member: Term) -> z3.BoolRef:
        return disjunction(left.domain.contains(member), right.domain.contains(member))

    return FunctionTerm(
        SetTerm(
            joined(left.domain.element, right.domain.element),
            contains,
            both_candidates(left.domain, right.domain),
            is_infinite=left.domain.is_infinite or right.domain.is_infinite,
            has_infinite=left.domain.has_infinite or right.domain.has_infinite,
        ),
        joined(left.result, right.result),
        lambda at: translator.algebra.choice(
            left.domain.contains(at), left.apply(at), right.apply(at)
        ),
    )


def _except(translator: Translator, node: Apply, scope: Scope) -> Term:
    changed, *changes = operands(node)
    result = translator.term(changed, scope)
    for change in changes:
        assert isinstance(change, Apply)
        path, value = operands(change)
        assert isinstance(path, Apply)
        # TLC evaluates every index first, also those after one that is outside of its domain.
        indexes = [(one, translator.term(one, scope)) for one in operands(path)]

        def new(old: Term, value: Node = value, component: Place = change.place) -> Term:
            return translator.term(value, scope.replacing(component, old))

        result = _changed(translator, node, result, indexes, new)
    return result


def _changed(
    translator: Translator, node: Apply, old: Term, path: Sequence[tuple[Node, Term]],
    new: Callable[[Term], Term],
) -> Term:  # fmt: skip
    """Return a value with the part at the end of a path replaced."""
    if not path:
        return new(old)
    algebra = translator.algebra
    (name, at), *rest = path

    def inner(part: Term) -> Term:
        return _changed(translator, node, part, rest, new)

    if isinstance(old, FunctionTerm):
        # Outside of the domain nothing is replaced, and TLC does not evaluate the new value.
        with translator.repeating():
            inside = old.domain.contains(at)
        if at.type != INTEGER and not translator.is_required(inside):
            # TLC's << >> is a tuple, which takes no other index than a number.
            translator.require(lambda: algebra.exists(old.domain, lambda _: z3.BoolVal(True)), node)
        with translator.assuming(lambda: inside):
            replaced = inner(old.apply(at))
        return FunctionTerm(
            old.domain,
            joined(old.result, replaced.type),
            lambda one: algebra.choice(algebra.equal(one, at), replaced, old.apply(one)),
        )
    if isinstance(name, String):
        translator.require(lambda: algebra.has_field(old, name.value), node)
        return algebra.with_field(old, name.value, inner)
    raise Untranslatable("EXCEPT", f"{old.type} is no function", node.place)


FUNCTION_RULES: dict[str, Rule] = {
    "DOMAIN": _domain,
    "$FcnConstructor": _function,
    "$FcnApply": _application,
    "$SetOfFcns": _functions,
    "$SetOfRcds": _records,
    "$RcdConstructor": _record,
    "$RcdSelect": _select,
    "$Tuple": _tuple,
    "$Except": _except,
    ":>": _single,
    "@@": _merged,
}  # fmt: skip
