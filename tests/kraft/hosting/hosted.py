"""Processes with nothing but `kraft.hosting` around a replica, for tests."""

from __future__ import annotations

from typing import Any, NamedTuple

from kraft.controller.configuration import Configuration as ControllerConfiguration
from kraft.controller.operations.defaults import Defaults
from kraft.controller.registration_sender import RegistrationSender
from kraft.hosting.controller_host import ControllerHost
from kraft.hosting.effects import perform
from kraft.hosting.order import next_deadline, take_turn
from kraft.hosting.process import REPLICA, HostedProcess
from kraft.ids import NodeId, ReplicaKey
from kraft.image.metadata_image import METADATA_VERSION
from kraft.image.versions import LATEST_METADATA_VERSION
from kraft.log.image import LogImage
from kraft.raft.boot import boot
from kraft.raft.configuration import MILLISECOND, Configuration
from kraft.raft.voters import Voter, VoterSet
from kraft.records.cluster import FeatureLevelRecord
from kraft.rpc.endpoints import Endpoint
from kraft.rpc.node_description import Listener, SupportedFeature

CLUSTER = "cluster-of-tests"
NODE = NodeId(1)
DIRECTORY = "AAAAAAAAAAAAAAAAAAAAAQ"
ENDPOINTS = (Endpoint("CONTROLLER", "localhost", 9093),)
START = 1_700_000_000_000 * MILLISECOND
"""A time by the wall: no clock of a real node begins at zero."""
BOOTSTRAP = (FeatureLevelRecord(METADATA_VERSION, LATEST_METADATA_VERSION),)


class Arrived(NamedTuple):
    """A message."""

    message_id: int
    source: int
    correlation_id: int
    payload: Any
    is_request: bool = True


class RecordedOutside:
    """An outside whose clock stands still until `time` is set; `said` is what was sent."""

    def __init__(self) -> None:
        self.time = START
        self.said: list[tuple[Any, ...]] = []
        self.drawn = 0

    def now(self) -> int:
        return self.time

    def chance(self) -> int:
        self.drawn += 1
        return self.drawn

    def send(self, destination: int, correlation_id: int, request: Any) -> None:
        self.said.append(("send", destination, correlation_id, request))

    def reply(self, token: int, response: Any) -> None:
        self.said.append(("reply", token, response))


def process_of(listener: Any = None, replica: Any = REPLICA) -> HostedProcess:
    """Return a process that has not booted."""
    process = HostedProcess(replica)
    process.outside = RecordedOutside()
    process.listener = listener
    return process


def do_effects(process: HostedProcess, effects: Any, stored: list[Any]) -> None:
    """Perform effects as a node does: `stored` gets those on the disk."""
    index = perform(process, effects)
    while index < len(effects):
        stored.append(effects[index])
        index = perform(process, effects, index + 1)


def run_until_idle(process: HostedProcess, stored: list[Any], most: int = 500) -> None:
    """Let a process work until nothing waits, and time stands still."""
    for _ in range(most):
        taken = take_turn(process)
        if taken is None:
            return
        if taken.step is not None:
            do_effects(process, taken.step.effects, stored)
    raise AssertionError("the process never comes to rest")


def run_for(process: HostedProcess, milliseconds: int, stored: list[Any]) -> None:
    """Let a process work for a time by its clock."""
    outside = process.outside
    end = outside.now() + milliseconds * MILLISECOND
    run_until_idle(process, stored)
    while (due := next_deadline(process)) <= end:
        outside.time = max(outside.time, due)
        run_until_idle(process, stored)
    outside.time = end


def sole_controller(observe: Any = lambda *_step: None, **options: Any) -> HostedProcess:
    """Return a booted process with a controller that is the only voter."""
    process = process_of()
    voters = VoterSet.of((Voter(ReplicaKey(NODE, None), ENDPOINTS),))
    configuration = Configuration(CLUSTER, NODE, DIRECTORY, ENDPOINTS, voters)
    controller = ControllerConfiguration(Defaults(NODE, cluster_id=CLUSTER), BOOTSTRAP, **options)
    features = (SupportedFeature(METADATA_VERSION, 1, LATEST_METADATA_VERSION),)
    listeners = (Listener("CONTROLLER", "localhost", 9093),)
    sender = RegistrationSender(NODE, DIRECTORY, listeners, features)
    process.listener = ControllerHost(process, controller, sender, observe)
    step = boot(configuration, None, LogImage(), process.outside.now(), 1)
    process.become(step.state)
    do_effects(process, step.effects, [])
    return process
