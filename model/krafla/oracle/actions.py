r"""The named actions of a next-state relation, and the branches through which Next takes them.

``Next`` is taken apart along disjunctions, bounded ``\\E`` and operators that only choose among
other actions. An operator with a disjunct that has no name is one action: else a part of it would
go by the name of the whole. What remains is a list of branches: one operator each, with the values
that constant quantifiers gave its parameters. A quantifier over a set that depends on the state
stays inside its branch: ``\\E m \\in messages : A(m) \\/ B(m)`` becomes one branch for A and one
for B, which yields the same steps and tells whose each is.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from krafla.oracle.joined_next import CONJUNCTIONS, JoinedNext
from krafla.oracle.jvm import java_error
from krafla.oracle.nodes import (
    ACTION_LEVEL,
    CONSTANT_LEVEL,
    Opcode,
    Tree,
    name_of,
    takes_operator,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from krafla.oracle.sources import Place

__all__ = ["Branch", "NamedAction", "Owner", "branches"]


@dataclass(frozen=True, slots=True)
class NamedAction:
    """An action of the spec by name, with the names of its parameters."""

    name: str
    parameters: tuple[str, ...]
    place: Place

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.parameters)})" if self.parameters else self.name


@dataclass(frozen=True, slots=True, eq=False)
class Owner:
    """The operator a branch belongs to, by its name in Next.

    A configuration may put another operator in its place: then ``definition`` is the other one,
    the name stays. A Next that is no operator has no definition.
    """

    name: str
    definition: Any

    @property
    def formals(self) -> tuple[Any, ...]:
        """Return the operator's formal parameters that have a value; no operators."""
        return tuple(one for one in self.all_formals if not int(one.getArity()))

    @property
    def all_formals(self) -> tuple[Any, ...]:
        """Return the operator's formal parameters."""
        return () if self.definition is None else tuple(self.definition.getParams())


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    r"""One way through Next: ``node`` in ``context`` is a whole action for TLC.

    ``quantifiers`` are the state-dependent ``\E`` around ``inner``, outermost first. If
    ``is_application``, the arguments of ``inner`` give the parameters; else ``context`` does.
    """

    owner: Owner
    node: Any
    context: Any
    quantifiers: tuple[Any, ...] = ()
    inner: Any = None
    is_application: bool = False

    @property
    def is_fixed(self) -> bool:
        """Return whether its parameters are the same in every state."""
        return not self.quantifiers and not self.is_application


def branches(
    tree: Tree, next_action: Any, empty_state: Any
) -> tuple[tuple[Branch, ...], Mapping[str, Any]]:
    """Return every branch of the next-state relation, in the order of the spec.

    And the definitions of actions that Next joins with other formulas.
    """
    definition = next_action.getOpDef()
    name = "Next" if definition is None else str(definition.getName().toString())
    splitter = _Splitter(tree, empty_state)
    found = tuple(splitter.whole(next_action.pred, next_action.con, Owner(name, definition)))
    return found, {} if splitter.root is None else splitter.root.definitions


