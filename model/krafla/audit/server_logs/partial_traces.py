"""The explanation of a cluster's logs as a partial trace, for the tools that read those.

Every step of the explanation is an action of BrokerLease. A step that was seen has a place, a time,
and the part of the state that was seen after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.audit.server_logs.lease import constants
from krafla.match.spec_source import text_of
from krafla.oracle.digest import spec_digest
from krafla.oracle.loader import find_module
from krafla.testing import Observation, PartialTrace
from krafla.traces.trace import INITIAL
from krafla.values import Function
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from krafla.audit.server_logs.candidate import TakenStep
    from krafla.audit.server_logs.judge import Judgement
    from krafla.testing import State
    from krafla.traces.partial import Part
    from krafla.values import Value

_SPEC: Final = "BrokerLease"
_OF_MESSAGE: Final = {
    "SawRegistered": "HandleRegistrationResponse",
    "SawRefused": "HandleRegistrationResponse",
    "SawAnswer": "HandleHeartbeatResponse",
    "SawStaleEpoch": "HandleHeartbeatResponse",
    "WroteRegistration": "RegisterBroker",
    "WroteAmendment": "AmendRegistration",
    "WroteUnfence": "UnfenceBroker",
    "WroteLeave": "ShutDownNow",
    "WroteFenceAsked": "FenceOnRequest",
    "WroteShutdownBegun": "BeginControlledShutdown",
}
_OF_FIRST_PARAMETER: Final = {
    "SawStarting": ("StartBroker",),
    "SawShutdownAsked": ("RequestShutdown",),
    "SawStopping": ("RequestShutdown", "Crash"),
    "WroteFenceOfSilent": ("FenceStaleBroker",),
    "WroteUnregistration": ("UnregisterBroker",),
}


def partial_trace(judged: Judgement) -> PartialTrace:
    """Return the partial trace of a cluster, as far as its logs were explained.

    Raises KraflaError if the metadata log starts at a checkpoint, because a partial trace starts in
    an initial state.
    """
    if judged.judged_from != 0:
        raise KraflaError(
            f"the metadata log is judged from offset {judged.judged_from} on, but a partial trace"
            " begins in an initial state: nothing was saved",
            str(judged.log),
        )
    taken = judged.taken
    observations = []
    while taken is not None:
        if taken.before is None or taken.before.state != taken.state:
            observations.append(_observation(taken))
        taken = taken.before
    observations.append(Observation(INITIAL, ()))
    values = constants(judged.streams.incarnations, judged.brokers, judged.settings)
    return PartialTrace(
        _SPEC, tuple(reversed(observations)), tuple(sorted(values.items())),
        digest=spec_digest(_SPEC), text=text_of(find_module(_SPEC, None)),
    )  # fmt: skip


def _observation(taken: TakenStep) -> Observation:
    action, parameters = _step(taken)
    sighting = taken.sighting
    if sighting is None:
        return Observation(action, parameters)
    place = "" if sighting.event is None else sighting.event.line.place
    if sighting.operation is not None and not place:
        place = f"{sighting.operation.path}@{sighting.operation.offset}"
    return Observation(action, parameters, _seen(taken), place, sighting.time_ms)


def _step(taken: TakenStep) -> tuple[str, tuple[Value, ...]]:
    """Return the action of BrokerLease that a step of ObservedLease took."""
    action, first = taken.action, taken.parameters[:1]
    if action == "WroteLeaderChange":
        return "FailOver", ()
    ways: list[tuple[str, tuple[Value, ...]]] = [
        (name, first) for name in _OF_FIRST_PARAMETER.get(action, ())
    ]
    before = _before(taken)
    bag = before["messages"]
    if action in _OF_MESSAGE and isinstance(bag, Function):
        ways += [(_OF_MESSAGE[action], (message,)) for message in bag]
    for name, parameters in ways:
        if taken.state in before.spec.outcomes(before, name, *parameters):
            return name, parameters
    return action, taken.parameters


def _before(taken: TakenStep) -> State:
    if taken.before is not None:
        return taken.before.state
    (state,) = taken.state.spec.initial_states()
    return state


def _seen(taken: TakenStep) -> tuple[tuple[Part, Value], ...]:
    """Return the part of the state after a step that its line or record shows."""
    first = taken.parameters[0] if taken.parameters else None
    if first is None:
        return ()
    names = ("status", "broker_epoch") if taken.action.startswith("Saw") else ("registrations",)
    found: list[tuple[Part, Value]] = []
    for name in names:
        value = taken.state[name]
        if isinstance(value, Function) and first in value:
            found.append(((name, first), value[first]))
    return tuple(found)
