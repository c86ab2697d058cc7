"""The lease records of a history, stepped through UntimedLease.tla.

TLC's numbers have 32 bits, so offsets and epochs are relative to `base`, the start of the history;
the spec only compares them and adds one. No record may name an epoch above its own offset, so all
of these are the next offset to the spec.

Spec: UntimedLease!Init, UntimedLease!EpochWithinLogInv, UntimedLease!EpochUniqueInv,
UntimedLease!LogGrowsProp, UntimedLease!EpochGrowsProp, UntimedLease!NewRegistrationIsFencedProp,
UntimedLease!ShutdownBeginsUnfencedProp, UntimedLease!ShutdownNotTakenBackProp.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from krafla.audit.mapping import SPEC, LogStep
from krafla.audit.refusals import false_conjuncts, said_of, text_of, violation_at
from krafla.audit.result import Evidence, Finding, Weight
from krafla.audit.specs import state_in
from krafla.values import Function, function, record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from krafla.audit.broker_registrations import BrokerRegistration
    from krafla.audit.specs import LoadingSpec
    from krafla.report.explain.outcome import Falsehood
    from krafla.testing import Explanation, State
    from krafla.values import Value

INVARIANTS: Final = ("EpochWithinLogInv", "EpochUniqueInv")
PROPERTIES: Final = (
    "LogGrowsProp",
    "EpochGrowsProp",
    "NewRegistrationIsFencedProp",
    "ShutdownBeginsUnfencedProp",
    "ShutdownNotTakenBackProp",
)
_NUMBERS: Final = frozenset({"epoch", "offset", "base_offset"})
_INT32: Final = 2**31
_BY_RULE: Final = {"EpochUniqueInv": "B3", "NewRegistrationIsFencedProp": "B5"}
_NAMES: Final = frozenset({r"b \in DOMAIN registrations", "registrations[b].epoch = epoch"})
_SHUTDOWN: Final = "registrations[b].in_controlled_shutdown = in_controlled_shutdown"


class LeaseRun:
    """The run of one history in UntimedLease: `take` judges steps in order.

    The history starts in Init at offset 0, or at the offset `start` with the registrations of a
    checkpoint. `taken` is the number of steps so far, `judged` that of the
    records among them: other steps stand for records outside the lease. `known` are the refused
    steps that a known bug of the release explains.
    """

    def __init__(
        self, loading: LoadingSpec, start: int, registrations: Mapping[int, BrokerRegistration]
    ) -> None:
        self._loading = loading
        self._start = start
        self._registrations = registrations
        self._base = 0 if start < _INT32 // 2 else start
        self._state: State | Mapping[str, Value] | None = None
        self.taken = 0
        self.judged = 0
        self.known: list[Finding] = []

    def take(self, steps: Iterable[LogStep]) -> Finding | None:
        """Take steps; return the first violation, or the finding that a number is too large."""
        if self._state is None:
            finding = self._begin()
            if finding is not None:
                return finding
        for step in steps:
            finding = self._take(step)
            if finding is not None:
                return finding
            self.taken += 1
            self.judged += step.place is not None
        return None

    def state(self) -> State:
        """Return the current state; begin the history if need be."""
        if self._state is None:
            self.take(())
        return state_in(self._loading.get(), self._state)

    def _begin(self) -> Finding | None:
        spec = self._loading.get()
        if self._start == 0:
            (self._state,) = spec.initial_states()
            return None
        epochs = [registered.epoch for registered in self._registrations.values()]
        if any(not _fits(epoch - self._base) for epoch in epochs):
            return _too_large(self._start, None)
        registered: Value = function(
            {
                broker: record(
                    incarnation=r.incarnation,
                    epoch=r.epoch - self._base,
                    fenced=r.fenced,
                    in_controlled_shutdown=r.in_controlled_shutdown,
                )
                for broker, r in self._registrations.items()
            }
        )
        end = self._start - self._base
        self._state = spec.state({"registrations": registered, "log_end": end, "epoch_floor": end})
        for name in INVARIANTS:
            if not spec.check_invariant(name, self._state):
                explanation = spec.explain_invariant(name, self._state)
                return self._broken(name, None, explanation, self._state)
        return None

    def _take(self, step: LogStep) -> Finding | None:
        spec = self._loading.get()
        before = state_in(spec, self._state)
        values = [self._relative(name, value, step) for name, value in step.parameters]
        if any(type(value) is int and not _fits(value) for value in values):
            return _too_large(step.offset, step)
        found = spec.outcomes(before, step.action, *values)
        if not found:
            refused = self._refused(step, spec.explain(before, step.action, values), before)
            return refused if step.known_bug is None else self._go_on(step, refused, before)
        (after,) = found
        self._state = after
        if step.place is None:
            return None
        for name in INVARIANTS:
            if not spec.check_invariant(name, after):
                return self._broken(name, step, spec.explain_invariant(name, after), before)
        for name in PROPERTIES:
            if not spec.check_action_property(name, before, after):
                explanation = spec.explain_action_property(name, before, after)
                return self._broken(name, step, explanation, before)
        return None

    def _go_on(self, step: LogStep, refused: Finding, before: State) -> Finding | None:
        """Go on after an amended registration as an old release writes it, if it is one.

        It is like a new registration of the same incarnation: what was written counts.
        """
        spec, named = self._loading.get(), dict(step.parameters)
        broker, offset = named["b"], step.offset - self._base
        epoch = self._relative("epoch", named["epoch"], step)
        registrations = dict(_items(before["registrations"]))
        kept = registrations[broker]
        same = (kept["incarnation"], kept["epoch"], kept["fenced"], kept["in_controlled_shutdown"])
        found = spec.outcomes(before, step.action, broker, *same, offset)
        floor = before["epoch_floor"]
        assert isinstance(floor, int), "an epoch is a number"
        assert isinstance(epoch, int), "an epoch is a number"
        if not found or epoch < floor:
            return refused
        registrations[broker] = record(
            incarnation=named["incarnation"],
            epoch=epoch,
            fenced=named["fenced"],
            in_controlled_shutdown=named["in_controlled_shutdown"],
        )
        self._state = spec.rebind(found[0], {"registrations": function(registrations)})
        self.known.append(replace(refused, known_bug=step.known_bug))
        return None

    def _relative(self, name: str, value: Value, step: LogStep) -> Value:
        if name not in _NUMBERS or not isinstance(value, int):
            return value
        return (min(value, step.offset + 1) if name == "epoch" else value) - self._base

    def _refused(self, step: LogStep, explanation: Explanation, before: State) -> Finding:
        named = dict(step.parameters)

        def shown(name: str, value: Value) -> Value:
            is_given = name == "epoch" and name in named
            return named[name] if is_given else self._absolute(name, value)

        false = false_conjuncts(explanation.reasons, shown)
        evidence = Evidence(
            rule=f"{SPEC}!{step.action}",
            statement=f"{step.action} is allowed only where each of its conjuncts is true",
            source=false[0].place if false else SPEC,
            record=text_of(step),
            action=step.action,
            parameters=step.parameters,
            false=false,
            state=self._state_of(before),
            expected=self._legal(step, before),
            invariants=_broken_by(step.action, step, false, self._registered(before)),
        )
        return violation_at(step, f"{step.action} is not allowed: {said_of(explanation)}", evidence)

    def _broken(
        self, name: str, step: LogStep | None, explanation: Explanation, before: State
    ) -> Finding:
        false = false_conjuncts(explanation.reasons, self._absolute)
        evidence = Evidence(
            rule=f"{SPEC}!{name}",
            statement=f"{name} holds at every record of a log",
            source=false[0].place if false else SPEC,
            record=None if step is None else text_of(step),
            action=None if step is None else step.action,
            parameters=() if step is None else step.parameters,
            false=false,
            state=self._state_of(before),
            invariants=_broken_by(name, step, false, self._registered(before)),
        )
        detail = f"{name} is false: {said_of(explanation)}"
        if step is None:
            return Finding(
                Weight.VIOLATION, evidence.rule, detail, offset=self._start, evidence=evidence
            )
        return violation_at(step, detail, evidence)

    def _registered(self, state: State) -> dict[int, Any]:
        """Return the registrations of a state, with the log's epochs."""
        return {
            broker: {**r, "epoch": r["epoch"] + self._base}
            for broker, r in _items(state["registrations"])
        }

    def _state_of(self, state: State) -> tuple[tuple[str, Value], ...]:
        return tuple((name, self._absolute(name, state[name])) for name in state)

    def _absolute(self, name: str, value: Value) -> Value:
        """Return a value of the spec with the log's offsets and epochs."""
        if not self._base:
            return value
        if isinstance(value, Function):
            return Function({k: self._absolute(str(k), v) for k, v in value.items()})
        if isinstance(value, tuple):
            return tuple(self._absolute("", v) for v in value)
        last = name.rpartition(".")[2]
        shifted = last in _NUMBERS or last in ("log_end", "epoch_floor")
        if shifted and isinstance(value, int) and not isinstance(value, bool):
            return value + self._base
        return value

    def _legal(self, step: LogStep, before: State) -> str:
        """Return what the spec allows a record about the same broker to say here."""
        spec = self._loading.get()
        named: dict[str, Any] = dict(step.parameters)
        broker, offset = named["b"], step.offset - self._base
        state = {name: before[name] for name in before}
        registrations = dict(_items(state["registrations"]))
        floor = self._absolute("epoch_floor", state["epoch_floor"])
        anew = f"a new incarnation, fenced, with an epoch from {floor} to {step.offset}"
        if broker not in registrations:
            return f"broker {broker} is not registered: only {anew}"
        epoch = registrations[broker]["epoch"]
        changes = (
            "FenceBroker", "UnfenceBroker", "BeginControlledShutdown", "ChangeDirectories",
            "UnregisterBroker",
        )  # fmt: skip
        legal = [name for name in changes if spec.outcomes(before, name, broker, epoch, offset)]
        return f"{', '.join(legal)} with epoch {self._absolute('epoch', epoch)}; or {anew}"


