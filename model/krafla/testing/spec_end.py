"""Where the spec allows none of a machine's actions its run goes on without a call.

Hypothesis has no rule to offer there, and takes that for a mistake of the machine. But a protocol
may end. So the machine gets a rule that only looks at the code, which must stay as it is.
Hypothesis sees this rule only where no other is possible, so it changes no other run.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from hypothesis.errors import InvalidDefinition
from hypothesis.stateful import Rule

from krafla.testing.action_method import marked_methods
from krafla.testing.machine_calls import judge_stay
from krafla.verdict import KraflaError

__all__ = ["STAY", "STAY_TOLD", "let_stay"]

STAY: Final = Rule(targets=(), function=judge_stay, arguments={}, preconditions=())
"""The rule of a machine that is not called."""

STAY_TOLD: Final = "# the spec allows no action here: nothing is called"
"""What stands for it among the calls of an example."""


def let_stay(machine: Any) -> None:
    """Offer ``STAY`` in a run of a machine where the spec allows none of its actions.

    Without such actions, and where one is allowed but no rule is offered, Hypothesis fails as ever.
    """
    rules = machine._rules_strategy  # noqa: SLF001 - only a rule changes what all others draw
    draw = rules.do_draw

    def draw_or_stay(data: Any) -> Any:
        try:
            return draw(data)
        except InvalidDefinition:
            if not _has_ended(machine):
                raise
            return STAY, {}

    rules.do_draw = draw_or_stay


def _has_ended(machine: Any) -> bool:
    """Return whether the spec allows no action that a method of the machine is for."""
    kind: type = type(machine)
    actions = _actions_of(kind)
    try:
        return bool(actions) and not any(map(machine.judge.enabled, actions))
    except KraflaError:
        # TLC cannot tell all parameters of an action that is not drawn from them.
        return False


@lru_cache(maxsize=64)
def _actions_of(machine: type) -> tuple[str, ...]:
    found = (one.action for one in marked_methods(machine))
    return tuple(dict.fromkeys(one for one in found if one is not None))
