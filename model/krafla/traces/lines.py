"""The lines of a trace file as types, for decoding and for the JSON Schema."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType

from krafla.traces.limits import (
    MAX_COUNTER,
    MAX_HIDDEN,
    MAX_LINE,
    MAX_MEMBERS,
    MAX_NAME,
    MAX_STEPS,
    MAX_TEXT,
)
from krafla.traces.partial import ObservedKind  # noqa: TC001 - msgspec reads the annotations
from krafla.traces.trace import ClaimKind  # noqa: TC001 - msgspec reads the annotations

__all__ = [
    "FORMAT_VERSION",
    "ClaimData",
    "ConjunctData",
    "EventData",
    "HeaderLine",
    "ItfStepData",
    "ItfTraceData",
    "LogLine",
    "ObservationLine",
    "OriginData",
    "PartialData",
    "PartialHeaderLine",
    "SpecTextData",
    "StepLine",
    "value_reference",
]

FORMAT_VERSION: Final = 3

# A name is never a path and never needs quoting. In Python, unlike in JSON
# Schema, `$` also matches before a last line feed.
_NAME = r"^[A-Za-z0-9_]+$(?!\n)"
# Quint writes the module before the name of a variable, as in `bank::balances`.
_QUALIFIED = r"^[A-Za-z0-9_]+(::[A-Za-z0-9_]+)*$(?!\n)"
_ACTION = r"^[A-Za-z0-9_]+(![A-Za-z0-9_]+)*$(?!\n)"


def value_reference(name: str = "value") -> dict[str, Any]:
    """Return a reference to a definition of the schema that does not come from these types."""
    return {"$ref": f"#/$defs/{name}"}


Name: TypeAlias = Annotated[str, Meta(pattern=_NAME, max_length=MAX_NAME)]
VariableName: TypeAlias = Annotated[str, Meta(pattern=_QUALIFIED, max_length=MAX_NAME)]
ActionName: TypeAlias = Annotated[str, Meta(pattern=_ACTION, max_length=MAX_NAME)]
# A project may give any name to its machines and their methods.
MachineName: TypeAlias = Annotated[str, Meta(max_length=MAX_NAME)]
Text: TypeAlias = Annotated[str, Meta(max_length=MAX_TEXT)]
Digest: TypeAlias = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$(?!\n)")]
# Files of format 2 are read, too: they have no text.
Version: TypeAlias = Literal[2, 3]
ModuleText: TypeAlias = Annotated[str, Meta(max_length=MAX_LINE)]
Counter: TypeAlias = Annotated[int, Meta(ge=0, le=MAX_COUNTER)]
Index: TypeAlias = Annotated[int, Meta(ge=0, lt=MAX_STEPS)]
Count: TypeAlias = Annotated[int, Meta(ge=1, le=MAX_STEPS)]
# ``krafla.traces.encoding`` decodes TLA+ values.
ValueData: TypeAlias = Annotated[Any, Meta(extra_json_schema=value_reference())]
Values: TypeAlias = Annotated[list[ValueData], Meta(max_length=MAX_MEMBERS)]
Observed: TypeAlias = Annotated[list[ValueData | None], Meta(max_length=MAX_MEMBERS)]
# Paths, of a variable and then arguments, with the values that they lead to.
Seen: TypeAlias = Annotated[
    list[tuple[Annotated[list[ValueData], Meta(min_length=1)], ValueData]],
    Meta(max_length=MAX_MEMBERS),
]
Named: TypeAlias = Annotated[dict[VariableName, ValueData], Meta(max_length=MAX_MEMBERS)]
State: TypeAlias = Annotated[
    dict[VariableName, ValueData], Meta(min_length=1, max_length=MAX_MEMBERS)
]
ChangeData: TypeAlias = Annotated[Any, Meta(extra_json_schema=value_reference("change"))]
Changes: TypeAlias = Annotated[dict[VariableName, ChangeData], Meta(max_length=MAX_MEMBERS)]


class _Line(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A JSON object with these fields and no others."""


