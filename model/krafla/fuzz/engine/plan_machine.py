"""A system on simulated machines as a state machine of Hypothesis: a rule for each kind of fault.

The rules add to the plan of the run while it is played. So whatever Hypothesis finds is a case of
the system, which plays without Hypothesis.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from krafla.fuzz.engine.machine_run import MachinePlayer
from krafla.fuzz.engine.state_machine import SystemMachine
from kraft.raft.configuration import MILLISECOND
from kraft.sim.raft.faults import LEADER, Fault
from kraft.sim.raft.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.fuzz.engine.machine_run import Case
    from krafla.fuzz.engine.machine_system import MachineSystem
    from krafla.fuzz.engine.runs import Run
    from kraft.sim.raft.kinds import FaultKind

__all__ = ["PLANNED", "PlanMachine", "disk_changes"]

PLANNED: Final = frozenset(("duplicate-node-id", "lost-disk", "other-disk"))
"""The faults that give a node one more disk: a judge must know of them before the first step."""
_MACHINES_MAXIMUM: Final = 8
_LONG_TIME: Final = 10**9 * MILLISECOND
_THE_LEADER: Final = "the leader"
_WAITS: Final = st.sampled_from((0, 30, 300, 1_000))
_NODES: Final = st.sampled_from((_THE_LEADER, *range(_MACHINES_MAXIMUM)))
_GROUPS: Final = st.integers(1, (1 << _MACHINES_MAXIMUM) - 1)
_LASTS: Final = st.sampled_from((50, 400, 2_000, 6_000))
_CHANCES: Final = st.integers(0, 0xFFFF)


def disk_changes() -> st.SearchStrategy[tuple[Fault, ...]]:
    """Return the faults of a plan that have to be known before the first step: at most two."""

    def fault(kind: str, at_ms: int, target: int, chance: int, lasts_ms: int) -> Fault:
        # One ns later than any fault of a rule: so neither order nor time can be equal.
        return Fault(at_ms * MILLISECOND + 1, kind, target, chance, lasts_ms * MILLISECOND)

    one = st.builds(
        fault, st.sampled_from(sorted(PLANNED)), st.integers(3_000, 9_000),
        st.integers(0, _MACHINES_MAXIMUM - 1), _CHANCES, st.sampled_from((1_000, 3_000)),
    )  # fmt: skip
    return st.lists(one, max_size=2).map(lambda faults: tuple(sorted(faults)))


class PlanMachine(SystemMachine):
    """A rule for each fault of the system and for each request of its operators.

    Before each of them some time passes. Properties and specs judge every step of the machines. A
    subclass calls `start` in its initialize rule. A kind that is added to the system has its rule
    without an edit. With ``heals`` each run also goes on until a healed core has made progress, as
    those of a campaign do; that takes more than twice as long.
    """

    system: ClassVar[MachineSystem]
    heals: ClassVar[bool] = False
    player: MachinePlayer

    def __init_subclass__(cls, **options: Any) -> None:
        """Give the class its rules."""
        super().__init_subclass__(**options)
        for name in cls.system.kinds:
            if name not in PLANNED and not hasattr(cls, rule_name(name)):
                setattr(cls, rule_name(name), _rule_of(KINDS[name]))
        for kind in cls.system.request_kinds.values():
            if not hasattr(cls, rule_name(kind.name)):
                ask = precondition(lambda self: self.has_leader)(_rule_of(kind))
                setattr(cls, rule_name(kind.name), ask)

    def start(self, case: Case, calm_ms: int) -> None:
        """Begin a run, and let it go on without a fault for a while."""
        configuration = replace(case.configuration, calm=0, chaos=_LONG_TIME)
        case = replace(case, configuration=configuration, lockstep=True)
        self.player = MachinePlayer(case, self.system, grows=True)
        self.go_on(calm_ms)

    @property
    def has_leader(self) -> bool:
        """Return whether a replica leads."""
        return self.player.simulation.leader() is not None

    @rule(ms=st.sampled_from((100, 1_000, 4_000)))
    def let_time_pass(self, ms: int) -> None:
        """Let the machines go on for a while."""
        self.go_on(ms)

    def go_on(self, ms: int) -> None:
        """Play some milliseconds; ``SystemViolationError`` if a step is wrong."""
        self.player.play_before(self.player.simulation.time + ms * MILLISECOND)
        self._check()

    def begin_fault(
        self, kind: FaultKind, *, chance: int, node: Any = 0, nodes: int = 0, lasts_ms: int = 0
    ) -> None:
        """Begin a fault, or send a request, now."""
        simulation = self.player.simulation
        machines = len(simulation.nodes)
        if kind.hits_groups:
            target = nodes & ((1 << machines) - 1)
        else:
            target = LEADER if node == _THE_LEADER else node % machines
        duration = lasts_ms * MILLISECOND
        simulation.inject(Fault(simulation.time, kind.name, target, chance, duration))
        self.player.play_before(simulation.time)
        self._check()

    def _check(self) -> None:
        if self.player.finding is not None:
            self.fail(self.player.finding, self._again)

    def _again(self) -> Run:
        """Return the run of the plan as it is played without Hypothesis."""
        found = self.player.finding
        run = self.system.play(self.case)
        assert str(run.finding) == str(found), f"the plan leads elsewhere: {run.finding}; {found}"
        return run

    def _to_the_end(self) -> Run:
        """Return the same, of a finding at the end of a run: without Hypothesis it ends later."""
        found = self.player.finding
        run = self.system.play(self.case)
        same = run.finding is not None and found is not None and run.finding.kind == found.kind
        assert same, f"the plan leads elsewhere: {run.finding}; {found}"
        return run

    @property
    def case(self) -> Case:
        """Return the case up to now, whose chaos ends now."""
        chaos = self.player.simulation.time + 1
        case = self.player.case
        return replace(case, configuration=replace(case.configuration, chaos=chaos))

    def played(self) -> Run | None:
        """Return the run up to now; None if it has not begun."""
        return self.player.run if hasattr(self, "player") else None

    def teardown(self) -> None:
        """Check the end of the run; with ``heals`` also that a healed core makes progress.

        ``SystemViolationError`` if something is wrong.
        """
        if hasattr(self, "player") and self.player.finding is None:
            self.player.finish()
            if self.player.finding is not None:
                self.fail(self.player.finding, self._to_the_end)
        if self.heals and hasattr(self, "player") and self.player.finding is None:
            run = self.system.play(self.case)
            if run.finding is not None:
                self.fail(run.finding, lambda: run)
        super().teardown()


def rule_name(kind: str) -> str:
    """Return the name of the rule that begins a fault of a kind, or sends such a request."""
    return kind.replace("-", "_")


def _rule_of(kind: FaultKind) -> Callable[..., None]:
    """Return the rule that lets some time pass and begins a fault of this kind."""

    def begin(self: PlanMachine, after_ms: int, **drawn: Any) -> None:
        self.go_on(after_ms)
        self.begin_fault(kind, **drawn)

    begin.__name__ = rule_name(kind.name)
    begin.__doc__ = kind.sentence
    arguments: dict[str, st.SearchStrategy[Any]] = {"after_ms": _WAITS, "chance": _CHANCES}
    if kind.hits_groups:
        arguments["nodes"] = _GROUPS
    else:
        arguments["node"] = _NODES
    if kind.is_down or kind.lasts_ms is not None:
        arguments["lasts_ms"] = _LASTS
    # mypy takes the names for those of bundles.
    made: Callable[..., None] = cast("Any", rule)(**arguments)(begin)
    return made
