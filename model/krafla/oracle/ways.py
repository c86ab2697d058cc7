"""What the spec says of an action: an operator, or formulas of Next that have more than it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from krafla.oracle.actions import Owner
from krafla.oracle.nodes import ACTION_LEVEL
from krafla.oracle.steps import Stepper
from krafla.values import freeze

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krafla.oracle.actions import Branch
    from krafla.oracle.spec import Spec
    from krafla.oracle.state import State
    from krafla.values import Value

__all__ = ["Ways", "is_whole"]


class Ways:
    r"""The ways to each action of one spec.

    An action is ``whole`` if an operator of the module, with its parameters, is all that Next says
    of it, but for the sets from which the parameters come. Of any other, as in
    ``n > 1 /\ Plus(n * 2)``, the branches of Next say what it is.
    """

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._stepper = Stepper(spec)

    def is_whole(self, action: str) -> bool:
        """Return whether an operator is all of an action; also of one that Next does not have."""
        return action not in self._parted

    def formulas(
        self, state: State, action: str, given: Sequence[Value | None]
    ) -> Iterator[tuple[Any, Any]]:
        """Yield the formulas of an action with parameters that agree, each with its context.

        ``None`` is a parameter that is not known, of an action that is not whole.
        """
        parted = self._parted.get(action)
        if parted is None:
            definition = self._spec.definition(action)
            yield definition.getBody(), self._spec.bind(definition, given)
            return
        for branch in parted:
            yield from self._stepper.formulas(branch, state, given)

    def outcomes(self, state: State, action: str, parameters: Sequence[Value]) -> tuple[State, ...]:
        """Return the distinct states to which an action leads with these parameters."""
        parted = self._parted.get(action)
        if parted is None:
            definition = self._spec.definition(action)
            context = self._spec.bind(definition, parameters)
            owner = Owner(action, definition)
            return self._stepper.successors(definition.getBody(), context, state, owner)
        given = tuple(map(freeze, parameters))
        steps = (self._stepper.steps_with(branch, state, given) for branch in parted)
        return tuple(dict.fromkeys(after for one in steps for _, _, after in one))

    @cached_property
    def _parted(self) -> dict[str, list[Branch]]:
        """Return the branches of each action that is not whole."""
        known: dict[tuple[str, bool, int], bool] = {}
        parted = {
            branch.owner.name
            for branch in self._spec.branches
            if not self._is_known_whole(branch, known)
        }
        parted = {name for name in parted if not self._spec.is_left_out(name)}
        found: dict[str, list[Branch]] = {name: [] for name in parted}
        for branch in self._spec.branches:
            if branch.owner.name in parted:
                found[branch.owner.name].append(branch)
        return found

    def _is_known_whole(self, branch: Branch, known: dict[tuple[str, bool, int], bool]) -> bool:
        # Next goes through its constant sets: many branches differ in their context only.
        key = branch.owner.name, branch.is_application, int(branch.node.getUid())
        if key not in known:
            known[key] = is_whole(self._spec, branch)
        return known[key]


def is_whole(spec: Spec, branch: Branch) -> bool:
    """Return whether an operator of the module, with its parameters, says all about a branch.

    A disjunct that Next does not name is less, an operator that is defined inside Next knows names
    that are none of its parameters, and another one may have the same name in the root module. Of
    an operator that is given a variable, whose next value it says, the value alone says nothing.
    """
    definition = branch.owner.definition
    name = spec.classes("util.UniqueString").uniqueStringOf(branch.owner.name)
    if definition is None or spec.tool.getRootModule().getOpDef(name) is None:
        return False
    if spec.is_left_out(branch.owner.name) or spec.definition(branch.owner.name) != definition:
        return False
    if branch.is_application:
        levels = map(int, map(definition.getMaxLevel, range(len(branch.owner.formals))))
        return all(level >= ACTION_LEVEL for level in levels)
    return bool(branch.node == definition.getBody())