class ConjunctData(_Line):
    """The formula that is false."""

    text: Text
    place: Text
    values: Annotated[list[tuple[Text, ValueData]], Meta(max_length=MAX_MEMBERS)] = []


class ClaimData(_Line):
    """The claim of a trace: what it is evidence of."""

    kind: ClaimKind
    property: Text | None = None
    conjunct: ConjunctData | None = None


class OriginData(_Line):
    """Where a trace comes from: which tool made it, and from which profile, seed and choices."""

    made_by: Text
    profile: Text | None = None
    seed: Text | None = None
    plan: Annotated[str, Meta(max_length=MAX_LINE)] | None = None
    digest: Digest | None = None


class SpecTextData(_Line):
    """The text of the spec that judges a trace, where it was not a shipped one."""

    root: Name
    modules: Annotated[dict[Name, ModuleText], Meta(min_length=1, max_length=MAX_NAME)]
    config: ModuleText | None = None


class HeaderLine(_Line):
    """The first line of a trace."""

    krafla_trace: Version
    spec: Name
    steps: Count
    model: Name | None = None
    constants: Named = {}
    origin: OriginData | None = None
    claim: ClaimData | None = None
    lasso: Index | None = None
    back: ActionName | Literal[""] = ""
    text: SpecTextData | None = None
    machine: MachineName | None = None


class EventData(_Line):
    """Facts about a step that an implementation knows and the spec does not say."""

    node: ValueData | UnsetType = UNSET
    sent: Annotated[list[Counter], Meta(max_length=MAX_MEMBERS)] = []
    taken: Counter | None = None
    time_ms: Counter | None = None


class StepLine(_Line):
    """One step: its whole state, or what it changed of the state before."""

    step: Index
    action: ActionName
    parameters: Values | None
    location: Text = ""
    event: EventData | None = None
    state: State | UnsetType = UNSET
    changed: Changes | UnsetType = UNSET


class PartialData(_Line):
    """The steps that may be hidden between two observations."""

    hidden: Annotated[list[ActionName], Meta(max_length=MAX_NAME)] | None = []
    hidden_max: Annotated[int, Meta(ge=0, le=MAX_HIDDEN)] = 8


class PartialHeaderLine(_Line):
    """The first line of a partial trace."""

    krafla_trace: Version
    spec: Name
    partial: PartialData
    observations: Annotated[int, Meta(ge=0, le=MAX_STEPS)]
    model: Name | None = None
    constants: Named = {}
    digest: Digest | None = None
    text: SpecTextData | None = None
    machine: MachineName | None = None
    made_by: Text | None = None


class CallData(_Line):
    """What the code was called for: a method, or the action that a method takes."""

    method: MachineName
    parameters: Values | None = None


class ObservationLine(_Line):
    """One observation."""

    observation: Index
    action: ActionName | None = None
    parameters: Observed | None = None
    seen: Seen = []
    place: Text = ""
    time_ms: Counter | None = None
    kind: ObservedKind = "step"
    call: CallData | Literal["same"] | None = None


class LogLine(_Line):
    """One line of a plain log: a step, a stay or a refusal of a program, or its first state."""

    action: ActionName | None = None
    parameters: Observed | None = None
    seen: Named | Seen = {}
    time_ms: Counter | None = None
    lamport: Counter | None = None
    kind: ObservedKind = "step"


class ItfTraceData(_Line):
    """The parts of a trace for which the Informal Trace Format has no place."""

    spec: Name
    model: Name | None = None
    back: ActionName | Literal[""] = ""
    origin: OriginData | None = None
    claim: ClaimData | None = None
    text: SpecTextData | None = None
    machine: MachineName | None = None


class ItfStepData(_Line):
    """The parts of a step for which the Informal Trace Format has no place."""

    action: ActionName
    parameters: Values | None
    location: Text = ""
    event: EventData | None = None
