"""One step of a cluster: `step(cluster, choice)`.

An impossible choice is refused and changes nothing, so every list of choices has exactly one run:
`replay_choices`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kraft.sim.common.step import UNKNOWN_MESSAGE, StepResult
from kraft.sim.lease import broker_steps, choices, controller_steps, world_steps
from kraft.sim.lease.cluster import Cluster, first_cluster
from kraft.sim.lease.network import find, is_request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kraft.sim.lease.choices import Choice
    from kraft.sim.lease.cluster import Result
    from kraft.sim.lease.configuration import Configuration


def step(cluster: Cluster, choice: Choice) -> StepResult[Cluster, Choice]:
    """Return the cluster after a choice; an impossible choice is refused.

    Spec: BrokerLease!Next.
    """
    after, outcome = _HANDLERS[type(choice)](cluster, choice)
    return StepResult(cluster, after, choice, outcome)


def replay_choices(
    configuration: Configuration, chosen: Iterable[Choice]
) -> Iterator[StepResult[Cluster, Choice]]:
    """Yield the steps of the run that a configuration and a list of choices determine."""
    cluster = first_cluster(configuration)
    for choice in chosen:
        result = step(cluster, choice)
        yield result
        cluster = result.after


def _deliver(cluster: Cluster, choice: choices.Deliver) -> Result:
    envelope = find(cluster.network, choice.message_id)
    if envelope is None:
        return cluster, UNKNOWN_MESSAGE
    if is_request(envelope):
        return controller_steps.deliver_request(cluster, envelope)
    return broker_steps.deliver_response(cluster, envelope)


_HANDLERS: Final[dict[type[Any], Callable[[Cluster, Any], Result]]] = {
    choices.StartBroker: broker_steps.start_broker,
    choices.SendRegistration: broker_steps.send_registration,
    choices.SendHeartbeat: broker_steps.send_heartbeat,
    choices.Deliver: _deliver,
    choices.LoseMessage: world_steps.lose_message,
    choices.DuplicateMessage: world_steps.duplicate_message,
    choices.RequestTimeout: broker_steps.request_timeout,
    choices.ReplayMetadata: broker_steps.replay_metadata,
    choices.RequestShutdown: broker_steps.request_shutdown,
    choices.Crash: broker_steps.crash,
    choices.FenceStaleBroker: controller_steps.fence_stale_broker,
    choices.UnregisterBroker: controller_steps.unregister_broker,
    choices.ElectLeader: controller_steps.elect_leader,
    choices.FailOver: controller_steps.fail_over,
    choices.Tick: world_steps.tick,
}
