"""Clients: operators send requests to the controllers, and producers append to partition leaders.

An operator knows the cluster as the asked controller showed it a moment ago. It asks a controller
that believes that it is active, and now and then any other.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kraft.chance import Stream
from kraft.controller.effects import Failure
from kraft.controller.empty_requests import empty_answer
from kraft.controller.operation_table import OPERATIONS
from kraft.controller.state import is_active, visible
from kraft.hosting.controller_host import ControllerHost
from kraft.ids import BrokerId
from kraft.raft.configuration import MILLISECOND
from kraft.rpc.delegation_tokens import CreateDelegationTokenResponse
from kraft.rpc.produce import ProduceRequest
from kraft.sim.raft.cluster import NO_REPLICA
from kraft.sim.raft.faults import LEADER
from kraft.sim.raft.workload import Acknowledged
from kraft.sim.stack.broker_host import BrokerHost
from kraft.sim.stack.edge_requests import draw_edge_request
from kraft.sim.stack.request_kinds import REQUESTS
from kraft.sim.stack.requests import Ask, draw_request

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.image.metadata_image import MetadataImage
    from kraft.sim.raft.cluster import Simulation
    from kraft.sim.raft.machines import Machine
    from kraft.sim.raft.steps import Envelope
    from kraft.sim.stack.configuration import StackKnobs

_RECORDS_MAXIMUM: Final = 3
_ELSEWHERE: Final = 8
"""One request in this many goes to any controller."""
_SECRETS_MAXIMUM: Final = 6


class SentRequest(NamedTuple):
    """An operator's request, when it was sent (true ns), and its response, if any."""

    request: Any
    time: int
    response: Any = None


class Clients:
    """The operators of a run. `asked` has all their requests, by message id.

    `last_written` is when an active controller last answered a write, in true nanoseconds.
    `_secrets` are those of the delegation tokens that they were given last.
    """

    __slots__ = (
        "_acknowledged", "_brokers", "_chance", "_edge_chance", "_knobs", "_secrets", "_sim",
        "asked", "last_written", "number",
    )  # fmt: skip

    def __init__(
        self, sim: Simulation, knobs: StackKnobs, acknowledged: dict[Any, Acknowledged]
    ) -> None:
        self._sim = sim
        self._knobs = knobs
        self._acknowledged = acknowledged
        self._chance = Stream(sim.seed, "clients")
        self._edge_chance = Stream(sim.seed, "clients at the edges")
        first, many = sim.configuration.voters, sim.configuration.observers
        self._brokers = tuple(BrokerId(first + index) for index in range(many))
        self._secrets: deque[bytes] = deque(maxlen=_SECRETS_MAXIMUM)
        self.asked: dict[int, SentRequest] = {}
        self.last_written = -1
        self.number = 0

    def begin(self) -> None:
        """Schedule the first requests."""
        self._plan()
        if self._knobs.edge_every_ms:
            self._plan_edge()

    def _plan(self) -> None:
        gap = self._chance.exponential(self._knobs.admin_every_ms * MILLISECOND)
        self._sim.schedule(self._sim.time + MILLISECOND + gap, self._ask, None)

    def _plan_edge(self) -> None:
        gap = self._edge_chance.exponential(self._knobs.edge_every_ms * MILLISECOND)
        self._sim.schedule(self._sim.time + MILLISECOND + gap, self._ask_edge, None)

    def _ask(self, _nothing: None) -> None:
        self._plan()
        self._draw(Stream(self._chance.word(), "request"), draw_request)

    def _ask_edge(self, _nothing: None) -> None:
        self._plan_edge()
        self._draw(Stream(self._edge_chance.word(), "request"), draw_edge_request)

    def _draw(self, chance: Stream, draw: Callable[[Ask], Any]) -> None:
        machine, image = self._whom(chance)
        if machine is not None and image is not None:
            self._send(machine, image, chance, draw)

    def _send(
        self, machine: Machine, image: MetadataImage, chance: Stream, draw: Callable[[Ask], Any]
    ) -> bool:
        """Send a drawn request, and return whether there is one for this image."""
        self.number += 1
        ask = Ask(chance, image, self._brokers, self._knobs, self.number, self._secrets)
        request = draw(ask)
        if request is None:
            return False
        message_id = self._sim.ask(machine, request)
        self.asked[message_id] = SentRequest(request, self._sim.time)
        return True

    def ask(self, kind: str, target: int, chance: Stream) -> Machine | None:
        """Send a request of a kind to a controller, or to the active one, and return its machine.

        None if that one is down, or if the request makes no sense for what it shows.
        """
        hosts = self._hosts()
        if target == LEADER:
            chosen = [one for one in hosts if is_active(one[1].state)]
        else:
            index = target % self._sim.configuration.voters
            chosen = [one for one in hosts if one[0].index == index]
        if not chosen:
            return None
        machine, host = chosen[0]
        is_sent = self._send(machine, visible(host.state).image, chance, REQUESTS[kind])
        return machine if is_sent else None

    def _hosts(self) -> list[tuple[Machine, ControllerHost]]:
        """Return the controllers that run, with their machines."""
        return [
            (machine, machine.process.listener)
            for machine in self._sim.nodes
            if machine.process is not None
            and machine.runs
            and isinstance(machine.process.listener, ControllerHost)
        ]

    def _whom(self, chance: Stream) -> tuple[Machine | None, MetadataImage | None]:
        """Return the controller to ask, and the image that it shows the operator."""
        hosts = self._hosts()
        if not hosts:
            return None, None
        active = [one for one in hosts if is_active(one[1].state)]
        usual = active and chance.below(_ELSEWHERE) > 0
        machine, host = chance.choice(active if usual else hosts)
        return machine, visible(host.state).image

    def answered(self, request: Envelope, response: Any) -> None:
        """Note a response."""
        asked = self.asked.get(request.message_id)
        if asked is None:
            return
        self.asked[request.message_id] = asked._replace(response=response)
        if isinstance(response, CreateDelegationTokenResponse) and response.hmac:
            self._secrets.append(response.hmac)
        if not isinstance(response, Failure):
            number = request.message_id
            if type(asked.request) in OPERATIONS.writes and empty_answer(asked.request) is None:
                self.last_written = self._sim.time
            self._acknowledged[number] = Acknowledged(number, -1, -1, NO_REPLICA, self._sim.time)


class Producers:
    """The producers of a run: they append with acks=all to the partitions that a broker leads."""

    __slots__ = ("_chance", "_knobs", "_sim")

    def __init__(self, sim: Simulation, knobs: StackKnobs) -> None:
        self._sim = sim
        self._knobs = knobs
        self._chance = Stream(sim.seed, "producers")

    def begin(self) -> None:
        """Schedule the first request."""
        self._sim.schedule(
            self._sim.time + self._knobs.produce_every_ms * MILLISECOND, self._produce, None
        )

    def _produce(self, _nothing: None) -> None:
        self.begin()
        for machine in self._sim.nodes:
            process = machine.process
            if process is None or machine.is_paused or not isinstance(process.listener, BrokerHost):
                continue
            keys = process.listener.replicas.leads
            if keys:
                records = tuple((*key, 1 + self._chance.below(_RECORDS_MAXIMUM)) for key in keys)
                self._sim.ask(machine, ProduceRequest(self._knobs.session_timeout_ms, records))
