"""The metadata log as a state machine of Hypothesis: controllers and brokers over one log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from krafla.fuzz.engine.choice_machine import ChoiceMachine
from krafla.fuzz.metadata.system import SYSTEM
from kraft.controller.state import NO_EPOCH, is_active
from kraft.sim.metadata import choices
from kraft.sim.metadata.cluster import is_asked, newest_epoch
from kraft.sim.metadata.values import LEFT, value_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from krafla.fuzz.engine.choice_machine import Values
    from kraft.sim.metadata.cluster import Cluster

__all__ = ["MACHINE", "MetadataMachine"]


def _elected(cluster: Cluster) -> Iterator[choices.Elect]:
    """Yield elections in the next epoch, or in the one after, which another leader began."""
    newest = newest_epoch(cluster)
    for node, epoch in sorted(cluster.leader_epoch.items()):
        if epoch != NO_EPOCH:
            continue
        for survivors in range(len(cluster.uncommitted), -1, -1):
            yield choices.Elect(node, newest + 1, survivors)
            yield choices.Elect(node, newest + 2, survivors)
            for other in cluster.configuration.controllers:
                yield choices.Elect(node, newest + 2, survivors, ((newest + 1, other),))


def _elected_anew(cluster: Cluster) -> Iterator[choices.Elect]:
    """Yield elections while no controller leads in the newest epoch."""
    if newest_epoch(cluster) not in cluster.leader_epoch.values():
        yield from _elected(cluster)


def _asked(cluster: Cluster) -> Iterator[choices.Ask]:
    """Yield each request that was not made yet, first those that change the present value."""
    for node in cluster.configuration.controllers:
        state = cluster.nodes[node]
        if not is_active(state):
            continue
        value = value_of(state.written.image, LEFT)
        requests = [one for one in cluster.configuration.requests if not is_asked(cluster, one)]
        for request in sorted(requests, key=lambda one: one.expected != value):
            yield choices.Ask(node, request)


def _if(flag: str, values: Values) -> Values:
    """Return choices that a run has only if its configuration says so."""

    def allowed(cluster: Any) -> Any:
        return values(cluster) if getattr(cluster.configuration, flag) else ()

    return allowed


def _of(kind: Any, nodes: str) -> Values:
    return lambda cluster: [kind(node) for node in getattr(cluster.configuration, nodes)]


class MetadataMachine(ChoiceMachine):
    """Controllers that lead, write, snapshot and restart, over a log that Raft commits.

    Spec: ``MetadataLog!Next``.
    """

    system = SYSTEM
    fields: ClassVar[Mapping[str, Values]] = {
        "controller": lambda cluster: cluster.configuration.controllers,
        "node": lambda cluster: cluster.configuration.nodes,
        "source": lambda cluster: cluster.configuration.nodes,
        "count": lambda _cluster: (1, 2, 3),
    }
    choices_of: ClassVar[Mapping[type[Any], Values]] = {
        choices.Elect: _elected,
        choices.Ask: _asked,
        choices.BeginTransaction: _if("transactions", _of(choices.BeginTransaction, "controllers")),
        choices.EndTransaction: _if("transactions", _of(choices.EndTransaction, "controllers")),
        choices.CreateSnapshot: _if("snapshots", _of(choices.CreateSnapshot, "nodes")),
        choices.LoadSnapshot: _if(
            "snapshots",
            lambda cluster: [
                choices.LoadSnapshot(node, other)
                for node in cluster.configuration.nodes
                for other in cluster.configuration.nodes
            ],
        ),
        choices.Restart: _if("restarts", _of(choices.Restart, "nodes")),
    }
    usual = (
        _elected_anew, choices.HandOver, choices.TellLeader, _asked, choices.Commit,
        choices.HandOver,
    )  # fmt: skip


MACHINE: Final = MetadataMachine