def _items(value: Value) -> Iterator[tuple[Any, Any]]:
    """Yield the arguments and results of a function; one over 1..n is a tuple."""
    if isinstance(value, tuple):
        yield from enumerate(value, 1)
    else:
        assert isinstance(value, Function), "registrations are a function"
        yield from value.items()


def _fits(number: int) -> bool:
    return -_INT32 <= number < _INT32 - 1


def _too_large(offset: int, step: LogStep | None) -> Finding:
    return Finding(
        Weight.INCONCLUSIVE,
        "number too large for TLC",
        "an offset or epoch is too far from the start of this history for TLC's 32 bits:"
        " UntimedLease does not judge from here on",
        path=None if step is None or step.place is None else step.place.path,
        position=None if step is None or step.place is None else step.place.position,
        offset=offset,
    )


def _broken_by(
    rule: str,
    step: LogStep | None,
    false: tuple[Falsehood, ...],
    registered: Mapping[int, Mapping[str, Any]],
) -> tuple[str, ...]:
    """Return the ids of the invariants, of B2 to B7, that a refused step breaks.

    `rule` is an action or a property, `false` its false conjuncts, `registered` the registrations
    before the step.
    """
    if rule in _BY_RULE:
        return (_BY_RULE[rule],)
    texts = {" ".join(conjunct.text.split()) for conjunct in false}
    named = {} if step is None else dict(step.parameters)
    if rule == "RegisterBroker":
        if any("epoch" in text for text in texts):
            epochs = {r["epoch"] for b, r in registered.items() if b != named["b"]}
            return ("B2", "B3") if named["epoch"] in epochs else ("B2",)
        return ("B5",) if texts & {"fenced", "~in_controlled_shutdown"} else ()
    if rule == "AmendRegistration":
        taken_back = _SHUTDOWN in texts and not named["in_controlled_shutdown"]
        return ("B4", "B7") if taken_back else ("B4",)
    return ("B6",) if texts & _NAMES else ()


def broken_by_unmappable(reason: str) -> tuple[str, ...]:
    """Return the ids of the invariants broken by a record that is no action, by the reason."""
    return ("B7",) if reason.startswith("inControlledShutdown") else ()
