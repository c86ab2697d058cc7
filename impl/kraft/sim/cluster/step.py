"""One step of a whole cluster: `step(cluster, choice)`.

An impossible choice is refused and changes nothing, so every list of choices has exactly one run.
Every change of metadata is a replayed record of a controller.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from kraft.sim.cluster import broker_steps, choices, controller_steps, raft_steps
from kraft.sim.cluster.cluster import find
from kraft.sim.common.step import UNKNOWN_MESSAGE, Refused, StepResult, done

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.sim.cluster.choices import Choice
    from kraft.sim.cluster.cluster import Cluster
    from kraft.sim.common.step import Outcome


def step(cluster: Cluster, choice: Choice) -> StepResult[Cluster, Choice]:
    """Return the cluster after a choice; an impossible choice is refused.

    Spec: Cluster!Next.
    """
    after, outcome = _HANDLERS[type(choice)](cluster, choice)
    return StepResult(cluster, after, choice, outcome)


_Result = tuple["Cluster", "Outcome"]


def _deliver(cluster: Cluster, choice: choices.Deliver) -> _Result:
    envelope = find(cluster, choice.message_id)
    if envelope is None:
        return cluster, UNKNOWN_MESSAGE
    if envelope.response is None:
        return controller_steps.deliver_request(cluster, envelope, choice.controller)
    if choice.controller is not None:
        return cluster, Refused("an answer is not for a controller")
    return broker_steps.deliver_response(cluster, envelope)


def _lose_message(cluster: Cluster, choice: choices.LoseMessage) -> _Result:
    envelope = find(cluster, choice.message_id)
    if envelope is None:
        return cluster, UNKNOWN_MESSAGE
    left = tuple(one for one in cluster.network if one is not envelope)
    return replace(cluster, network=left), done("LoseMessage")


_HANDLERS: Final[dict[type[Any], Callable[[Cluster, Any], _Result]]] = {
    choices.StartBroker: broker_steps.start_broker,
    choices.SendRegistration: broker_steps.send_registration,
    choices.SendHeartbeat: broker_steps.send_heartbeat,
    choices.SendAlterPartition: broker_steps.send_alter_partition,
    choices.RequestTimeout: broker_steps.request_timeout,
    choices.ReplayMetadata: broker_steps.replay_metadata,
    choices.RequestShutdown: broker_steps.request_shutdown,
    choices.Crash: broker_steps.crash,
    choices.Deliver: _deliver,
    choices.LoseMessage: _lose_message,
    choices.SessionsRunOut: controller_steps.sessions_run_out,
    choices.FenceStaleBroker: controller_steps.fence_stale_broker,
    choices.StartReassignment: controller_steps.start_reassignment,
    choices.CancelReassignment: controller_steps.cancel_reassignment,
    choices.RegisterController: controller_steps.register_controller,
    choices.UpgradeFeature: controller_steps.upgrade_feature,
    choices.Commit: raft_steps.commit,
    choices.ElectLeader: raft_steps.elect_leader,
    choices.Renounce: raft_steps.renounce,
}
