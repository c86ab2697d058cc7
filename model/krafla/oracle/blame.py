"""Finding the conjunct that makes a formula false, by walking SANY's tree beside TLC.

TLC is asked about ever smaller parts of the formula. For an action, conjuncts are taken in
their order and each one that can hold fixes primed variables for the next, as TLC does itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from krafla.oracle.errors import EvaluationError
from krafla.oracle.jvm import java_error
from krafla.oracle.membership import Membership
from krafla.oracle.nodes import NodeKind, Opcode, substituted
from krafla.oracle.parts import parts
from krafla.values import Value, fmt, same, sort_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.oracle.sources import Place
    from krafla.oracle.spec import Spec

__all__ = ["Blame", "Reason"]

_SHOWN_ALTERNATIVES = 3
# A quantifier may range over all functions between two sets; a reader needs only a few refusals.
_TRIED_CHOICES = 500
_VALUE_ROOM = 300
_SHOWN_VALUES = 12
# Sets that TLC describes without listing them.
_UNLISTED = ("SetOfFcnsValue", "SetOfRcdsValue", "SetOfTuplesValue", "SubsetValue")
_LISTED_MAX = 200
# Formulas to which a "=" after them would seem to belong.
_OPEN_ENDED = ("IF ", "CASE ", "CHOOSE ")


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
        lines += [f"    {name} = {fmt(value, _VALUE_ROOM)}" for name, value in self.values]
        for alternative in self.alternatives:
            lines += [f"  {line}" for line in str(alternative).splitlines()]
        return "\n".join(lines)


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
        # While choices are compared, only the places of what is false are of interest.
        self._is_ranking = False

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
        leaf = self._leaf(node, context, "no choice satisfies all of these together")
        return (replace(leaf, values=self._values(node, context)),)

    def _of_disjunction(self, node: Any, context: Any) -> tuple[Reason, ...]:
        note = f"none of the {len(node.getArgs())} alternatives holds"
        leaf = self._leaf(node, context, note)
        if self._is_ranking:
            return (leaf,)
        start = self._after
        found: list[Reason] = []
        for disjunct in node.getArgs():
            self._after = start
            found += self.of(disjunct, context)
        self._after = start
        return (replace(leaf, alternatives=tuple(found)),)

    def _of_exists(self, node: Any, context: Any) -> tuple[Reason, ...]:
        contexts = list(islice(self._contexts(node, context), _TRIED_CHOICES))
        if len(contexts) == 1:
            return self._of_choice(node, contexts[0])
        if not contexts:
            leaf = self._leaf(node, context, "there is nothing to choose from")
            return (replace(leaf, values=self._values(node, context)),)
        several = "" if len(contexts) < _TRIED_CHOICES else "first "
        leaf = self._leaf(node, context, f"none of the {several}{len(contexts)} choices fits")
        if self._is_ranking:
            return (leaf,)
        start = self._after
        found: list[Reason] = []
        for bound in self._furthest(node, contexts):
            self._after = start
            found += self._of_choice(node, bound)
        self._after = start
        return (replace(leaf, alternatives=tuple(found)),)

    def _furthest(self, node: Any, contexts: list[Any]) -> list[Any]:
        """Return the choices that got furthest down the formula: those most likely meant."""
        start, self._is_ranking = self._after, True
        ranked: list[tuple[tuple[int, int], Any]] = []
        for bound in contexts:
            self._after = start
            places = [reason.place for reason in self.of(node.getArgs()[0], bound)]
            ranked.append((max((one.line, one.column) for one in places), bound))
        self._after, self._is_ranking = start, False
        ranked.sort(key=lambda entry: entry[0], reverse=True)
        return [bound for _, bound in ranked[:_SHOWN_ALTERNATIVES]]

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
        leaf = self._leaf(node, context, "no case applies")
        return (replace(leaf, values=self._values(node, context)),)

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
        body = inner.getArgs()[0]
        for bound in self._contexts(inner, context):
            if self.holds(body, bound) is True:
                values = _merged(self._witness(inner, bound), self._values(body, bound))
                return (replace(self._leaf(node, context), values=values),)
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
        """Return a false formula that is not taken apart; with a note, one that is, bare."""
        place = self._spec.sources.place(node)
        text = self._spec.sources.text(place)
        if note is not None:
            return Reason(place, text, note)
        outcome = self.holds(node, context)
        note = outcome if isinstance(outcome, str) else "is false"
        if outcome is False and not self._is_ranking:
            outsider = Membership(self._evaluated, self._spec).objection(node, context)
            note += f": {outsider}" if outsider else ""
        return Reason(place, text, note, self._values(node, context))

    def _values(self, node: Any, context: Any) -> tuple[tuple[str, Value], ...]:
        """Return the values of the parts of a formula, each by its text."""
        if self._is_ranking:
            return ()
        is_application = self._tree.is_application(node)
        if is_application and self._tree.opcode(node, context) == Opcode.UNCHANGED:
            return tuple(self._changed(node, context))
        found: dict[str, Value] = {}
        for part, inside in parts(self._tree, node, context):
            value = self._value(part, inside)
            while value is None and self._tree.opcode(part, inside) == Opcode.APPLY:
                # Its argument is bound inside the formula, so the function is shown whole.
                part = part.getArgs()[0]
                value = self._value(part, inside)
            name = self._line(part)
            if name.startswith(_OPEN_ENDED):
                name = f"({name})"
            if value is not None and name not in {"", fmt(value)}:
                found.setdefault(name, value)
        return tuple(islice(found.items(), _SHOWN_VALUES))

    def _changed(self, node: Any, context: Any) -> Iterator[tuple[str, Value]]:
        """Yield the old and the new value of each variable that should have stayed as it was."""
        for part, inside in parts(self._tree, node, context):
            old = self._value(part, inside)
            new = self._evaluated(part, inside, self._after)
            if old is None or new is None:
                continue
            new = self._spec.converter.to_python(new)
            if not same(old, new):
                yield self._line(part), old
                yield f"{self._line(part)}'", new

    def _evaluated(self, node: Any, context: Any, before: Any | None = None) -> Any | None:
        """Return TLC's value of a node; None for a name that is bound inside the formula."""
        state = self._before if before is None else before
        try:
            return self._tool.eval(node, context, state, self._after, 0)
        except (java_error(), ArithmeticError):
            return None

    def _value(self, node: Any, context: Any) -> Value | None:
        java = self._evaluated(node, context)
        try:
            if java is None or (type(java).__name__ in _UNLISTED and java.size() > _LISTED_MAX):
                return None
            return self._spec.converter.to_python(java)
        except (java_error(), ArithmeticError, EvaluationError):
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
