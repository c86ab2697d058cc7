"""What the rules of a machine ask for: calls that are judged, and values to draw."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from krafla.testing.code_call import observed
from krafla.testing.errors import SpecViolation, TooFewFollowed
from krafla.testing.found import save
from krafla.testing.machine_tally import CountedJudge
from krafla.testing.plain import thawed
from krafla.testing.run_end import is_finding
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from krafla.oracle import Spec
    from krafla.testing.action_method import ActionMethod
    from krafla.testing.machine_run import MachineRun

__all__ = ["begin", "chose", "enabled", "enabled_values", "judge_call", "judge_stay", "members_of"]

_members: dict[tuple[Spec, str], list[Any]] = {}


def begin(machine: Any) -> None:
    """Judge the state in which the code of a machine begins, once."""
    __tracebackhide__ = True
    run = _run(machine)
    if not run.has_begun:
        run.has_begun = True
        _kept(machine, partial(_look, machine, machine.judge.start))


def judge_call(
    machine: Any, method: ActionMethod, parameters: tuple[Any, ...], call: Callable[[], Any]
) -> None:
    """Call the code and judge what it did."""
    __tracebackhide__ = True
    begin(machine)
    _run(machine).chosen.clear()
    _kept(machine, partial(method.judged, machine, machine.judge, parameters, call))


def judge_stay(machine: Any) -> None:
    """Look at the code, which is not called: it must be as it was."""
    __tracebackhide__ = True
    _kept(machine, partial(_look, machine, machine.judge.stay))


def members_of(machine: Any, name: str) -> list[Any]:
    """Return the members of a set of the spec as plain values, in canonical order."""
    spec = machine.judge.spec
    known = _members.get((spec, name))
    if known is None:
        found = spec.evaluate(name)
        if not isinstance(found, frozenset):
            raise KraflaError(f"member_of({name!r}): {name} of {spec.name} is no set")
        known = _members[spec, name] = thawed(found)
    return known


def enabled(machine: Any, action: str) -> tuple[tuple[Any, ...], ...]:
    """Return the parameters with which the spec is known to allow an action now."""
    begin(machine)
    try:
        found: tuple[tuple[Any, ...], ...] = machine.judge.enabled(action)
    except TooFewFollowed:
        # A rule that is not offered judges nothing.
        return ()
    return found


def enabled_values(machine: Any, action: str, at: int) -> list[Any]:
    """Return the values of one parameter that go with those of the others drawn so far."""
    run = _run(machine)
    if at in run.chosen:
        # The draw of a call that was never made.
        run.chosen.clear()
    found = enabled(machine, action)
    if any(at >= len(one) for one in found):
        raise KraflaError(
            f"the method of {action} has more parameters than the action, which has "
            f"{len(found[0])}: give a strategy for each other one"
        )
    chosen = run.chosen.items()
    plain = (thawed(one) for one in found)
    fitting = (one[at] for one in plain if all(one[place] == value for place, value in chosen))
    return list(dict.fromkeys(fitting))


def chose(machine: Any, at: int, value: Any) -> Any:
    """Remember a drawn parameter, and return it."""
    _run(machine).chosen[at] = value
    return value


def _run(machine: Any) -> MachineRun:
    found: MachineRun = machine._krafla  # noqa: SLF001 - the one name of krafla's in a machine
    return found


def _look(machine: Any, judged: Callable[[Mapping[Any, Any]], None]) -> None:
    __tracebackhide__ = True
    judged(observed(machine, machine.judge, lambda: "observe"))


def _kept(machine: Any, question: Callable[[], object]) -> None:
    """Ask a question; keep what is found, which may not come again, and save a violation."""
    __tracebackhide__ = True
    judge = machine.judge
    try:
        question()
    except BaseException as error:
        if isinstance(judge, CountedJudge) and is_finding(error):
            judge.tally.keep(error, judge.steps)
        if isinstance(error, SpecViolation):
            save(error, type(machine))
        raise
