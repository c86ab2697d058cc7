"""One step of controllers that register: `step(cluster, choice)`.

An impossible choice is refused and changes nothing, so every list of choices has exactly one run.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import msgspec

from kraft.controller import registration_sender
from kraft.controller.operations import controller_registration
from kraft.controller.operations.defaults import Defaults
from kraft.controller.operations.features import update_features
from kraft.errors import ErrorCode
from kraft.ids import NodeId
from kraft.image.metadata_image import METADATA_VERSION
from kraft.image.replay import replay
from kraft.rpc.controller_registration import ControllerRegistrationResponse
from kraft.rpc.update_features import FeatureUpdate, UpdateFeaturesRequest
from kraft.sim.common.step import UNKNOWN_MESSAGE, UNKNOWN_PROCESS, Refused, StepResult, done
from kraft.sim.registration import choices
from kraft.sim.registration.cluster import (
    Cluster,
    Envelope,
    Process,
    ProcessState,
    find,
    new_sender,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kraft.controller.registration_sender import RegistrationSender
    from kraft.ids import ControllerId, IncarnationId
    from kraft.records.typed_record import TypedRecord
    from kraft.sim.common.step import Outcome
    from kraft.sim.registration.choices import Choice

_NOT_RUNNING: Final = Refused("no such process runs")
_NONE_ACTIVE: Final = Refused("no controller is active")
# The spec has no back-off: this chance gives the mean.
_CHANCE: Final = 2**63


def step(cluster: Cluster, choice: Choice) -> StepResult[Cluster, Choice]:
    """Return the cluster after a choice; an impossible choice is refused.

    Spec: ControllerRegistration!Next.
    """
    after, outcome = _HANDLERS[type(choice)](cluster, choice)
    return StepResult(cluster, after, choice, outcome)


_Result = tuple[Cluster, "Outcome"]


def is_live(cluster: Cluster, incarnation_id: IncarnationId) -> bool:
    """Return whether a process runs.

    Spec: ControllerRegistration!Live.
    """
    process = cluster.processes.get(incarnation_id)
    return process is not None and process.state is ProcessState.RUNNING


def _start(cluster: Cluster, choice: choices.StartController) -> _Result:
    process = cluster.processes.get(choice.incarnation_id)
    if process is None or process.state is not ProcessState.NOT_RUNNING:
        return cluster, UNKNOWN_PROCESS
    own = process.sender.controller_id
    for other in cluster.processes.values():
        if other.state is ProcessState.RUNNING and other.sender.controller_id == own:
            return cluster, Refused("another process of the same id holds the lock")
    started = replace(process, state=ProcessState.RUNNING)
    return _with(cluster, choice.incarnation_id, started), done("StartController")


def _send(cluster: Cluster, choice: choices.SendRegistration) -> _Result:
    if not is_live(cluster, choice.incarnation_id):
        return cluster, _NOT_RUNNING
    sender = cluster.processes[choice.incarnation_id].sender
    asking = _eager(sender) if cluster.configuration.eager else sender
    due_ms = registration_sender.next_deadline(asking)
    if asking.pending is not None or due_ms is None:
        return cluster, Refused("it awaits a response, or has nothing to ask for")
    now_ms = max(cluster.now_ms, due_ms)
    waiting, request = registration_sender.on_due(asking, now_ms, _CHANCE)
    assert request is not None
    waiting = replace(waiting, metadata_version=sender.metadata_version)
    assert waiting.pending is not None
    sent = _with_sender(replace(cluster, now_ms=now_ms), waiting)
    return _put(sent, Envelope(0, request, waiting.pending.correlation_id)), done(
        "SendRegistration"
    )


def _eager(sender: RegistrationSender) -> RegistrationSender:
    """Return a sender that believes that registrations are supported."""
    level = max(sender.metadata_version or 0, controller_registration.REGISTRATION_LEVEL)
    return replace(sender, metadata_version=level)


def _time_out(cluster: Cluster, choice: choices.RequestTimeout) -> _Result:
    if not is_live(cluster, choice.incarnation_id):
        return cluster, _NOT_RUNNING
    sender = cluster.processes[choice.incarnation_id].sender
    deadline_ms = registration_sender.next_deadline(sender)
    if sender.pending is None or deadline_ms is None:
        return cluster, Refused("it awaits no response")
    now_ms = max(cluster.now_ms, deadline_ms)
    given_up, _ = registration_sender.on_due(sender, now_ms, _CHANCE)
    later = _unawaited(replace(cluster, now_ms=now_ms), choice.incarnation_id)
    return _with_sender(later, given_up), done("RequestTimeout")


def _replay(cluster: Cluster, choice: choices.ReplayMetadata) -> _Result:
    if not is_live(cluster, choice.incarnation_id):
        return cluster, _NOT_RUNNING
    sender = cluster.processes[choice.incarnation_id].sender
    if not registration_sender.can_replay(sender, cluster.image):
        return _exit(cluster, choice.incarnation_id), done("HaltUnsupported")
    told = registration_sender.on_metadata_update(sender, cluster.image, cluster.now_ms)
    if told == sender:
        return cluster, Refused("it knows the latest metadata")
    return _with_sender(cluster, told), done("ReplayMetadata")


def _crash(cluster: Cluster, choice: choices.Crash) -> _Result:
    if not is_live(cluster, choice.incarnation_id):
        return cluster, _NOT_RUNNING
    return _exit(cluster, choice.incarnation_id), done("Crash")


def _become_active(cluster: Cluster, choice: choices.BecomeActive) -> _Result:
    chosen = choice.incarnation_id
    if not is_live(cluster, chosen) or cluster.active == chosen:
        return cluster, Refused("it does not run, or is active")
    sender = cluster.processes[chosen].sender
    if sender.controller_id not in cluster.voters:
        return cluster, Refused("it is no voter")
    if not registration_sender.can_replay(sender, cluster.image):
        return cluster, Refused("it cannot read the log")
    return replace(cluster, active=chosen), done("BecomeActive")


def _raise(cluster: Cluster, choice: choices.RaiseMetadataVersion) -> _Result:
    level, now = choice.level, cluster.image.metadata_version
    if cluster.active is None:
        return cluster, _NONE_ACTIVE
    if level not in cluster.configuration.levels or now is None or level <= now:
        return cluster, Refused("the level is not higher")
    request = UpdateFeaturesRequest((FeatureUpdate(METADATA_VERSION, level),))
    result = update_features(cluster.image, _defaults(cluster), request)
    if result.response.error_code is not ErrorCode.NONE:
        return cluster, done("RefuseUpgrade")
    return _write(cluster, result.records), done("UpgradeFeature")


def _unregister(cluster: Cluster, choice: choices.UnregisterController) -> _Result:
    removed, controllers = choice.controller_id, cluster.image.controllers
    if not _may_change(cluster, removed) or removed in cluster.voters:
        return cluster, Refused("no controller is active, or this one is active or a voter")
    if removed not in controllers:
        return cluster, Refused("it is not registered")
    # Kafka 4.1 has no record for this (KIP-1312), so the image changes without one.
    image = msgspec.structs.replace(cluster.image, controllers=controllers.delete(removed))
    return replace(cluster, image=image), done("UnregisterController")


def _remove_voter(cluster: Cluster, choice: choices.RemoveVoter) -> _Result:
    removed = choice.controller_id
    if not _may_change(cluster, removed) or removed not in cluster.voters:
        return cluster, Refused("no controller is active, or this one is active or no voter")
    return replace(cluster, voters=cluster.voters - {removed}), done("RemoveVoter")


def _add_voter(cluster: Cluster, choice: choices.AddVoter) -> _Result:
    added = choice.controller_id
    if cluster.active is None or added in cluster.voters:
        return cluster, Refused("no controller is active, or this one is a voter")
    for process in cluster.processes.values():
        if process.state is ProcessState.RUNNING and process.sender.controller_id == added:
            return replace(cluster, voters=cluster.voters | {added}), done("AddVoter")
    return cluster, Refused("no process of it runs")


def _deliver(cluster: Cluster, choice: choices.Deliver) -> _Result:
    envelope = find(cluster, choice.message_id)
    if envelope is None:
        return cluster, UNKNOWN_MESSAGE
    if envelope.response is not None:
        return _answered(cluster, envelope, envelope.response)
    if cluster.active is None:
        return cluster, _NONE_ACTIVE
    result = controller_registration.register_controller(cluster.image, envelope.request)
    if result.response.error_code is not ErrorCode.NONE:
        return _reply(cluster, envelope, result.response), done("RefuseRegistration")
    registered = _write(cluster, result.records)
    return _reply(registered, envelope, result.response), done("RegisterController")


def _deliver_elsewhere(cluster: Cluster, choice: choices.DeliverElsewhere) -> _Result:
    envelope = find(cluster, choice.message_id)
    if envelope is None or envelope.response is not None or envelope.correlation_id is None:
        return cluster, UNKNOWN_MESSAGE
    refused = ControllerRegistrationResponse(ErrorCode.NOT_CONTROLLER)
    return _reply(cluster, envelope, refused), done("AnswerNotController")


def _answered(
    cluster: Cluster, envelope: Envelope, response: ControllerRegistrationResponse
) -> _Result:
    incarnation_id = envelope.request.incarnation_id
    assert is_live(cluster, incarnation_id), "responses to a process are lost when it ends"
    assert envelope.correlation_id is not None
    sender = cluster.processes[incarnation_id].sender
    heard = registration_sender.on_registration_response(
        sender, envelope.correlation_id, response, cluster.now_ms, _CHANCE
    )
    return _with_sender(_without(cluster, envelope), heard), done("HandleRegistrationResponse")


def _lose(cluster: Cluster, choice: choices.LoseMessage) -> _Result:
    envelope = find(cluster, choice.message_id)
    if envelope is None:
        return cluster, UNKNOWN_MESSAGE
    return _without(cluster, envelope), done("LoseMessage")


def _duplicate(cluster: Cluster, choice: choices.DuplicateMessage) -> _Result:
    envelope = find(cluster, choice.message_id)
    if envelope is None or envelope.response is not None:
        return cluster, UNKNOWN_MESSAGE
    return _put(cluster, replace(envelope, correlation_id=None)), done("DuplicateMessage")


def _defaults(cluster: Cluster) -> Defaults:
    """Return the configuration of the active controller."""
    assert cluster.active is not None
    sender = cluster.processes[cluster.active].sender
    return Defaults(
        NodeId(sender.controller_id),
        quorum_node_ids=tuple(NodeId(one) for one in cluster.configuration.quorum_ids),
        supported_features={one.name: (one.minimum, one.maximum) for one in sender.features},
    )


def _may_change(cluster: Cluster, controller_id: ControllerId) -> bool:
    active = cluster.active
    return active is not None and cluster.processes[active].sender.controller_id != controller_id


def _write(cluster: Cluster, records: Iterable[TypedRecord]) -> Cluster:
    # Records are committed at once here.
    return replace(cluster, image=replay(cluster.image, records))


def _with(cluster: Cluster, incarnation_id: IncarnationId, process: Process) -> Cluster:
    return replace(cluster, processes=cluster.processes.set(incarnation_id, process))


def _with_sender(cluster: Cluster, sender: RegistrationSender) -> Cluster:
    process = cluster.processes[sender.incarnation_id]
    return _with(cluster, sender.incarnation_id, replace(process, sender=sender))


def _put(cluster: Cluster, envelope: Envelope) -> Cluster:
    numbered = replace(envelope, message_id=cluster.next_message_id)
    network = (*cluster.network, numbered)
    return replace(cluster, network=network, next_message_id=cluster.next_message_id + 1)


def _without(cluster: Cluster, envelope: Envelope) -> Cluster:
    return replace(cluster, network=tuple(one for one in cluster.network if one is not envelope))


def _reply(
    cluster: Cluster, envelope: Envelope, response: ControllerRegistrationResponse
) -> Cluster:
    """Answer a request if its response is awaited."""
    left = _without(cluster, envelope)
    if envelope.correlation_id is None:
        return left
    return replace(left, network=(*left.network, replace(envelope, response=response)))


def _unawaited(cluster: Cluster, incarnation_id: IncarnationId) -> Cluster:
    """Close the connection of a process: its request may still arrive, no response does."""
    network = tuple(
        replace(one, correlation_id=None) if one.request.incarnation_id == incarnation_id else one
        for one in cluster.network
        if one.response is None or one.request.incarnation_id != incarnation_id
    )
    return replace(cluster, network=network)


def _exit(cluster: Cluster, incarnation_id: IncarnationId) -> Cluster:
    """End a process with all that it has in memory."""
    (identity,) = (
        one for one in cluster.configuration.processes if one.incarnation_id == incarnation_id
    )
    ended = Process(ProcessState.STOPPED, new_sender(cluster.configuration, identity))
    active = None if cluster.active == incarnation_id else cluster.active
    return replace(_with(_unawaited(cluster, incarnation_id), incarnation_id, ended), active=active)


_HANDLERS: Final[dict[type[Any], Callable[[Cluster, Any], _Result]]] = {
    choices.StartController: _start,
    choices.SendRegistration: _send,
    choices.RequestTimeout: _time_out,
    choices.ReplayMetadata: _replay,
    choices.Crash: _crash,
    choices.BecomeActive: _become_active,
    choices.RaiseMetadataVersion: _raise,
    choices.UnregisterController: _unregister,
    choices.RemoveVoter: _remove_voter,
    choices.AddVoter: _add_voter,
    choices.Deliver: _deliver,
    choices.DeliverElsewhere: _deliver_elsewhere,
    choices.LoseMessage: _lose,
    choices.DuplicateMessage: _duplicate,
}
