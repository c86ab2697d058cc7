"""The trace: a behaviour of a spec as data, with the claim about it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from krafla.values import same

if TYPE_CHECKING:
    from krafla.traces.spec_text import SpecText
    from krafla.values import Function, Value

__all__ = ["INITIAL", "Claim", "ClaimKind", "Conjunct", "Event", "Origin", "Step", "Trace"]

# The name in place of an action for the initial state.
INITIAL = "Init"


class ClaimKind(Enum):
    """The kind of finding that a trace is evidence of."""

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
    """The false formula: its text, its place as ``Module:line``, and the values in it."""

    text: str
    place: str
    values: tuple[tuple[str, Value], ...] = ()

    def is_same(self, other: Conjunct | None) -> bool:
        """Return whether both are the same formula of the spec, whatever their values."""
        return other is not None and (self.place, self.text) == (other.place, other.text)


@dataclass(frozen=True, slots=True)
class Claim:
    """What a trace shows: a violated property, or only that it is a behaviour (``BEHAVIOUR``).

    ``DIVERGENCE``: in the last step an implementation did what the spec does not allow;
    ``property`` is the action. ``FAILURE``: the implementation raised an error in the last step.
    ``conjunct`` is the false formula, if a single one is to blame.
    """

    kind: ClaimKind
    property: str | None = None
    conjunct: Conjunct | None = None

    def __str__(self) -> str:
        return self.kind.value if self.property is None else f"{self.kind.value} {self.property}"


@dataclass(frozen=True, slots=True)
class Event:
    """Facts about a step that an implementation knows and the spec does not say.

    ``node`` is the node that acted, under its name in the spec. The ids are those of the messages
    that the step sent, and of the message that it took or lost. ``time_ms`` is virtual time since
    the start, in milliseconds.
    """

    node: Value | None = None
    sent: tuple[int, ...] = ()
    taken: int | None = None
    time_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a trace, from which it can be made again.

    ``made_by`` names the engine (``tlc``, ``simulator``, ``oracle``, ``z3``, ``log``,
    ``krafla.testing``, ``krafla judge``). A simulated run has ``seed`` and ``profile``, and its
    choices as JSON text in ``plan``. ``digest`` is the SHA-256 of the modules that judged it.
    """

    made_by: str
    profile: str | None = None
    seed: str | None = None
    plan: str | None = None
    digest: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One step: the action that was taken and the state it led to.

    ``parameters`` are the action's arguments in order, ``None`` if unknown; an action without
    parameters has ``()``. ``location`` is the place of the action as ``Module:line``, or empty.
    """

    action: str
    parameters: tuple[Value, ...] | None
    state: Function
    location: str = ""
    event: Event | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """A behaviour of ``spec`` under ``constants``, from an initial state.

    ``lasso`` is the index of the step whose state follows the last step again: from there the
    behaviour repeats for ever. If it is the last index, the behaviour stutters. ``None``: the trace
    is a finite prefix. ``back`` is the action that closes the lasso, empty if it stutters or the
    action is unknown. ``text`` is the text of its spec, if that was not a shipped one. ``machine``
    is the name of the machine that the trace is driven on, in the project where it is a test.
    """

    spec: str
    steps: tuple[Step, ...]
    constants: tuple[tuple[str, Value], ...] = ()
    claim: Claim | None = None
    lasso: int | None = None
    back: str = ""
    model: str | None = None
    origin: Origin | None = None
    text: SpecText | None = None
    machine: str | None = None

    def __post_init__(self) -> None:
        assert self.lasso is None or 0 <= self.lasso < len(self.steps), "lasso outside the trace"

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def digest(self) -> str | None:
        """Return the digest of the modules that judged the trace when it was made."""
        return None if self.origin is None else self.origin.digest

    @property
    def claims_violation(self) -> bool:
        """Return whether the trace has a claim other than ``BEHAVIOUR``."""
        return self.claim is not None and self.claim.kind is not ClaimKind.BEHAVIOUR

    @property
    def stutters(self) -> bool:
        """Return whether the behaviour ends by repeating its last state for ever."""
        return self.lasso is not None and self.lasso == len(self.steps) - 1 and not self.back

    def changed(self, index: int) -> tuple[str, ...]:
        """Return the variables that step ``index`` changed; all of them at index 0."""
        state = self.steps[index].state
        if index == 0:
            return tuple(map(str, state))
        before = self.steps[index - 1].state
        return tuple(
            str(name) for name in state if name not in before or not same(before[name], state[name])
        )

    def with_steps(self, steps: tuple[Step, ...]) -> Trace:
        """Return the same trace with other steps, for example with parameters filled in."""
        return replace(self, steps=steps)
