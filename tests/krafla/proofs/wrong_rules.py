"""For each rule of the translation a wrong one: what random modules must notice."""

from __future__ import annotations

from dataclasses import replace

import z3

from krafla.oracle.syntax import Apply
from krafla.proofs.logic import operands
from krafla.proofs.terms import (
    FunctionTerm,
    RecordTerm,
    SetTerm,
    TupleTerm,
    boolean,
    everything,
    integer,
    negation,
)
from krafla.proofs.theory import RULES
from krafla.proofs.types import BOOLEAN, TEXT


def _constant(value):
    return lambda _translator, _node, _scope: value


def _mirrored(operator):
    """Return the rule for the operator with its arguments in the other order."""

    def rule(translator, node, scope):
        return RULES[operator](translator, replace(node, arguments=node.arguments[::-1]), scope)

    return rule


def _of_part(operator, number):
    """Return the rule that takes the value of one argument alone."""
    del operator
    return lambda translator, node, scope: translator.term(operands(node)[number], scope)


def _denied(operator):
    def rule(translator, node, scope):
        return boolean(negation(RULES[operator](translator, node, scope).expression))

    return rule


def _without_last(operator):
    """Return the rule for the operator with its last argument left out."""

    def rule(translator, node, scope):
        arguments = node.arguments[:-1] if len(node.arguments) > 1 else node.arguments
        return RULES[operator](translator, replace(node, arguments=arguments), scope)

    return rule


def _branches_swapped(translator, node, scope):
    guard, left, right = node.arguments
    return RULES["$IfThenElse"](translator, replace(node, arguments=(guard, right, left)), scope)


def _arms_in_other_order(translator, node, scope):
    *arms, last = node.arguments
    return RULES["$Case"](translator, replace(node, arguments=(*arms[::-1], last)), scope)


def _default_of_case(translator, node, scope):
    last = node.arguments[-1]
    assert isinstance(last, Apply)
    return translator.term(last.arguments[1], scope)


def _half_open(translator, node, scope):
    found = RULES[".."](translator, node, scope)
    high = translator.number(node.arguments[1], scope)
    return SetTerm(
        found.element,
        lambda one: z3.And(found.contains(one), one.expression < high),
        None if found.candidates is None else found.candidates[:-1],
        found.is_listed,
    )


def _unfiltered(translator, node, scope):
    ((_, domain),) = translator.ranges(node, scope)
    return domain


def _domain_alone(translator, node, scope):
    ((bound, domain),) = translator.ranges(node, scope)
    del bound
    return domain


def _any_member(translator, node, scope):
    ((_, domain),) = translator.ranges(node, scope)
    return translator.choose(node, z3.BoolVal(True), domain.element, domain.contains)


def _shifted(translator, node, scope):
    """Return the function with a result that is one too large, if it is a number."""
    found = RULES["$FcnConstructor"](translator, node, scope)

    def apply(at):
        result = found.apply(at)
        is_number = z3.is_int(getattr(result, "expression", None))
        return integer(result.expression + 1) if is_number else result

    return FunctionTerm(found.domain, found.result, apply)


def _applied_once_more(translator, node, scope):
    found = RULES["$FcnApply"](translator, node, scope)
    is_number = z3.is_int(getattr(found, "expression", None))
    return integer(found.expression + 1) if is_number else found


def _any_functions(translator, node, scope):
    domain, image = (translator.set(one, scope) for one in operands(node))
    found = RULES["$SetOfFcns"](translator, node, scope)
    return SetTerm(
        found.element, lambda one: translator.algebra.equal(one.domain, domain), None, image is None
    )


def _no_records(translator, node, scope):
    found = RULES["$SetOfRcds"](translator, node, scope)
    return SetTerm(found.element, lambda _: z3.BoolVal(False))


def _first_field_changed(translator, node, scope):
    found = RULES["$RcdConstructor"](translator, node, scope)
    fields = dict(found.fields)
    for name, value in fields.items():
        if z3.is_int(getattr(value, "expression", None)):
            fields[name] = integer(value.expression + 1)
    return RecordTerm(fields)


