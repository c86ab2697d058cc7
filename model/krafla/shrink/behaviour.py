"""Shrinking a behaviour that violates a property; the spec judges every candidate.

When an earlier step is left out, a message or an offset can change, so that the parameters of a
later step no longer fit. The step then takes the nearest parameters for which its action is
enabled.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from krafla.match.claim_check import claim_shown
from krafla.match.claims import claim_of
from krafla.match.moves import Moves
from krafla.match.spec_source import stands_alone
from krafla.match.trace_check import check_trace, in_words_of
from krafla.match.validation import choices_for, spec_of, stand_ins, takes_only_next
from krafla.oracle import EvaluationError, SpecError, differences
from krafla.shrink.reduce import Budget, minimise, smallest
from krafla.shrink.result import Shrunk
from krafla.traces import ClaimKind, Step
from krafla.traces.spec_facts import faults, shrink_facts_of
from krafla.traces.trace import INITIAL
from krafla.values import Function, function, sort_key
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from krafla.oracle import Spec, State
    from krafla.traces import Claim, Conjunct, Trace
    from krafla.traces.spec_facts import ShrinkFacts
    from krafla.values import Value

__all__ = ["shrink_behaviour"]

_TRIES: Final = 4_000
_JUDGED: Final = (ClaimKind.INVARIANT, ClaimKind.ACTION_PROPERTY)


def shrink_behaviour(
    trace: Trace, progress: Callable[[str], None] = lambda _: None, tries: int = _TRIES
) -> Shrunk[Trace]:
    """Return the shortest behaviour found that violates the same conjunct of the same property.

    ``KraflaError`` if the trace does not show its claim, or no finite behaviour can show it.
    """
    if trace.claim is None or trace.claim.kind not in _JUDGED or trace.claim.property is None:
        what = "nothing" if trace.claim is None else str(trace.claim)
        raise KraflaError(
            f"the trace claims {what}; only a violated invariant or step property can be shrunk"
        )
    name, spec = trace.claim.property, spec_of(trace)
    names = {action: stand_in for stand_in, action in stand_ins(spec).items()}
    trace = in_words_of(trace, spec)
    rejection = check_trace(trace).rejection
    if rejection is not None:
        raise KraflaError(f"is no behaviour of the spec: {rejection}")
    shown = claim_shown(trace)
    if shown is None or not shown.is_shown:
        raise KraflaError(
            f"the trace {shown.sentence if shown else 'claims nothing'}: nothing to shrink"
        )
    budget = Budget(tries)
    whole = _play(trace, name, None)
    first = whole.play(_wanted(trace))
    assert first is not None, "playing the steps again shows the claim again"
    best = _Best(replace(trace, claim=first.claim), first, budget, progress)
    before = -1
    while before != (before := best.length):
        best.without_steps()
        best.smaller_data()
        best.without_faults()
    steps = (replace(one, action=names.get(one.action, one.action)) for one in best.trace.steps)
    shortest = best.trace.with_steps(tuple(steps))
    return Shrunk(shortest, not budget.is_spent, tries - budget.left)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A step to take, or the nearest one to it."""

    action: str
    parameters: tuple[Value, ...] | None
    state: Function


@dataclass(frozen=True, slots=True)
class _Played:
    """A behaviour that shows the claim at its end: its actions, parameters and states."""

    taken: tuple[tuple[str, tuple[Value, ...], State], ...]
    claim: Claim

    def __len__(self) -> int:
        return len(self.taken)

    def of(self, trace: Trace) -> Trace:
        """Return the given trace with this behaviour."""
        steps = (Step(action, parameters, state.as_function())
                 for action, parameters, state in self.taken)  # fmt: skip
        return replace(trace, steps=tuple(steps), claim=self.claim)


def _wanted(trace: Trace) -> tuple[_Wanted, ...]:
    return tuple(
        _Wanted(step.action, step.parameters, step.state)
        for step in trace.steps
        if step.action != INITIAL
    )


def _play(trace: Trace, name: str, conjunct: Conjunct | None) -> _Play:
    return _Play(spec_of(trace), trace, name, conjunct)


