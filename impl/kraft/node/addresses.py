"""Where other controllers listen: what the log says, then what others told, then the configuration.

Kafka: VoterSet.voterNode, RequestManager, RaftManager.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from kraft.ids import NodeId
from kraft.raft.roles import Follower, Leader, Prospective
from kraft.rpc.endpoints import Endpoint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kraft.node.configuration import NodeConfiguration
    from kraft.raft.roles import Role
    from kraft.raft.state import RaftState
    from kraft.raft.voters import VoterSet
    from kraft.rpc.endpoints import Endpoints

_FIRST_BOOTSTRAP_ID = -2


class Addresses:
    """The addresses that a node knows, by node id.

    A bootstrap server is known by its address alone and has an id below -1, as in Kafka.
    """

    __slots__ = ("_configured", "_known", "_listener", "_seen", "_told", "bootstrap_ids")

    def __init__(self, configuration: NodeConfiguration) -> None:
        self._listener = configuration.listeners[0].name
        own = tuple(Endpoint(one.name, *one.told) for one in configuration.listeners)
        self._configured: dict[NodeId, Endpoints] = {
            node: (Endpoint(self._listener, *address),)
            for node, address in configuration.voters.items()
        }
        self._configured[configuration.node_id] = own
        self.bootstrap_ids: tuple[NodeId, ...] = ()
        for number, address in enumerate(configuration.bootstrap_servers):
            server = NodeId(_FIRST_BOOTSTRAP_ID - number)
            self.bootstrap_ids += (server,)
            self._configured[server] = (Endpoint(self._listener, *address),)
        self._told: dict[NodeId, Endpoints] = {}
        self._seen: VoterSet | None = None
        self._known: Mapping[NodeId, Endpoints] = MappingProxyType(self._configured)

    def learn(self, told: Mapping[NodeId, Endpoints]) -> None:
        """Remember where nodes listen, as another controller says."""
        if any(self._told.get(node) != endpoints for node, endpoints in told.items()):
            self._told.update(told)
            self._seen = None

    def known(self, state: RaftState) -> Mapping[NodeId, Endpoints]:
        """Return the listeners of all known nodes, by the voters of a replica."""
        voters = state.controls.voters
        if voters is not self._seen:
            logged = {voter.key.node_id: voter.endpoints for voter in voters.voters}
            self._known = MappingProxyType({**self._configured, **self._told, **logged})
            self._seen = voters
        return self._known

    def find(self, state: RaftState, node: NodeId) -> Endpoint | None:
        """Return where a node takes the requests of controllers; None if that is not known."""
        for endpoint in (*_just_heard(state.role, node), *self.known(state).get(node, ())):
            if endpoint.listener == self._listener:
                return endpoint
        return None


def _just_heard(role: Role, node: NodeId) -> Endpoints:
    """Return where a node listens that leads, or is to be a voter, as it said itself."""
    if isinstance(role, Follower | Prospective) and role.leader_id == node:
        return role.leader_endpoints
    if isinstance(role, Leader) and role.pending_change is not None:
        voter = role.pending_change.voter
        return voter.endpoints if voter.key.node_id == node else ()
    return ()
