"""Rules for logic, numbers, IF and CASE, quantifiers, and steps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import z3  # type: ignore[import-untyped]  # z3 ships no types

from krafla.oracle.syntax import Apply, Bound, Node
from krafla.proofs.errors import Untranslatable
from krafla.proofs.infinite import has_infinite
from krafla.proofs.terms import (
    Scalar,
    SetTerm,
    Term,
    boolean,
    conjunction,
    disjunction,
    everything,
    implication,
    integer,
    negation,
)
from krafla.proofs.types import BOOLEAN, INTEGER, TEXT

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.proofs.translate import Rule, Scope, Translator

__all__ = ["LOGIC_RULES", "operands"]


def operands(node: Apply) -> tuple[Node, ...]:
    """Return the arguments of a node, none of which may be empty."""
    return tuple(argument for argument in node.arguments if argument is not None)


def _and(translator: Translator, node: Apply, scope: Scope) -> Term:
    return boolean(_conjunction(translator, list(operands(node)), scope))


def _conjunction(translator: Translator, nodes: list[Node], scope: Scope) -> z3.BoolRef:
    """Return a conjunction; each part may rely on the parts before it."""
    if not nodes:
        return z3.BoolVal(True)
    first = translator.formula(nodes[0], scope)
    if z3.is_false(first):
        return first
    with translator.assuming(lambda: first):
        return conjunction(first, _conjunction(translator, nodes[1:], scope))


def _or(translator: Translator, node: Apply, scope: Scope) -> Term:
    if id(node) in translator.branching:
        return boolean(disjunction(*(translator.formula(one, scope) for one in operands(node))))
    return boolean(_disjunction(translator, list(operands(node)), scope))


def _disjunction(translator: Translator, nodes: list[Node], scope: Scope) -> z3.BoolRef:
    if not nodes:
        return z3.BoolVal(False)
    first = translator.formula(nodes[0], scope)
    if z3.is_true(first):
        return first
    with translator.assuming(lambda: negation(first)):
        return disjunction(first, _disjunction(translator, nodes[1:], scope))


def _not(translator: Translator, node: Apply, scope: Scope) -> Term:
    return boolean(negation(translator.formula(operands(node)[0], scope)))


def _implies(translator: Translator, node: Apply, scope: Scope) -> Term:
    left, right = operands(node)
    premise = translator.formula(left, scope)
    with translator.assuming(lambda: premise):
        return boolean(implication(premise, translator.formula(right, scope)))


def _equivalent(translator: Translator, node: Apply, scope: Scope) -> Term:
    left, right = (translator.formula(one, scope) for one in operands(node))
    return boolean(left == right)


def _if(translator: Translator, node: Apply, scope: Scope) -> Term:
    guard, left, right = operands(node)
    condition = translator.formula(guard, scope)
    if z3.is_true(condition) or z3.is_false(condition):
        return translator.term(left if z3.is_true(condition) else right, scope)
    with translator.assuming(lambda: condition):
        chosen = translator.term(left, scope)
    with translator.assuming(lambda: negation(condition)):
        other = translator.term(right, scope)
    return translator.algebra.choice(condition, chosen, other)


def _case(translator: Translator, node: Apply, scope: Scope) -> Term:
    arms = [arm.arguments for arm in operands(node) if isinstance(arm, Apply)]
    if not arms or arms[-1][0] is not None:
        raise Untranslatable("CASE", "without OTHER it may have no value", node.place)
    return _arms(translator, arms, scope)


def _arms(
    translator: Translator, arms: list[tuple[Node | None, ...]], scope: Scope
) -> Term:  # fmt: skip
    """Return the value of the first arm whose guard is true, as TLC does."""
    guard, value = arms[0]
    assert value is not None
    if guard is None:
        return translator.term(value, scope)
    condition = translator.formula(guard, scope)
    with translator.assuming(lambda: condition):
        chosen = translator.term(value, scope)
    with translator.assuming(lambda: negation(condition)):
        other = _arms(translator, arms[1:], scope)
    return translator.algebra.choice(condition, chosen, other)


def _equal(translator: Translator, node: Apply, scope: Scope) -> Term:
    counted = _counted(translator, node, scope)
    if counted is not None:
        return counted
    left, right = (translator.term(one, scope) for one in operands(node))
    return boolean(translator.algebra.equal(left, right))


def _different(translator: Translator, node: Apply, scope: Scope) -> Term:
    same = _equal(translator, node, scope)
    assert isinstance(same, Scalar)
    return boolean(negation(same.expression))


# The largest number that Cardinality is compared with: each step adds a bound name.
_MOST_COUNTED = 4
_MIRRORED = {"=": "=", "/=": "/=", "<": ">", ">": "<", "\\leq": "\\geq", "\\geq": "\\leq"}


def _counted(translator: Translator, node: Apply, scope: Scope) -> Term | None:
    """Return ``Cardinality(S) <= n`` and the like, for a literal n; ``None`` for anything else."""
    left, right = operands(node)
    operator = node.operator
    if isinstance(right, Apply) and right.operator == "Cardinality":
        left, right, operator = right, left, _MIRRORED[operator]
    if not (isinstance(left, Apply) and left.operator == "Cardinality"):
        return None
    limit = z3.simplify(translator.number(right, scope))
    if not z3.is_int_value(limit) or limit.as_long() > _MOST_COUNTED:
        raise Untranslatable(
            "Cardinality", f"is compared with numbers up to {_MOST_COUNTED} only", node.place
        )
    count = limit.as_long()
    members = translator.set(operands(left)[0], scope)
    if has_infinite(translator.algebra, members):
        raise Untranslatable("Cardinality", "of what may be an infinite set", node.place)

    def at_least(number: int) -> z3.BoolRef:
        return _has_members(translator, members, number, ())

    if operator in ("=", "/="):
        equal = conjunction(at_least(count), negation(at_least(count + 1)))
        # The caller negates it for ``/=``.
        return boolean(equal)
    found = {
        "\\leq": lambda: negation(at_least(count + 1)),
        "<": lambda: negation(at_least(count)),
        "\\geq": lambda: at_least(count),
        ">": lambda: at_least(count + 1),
    }
    return boolean(found[operator]())


def _has_members(
    translator: Translator, members: SetTerm, number: int, known: tuple[Term, ...]
) -> z3.BoolRef:
    """Return the formula that a set has at least ``number`` members besides the known ones."""
    if number <= 0:
        return z3.BoolVal(True)
    equal = translator.algebra.equal
    return translator.algebra.exists(
        members,
        lambda member: conjunction(
            *(negation(equal(member, other)) for other in known),
            _has_members(translator, members, number - 1, (*known, member)),
        ),
    )


def _comparison(
    compare: Callable[[z3.ArithRef, z3.ArithRef], z3.BoolRef],
) -> Rule:
    def rule(translator: Translator, node: Apply, scope: Scope) -> Term:
        counted = _counted(translator, node, scope)
        if counted is not None:
            return counted
        left, right = (translator.number(one, scope) for one in operands(node))
        return boolean(compare(left, right))

    return rule


def _arithmetic(compute: Callable[[z3.ArithRef, z3.ArithRef], z3.ArithRef]) -> Rule:
    def rule(translator: Translator, node: Apply, scope: Scope) -> Term:
        left, right = (translator.number(one, scope) for one in operands(node))
        return integer(compute(left, right))

    return rule


def _minus(translator: Translator, node: Apply, scope: Scope) -> Term:
    number = translator.number(operands(node)[0], scope)
    return integer(z3.simplify(-number))


def _quantifier(is_universal: bool) -> Rule:
    def rule(translator: Translator, node: Apply, scope: Scope) -> Term:
        algebra = translator.algebra
        bind_all = algebra.for_all if is_universal else algebra.exists
        (body,) = operands(node)

        def over(ranges: list[tuple[Bound, SetTerm]], inner: Scope) -> z3.BoolRef:
            if not ranges:
                return translator.formula(body, inner)
            bound, domain = ranges[0]
            return bind_all(
                domain,
                translator.inside(
                    domain,
                    lambda member: over(
                        ranges[1:], translator.bind(bound, member, inner, node.place)
                    ),
                ),
                bound.symbols[0].name,
            )

        return boolean(over(translator.ranges(node, scope), scope))

    return rule


def _prime(translator: Translator, node: Apply, scope: Scope) -> Term:
    if scope.is_primed:
        raise Untranslatable("'", "is applied twice", node.place)
    return translator.term(operands(node)[0], replace(scope, is_primed=True))


def _unchanged(translator: Translator, node: Apply, scope: Scope) -> Term:
    (what,) = operands(node)
    return boolean(_stays(translator, what, scope))


def _stays(translator: Translator, node: Node, scope: Scope) -> z3.BoolRef:
    after = translator.term(node, replace(scope, is_primed=True))
    return translator.algebra.equal(after, translator.term(node, scope))


def _square_action(translator: Translator, node: Apply, scope: Scope) -> Term:
    action, subscript = operands(node)
    return boolean(
        disjunction(translator.formula(action, scope), _stays(translator, subscript, scope))
    )


def _constant(value: Term) -> Rule:
    return lambda _translator, _node, _scope: value


LOGIC_RULES: dict[str, Rule] = {
    "TRUE": _constant(boolean(True)),
    "FALSE": _constant(boolean(False)),
    "BOOLEAN": _constant(everything(BOOLEAN, (boolean(False), boolean(True)))),
    "STRING": _constant(everything(TEXT)),
    "Int": _constant(everything(INTEGER)),
    "$ConjList": _and, "\\land": _and,
    "$DisjList": _or, "\\lor": _or,
    "\\lnot": _not,
    "=>": _implies,
    "\\equiv": _equivalent,
    "$IfThenElse": _if,
    "$Case": _case,
    "=": _equal,
    "/=": _different,
    "<": _comparison(lambda a, b: a < b),
    ">": _comparison(lambda a, b: a > b),
    "\\leq": _comparison(lambda a, b: a <= b),
    "\\geq": _comparison(lambda a, b: a >= b),
    "+": _arithmetic(lambda a, b: a + b),
    "-": _arithmetic(lambda a, b: a - b),
    "*": _arithmetic(lambda a, b: a * b),
    "-.": _minus,
    "$BoundedForall": _quantifier(True),
    "$BoundedExists": _quantifier(False),
    "'": _prime,
    "UNCHANGED": _unchanged,
    "$SquareAct": _square_action,
}  # fmt: skip
