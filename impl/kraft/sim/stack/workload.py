"""The workload of the stack: controllers and brokers above Raft, and their clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from kraft.broker.settings import BrokerSettings
from kraft.chance import Stream
from kraft.controller.configuration import Configuration
from kraft.controller.operations.defaults import Defaults
from kraft.controller.operations.registration_checks import KRAFT_VERSION
from kraft.ids import NO_BROKER_EPOCH
from kraft.rpc.node_description import Listener, SupportedFeature
from kraft.sim.raft.workload import CLUSTER_ID, Workload
from kraft.sim.stack.broker_disk import BrokerDisk
from kraft.sim.stack.broker_host import BrokerHost
from kraft.sim.stack.clients import Clients, Producers, SentRequest
from kraft.sim.stack.configuration import StackKnobs, bootstrap_of, draw_stack_knobs
from kraft.sim.stack.faults import HANDLERS
from kraft.sim.stack.hosts import FEATURES, Decoder, controller_host
from kraft.sim.stack.request_kinds import REQUESTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kraft.ids import NodeId
    from kraft.raft.voters import VoterSet
    from kraft.rpc.raft_voters import AddRaftVoterRequest
    from kraft.sim.raft.cluster import Simulation
    from kraft.sim.raft.faults import Fault
    from kraft.sim.raft.machines import Machine, Process
    from kraft.sim.raft.steps import Envelope

_LISTENERS: Final = (Listener("PLAINTEXT", "localhost", 9092),)

KRAFT_VERSIONS: Final = (
    (SupportedFeature(KRAFT_VERSION, 0, 1),),
    (SupportedFeature(KRAFT_VERSION, 1, 1),),
    (SupportedFeature(KRAFT_VERSION, 0, 0),),
    (),
)
"""What a broker may say of the kraft.versions that it supports; the first, what most say."""

_SIGNED_WITH: Final = "known to all controllers"
"""What signs delegation tokens. Kafka: delegation.token.secret.key."""


def _ask(sim: Simulation, fault: Fault) -> None:
    """Let an operator send the request that a plan names."""
    workload = sim.workload
    assert isinstance(workload, StackWorkload), "only this workload has operators"
    workload.ask(fault)


class StackWorkload(Workload):
    """The controllers, brokers and clients of a stack.

    The nodes below `configuration.voters` are controllers, the others brokers, whose broker ids are
    their node ids.
    """

    __slots__ = ("_clients", "_decoder", "_producers", "disks", "knobs")

    handlers: ClassVar[Mapping[str, Callable[[Simulation, Fault], Callable[[], None] | None]]] = {
        **HANDLERS,
        **dict.fromkeys(REQUESTS, _ask),
    }
    # In smaller pieces, a snapshot of an image takes longer to load than the next one to come.
    least_snapshot_bytes: ClassVar[int] = 1_000

    def __init__(self, simulation: Simulation, knobs: StackKnobs | None = None) -> None:
        super().__init__(simulation)
        self.knobs = draw_stack_knobs(simulation.seed) if knobs is None else knobs
        self._decoder = Decoder()
        self.disks: dict[tuple[int, str], BrokerDisk] = {}
        self._clients = Clients(simulation, self.knobs, self.acknowledged)
        self._producers = Producers(simulation, self.knobs)

    @property
    def asked(self) -> dict[int, SentRequest]:
        """All requests of operators, by message id."""
        return self._clients.asked

    @property
    def controllers(self) -> int:
        """The number of controllers; they have the lowest node ids."""
        return self._sim.configuration.voters

    def is_controller(self, machine: Machine) -> bool:
        """Return whether a machine runs a controller."""
        return machine.node_id < self.controllers

    def may_vote(self, machine: Machine) -> bool:
        """Return whether a machine's replica may become a voter: those of controllers may."""
        return self.is_controller(machine)

    def begin(self) -> None:
        """Start operators and producers."""
        self._clients.begin()
        self._producers.begin()

    def start(self, process: Process) -> None:
        """Give a starting process its controller or broker."""
        if self.is_controller(process.machine):
            configuration = self._controller_configuration(process.machine.node_id)
            process.listener = controller_host(self._sim, process, self._decoder, configuration)
        else:
            self._start_broker(process)

    def _start_broker(self, process: Process) -> None:
        machine = process.machine
        at = machine.index, machine.directory_id
        disk = self.disks.get(at)
        if disk is None:
            disk = self.disks[at] = BrokerDisk(
                self._sim.seed, machine.index, machine.directory_id, self.knobs.log_directories
            )
        knobs = self.knobs
        settings = BrokerSettings(
            CLUSTER_ID,
            disk.healthy,
            _LISTENERS,
            (*FEATURES, *self._kraft_versions(process)),
            previous_broker_epoch=disk.clean_epoch,
            broker_heartbeat_interval_ms=knobs.heartbeat_interval_ms,
            broker_session_timeout_ms=knobs.session_timeout_ms,
        )
        # A clean shutdown counts for one start only.
        disk.clean_epoch = NO_BROKER_EPOCH
        process.listener = BrokerHost(self._sim, process, self._decoder, knobs, settings, disk)

    def _kraft_versions(self, process: Process) -> tuple[SupportedFeature, ...]:
        """Draw the kraft.versions that a process of a broker supports."""
        chance = Stream(
            self._sim.seed, "kraft.versions", process.machine.index, process.incarnation
        )
        rare = self.knobs.rare_kraft_versions
        is_rare = rare > 0 and chance.below(rare) == 0
        return chance.choice(KRAFT_VERSIONS[1:]) if is_rare else KRAFT_VERSIONS[0]

    def _controller_configuration(self, node_id: NodeId) -> Configuration:
        knobs = self.knobs
        tokens = knobs.token_lifetime_ms > 0
        return Configuration(
            Defaults(
                node_id,
                unclean_leader_election_enable=knobs.unclean_leader_election,
                min_insync_replicas=knobs.min_insync_replicas,
                cluster_id=CLUSTER_ID,
                broker_session_timeout_ms=knobs.session_timeout_ms,
                delegation_token_secret_key=_SIGNED_WITH if tokens else None,
                delegation_token_max_lifetime_ms=knobs.token_lifetime_ms,
                delegation_token_expiry_time_ms=knobs.token_lifetime_ms // 2,
            ),
            bootstrap_of(knobs),
            leader_imbalance_check_interval_ms=3_000,
            unclean_leader_election_check_interval_ms=2_000,
            delegation_token_expiry_check_interval_ms=1_000 if tokens else 5_000,
            max_record_bytes_between_snapshots=knobs.snapshot_bytes,
        )

    def ask(self, fault: Fault) -> None:
        """Let an operator send the request that a plan names, to the controller that it names."""
        chance = Stream(fault.chance, "request")
        machine = self._clients.ask(fault.kind, fault.target, chance)
        if machine is not None:
            self._sim.count(fault.kind)
            self._sim.report(fault.kind, machine.key)

    def answered(self, request: Envelope, response: Any) -> None:
        """Pass a response to an operator."""
        self._clients.answered(request, response)

    def is_served(self, since: int) -> bool:
        """Return whether an active controller has answered an operator since a true time."""
        return self._clients.last_written > since

    def to_add(
        self, voters: VoterSet, machines: Sequence[Machine], chance: int
    ) -> AddRaftVoterRequest | None:
        """Return a request to make a controller a voter that is not one, None without one."""
        able = [machine for machine in machines if self.is_controller(machine)]
        return super().to_add(voters, able, chance)


def stack_workload(knobs: StackKnobs | None) -> Callable[[Simulation], StackWorkload]:
    """Return a factory of workloads, with these knobs or those of the simulation's seed."""

    def make(simulation: Simulation) -> StackWorkload:
        return StackWorkload(simulation, knobs)

    return make