class _Splitter:
    def __init__(self, tree: Tree, empty_state: Any) -> None:
        self._tree = tree
        self._tool = tree.tool
        self._empty_state = empty_state
        # What the whole of Next joins, and what the part of it that is split now does.
        self.root: JoinedNext | None = None
        self._joined: JoinedNext | None = None
        # Of each definition with an operator as parameter a copy, by the number of the definition.
        self._copies: dict[int, Any] = {}

    def whole(self, node: Any, context: Any, owner: Owner) -> Iterator[Branch]:
        """Yield the branches of a whole relation: of what it names, if it is only a name."""
        node = self._tree.strip(node)
        while self._tree.is_application(node) and self._tree.opcode(node, context) == Opcode.USER:
            applied = self._applied(node, context)
            if applied is None or applied.all_formals or applied.definition.getBody() is None:
                break
            owner, node = applied, self._tree.strip(applied.definition.getBody())
        self.root = self._joined = self._joined_at(node, context)
        yield from self.split(node if self.root is None else self.root.choice, context, owner)

    def _joined_at(self, node: Any, context: Any) -> JoinedNext | None:
        """Return what a formula joins with a choice among actions, or else with one action."""
        kinds = (self._is_choice, self._says_next)
        found = JoinedNext.of(self._tree, node, context, kinds, self._joined)
        return found if found is not None and self._chooses(found.choice, context) else None

    @contextmanager
    def _inside(self, joined: JoinedNext | None) -> Iterator[None]:
        before, self._joined = self._joined, joined
        try:
            yield
        finally:
            self._joined = before

    def _says_next(self, node: Any, context: Any) -> bool:
        """Return whether a formula says next values, other than that some stay as they are.

        Beside one without a name, as ``x' = 1``, an operator is only a part of an action.
        """
        node = self._tree.strip(node)
        if not self._tree.is_application(node) or int(node.getLevel()) != ACTION_LEVEL:
            return False
        return self._tree.opcode(node, context) != Opcode.UNCHANGED

    def _is_choice(self, node: Any, context: Any) -> bool:
        """Return whether a node chooses among actions, and is not just one of them."""
        node = self._tree.strip(node)
        if not self._chooses(node, context):
            return False
        if self._tree.opcode(node, context) != Opcode.USER:
            return True
        applied = self._tree.definition(node, context)
        body = None if applied is None else applied.getBody()
        return (
            body is not None
            and self._gives_way(applied, context)
            and self._is_choice(body, context)
        )

    def _gives_way(self, definition: Any, context: Any) -> bool:
        """Return whether an operator only chooses among others, or is another name of one."""
        body = self._tree.strip(definition.getBody())
        if not self._chooses(body, context, all):
            return False
        if self._tree.opcode(body, context) != Opcode.USER:
            return True
        # An operator that calls another with values of its own is an action by itself.
        formals = [int(one.getUid()) for one in definition.getParams()]
        return [name_of(one) for one in body.getArgs()] == formals

    def _leaf(self, owner: Owner, node: Any, context: Any) -> Branch:
        """Return the branch of a formula, with what Next joins it with."""
        whole = node if self._joined is None else self._joined.with_action(node)
        return Branch(owner, whole, context)

    def _own(self, applied: Owner) -> Owner:
        """Return the operator of an action with what Next joins it with."""
        if self._joined is None:
            if not takes_operator(applied.definition):
                return applied
            # An operator is no value: so the definition of the module, given values alone, says
            # nothing of this action. With another definition than it, the branches of Next decide.
            number = int(applied.definition.getUid())
            if number not in self._copies:
                body = applied.definition.getBody()
                self._copies[number] = self._tree.with_body(applied.definition, body)
            return Owner(applied.name, self._copies[number])
        return Owner(applied.name, self._joined.definition(applied.name, applied.definition))

    def _application(self, node: Any, own: Owner) -> Any:
        return node if self._joined is None else self._tree.application(node, own.definition)

    def split(self, node: Any, context: Any, owner: Owner) -> Iterator[Branch]:
        node = self._tree.strip(node)
        if not self._tree.is_application(node):
            yield self._leaf(owner, node, context)
            return
        opcode = self._tree.opcode(node, context)
        if opcode == Opcode.USER:
            yield from self._split_operator(node, context)
        elif opcode in (Opcode.OR, Opcode.DISJUNCTION_LIST):
            for disjunct in node.getArgs():
                yield from self.split(disjunct, context, owner)
        elif opcode == Opcode.EXISTS and self._chooses(node, context):
            yield from self._split_exists(node, context, owner)
        elif (joined := self._joined_at(node, context)) is not None:
            with self._inside(joined):
                yield from self.split(joined.choice, context, owner)
        else:
            yield self._leaf(owner, node, context)

    def _split_operator(self, node: Any, context: Any) -> Iterator[Branch]:
        applied = self._applied(node, context)
        if applied is None:
            # TLC has made a constant of an operator whose actions the cfg left out.
            name = str(node.getOperator().getName().toString())
            yield self._leaf(Owner(name, None), node, context)
            return
        inside = self._bound(applied, node, context)
        if inside is None:
            own = self._own(applied)
            inner = self._application(node, own)
            yield Branch(own, inner, context, inner=inner, is_application=True)
            return
        body = applied.definition.getBody()
        if self._gives_way(applied.definition, inside):
            yield from self.split(body, inside, applied)
        else:
            own = self._own(applied)
            yield Branch(own, own.definition.getBody(), inside)

    def _applied(self, node: Any, context: Any) -> Owner | None:
        definition = self._tree.definition(node, context)
        if definition is None:
            return None
        return Owner(str(node.getOperator().getName().toString()), definition)

    def _bound(self, applied: Owner, node: Any, context: Any) -> Any | None:
        """Return the context inside an operator, ``None`` if an argument needs the state."""
        arguments = list(node.getArgs())
        if any(int(argument.getLevel()) != CONSTANT_LEVEL for argument in arguments):
            return None
        inside = context
        try:
            for parameter, argument in zip(applied.all_formals, arguments, strict=True):
                value = self._tool.eval(argument, context, self._empty_state)
                inside = inside.cons(parameter, value)
        except java_error():
            return None
        return inside

    def _split_exists(self, node: Any, context: Any, owner: Owner) -> Iterator[Branch]:
        contexts = self._contexts(node, context)
        if contexts is None:
            yield from self._split_inside(node, context, owner, (), self._joined)
            return
        for bound in contexts:
            yield from self.split(node.getArgs()[0], bound, owner)

    def _contexts(self, node: Any, context: Any) -> list[Any] | None:
        """Return one context per element of constant bounds, ``None`` if they are not."""
        if any(int(bound.getLevel()) != CONSTANT_LEVEL for bound in node.getBdedQuantBounds()):
            return None
        empty = self._empty_state
        try:
            enumerator = self._tool.contexts(node, context, empty, empty, 0)
            found = []
            while (bound := enumerator.nextElement()) is not None:
                found.append(bound)
        except java_error():
            return None
        return found

    def _split_inside(
        self,
        node: Any,
        context: Any,
        owner: Owner,
        quantifiers: tuple[Any, ...],
        around: JoinedNext | None,
    ) -> Iterator[Branch]:
        """Distribute state-dependent quantifiers over the disjunctions below them.

        ``around`` is what is joined outside of the quantifiers.
        """
        node = self._tree.strip(node)
        opcode = self._tree.opcode(node, context) if self._tree.is_application(node) else None
        if opcode in (Opcode.OR, Opcode.DISJUNCTION_LIST):
            for disjunct in node.getArgs():
                yield from self._split_inside(disjunct, context, owner, quantifiers, around)
            return
        if opcode == Opcode.EXISTS and self._chooses(node, context):
            body = node.getArgs()[0]
            yield from self._split_inside(body, context, owner, (*quantifiers, node), around)
            return
        joined = self._joined_at(node, context)
        if joined is not None:
            with self._inside(joined):
                yield from self._split_inside(joined.choice, context, owner, quantifiers, around)
            return
        applied = self._applied(node, context) if opcode == Opcode.USER else None
        own = owner if applied is None else self._own(applied)
        inner = (
            self._leaf(owner, node, context).node
            if applied is None
            else self._application(node, own)
        )
        whole = inner
        for quantifier in reversed(quantifiers):
            whole = self._tree.rebuilt_exists(quantifier, whole)
        if around is not None:
            # What Next adds may be what makes the sets of the quantifiers have a value.
            whole = around.with_action(whole)
        yield Branch(own, whole, context, quantifiers, inner, applied is not None)

    def _chooses(
        self, node: Any, context: Any, among: Callable[[Iterator[bool]], bool] = any
    ) -> bool:
        """Return whether a node chooses among parts of which ``any``, or ``all``, have names."""
        node = self._tree.strip(node)
        if not self._tree.is_application(node):
            return False
        opcode = self._tree.opcode(node, context)
        if opcode in (Opcode.OR, Opcode.DISJUNCTION_LIST, Opcode.EXISTS):
            return among(self._chooses(part, context, among) for part in node.getArgs())
        if opcode in CONJUNCTIONS:
            # An operator that adds something to its choice is an action by itself.
            return among is any and self._joined_at(node, context) is not None
        return opcode == Opcode.USER and int(node.getLevel()) == ACTION_LEVEL
