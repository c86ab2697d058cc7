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
    """The actions that the code took, or those that it refused: each of these has a name.

    It took none if it refused. ``tells_call``: the first of them is what the method is for.
    """

    steps: tuple[Taken, ...]
    refused: tuple[Refused, ...]
    tells_call: bool

    @property
    def is_refusal(self) -> bool:
        """Return whether the code refused."""
        return bool(self.refused)

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
        if self.refused and may_refuse:
            judge.stay(seen(), call=made)
            return
        for refused in self.refused:
            assert refused.action is not None, "what is refused has a name"
            judge.refuse(refused.action, *refused.parameters, call=call)
            call = "same"
        if self.refused:
            judge.stay(seen(), call="same")
            return
        for one in self.steps[:-1]:
            _judge_step(judge, one, None, call)
            call = "same"
        _judge_step(judge, self.steps[-1], seen(), call)


def outcome_of(
    action: str | None, parameters: Sequence[Any], name: str, call: Callable[[], Any]
) -> CallOutcome:
    """Return what the code did when a method was called; ``name`` is told with what is wrong.

    ``KraflaError`` for a result of another kind.
    """
    __tracebackhide__ = True
    given = tuple(parameters)
    try:
        result = call()
    except Refused as refused:
        result = refused
    if result is Refused or (isinstance(result, Refused) and result.action is None):
        if action is None:
            raise KraflaError(
                f"{name} refused, and is for no particular action: it names no action to refuse, "
                'as Refused("Deliver", ...) does'
            )
        result = Refused(action, *given)
    if result is None:
        return CallOutcome((Taken(action, *given),), (), action is not None)
    found = list(result) if isinstance(result, list | tuple) else [result]
    if found and all(isinstance(one, Refused) and one.action is not None for one in found):
        return CallOutcome((), tuple(found), _is_asked(found[0], action, given))
    if all(isinstance(one, Taken) for one in found):
        steps = tuple(found) or (Taken.nothing,)
        return CallOutcome(steps, (), action is not None and _is_asked(steps[0], action, given))
    raise KraflaError(
        f"{name} returned {result!r}: it returns None, Taken.nothing, a Taken or a list of them, "
        "a Refused or a list of them in which each names its action"
    )


def _is_asked(first: Taken | Refused, action: str | None, given: tuple[Any, ...]) -> bool:
    return (first.action, first.parameters) == (action, given)


def _judge_step(judge: Judge, taken: Taken, seen: Mapping[Any, Any] | None, call: Called) -> None:
    __tracebackhide__ = True
    if taken is Taken.nothing:
        judge.stay(seen, call=call)
    else:
        judge.step(taken.action, *taken.parameters, seen=seen, call=call)
