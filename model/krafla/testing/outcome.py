"""What a method of a machine did: it took actions, or none, or the code refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from krafla.testing.errors import Refused
from krafla.testing.taken import Taken
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from krafla.testing.judge import Judge
    from krafla.traces import Call, Called

__all__ = ["CallOutcome", "outcome_of"]


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """The action that the code was asked for or refused, and the actions that it took.

    It took none if it refused. ``tells_call``: the first of them, or the refusal, is what the
    method is for.
    """

    action: str | None
    parameters: tuple[Any, ...]
    steps: tuple[Taken, ...]
    tells_call: bool

    @property
    def is_refusal(self) -> bool:
        """Return whether the code refused the action."""
        return not self.steps

    def judged_by(
        self,
        judge: Judge,
        seen: Callable[[], Mapping[Any, Any]],
        made: Call,
        *,
        may_refuse: bool,
    ) -> None:
        """Judge it with what is ``seen`` afterwards; the exceptions are those of ``Judge``.

        The call that was ``made`` is kept where no action tells it, so that it can come again.
        """
        __tracebackhide__ = True
        call: Called = None if self.tells_call else made
        if self.is_refusal and not may_refuse and self.action is not None:
            judge.refuse(self.action, *self.parameters, call=call)
            judge.stay(seen(), call="same")
            return
        if self.is_refusal:
            judge.stay(seen(), call=made)
            return
        for one in self.steps[:-1]:
            _judge_step(judge, one, None, call)
            call = "same"
        _judge_step(judge, self.steps[-1], seen(), call)


def outcome_of(
    action: str | None, parameters: Sequence[Any], call: Callable[[], Any]
) -> CallOutcome:
    """Return what the code did when it was called; ``KraflaError`` for a result of another kind."""
    __tracebackhide__ = True
    given = tuple(parameters)
    try:
        result = call()
    except Refused as refused:
        result = refused
    if isinstance(result, Refused) and result.action is not None:
        tells_call = (result.action, result.parameters) == (action, given)
        return CallOutcome(result.action, result.parameters, (), tells_call)
    if result is Refused or isinstance(result, Refused):
        if action is None:
            raise KraflaError(
                "a method with @action(None) refused: it names no action to refuse, as "
                'Refused("Deliver", ...) does'
            )
        return CallOutcome(action, given, (), tells_call=True)
    if result is None:
        return CallOutcome(action, given, (Taken(action, *given),), action is not None)
    found = [result] if isinstance(result, Taken) else result
    if isinstance(found, list) and all(isinstance(one, Taken) for one in found):
        first = found[0] if found else Taken.nothing
        tells_call = action is not None and (first.action, first.parameters) == (action, given)
        return CallOutcome(action, given, tuple(found) or (first,), tells_call)
    raise KraflaError(
        f"the method of {action or 'any action'} returned {result!r}: it returns None, a Taken, "
        "a list of them, Taken.nothing or Refused"
    )


def _judge_step(judge: Judge, taken: Taken, seen: Mapping[Any, Any] | None, call: Called) -> None:
    __tracebackhide__ = True
    if taken is Taken.nothing:
        judge.stay(seen, call=call)
    else:
        judge.step(taken.action, *taken.parameters, seen=seen, call=call)
