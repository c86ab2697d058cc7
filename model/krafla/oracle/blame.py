"""Finding the conjunct that makes a formula false, by walking SANY's tree beside TLC.

TLC is asked about ever smaller parts of the formula. For an action, conjuncts are taken in
their order and each one that can hold fixes primed variables for the next, as TLC does itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from krafla.oracle.jvm import java_error
from krafla.oracle.nodes import NodeKind, Opcode, substituted
from krafla.oracle.parts import parts
from krafla.values import Value, fmt, sort_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.oracle.sources import Place
    from krafla.oracle.spec import Spec

__all__ = ["Blame", "Reason"]

_SHOWN_ALTERNATIVES = 3
# A quantifier may range over all functions between two sets; a reader needs only a few refusals.
_TRIED_CHOICES = 500
_SHOWN_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Reason:
    """One formula that is false: where it stands, its text, and the values of its parts.

    ``note`` says in which way it fails. ``via`` is the chain of operators and conditions that
    led to it, outermost first; ``alternatives`` explains each branch of a disjunction.
    """

    place: Place
    text: str
    note: str
    values: tuple[tuple[str, Value], ...] = ()
    via: tuple[str, ...] = ()
    alternatives: tuple[Reason, ...] = ()

    def __str__(self) -> str:
        lines = list(self.via)
        head, *rest = self.text.splitlines() or [""]
        lines.append(f"{self.place}: {head}")
        lines += [f"    {line}" for line in rest]
        lines.append(f"    {self.note}")
        lines += [f"    {name} = {_cut(fmt(value))}" for name, value in self.values]
        for alternative in self.alternatives:
            lines += [f"  {line}" for line in str(alternative).splitlines()]
        return "\n".join(lines)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[: _SHOWN_CHARACTERS - 3]}..."


class Blame:
    """The walk for one state, or one step when ``after`` is given.

    Without ``after`` the formula is an action that is not enabled, and the successor is built
    up on the way; with it, primed variables have the values of ``after``.
    """

    def __init__(self, spec: Spec, before: Any, after: Any | None = None) -> None:
        self._spec = spec
        self._tool = spec.tool
        self._tree = spec.tree
        self._before = before
        self._is_step_fixed = after is not None
        self._after = after if after is not None else spec.classes("tlc2.tool.TLCStateFun").Empty

    def of(self, node: Any, context: Any) -> tuple[Reason, ...]:
        """Return the reasons for which a formula does not hold."""
        kind = int(node.getKind())
        if kind in (NodeKind.LET, NodeKind.LABEL):
            return self.of(node.getBody(), context)
        if kind in (NodeKind.SUBSTITUTION, NodeKind.THEOREM_SUBSTITUTION):
            return self.of(node.getBody(), substituted(self._tool, node, context))
        if kind != NodeKind.APPLICATION:
            return (self._leaf(node, context),)
        opcode = self._tree.opcode(node, context)
        walk = {
            Opcode.CONJUNCTION_LIST: self._of_conjunction,
            Opcode.AND: self._of_conjunction,
            Opcode.DISJUNCTION_LIST: self._of_disjunction,
            Opcode.OR: self._of_disjunction,
            Opcode.EXISTS: self._of_exists,
            Opcode.FOR_ALL: self._of_for_all,
            Opcode.IF: self._of_if,
            Opcode.CASE: self._of_case,
            Opcode.IMPLIES: self._of_implication,
            Opcode.NOT: self._of_negation,
            Opcode.SQUARE_ACTION: self._of_first,
            Opcode.BOX: self._of_first,
            Opcode.USER: self._of_operator,
        }.get(opcode, self._of_leaf)
        return walk(node, context)

    def holds(self, node: Any, context: Any) -> bool | str:
        """Return whether a formula holds, or TLC's complaint when it cannot be evaluated.

        Where it holds for an unfinished successor, the successor keeps the values that it fixed.
        """
        try:
            if not self._is_step_fixed:
                extended = self._tool.enabled(node, context, self._before, self._after)
                if extended is None:
                    return False
                self._after = extended
                return True
            value = self._tool.eval(node, context, self._before, self._after, 0)
            return bool(value.val)
        except java_error() as error:
            return " ".join(str(error.getMessage() or error).split())

    def _of_conjunction(self, node: Any, context: Any) -> tuple[Reason, ...]:
        for conjunct in node.getArgs():
            start = self._after
            if self.holds(conjunct, context) is not True:
                self._after = start
                return self.of(conjunct, context)
        return (self._leaf(node, context, "no choice satisfies all of these together"),)

    def _of_disjunction(self, node: Any, context: Any) -> tuple[Reason, ...]:
        start = self._after
        found: list[Reason] = []
        for disjunct in node.getArgs():
            self._after = start
            found += self.of(disjunct, context)
        self._after = start
        note = f"none of the {len(node.getArgs())} alternatives holds"
        return (replace(self._leaf(node, context, note), alternatives=tuple(found)),)

    def _of_exists(self, node: Any, context: Any) -> tuple[Reason, ...]:
        contexts = list(islice(self._contexts(node, context), _TRIED_CHOICES))
        if len(contexts) == 1:
            return self._of_choice(node, contexts[0])
        if not contexts:
            return (self._leaf(node, context, "there is nothing to choose from"),)
        start = self._after
        found: list[tuple[Place, Reason]] = []
        for bound in contexts:
            self._after = start
            found += [(reason.place, reason) for reason in self._of_choice(node, bound)]
        self._after = start
        # The choice that got furthest down the formula is the one most likely meant.
        found.sort(key=lambda entry: (entry[0].line, entry[0].column), reverse=True)
        several = "" if len(contexts) < _TRIED_CHOICES else "first "
        note = f"none of the {several}{len(contexts)} choices fits"
        nearest = tuple(reason for _, reason in found[:_SHOWN_ALTERNATIVES])
        return (replace(self._leaf(node, context, note), alternatives=nearest),)

    def _of_for_all(self, node: Any, context: Any) -> tuple[Reason, ...]:
        body = node.getArgs()[0]
        for bound in self._contexts(node, context):
            start = self._after
            if self.holds(body, bound) is not True:
                self._after = start
                return self._of_choice(node, bound)
        return (self._leaf(node, context),)

    def _of_choice(self, node: Any, bound: Any) -> tuple[Reason, ...]:
        """Return why a quantifier's body is false of one choice, which leads the values."""
        witness = self._witness(node, bound)
        return tuple(
            replace(reason, values=_merged(witness, reason.values))
            for reason in self.of(node.getArgs()[0], bound)
        )

    def _of_if(self, node: Any, context: Any) -> tuple[Reason, ...]:
        condition, then, otherwise = node.getArgs()
        chosen = self.holds(condition, context)
        if isinstance(chosen, str):
            return self.of(condition, context)
        step = f"IF {self._line(condition)} is {'TRUE' if chosen else 'FALSE'}"
        return self._through(step, condition, self.of(then if chosen else otherwise, context))

    def _of_case(self, node: Any, context: Any) -> tuple[Reason, ...]:
        for arm in node.getArgs():
            condition, result = arm.getArgs()
            if condition is None:
                return self._through("CASE OTHER", node, self.of(result, context))
            if self.holds(condition, context) is True:
                step = f"CASE {self._line(condition)}"
                return self._through(step, condition, self.of(result, context))
        return (self._leaf(node, context, "no case applies"),)

    def _of_implication(self, node: Any, context: Any) -> tuple[Reason, ...]:
        premise, conclusion = node.getArgs()
        step = f"{self._line(premise)} is TRUE"
        return self._through(step, premise, self.of(conclusion, context))

    def _of_negation(self, node: Any, context: Any) -> tuple[Reason, ...]:
        inner = self._tree.strip(node.getArgs()[0])
        if not (
            self._tree.is_application(inner) and self._tree.opcode(inner, context) == Opcode.EXISTS
        ):
            return (self._leaf(node, context),)
        for bound in self._contexts(inner, context):
            if self.holds(inner.getArgs()[0], bound) is True:
                witness = self._witness(inner, bound)
                leaf = self._leaf(node, context)
                return (replace(leaf, values=_merged(witness, leaf.values)),)
        return (self._leaf(node, context),)

    def _of_first(self, node: Any, context: Any) -> tuple[Reason, ...]:
        return self.of(node.getArgs()[0], context)

    def _of_operator(self, node: Any, context: Any) -> tuple[Reason, ...]:
        definition = self._tree.definition(node, context)
        if definition is None or definition.getBody() is None:
            return (self._leaf(node, context),)
        inside = self._tool.getOpContext(definition, node.getArgs(), context, False)
        body = definition.getBody()
        return self._through(self._line(node), node, self.of(body, inside))

    def _of_leaf(self, node: Any, context: Any) -> tuple[Reason, ...]:
        return (self._leaf(node, context),)

    def _leaf(self, node: Any, context: Any, note: str | None = None) -> Reason:
        place = self._spec.sources.place(node)
        if note is None:
            outcome = self.holds(node, context)
            note = outcome if isinstance(outcome, str) else "is false"
        found: list[tuple[str, Value]] = []
        for part in parts(self._tree, node, context):
            value = self._value(part, context)
            name = self._line(part)
            if value is not None and name and all(name != known for known, _ in found):
                found.append((name, value))
        return Reason(place, self._spec.sources.text(place), note, tuple(found))

    def _value(self, node: Any, context: Any) -> Value | None:
        try:
            java = self._tool.eval(node, context, self._before, self._after, 0)
            return self._spec.converter.to_python(java)
        except (java_error(), ArithmeticError):
            # A name bound inside the formula has no value out here; it is simply not shown.
            return None

    def _contexts(self, node: Any, context: Any) -> Iterator[Any]:
        """Yield the choices of a quantifier; those that are tried first are in order of value.

        TLC's own order of strings depends on what its classes have seen before.
        """
        choices = self._choices(node, context)
        first = list(islice(choices, _TRIED_CHOICES))
        first.sort(key=lambda bound: [sort_key(value) for _, value in self._witness(node, bound)])
        yield from first
        yield from choices

    def _choices(self, node: Any, context: Any) -> Iterator[Any]:
        try:
            enumerator = self._tool.contexts(node, context, self._before, self._after, 0)
            while (bound := enumerator.nextElement()) is not None:
                yield bound
        except java_error():
            return

    def _witness(self, node: Any, bound: Any) -> tuple[tuple[str, Value], ...]:
        found: list[tuple[str, Value]] = []
        for group in node.getBdedQuantSymbolLists():
            for symbol in group:
                value = bound.lookup(symbol)
                if value is not None:
                    name = str(symbol.getName().toString())
                    found.append((name, self._spec.converter.to_python(value)))
        return tuple(found)

    def _line(self, node: Any) -> str:
        return " ".join(self._spec.sources.text(self._spec.sources.place(node)).split())

    def _through(self, step: str, node: Any, reasons: tuple[Reason, ...]) -> tuple[Reason, ...]:
        place = self._spec.sources.place(node)
        return tuple(replace(reason, via=(f"{place}: {step}", *reason.via)) for reason in reasons)


def _merged(
    first: tuple[tuple[str, Value], ...], second: tuple[tuple[str, Value], ...]
) -> tuple[tuple[str, Value], ...]:
    named = {name for name, _ in first}
    return (*first, *(entry for entry in second if entry[0] not in named))
