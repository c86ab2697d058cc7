"""Every way in which a run of TLC can end: a closed set, told apart by type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from krafla.tlc.remedies import with_remedy
from krafla.traces import Claim, ClaimKind

__all__ = [
    "ActionPropertyViolated",
    "AssertionFailed",
    "AssumptionFailed",
    "ConfigError",
    "Deadlock",
    "EvaluationError",
    "Finished",
    "Interrupted",
    "InvariantViolated",
    "Killed",
    "OutOfDisk",
    "OutOfMemory",
    "Outcome",
    "SpecError",
    "TemporalPropertyViolated",
    "TooManyStates",
    "Unknown",
    "claim_of",
    "describe",
    "violated_names",
]


@dataclass(frozen=True, slots=True)
class Finished:
    """TLC did all it was asked to and found no error; simulation never covers every state.

    ``assumptions_only``: the cfg names no behaviour, so the module's assumptions were all.
    """

    collision_probability: float | None = None
    simulated: bool = False
    assumptions_only: bool = False


@dataclass(frozen=True, slots=True)
class InvariantViolated:
    """A state breaks this invariant; ``initial`` if an initial state does."""

    name: str
    initial: bool = False


@dataclass(frozen=True, slots=True)
class ActionPropertyViolated:
    """A step, or the initial state, breaks a property made of ``Init`` and ``[][A]_v``.

    TLC names it by its definition or, for a refinement, by ``location`` only; then
    ``name`` is ``None`` until the properties have been run one by one.
    """

    name: str | None
    location: str | None = None
    initial: bool = False


@dataclass(frozen=True, slots=True)
class TemporalPropertyViolated:
    """A behaviour breaks a temporal property.

    TLC does not say which: ``names`` are those that failed when run one by one, or the
    only one there was; empty while unknown.
    """

    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Deadlock:
    """A state has no successor, and the model does not allow that."""


@dataclass(frozen=True, slots=True)
class AssumptionFailed:
    """An ``ASSUME`` is false, or cannot be evaluated, for the constants of the model."""

    location: str
    message: str


@dataclass(frozen=True, slots=True)
class AssertionFailed:
    """``Assert`` of module TLC was false."""

    message: str
    location: str | None = None


@dataclass(frozen=True, slots=True)
class EvaluationError:
    """An expression of the spec has no value; ``during`` names the property at work."""

    message: str
    location: str | None = None
    during: str | None = None


@dataclass(frozen=True, slots=True)
class SpecError:
    """The spec does not parse, or names what does not exist."""

    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True)
class ConfigError:
    """The cfg does not parse, or does not fit the spec."""

    message: str
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class OutOfMemory:
    """The heap was too small."""

    message: str


@dataclass(frozen=True, slots=True)
class OutOfDisk:
    """The files in which TLC keeps states could not be written or read."""

    message: str


@dataclass(frozen=True, slots=True)
class TooManyStates:
    """A set, or a trace, is larger than TLC can handle."""

    message: str


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The run was stopped from here, for the reason given."""

    reason: str


@dataclass(frozen=True, slots=True)
class Killed:
    """The process was ended by a signal that did not come from here."""

    signal: int


@dataclass(frozen=True, slots=True)
class Unknown:
    """The output is incomplete, contradicts itself or the exit status, or is not understood."""

    reason: str


Outcome: TypeAlias = (
    Finished
    | InvariantViolated
    | ActionPropertyViolated
    | TemporalPropertyViolated
    | Deadlock
    | AssumptionFailed
    | AssertionFailed
    | EvaluationError
    | SpecError
    | ConfigError
    | OutOfDisk
    | OutOfMemory
    | TooManyStates
    | Interrupted
    | Killed
    | Unknown
)


def violated_names(outcome: Outcome) -> tuple[str, ...]:
    """Return the names of the properties the outcome shows to be violated."""
    match outcome:
        case InvariantViolated(name):
            return (name,)
        case ActionPropertyViolated(str() as name):
            return (name,)
        case TemporalPropertyViolated(names):
            return names
        case Deadlock():
            return ("Deadlock",)
        case _:
            return ()


def claim_of(outcome: Outcome) -> Claim | None:
    """Return the claim that a counterexample printed with this outcome supports."""
    match outcome:
        case InvariantViolated(name):
            return Claim(ClaimKind.INVARIANT, name)
        case ActionPropertyViolated(name):
            return Claim(ClaimKind.ACTION_PROPERTY, name)
        case TemporalPropertyViolated(names):
            return Claim(ClaimKind.TEMPORAL_PROPERTY, names[0] if len(names) == 1 else None)
        case Deadlock():
            return Claim(ClaimKind.DEADLOCK)
        case AssertionFailed():
            return Claim(ClaimKind.ASSERTION)
        case EvaluationError(during=during):
            return Claim(ClaimKind.EVALUATION, during)
        case _:
            return None


def describe(outcome: Outcome) -> str:  # noqa: C901  # one short case for each kind
    """Return the outcome as one line of text."""
    match outcome:
        case Finished(simulated=True):
            return "no error in the behaviours simulated"
        case Finished(assumptions_only=True):
            return "the assumptions hold; the cfg names no behaviour"
        case Finished():
            return "no error in any reachable state"
        case InvariantViolated(name, initial):
            return f"invariant {name} is violated{' by an initial state' if initial else ''}"
        case ActionPropertyViolated(name, location, initial):
            which = name or f"at {location}"
            return f"action property {which} is violated{' by an initial state' if initial else ''}"
        case TemporalPropertyViolated(names):
            return f"temporal property {', '.join(names) or '(not known which)'} is violated"
        case Deadlock():
            return "deadlock: a state without successor"
        case AssumptionFailed(location, message):
            return f"assumption at {location} failed: {with_remedy(message)}"
        case AssertionFailed(message, location):
            return f"assertion failed{_at(location)}: {_one_line(message)}"
        case EvaluationError(message, location, during):
            return f"cannot evaluate {during or 'the spec'}{_at(location)}: {with_remedy(message)}"
        case SpecError(message, file, line) | ConfigError(message, file, line):
            place = ":".join(str(part) for part in (file, line) if part is not None)
            return f"{place}: {_one_line(message)}" if place else _one_line(message)
        case OutOfMemory(message):
            return f"TLC ran out of memory (--heap gives it more): {_one_line(message)}"
        case OutOfDisk(message):
            return f"TLC cannot write its files (TMPDIR says where): {_one_line(message)}"
        case TooManyStates(message):
            return _one_line(message)
        case Interrupted(reason):
            return f"stopped: {reason}"
        case Killed(signal):
            return f"TLC was killed by signal {signal}"
        case Unknown(reason):
            return f"TLC's answer is not understood: {_one_line(reason)}"


def _at(location: str | None) -> str:
    return f" at {location}" if location else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())