def _other_text(translator, node, scope):
    found = RULES["$RcdSelect"](translator, node, scope)
    if z3.is_int(getattr(found, "expression", None)):
        return integer(found.expression + 1)
    if getattr(found, "type", None) == TEXT:
        red, green = (translator.algebra.sorts.literal(one) for one in ("red", "green"))
        return replace(found, expression=z3.If(found.expression == red, green, red))
    return found


def _turned(translator, node, scope):
    found = RULES["$Tuple"](translator, node, scope)
    if not isinstance(found, TupleTerm):
        return found
    first, *rest = found.elements
    if z3.is_int(getattr(rest[-1] if rest else first, "expression", None)):
        return TupleTerm((first, *rest[:-1], integer(rest[-1].expression + 1))) if rest else found
    return found


def _forgotten(translator, node, scope):
    return translator.term(node.arguments[0], scope)


def _everywhere(translator, node, scope):
    found = RULES[":>"](translator, node, scope)
    return FunctionTerm(found.domain, found.result, lambda _: _one_more(found.apply(_)))


def _one_more(value):
    is_number = z3.is_int(getattr(value, "expression", None))
    return integer(value.expression + 1) if is_number else value


def _empty_domain(translator, node, scope):
    found = RULES["DOMAIN"](translator, node, scope)
    return SetTerm(found.element, lambda _: z3.BoolVal(False), ())


def _any_set(translator, node, scope):
    found = RULES["SUBSET"](translator, node, scope)
    return SetTerm(found.element, lambda _: z3.BoolVal(True))


def _nothing_kept(_translator, _node, _scope):
    return boolean(True)


# $SquareAct is no part of an invariant: test_proofs_translation has it.
WRONG_RULES = {
    "TRUE": _constant(boolean(False)),
    "FALSE": _constant(boolean(True)),
    "BOOLEAN": _constant(everything(BOOLEAN, (boolean(True),))),
    "STRING": _constant(SetTerm(TEXT, lambda _: z3.BoolVal(False))),
    "Int": RULES["Nat"],
    "$ConjList": RULES["$DisjList"],
    "\\land": RULES["\\lor"],
    "$DisjList": RULES["$ConjList"],
    "\\lor": RULES["\\land"],
    "\\lnot": _of_part("\\lnot", 0),
    "=>": _mirrored("=>"),
    "\\equiv": _denied("\\equiv"),
    "$IfThenElse": _branches_swapped,
    "$Case": _default_of_case,
    "=": _denied("="),
    "/=": _denied("/="),
    "<": RULES["\\leq"],
    ">": RULES["<"],
    "\\leq": RULES["<"],
    "\\geq": RULES[">"],
    "+": RULES["-"],
    "-": RULES["+"],
    "*": RULES["+"],
    "-.": _of_part("-.", 0),
    "$BoundedForall": RULES["$BoundedExists"],
    "$BoundedExists": RULES["$BoundedForall"],
    "'": _of_part("'", 0),
    "UNCHANGED": _nothing_kept,
    "Nat": RULES["Int"],
    "..": _half_open,
    "\\in": _denied("\\in"),
    "\\notin": _denied("\\notin"),
    "$SetEnumerate": _without_last("$SetEnumerate"),
    "$SubsetOf": _unfiltered,
    "$SetOfAll": _domain_alone,
    "\\union": RULES["\\intersect"],
    "\\intersect": RULES["\\union"],
    "\\": _of_part("\\", 0),
    "\\subseteq": _mirrored("\\subseteq"),
    "SUBSET": _any_set,
    "$BoundedChoose": _any_member,
    "DOMAIN": _empty_domain,
    "$FcnConstructor": _shifted,
    "$FcnApply": _applied_once_more,
    "$SetOfFcns": _any_functions,
    "$SetOfRcds": _no_records,
    "$RcdConstructor": _first_field_changed,
    "$RcdSelect": _other_text,
    "$Tuple": _turned,
    "$Except": _forgotten,
    ":>": _everywhere,
    "@@": _of_part("@@", 1),
}
# Further mistakes in rules that have one above: the first true arm of a CASE counts, and the left
# side of @@.
MORE_WRONG_RULES = [("$Case", _arms_in_other_order), ("@@", _mirrored("@@"))]
