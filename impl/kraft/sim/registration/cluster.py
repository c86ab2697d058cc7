"""Controller processes, their replayed state, the log's image and the messages in flight."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
from immutables import Map

from kraft.controller.registration_sender import RegistrationSender
from kraft.ids import ControllerId, IncarnationId  # noqa: TC001 - msgspec reads the types
from kraft.image.metadata_image import EMPTY_IMAGE, METADATA_VERSION
from kraft.image.replay import replay
from kraft.records.cluster import FeatureLevelRecord
from kraft.rpc.node_description import SupportedFeature
from kraft.sim.common.clock import START_MS

if TYPE_CHECKING:
    from kraft.image.metadata_image import MetadataImage
    from kraft.rpc.controller_registration import (
        ControllerRegistrationRequest,
        ControllerRegistrationResponse,
    )


class ProcessIdentity(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A possible process: its controller id, and the highest metadata version it supports."""

    incarnation_id: IncarnationId
    controller_id: ControllerId
    highest_level: int


class Configuration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The processes, the metadata versions, and what may happen.

    `quorum_ids` are the voters of controller.quorum.voters; it is empty for a dynamic quorum. With
    `eager`, processes send registrations even under a metadata version without them. With
    `changes_voters`, the operator adds and removes voters, and removes registrations.
    """

    processes: tuple[ProcessIdentity, ...]
    levels: tuple[int, ...]
    quorum_ids: tuple[ControllerId, ...] = ()
    eager: bool = False
    changes_voters: bool = False


class ProcessState(enum.Enum):
    """The life cycle of a process.

    Spec: ControllerRegistration!Status.
    """

    NOT_RUNNING = "NOT_RUNNING"
    RUNNING = "RUNNING"
    STOPPED = "STOPPED"


@dataclass(frozen=True, slots=True)
class Process:
    """A process: whether it runs, and the state of its registration."""

    state: ProcessState
    sender: RegistrationSender


@dataclass(frozen=True, slots=True)
class Envelope:
    """A message in flight: a request, or with its `response` the way back.

    `correlation_id` is the sender's; None if the response is no longer awaited.
    """

    message_id: int
    request: ControllerRegistrationRequest
    correlation_id: int | None
    response: ControllerRegistrationResponse | None = None


@dataclass(frozen=True, slots=True)
class Cluster:
    """The whole state at one moment. `now_ms` is the clock of all processes."""

    configuration: Configuration
    image: MetadataImage
    voters: frozenset[ControllerId]
    processes: Map[IncarnationId, Process]
    active: IncarnationId | None = None
    network: tuple[Envelope, ...] = ()
    next_message_id: int = 0
    now_ms: int = START_MS


def controllers_of(configuration: Configuration) -> tuple[ControllerId, ...]:
    """Return the controller ids, in order."""
    return tuple(sorted({one.controller_id for one in configuration.processes}))


def new_sender(configuration: Configuration, identity: ProcessIdentity) -> RegistrationSender:
    """Return the state of a process before it starts: its identity alone."""
    supported = SupportedFeature(
        METADATA_VERSION, min(configuration.levels), identity.highest_level
    )
    return RegistrationSender(
        identity.controller_id, identity.incarnation_id, features=(supported,)
    )


def first_cluster(configuration: Configuration) -> Cluster:
    """Return the first cluster: no process runs, and the lowest level is finalized.

    Spec: ControllerRegistration!Init.
    """
    records = [FeatureLevelRecord(METADATA_VERSION, min(configuration.levels))]
    return Cluster(
        configuration,
        replay(EMPTY_IMAGE, records),
        frozenset(controllers_of(configuration)),
        Map(
            {
                one.incarnation_id: Process(
                    ProcessState.NOT_RUNNING, new_sender(configuration, one)
                )
                for one in configuration.processes
            }
        ),
    )


def find(cluster: Cluster, message_id: int) -> Envelope | None:
    """Return the message in flight with this id, or None."""
    return next((one for one in cluster.network if one.message_id == message_id), None)
