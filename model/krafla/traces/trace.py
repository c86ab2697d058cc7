"""The trace: a behaviour of a spec as data, and what is claimed of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from krafla.values import same

if TYPE_CHECKING:
    from krafla.values import Function, Value

__all__ = ["INITIAL", "Claim", "ClaimKind", "Conjunct", "Event", "Origin", "Step", "Trace"]

# The action of the first step, which no action took.
INITIAL = "Init"


class ClaimKind(Enum):
    """What sort of thing a trace is evidence of."""

    INVARIANT = "invariant"
    ACTION_PROPERTY = "action property"
    TEMPORAL_PROPERTY = "temporal property"
    DEADLOCK = "deadlock"
    ASSERTION = "assertion"
    EVALUATION = "evaluation"
    DIVERGENCE = "divergence"
    FAILURE = "failure"
    BEHAVIOUR = "behaviour"


@dataclass(frozen=True, slots=True)
class Conjunct:
    """The formula that is false: its text, its place as ``Module:line``, and what is in it."""

    text: str
    place: str
    values: tuple[tuple[str, Value], ...] = ()

    def is_same(self, other: Conjunct | None) -> bool:
        """Return whether both are one formula of the spec, whatever the values in it."""
        return other is not None and (self.place, self.text) == (other.place, other.text)


@dataclass(frozen=True, slots=True)
class Claim:
    """What a trace shows: the property it violates, or (``BEHAVIOUR``) only that it is one.

    A ``DIVERGENCE`` is claimed of an implementation: ``property`` is the action that the spec
    does not have there, and the last step of the trace is what the implementation did. A
    ``FAILURE`` is an implementation that gave up in the last step. ``conjunct`` is what is
    false, where one formula is to blame.
    """

    kind: ClaimKind
    property: str | None = None
    conjunct: Conjunct | None = None

    def __str__(self) -> str:
        return self.kind.value if self.property is None else f"{self.kind.value} {self.property}"


@dataclass(frozen=True, slots=True)
class Event:
    """What an implementation knows of a step and the spec does not say.

    ``node`` is the node that acted, as the spec names it; the ids are of messages put in
    flight, and of the one that the step took or lost. ``time_ms`` is virtual time since the
    start, in milliseconds.
    """

    node: Value | None = None
    sent: tuple[int, ...] = ()
    taken: int | None = None
    time_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a trace comes from, so that it can be made again.

    ``made_by`` names the engine (``tlc``, ``simulator``, ``oracle``, ``z3``, ``log``). ``seed``
    and ``profile`` are of a simulated run, and ``plan`` its choices as JSON text. ``digest`` is
    the SHA-256 of the modules that were judged by.
    """

    made_by: str
    profile: str | None = None
    seed: str | None = None
    plan: str | None = None
    digest: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One step: the action that was taken and the state it led to.

    ``parameters`` are the action's arguments in order, and ``None`` while unknown: an
    action without parameters has ``()``. ``location`` is where the action stands, as
    ``Module:line``, or empty.
    """

    action: str
    parameters: tuple[Value, ...] | None
    state: Function
    location: str = ""
    event: Event | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """A behaviour of ``spec`` under ``constants``, from an initial state.

    ``lasso`` is the index of the step whose state comes again after the last step: the
    behaviour repeats from there for ever. If it is the last index itself, the behaviour
    stutters. ``None`` says that the trace is a finite beginning. ``back`` is the action
    that closes the lasso, empty when stuttering or unknown.
    """

    spec: str
    steps: tuple[Step, ...]
    constants: tuple[tuple[str, Value], ...] = ()
    claim: Claim | None = None
    lasso: int | None = None
    back: str = ""
    model: str | None = None
    origin: Origin | None = None

    def __post_init__(self) -> None:
        assert self.lasso is None or 0 <= self.lasso < len(self.steps), "lasso outside the trace"

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def claims_violation(self) -> bool:
        """Return whether something bad is claimed, and not only that this is a behaviour."""
        return self.claim is not None and self.claim.kind is not ClaimKind.BEHAVIOUR

    @property
    def stutters(self) -> bool:
        """Return whether the behaviour ends by repeating its last state for ever."""
        return self.lasso is not None and self.lasso == len(self.steps) - 1 and not self.back

    def changed(self, index: int) -> tuple[str, ...]:
        """Return the variables whose value step ``index`` changed; all of them at index 0."""
        state = self.steps[index].state
        if index == 0:
            return tuple(map(str, state))
        before = self.steps[index - 1].state
        return tuple(
            str(name) for name in state if name not in before or not same(before[name], state[name])
        )

    def with_steps(self, steps: tuple[Step, ...]) -> Trace:
        """Return the same trace over other steps, for example with parameters filled in."""
        return replace(self, steps=steps)