class _Play:
    """Plays candidates on one loaded spec, up to the first violation of one property."""

    def __init__(self, spec: Spec, trace: Trace, name: str, conjunct: Conjunct | None) -> None:
        """Take the trace, the property, and the conjunct if only one counts."""
        self._spec = spec
        self._moves = Moves(spec, choices_for(spec))
        self._only_next = takes_only_next(trace)
        self._name = name
        self._conjunct = conjunct
        self._initial = _nearest(spec.initial_states(), trace.steps[0].state)
        self._is_of_step = self._asks_about_steps()

    def play(self, wanted: Sequence[_Wanted]) -> _Played | None:
        """Return the behaviour of the wanted steps, without those that are not possible.

        ``None`` if the property holds all along, or another conjunct of it is false.
        """
        state = self._initial
        taken_steps: list[tuple[str, tuple[Value, ...], State]] = [(INITIAL, (), state)]
        for one in wanted:
            taken = self._take(state, one)
            if taken is None:
                continue
            parameters, after = taken
            taken_steps.append((one.action, parameters, after))
            if self._is_violated(state, after):
                claim = self._claim(state, after)
                if self._conjunct is None or self._conjunct.is_same(claim.conjunct):
                    return _Played(tuple(taken_steps), claim)
                return None
            state = after
        return None

    def _asks_about_steps(self) -> bool:
        try:
            self._spec.check_invariant(self._name, self._initial)
        except (EvaluationError, SpecError):
            return True
        return False

    def _is_violated(self, before: State, after: State) -> bool:
        if self._is_of_step:
            return not self._spec.check_action_property(self._name, before, after)
        return not self._spec.check_invariant(self._name, after)

    def _claim(self, before: State, after: State) -> Claim:
        spec, name = self._spec, self._name
        if self._is_of_step:
            explanation = spec.explain_action_property(name, before, after)
            return claim_of(ClaimKind.ACTION_PROPERTY, name, explanation)
        return claim_of(ClaimKind.INVARIANT, name, spec.explain_invariant(name, after))

    def _take(self, state: State, one: _Wanted) -> tuple[tuple[Value, ...], State] | None:
        if one.parameters is not None:
            try:
                found = self._moves.outcomes(
                    state, one.action, one.parameters, only_next=self._only_next
                )
            except EvaluationError:
                # For example, the message names a process that is left out.
                found = ()
            if found:
                return one.parameters, _nearest(found, one.state)
        steps = self._spec.steps_by(one.action, state)
        if not steps:
            return None
        if one.parameters is not None:
            wanted = one.parameters
            far = [_far(zip(wanted, parameters, strict=True)) for parameters, _ in steps]
            steps = [step for step, away in zip(steps, far, strict=True) if away == min(far)]
        if len(steps) == 1:
            return steps[0]
        return min(steps, key=lambda step: (_unlike(one.state, step[1]), *map(sort_key, step[0])))


def _nearest(found: Sequence[State], wanted: Function) -> State:
    if len(found) == 1:
        return found[0]
    return min(found, key=lambda state: (_unlike(wanted, state), state.fingerprint))


def _unlike(wanted: Function, state: Mapping[str, Value]) -> tuple[int, int]:
    return _far((wanted[name], state[name]) for name in state if name in wanted)


def _far(pairs: Iterable[tuple[Value, Value]]) -> tuple[int, int]:
    """Return in how many places values differ, and the sum of the differences of numbers."""
    details = [detail for old, new in pairs for detail in differences("", old, new)]
    return len(details), sum(
        abs(detail.expected - detail.got)
        for detail in details
        if isinstance(detail.expected, int) and isinstance(detail.got, int)
    )


