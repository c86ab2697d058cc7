r"""A Next that joins its choice among actions with other formulas, as that of raft.tla does.

``Next == /\ (\/ A \/ \E p \in P : B(p)) /\ log' = ...`` is the choice among ``A /\ log' = ...`` and
``B(p) /\ log' = ...``. So the actions are A and B, each with what Next adds to it. So are those of
a part of Next, as in ``\/ A \/ guard /\ B``.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from krafla.oracle.nodes import Opcode, takes_operator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from krafla.oracle.nodes import Tree

__all__ = ["CONJUNCTIONS", "JoinedNext"]

CONJUNCTIONS = (Opcode.CONJUNCTION_LIST, Opcode.AND)


class JoinedNext:
    """The conjuncts of Next, or of a part of it, one of which is the choice, or one action.

    ``outer`` is what this part is joined with in turn.
    """

    def __init__(
        self, tree: Tree, root: Any, conjuncts: list[Any], at: int, outer: JoinedNext | None
    ) -> None:
        self._tree = tree
        self._root = root
        self._conjuncts = conjuncts
        self._at = at
        self._outer = outer
        # The joined definition of each plain one, by the number of that.
        self._joined: dict[int, tuple[str, Any]] = {}

    @classmethod
    def of(
        cls,
        tree: Tree,
        root: Any,
        context: Any,
        kinds: Sequence[Callable[[Any, Any], bool]],
        outer: JoinedNext | None = None,
    ) -> JoinedNext | None:
        """Return what is joined: a conjunct of the first of some kinds that there is any of.

        ``None`` if it is no conjunction, or has several of that kind.
        """
        if not tree.is_application(root) or tree.opcode(root, context) not in CONJUNCTIONS:
            return None
        conjuncts = list(_flat(tree, root, context))
        for is_kind in kinds:
            found = [at for at, one in enumerate(conjuncts) if is_kind(one, context)]
            if found:
                at = found[0]
                return cls(tree, root, conjuncts, at, outer) if len(found) == 1 else None
        return None

    @property
    def choice(self) -> Any:
        """Return the conjunct that chooses among actions."""
        return self._conjuncts[self._at]

    def with_action(self, node: Any) -> Any:
        """Return Next with one action in the place of the choice."""
        conjuncts = list(self._conjuncts)
        conjuncts[self._at] = node
        whole = self._tree.conjunction(self._root, conjuncts)
        return whole if self._outer is None else self._outer.with_action(whole)

    @property
    def definitions(self) -> dict[str, Any]:
        """Return the joined definition of each action, by a name that no other action has.

        One with an operator as parameter is left out: no values alone can be given to it.
        """
        names = Counter(name for name, _ in self._joined.values())
        return {
            name: found
            for name, found in self._joined.values()
            if names[name] == 1 and not takes_operator(found)
        }

    def definition(self, name: str, plain: Any) -> Any:
        """Return the definition of an action with all that Next adds to it."""
        number = int(plain.getUid())
        if number not in self._joined:
            body = self.with_action(plain.getBody())
            self._joined[number] = name, self._tree.with_body(plain, body)
        return self._joined[number][1]


def _flat(tree: Tree, node: Any, context: Any) -> Iterator[Any]:
    inside = tree.strip(node)
    if tree.is_application(inside) and tree.opcode(inside, context) in CONJUNCTIONS:
        for conjunct in inside.getArgs():
            yield from _flat(tree, conjunct, context)
    else:
        yield node
