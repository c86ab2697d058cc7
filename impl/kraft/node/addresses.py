"""Where other controllers listen.

For each listener of a node the newest source counts: what a leader or a new voter has just said of
itself, then what a response told of a leader, then the voters in the log, then the configuration.

Kafka: VoterSet.voterNode, QuorumState.leaderEndpoints, RequestManager, RaftManager.
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

    __slots__ = (
        "_configured", "_known", "_known_by", "_listener", "_own", "_told", "_voters",
        "bootstrap_ids", "logged",
    )  # fmt: skip

    def __init__(self, configuration: NodeConfiguration) -> None:
        self._listener = configuration.listeners[0].name
        own = tuple(Endpoint(one.name, *one.advertised) for one in configuration.listeners)
        self._own = {configuration.node_id: own}
        self._configured: dict[NodeId, Endpoints] = {
            node: (Endpoint(self._listener, *address),)
            for node, address in configuration.voters.items()
        }
        self.bootstrap_ids: tuple[NodeId, ...] = ()
        for number, address in enumerate(configuration.bootstrap_servers):
            server = NodeId(_FIRST_BOOTSTRAP_ID - number)
            self.bootstrap_ids += (server,)
            self._configured[server] = (Endpoint(self._listener, *address),)
        self._told: dict[NodeId, Endpoints] = {}
        self._voters: VoterSet | None = None
        self._known: Mapping[NodeId, Endpoints] = {}
        self._known_by: object = None
        self.logged: Mapping[NodeId, Endpoints] = {}

    def learn(self, told: Mapping[NodeId, Endpoints]) -> None:
        """Remember where a leader listens, as a response says."""
        if any(self._told.get(node) != endpoints for node, endpoints in told.items()):
            self._told.update(told)
            self._known_by = None

    def known(self, state: RaftState) -> Mapping[NodeId, Endpoints]:
        """Return the listeners of all known nodes; `logged` then says where the voters listen."""
        self._read(state.controls.voters)
        heard = _just_heard(state.role)
        if self._known_by != (self._voters, heard):
            self._known_by = self._voters, heard
            self._known = MappingProxyType(self._merged(heard))
        return self._known

    def _read(self, voters: VoterSet) -> None:
        """Look at the voters of a replica, and forget what was told of one that has moved since."""
        if voters is self._voters:
            return
        before, self._voters = self.logged, voters
        logged = {voter.key.node_id: voter.endpoints for voter in voters.voters}
        for node, endpoints in logged.items():
            if before.get(node, endpoints) != endpoints:
                self._told.pop(node, None)
        self.logged = MappingProxyType(logged)

    def _merged(self, heard: Mapping[NodeId, Endpoints]) -> dict[NodeId, Endpoints]:
        # A replica that hears of a leader by a response takes its endpoints from the log.
        news = {node: found for node, found in heard.items() if found != self.logged.get(node)}
        by_node: dict[NodeId, dict[str, Endpoint]] = {}
        for source in (self._configured, self.logged, self._told, news, self._own):
            for node, endpoints in source.items():
                by_name = by_node.setdefault(node, {})
                by_name.update((endpoint.listener, endpoint) for endpoint in endpoints)
        return {node: tuple(by_name.values()) for node, by_name in by_node.items()}

    def find(self, state: RaftState, node: NodeId) -> Endpoint | None:
        """Return where a node takes the requests of controllers; None if that is not known."""
        for endpoint in self.known(state).get(node, ()):
            if endpoint.listener == self._listener:
                return endpoint
        return None


def _just_heard(role: Role) -> Mapping[NodeId, Endpoints]:
    """Return where a node listens that leads, or is to be a voter, as it said itself."""
    if isinstance(role, Follower | Prospective) and role.leader_id is not None:
        return {role.leader_id: role.leader_endpoints}
    if isinstance(role, Leader) and role.pending_change is not None:
        voter = role.pending_change.voter
        return {voter.key.node_id: voter.endpoints}
    return {}