class _Best:
    """The shortest behaviour so far, and the three ways to improve it."""

    def __init__(
        self, trace: Trace, played: _Played, budget: Budget, progress: Callable[[str], None]
    ) -> None:
        assert trace.claim is not None
        assert trace.claim.property is not None
        self._name = trace.claim.property
        self._conjunct = trace.claim.conjunct
        self._budget = budget
        self._progress = progress
        self._constants = dict(trace.constants)
        self._facts = shrink_facts_of(trace.spec)
        self._is_of_model = not stands_alone(trace)
        self.trace = played.of(trace)
        self._play = _play(self.trace, self._name, self._conjunct)

    @property
    def length(self) -> int:
        """Return the length of the shortest behaviour."""
        return len(self.trace)

    def without_steps(self) -> None:
        """Leave out steps."""
        minimise(_wanted(self.trace), self._fails, self._budget)

    def without_faults(self) -> None:
        """Leave out all faults of a kind at once, and the steps that need them."""
        for fault in sorted(faults()):
            wanted = _wanted(self.trace)
            calm = tuple(one for one in wanted if one.action != fault)
            if len(calm) < len(wanted):
                self._budget.allows(partial(self._fails, calm))
        for name in () if self._is_of_model else self._facts.switches:
            if self._constants.get(name) is True:
                self._budget.allows(partial(self._with_constants, {name: False}))

    def smaller_data(self) -> None:
        """Leave out idle nodes, and make numbers smaller; the constants of a model stay."""
        if self._is_of_model:
            return
        unused = self._without_unused_nodes()
        if unused:
            self._budget.allows(partial(self._with_constants, unused))
        for name, least in self._facts.numbers.items():
            value = self._constants.get(name)
            if isinstance(value, int) and not isinstance(value, bool):
                smallest(value, least, partial(self._with_number, name), self._budget)
        for index, step in enumerate(self.trace.steps):
            if step.action == self._facts.time and step.parameters:
                units = _number(step.parameters[0])
                smallest(units, 1, partial(self._with_time, index), self._budget)

    def _with_number(self, name: str, number: int) -> bool:
        return self._with_constants({name: number})

    def _with_time(self, index: int, units: int) -> bool:
        wanted = list(_wanted(self.trace))
        if index > len(wanted) or wanted[index - 1].action != self._facts.time:
            return False
        old = wanted[index - 1]
        wanted[index - 1] = replace(old, parameters=_elapsed(old.parameters, units))
        return self._fails(wanted)

    def _without_unused_nodes(self) -> dict[str, Value] | None:
        facts = self._facts
        processes = self._constants.get(facts.processes or "")
        owners = {name: self._constants.get(name) for name in facts.owners}
        if not owners or not isinstance(processes, frozenset):
            return None
        acting = {
            step.event.node if step.event else _acting(step, processes, facts.process_field)
            for step in self.trace.steps
        }
        used = sorted((one for one in processes if one in acting), key=sort_key)
        if not used or len(used) == len(processes):
            return None
        narrowed: dict[str, Value] = {str(facts.processes): frozenset(used)}
        for name, owner_of in owners.items():
            if not isinstance(owner_of, Function):
                return None
            narrowed[name] = function((one, owner_of[one]) for one in used)
            narrowed[facts.owners[name]] = frozenset(owner_of[one] for one in used)
        return narrowed

    def _with_constants(self, changed: dict[str, Value]) -> bool:
        constants = {**self._constants, **changed}
        candidate = replace(self.trace, constants=tuple(sorted(constants.items())))
        try:
            play = _play(candidate, self._name, self._conjunct)
        except (SpecError, EvaluationError):
            return False
        wanted = [_narrowed(one, constants, self._facts) for one in _wanted(self.trace)]
        played = play.play(wanted)
        if played is None or len(played) > self.length:
            return False
        self._constants, self._play = constants, play
        self._admit(played.of(candidate))
        return True

    def _fails(self, wanted: Sequence[_Wanted]) -> bool:
        played = self._play.play(wanted)
        if played is None:
            return False
        if len(played) <= self.length:
            self._admit(played.of(self.trace))
        return True

    def _admit(self, trace: Trace) -> None:
        self.trace = trace
        self._progress(f"{len(trace) - 1} steps, {self._budget.left:,} tries left")


def _acting(step: Step, processes: frozenset[Value], field: str | None) -> Value | None:
    for parameter in step.parameters or ():
        if parameter in processes:
            return parameter
        if field and isinstance(parameter, Function) and field in parameter:
            return parameter[field]
    return None


def _elapsed(parameters: tuple[Value, ...] | None, units: int) -> tuple[Value, ...]:
    assert parameters is not None
    by_process = parameters[1]
    if isinstance(by_process, tuple):
        by_process = Function(dict(enumerate(by_process, start=1)))
    assert isinstance(by_process, Function)
    common = _number(parameters[0])
    # A clock keeps its lead or lag of this step.
    drift = {one: _number(elapsed) - common for one, elapsed in by_process.items()}
    return units, function({one: max(0, units + lead) for one, lead in drift.items()})


def _narrowed(one: _Wanted, constants: Mapping[str, Value], facts: ShrinkFacts) -> _Wanted:
    """Return a wanted step without the clocks of processes that the constants do not name."""
    processes = constants.get(facts.processes or "")
    if one.action != facts.time or one.parameters is None or not isinstance(processes, frozenset):
        return one
    by_process = one.parameters[1]
    if not isinstance(by_process, Function):
        return one
    kept = function((key, value) for key, value in by_process.items() if key in processes)
    return replace(one, parameters=(one.parameters[0], kept))


def _number(value: Value) -> int:
    assert isinstance(value, int)
    return value
