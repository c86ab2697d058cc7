"""What Spec says: that behaviours begin in Init, and that every step is one of Next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.oracle.syntax import Apply, Call, Name, children
from krafla.proofs.errors import Untranslatable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.oracle.syntax import Definition, Module, Node

__all__ = ["INIT", "NEXT", "SPEC", "next_relation", "step_formula"]

SPEC, INIT, NEXT = "Spec", "Init", "Next"
_FAIRNESS = frozenset({"$WF", "$SF"})
_TEMPORAL = _FAIRNESS | {"[]", "<>", "~>", "$SquareAct", "$AngleAct", "\\AA", "\\EE", "-+->"}


def next_relation(module: Module) -> Definition:
    r"""Return Next of a module, if its Spec, where it has one, is about Init and Next.

    ``Untranslatable`` if Spec is not ``Init /\ [][Next]_v`` with fairness at most, or if a variable
    is not in v: then a step may change it in a way that Next does not allow.
    """
    found = module.operator(NEXT)
    if SPEC in module.operators:
        _check(module, module.operator(SPEC), found)
    return found


def step_formula(body: Node) -> Node:
    """Return ``[A]_v`` of ``[][A]_v``, and an operator over two states as it is.

    ``Untranslatable`` if the formula is ``[]P``, which is about more states than a step has.
    """
    if not (isinstance(body, Apply) and body.operator == "[]"):
        return body
    (inner,) = body.arguments
    if not (isinstance(inner, Apply) and inner.operator == "$SquareAct"):
        raise Untranslatable("[]", "is read as [][A]_v; name P of []P in implies", body.place)
    return inner


def _check(module: Module, spec: Definition, wanted: Definition) -> None:
    starts, steps = 0, 0
    for part in _parts(spec.body):
        if isinstance(part, Call) and part.definition is module.operators.get(INIT):
            starts += 1
        elif isinstance(part, Apply) and part.operator == "[]":
            steps += 1
            _check_steps(module, part, wanted)
        elif not _is_fairness(part):
            raise Untranslatable(
                SPEC, f"is read as {INIT} /\\ [][{NEXT}]_v with fairness, and this is neither",
                part.place,
            )  # fmt: skip
    if (starts, steps) != (1, 1):
        raise Untranslatable(SPEC, f"must name {INIT} and [][{NEXT}]_v once each", spec.place)


def _check_steps(module: Module, box: Apply, wanted: Definition) -> None:
    (square,) = box.arguments
    if not (isinstance(square, Apply) and square.operator == "$SquareAct"):
        raise Untranslatable(SPEC, f"is read with the steps [][{NEXT}]_v only", box.place)
    steps, subscript = square.arguments
    if not (isinstance(steps, Call) and steps.definition is wanted):
        raise Untranslatable(
            SPEC, f"takes other steps than those of {NEXT}: a proof would not be about them",
            square.place,
        )  # fmt: skip
    named = set(_variables(subscript))
    for symbol in module.variables:
        if symbol.key not in named:
            raise Untranslatable(
                SPEC, f"lets a step change {symbol.name} as it likes: the subscript lacks it",
                square.place,
            )  # fmt: skip


def _parts(node: Node) -> Iterator[Node]:
    """Yield the conjuncts of a temporal formula, through the operators that have several."""
    if isinstance(node, Apply) and node.operator in ("$ConjList", "\\land"):
        for part in node.arguments:
            if part is not None:
                yield from _parts(part)
    elif isinstance(node, Call) and not node.arguments and _mentions(node, _TEMPORAL):
        yield from _parts(node.definition.body)
    else:
        yield node


def _is_fairness(node: Node) -> bool:
    r"""Return whether a conjunct asks for fairness only: it then forbids no step."""
    if not isinstance(node, Apply):
        return False
    if node.operator in _FAIRNESS:
        return True
    is_list = node.operator in ("$ConjList", "\\land", "$BoundedForall")
    parts = [part for part in node.arguments if part is not None]
    return is_list and all(
        _is_fairness(part.definition.body if isinstance(part, Call) else part) for part in parts
    )


def _variables(node: Node | None) -> Iterator[int]:
    """Yield the keys of the variables of a tuple of variables, through definitions."""
    if isinstance(node, Name) and node.symbol.kind == "variable":
        yield node.symbol.key
    elif isinstance(node, Call) and not node.arguments:
        yield from _variables(node.definition.body)
    elif isinstance(node, Apply) and node.operator == "$Tuple":
        for part in node.arguments:
            yield from _variables(part)


def _mentions(node: Node, operators: frozenset[str]) -> bool:
    seen: set[int] = set()
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, Apply) and one.operator in operators:
            return True
        waiting += children(one)
        if isinstance(one, Call):
            waiting.append(one.definition.body)
    return False
