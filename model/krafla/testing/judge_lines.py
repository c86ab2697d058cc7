"""The lines of the protocol of ``krafla judge`` as types, for decoding and for the JSON Schema.

A request is a JSON object with the field that names it, and the fields that it takes. An answer
has the field that its request asks for, or ``error``. ``docs/other-languages.md`` describes them.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct

from krafla.traces.limits import MAX_LINE, MAX_MEMBERS, MAX_NAME
from krafla.traces.lines import (  # noqa: TC001 - msgspec reads the annotations
    ActionName,
    Counter,
    Name,
    Named,
    Observed,
    Seen,
    Text,
    ValueData,
    Values,
    VariableName,
)

__all__ = [
    "ANSWERS",
    "PROTOCOL_VERSION",
    "REQUESTS",
    "EnabledAnswer",
    "EnabledRequest",
    "ErrorAnswer",
    "Hello",
    "RefuseRequest",
    "SaveRequest",
    "SavedAnswer",
    "StartRequest",
    "StatesAnswer",
    "StatesRequest",
    "StayRequest",
    "StepRequest",
    "Summary",
    "VerdictAnswer",
]

PROTOCOL_VERSION: Final = 1

VerdictWord: TypeAlias = Literal["held", "violated", "inconclusive"]
Count: TypeAlias = Annotated[int, Meta(ge=0)]
JudgeName: TypeAlias = Annotated[str, Meta(max_length=MAX_NAME)]
LongText: TypeAlias = Annotated[str, Meta(max_length=MAX_LINE)]


class _Line(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A JSON object with these fields and no others."""


class StateData(_Line):
    """What was seen of a state."""

    seen: Named | Seen = {}


class StartRequest(_Line):
    """Begin a behaviour, in an initial state of the spec."""

    start: StateData
    judge: JudgeName = ""


class StepRequest(_Line):
    """Judge a step that the program took, and what was seen after it.

    ``null`` is an action, or a parameter, that is not known.
    """

    step: ActionName | None
    parameters: Observed | None = None
    seen: Named | Seen = {}
    judge: JudgeName = ""


class StayRequest(_Line):
    """Judge that the program took no step, or hidden ones at most, by what was seen after it."""

    stay: StateData
    judge: JudgeName = ""


class RefuseRequest(_Line):
    """Judge that the program refused an action; what was seen after it is judged as a stay."""

    refuse: ActionName
    parameters: Observed | None = None
    seen: Named | Seen = {}
    judge: JudgeName = ""


class EnabledRequest(_Line):
    """Ask with which parameters the spec has an action now."""

    enabled: ActionName
    judge: JudgeName = ""


class StatesRequest(_Line):
    """Ask for the states in which the spec can be now."""

    states: Literal[True]
    judge: JudgeName = ""


class SaveRequest(_Line):
    """Write the behaviour up to here to a file, as a trace."""

    save: Text
    judge: JudgeName = ""


# Each request by the field that names it.
REQUESTS: Final[dict[str, type[Struct]]] = {
    kind.__struct_fields__[0]: kind
    for kind in (
        StartRequest, StepRequest, StayRequest, RefuseRequest, EnabledRequest, StatesRequest,
        SaveRequest,
    )
}  # fmt: skip


class Hello(_Line):
    """The first line: the spec is loaded. ``actions`` have the names of their parameters.

    ``not_judged`` names the properties of which a part, or all, speaks of whole behaviours only:
    no step can show it. ``left_out`` names those that the cfg beside the module lists and nothing
    judges, as constants were given instead of it.
    """

    krafla_judge: Literal[1]
    krafla: Text
    spec: Name
    variables: Annotated[list[VariableName], Meta(max_length=MAX_MEMBERS)]
    actions: dict[ActionName, list[Text]]
    not_judged: list[Text] = []
    left_out: list[Text] = []


class DifferenceData(_Line):
    """A part of the state in which the spec and the program differ; ``null`` where it lacks."""

    path: Text
    spec: ValueData | None
    seen: ValueData | None


class VerdictAnswer(_Line):
    """The verdict on a start, a step, a stay or a refusal, with the reason if it did not hold.

    ``candidates`` counts the states in which the spec can be. ``conjunct`` is the formula that is
    false, at ``place``, ``values`` are those in it; ``property`` is the property that is broken.
    ``story`` tells the whole as text.
    """

    verdict: VerdictWord
    candidates: Count
    line: Counter
    judge: JudgeName = ""
    reason: LongText = ""
    property: Text = ""
    conjunct: LongText = ""
    place: Text = ""
    values: dict[str, ValueData] = {}
    differences: list[DifferenceData] = []
    story: LongText = ""


class EnabledAnswer(_Line):
    """The parameters with which the spec has the action, in the order of the spec.

    ``reason`` says why there may be some, though none was found.
    """

    enabled: list[Values]
    line: Counter
    judge: JudgeName = ""
    reason: LongText = ""


class StatesAnswer(_Line):
    """The states in which the spec can be, at most a hundred of the ``candidates``."""

    states: list[dict[VariableName, ValueData]]
    candidates: Count
    line: Counter
    judge: JudgeName = ""


class SavedAnswer(_Line):
    """The file that was written, and how many steps it has after the first state."""

    saved: Text
    steps: Count
    line: Counter
    judge: JudgeName = ""


class ErrorAnswer(_Line):
    """What is wrong with the request in this line, which was not judged; 0 is before the first."""

    error: LongText
    line: Counter


class Summary(_Line):
    """The last line: the verdict over all, and the exit status."""

    verdict: VerdictWord
    behaviours: Count
    steps: Count
    refusals: Count
    violations: Count
    doubts: Count
    errors: Count
    exit_status: Count


ANSWERS: Final[tuple[type[Struct], ...]] = (
    Hello, VerdictAnswer, EnabledAnswer, StatesAnswer, SavedAnswer, ErrorAnswer, Summary,
)  # fmt: skip
