"""A state machine of Hypothesis whose steps a spec judges."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine

from krafla.testing.action_method import observes_somewhere, plainly
from krafla.testing.errors import Refused, SpecViolation, UnobservedWarning
from krafla.testing.found import note_steps, save
from krafla.testing.frames import without_own_frames
from krafla.testing.judge import LIMIT_S
from krafla.testing.machine_judge import judge_of
from krafla.testing.outcome import outcome_of
from krafla.testing.plain import thawed
from krafla.testing.taken import Taken
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from krafla.oracle import Spec
    from krafla.testing.judge import Judge

__all__ = ["SpecMachine"]

# The deadline of Hypothesis where a test chooses none.
_DEADLINE = settings.get_profile("default").deadline

_members: dict[tuple[Spec, str], list[Any]] = {}


class SpecMachine(RuleBasedStateMachine):
    """Make a subclass: say which spec judges, and write a method with ``@action`` for each action.

    ``spec`` is a loaded ``Spec``, or the path of its file, from the folder of the class's own file.
    ``constants`` or ``cfg`` (a path from there, too) configure it. The others are those of
    ``Judge``. ``judge`` is the judge of this run.
    """

    spec: ClassVar[Spec | str | Path]
    constants: ClassVar[Mapping[str, Any] | None] = None
    cfg: ClassVar[str | Path | None] = None
    hidden: ClassVar[Sequence[str] | None] = ()
    hidden_max: ClassVar[int] = 8
    # Hypothesis gives each machine, not its class, an attribute of this name.
    invariants: ClassVar[Sequence[str] | None] = None  # type: ignore[assignment,misc]  # see there
    properties: ClassVar[Sequence[str] | None] = None
    limit_s: ClassVar[float] = LIMIT_S

    judge: Judge
    # Whether a method with @action runs: those that it calls are not judged.
    is_called: bool = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        case: Any = cls.TestCase
        case.settings = _fitting(case.settings)
        run = case.runTest

        @functools.wraps(run)
        def run_judged(self: Any) -> None:
            __tracebackhide__ = True
            try:
                # Loaded before Hypothesis looks at its watch.
                judge_of(cls)
                self.settings = _fitting(self.settings)
                run(self)
            except KraflaError as error:
                raise without_own_frames(error)  # noqa: B904 - the same error

        case.runTest = run_judged

    def __init__(self) -> None:
        super().__init__()
        _warn_of_unobserved(type(self))
        self.judge = judge_of(type(self)).fresh()
        self._has_begun = False
        self._chosen: dict[int, Any] = {}

    def observe(self) -> Mapping[Any, Any]:
        """Return what can be seen of the code now: values of variables, or of parts of them.

        ``observe = None`` in a class says that nothing shall be seen.
        """
        return {}

    def _look(self) -> Mapping[Any, Any]:
        __tracebackhide__ = True
        # Types know of no such class.
        look: Callable[[], Mapping[Any, Any]] | None = self.observe
        return {} if look is None else look()

    def check_invariants(self, *given: Any) -> None:
        """Judge the state in which the code begins, then check the invariants of Hypothesis."""
        __tracebackhide__ = True
        if not getattr(self, "_initialize_rules_to_run", ()):
            self._begin()
        super().check_invariants(*given)

    def _begin(self) -> None:
        __tracebackhide__ = True
        if not self._has_begun:
            self._has_begun = True
            seen = self._seen(lambda: "observe", self._look)
            self._judged(partial(self.judge.start, seen))

    def judge_call(
        self,
        action: str | None,
        parameters: Sequence[Any],
        call: Callable[[], Any],
        observe: Callable[[Any], Mapping[Any, Any]] | None,
        *,
        may_refuse: bool,
    ) -> None:
        """Call the code and judge what it did; ``action`` makes each rule do so."""
        __tracebackhide__ = True
        self._begin()
        self._chosen.clear()

        def named() -> str:
            return str(Taken(action, *parameters))

        asked = partial(plainly, self, call)
        outcome = outcome_of(action, parameters, partial(self._called, named, asked))
        look = self._look if observe is None else partial(observe, self)
        seen = partial(self._seen, lambda: f"observe after {named()}", look)
        self._judged(partial(outcome.judged_by, self.judge, seen, may_refuse=may_refuse))

    def _seen(self, what: Callable[[], str], look: Callable[[], Any]) -> Mapping[Any, Any]:
        __tracebackhide__ = True
        found = self._called(what, look)
        if not isinstance(found, Mapping):
            raise KraflaError(
                f"{what()} of {type(self).__name__} returned {found!r}, not a mapping from "
                "variables to values"
            )
        return found

    def _called(self, what: Callable[[], str], call: Callable[[], Any]) -> Any:
        """Return what the code returns; an error that it raises says where in the run it was."""
        __tracebackhide__ = True
        try:
            return call()
        except Refused:
            raise
        except SpecViolation as violation:
            save(violation, type(self))
            raise
        except Exception as error:
            note_steps(error, what(), self.judge, type(self))
            raise

    def _judged(self, question: Callable[[], None]) -> None:
        __tracebackhide__ = True
        try:
            question()
        except SpecViolation as violation:
            save(violation, type(self))
            raise

    def members_of(self, name: str) -> list[Any]:
        """Return the members of a set of the spec as plain values, in canonical order."""
        spec = self.judge.spec
        known = _members.get((spec, name))
        if known is None:
            found = spec.evaluate(name)
            if not isinstance(found, frozenset):
                raise KraflaError(f"member_of({name!r}): {name} of {spec.name} is no set")
            known = _members[spec, name] = thawed(found)
        return known

    def enabled(self, action: str) -> tuple[tuple[Any, ...], ...]:
        """Return the parameters with which the spec allows an action now."""
        self._begin()
        return self.judge.enabled(action)

    def enabled_values(self, action: str, at: int) -> list[Any]:
        """Return the values of one parameter that go with those of the others drawn so far."""
        if at in self._chosen:
            # The draw of a call that was never made.
            self._chosen.clear()
        found = self.enabled(action)
        if any(at >= len(one) for one in found):
            raise KraflaError(
                f"the method of {action} has more parameters than the action, which has "
                f"{len(found[0])}: give a strategy for each other one"
            )
        chosen = self._chosen.items()
        plain = (thawed(one) for one in found)
        fitting = (one[at] for one in plain if all(one[place] == value for place, value in chosen))
        return list(dict.fromkeys(fitting))

    def chose(self, at: int, value: Any) -> Any:
        """Remember a drawn parameter, and return it."""
        self._chosen[at] = value
        return value


@functools.cache
def _warn_of_unobserved(machine: type[SpecMachine]) -> None:
    """Warn once of a class that shows nothing of its code, unless it says so itself."""
    if machine.observe is not SpecMachine.observe or observes_somewhere(machine):
        return
    warnings.warn(
        f"{machine.__name__} has no observe(): nothing of the code's state is compared with the "
        "spec. Write it, or set observe = None if what the methods return is enough",
        UnobservedWarning, stacklevel=3,
    )  # fmt: skip


def _fitting(given: settings) -> settings:
    """Return settings as they are for any state machine, also where a decorator gave others.

    ``@settings(max_examples=500)`` would bring Hypothesis's default deadline for a single function
    back, and its check that draws are fast: the first steps wait for Java.
    """
    # The story says why. Hypothesis would list the lines of this package that told it.
    phases = tuple(one for one in given.phases if one is not Phase.explain)
    slow = tuple(dict.fromkeys((*given.suppress_health_check, HealthCheck.too_slow)))
    deadline = None if given.deadline == _DEADLINE else given.deadline
    return settings(given, phases=phases, suppress_health_check=slow, deadline=deadline)
