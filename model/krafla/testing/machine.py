"""A state machine of Hypothesis whose steps a spec judges."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, ClassVar, Final

from hypothesis import HealthCheck, Phase, settings
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine

from krafla.counted import counted
from krafla.testing.errors import Inconclusive, SpecViolation
from krafla.testing.found import save
from krafla.testing.frames import without_own_frames
from krafla.testing.judge_options import JudgeOptions
from krafla.testing.machine_calls import begin
from krafla.testing.machine_judge import judge_of
from krafla.testing.machine_run import MachineRun, run_of
from krafla.testing.machine_tally import CountedJudge, MachineTally, counting, counts_of
from krafla.testing.machine_verdict import unrepeated
from krafla.testing.spec_end import STAY, STAY_TOLD, let_stay
from krafla.testing.unobserved import warn_of_unobserved
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from krafla.oracle import Spec
    from krafla.testing.judge import Judge

__all__ = ["SpecMachine"]

# The deadline of Hypothesis where a test chooses none.
_DEADLINE = settings.get_profile("default").deadline
# A test of fewer runs may take no step by chance: of 300 runs of a lock server a third only
# refused, up to 14 of them in a row.
_RUNS_ENOUGH: Final = 50


class SpecMachine(RuleBasedStateMachine):
    """Make a subclass: say which spec judges, and write a method with ``@action`` for each action.

    ``spec`` is a loaded ``Spec``, or the path of its file, from the folder of the class that says
    it. ``constants`` or ``cfg`` (such a path, too) configure it. ``observes = False`` says that
    nothing shall be seen of the code. The others are those of ``Judge``; ``spec_invariants`` are
    its ``invariants``, a name that Hypothesis takes for its own. ``judge`` is the judge of this
    run.
    """

    spec: ClassVar[Spec | str | Path]
    constants: ClassVar[Mapping[str, Any] | None] = None
    cfg: ClassVar[str | Path | None] = None
    observes: ClassVar[bool] = True
    hidden: ClassVar[Sequence[str] | None] = JudgeOptions.hidden
    hidden_max: ClassVar[int] = JudgeOptions.hidden_max
    spec_invariants: ClassVar[Sequence[str] | None] = JudgeOptions.invariants
    properties: ClassVar[Sequence[str] | None] = JudgeOptions.properties
    frontier: ClassVar[int] = JudgeOptions.frontier
    limit_s: ClassVar[float] = JudgeOptions.limit_s

    judge: Judge

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # Hypothesis makes a class of tests again, without what is set on it, when its cache of 128
        # is full: this class keeps its own.
        case: Any = super().TestCase
        cls.TestCase = case
        case.settings = _fitting(case.settings)
        run = case.runTest

        @functools.wraps(run)
        def run_judged(self: Any) -> None:
            __tracebackhide__ = True
            try:
                # Loaded before Hypothesis looks at its watch.
                judge_of(cls)
                self.settings = _fitting(self.settings)
                with counting(cls) as tally:
                    _with_what_came_once(cls, tally, lambda: run(self))
                _doubt(cls, tally, self.settings)
            except KraflaError as error:
                raise without_own_frames(error)  # noqa: B904 - the same error

        case.runTest = run_judged

    def __init__(self) -> None:
        super().__init__()
        warn_of_unobserved(type(self), SpecMachine.observe)
        self.judge = judge_of(type(self)).fresh()
        tally = counts_of(type(self))
        if tally is not None:
            self.judge = CountedJudge.of(self.judge, tally)
        self._krafla = MachineRun()
        let_stay(self)

    def observe(self) -> Mapping[Any, Any]:
        """Return what can be seen of the code now: values of variables, or of parts of them."""
        return {}

    def check_invariants(self, *given: Any) -> None:
        """Judge the state in which the code begins, then check the invariants of Hypothesis."""
        __tracebackhide__ = True
        if run_of(self) is None:
            name = type(self).__name__
            raise KraflaError(f"{name}.__init__ does not call super().__init__(): do so first")
        if not self._initialize_rules_to_run:
            begin(self)
        super().check_invariants(*given)

    def _repr_step(self, rule: Any, *given: Any) -> Any:
        """Return the line of an example that calls a rule."""
        return STAY_TOLD if rule is STAY else super()._repr_step(rule, *given)


def _with_what_came_once(machine: type, tally: MachineTally, run: Callable[[], None]) -> None:
    """Run a test; a violation that does not come again is raised, and saved, all the same."""
    __tracebackhide__ = True
    try:
        run()
    except Flaky as doubt:
        found, remark = unrepeated(doubt, tally.found) or (None, "")
        if not isinstance(found, SpecViolation):
            raise
        save(found, machine)
        for note in (f"krafla: the code did this once{remark}", *getattr(doubt, "__notes__", ())):
            found.add_note(note)
        raise found from None


def _doubt(machine: type, tally: MachineTally, asked: settings) -> None:
    """Raise ``Inconclusive`` if so many runs as were asked for show nothing, all together."""
    # That the code was never asked for anything, or answered nothing, is no chance.
    is_empty = bool(tally.runs) and not (tally.steps or tally.refusals or tally.has_stepped)
    is_enough = asked.max_examples >= _RUNS_ENOUGH or is_empty
    if is_enough and Phase.generate in asked.phases and tally.doubt:
        raise Inconclusive(f"{machine.__name__}: {tally.doubt} in {counted(tally.runs, 'run')}")


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
