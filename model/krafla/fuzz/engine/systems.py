"""The simulations whose runs are lists of choices: how each is played, judged and written down."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from krafla.refinement.cluster import spec as cluster_spec
from krafla.refinement.common.trace_recorder import TraceRecorder
from krafla.refinement.lease import spec as lease_spec
from krafla.refinement.lease.trace_recorder import LeaseTraceRecorder
from krafla.refinement.metadata import spec as metadata_spec
from krafla.refinement.reassignment import spec as reassignment_spec
from krafla.refinement.registration import spec as registration_spec
from kraft.sim.cluster import choices as cluster
from kraft.sim.cluster import cluster as cluster_cluster
from kraft.sim.cluster.step import step as cluster_step
from kraft.sim.common.recording import Recording, from_json, to_json
from kraft.sim.lease import choices as lease
from kraft.sim.lease import cluster as lease_cluster
from kraft.sim.lease import configuration as lease_configuration
from kraft.sim.lease.step import step as lease_step
from kraft.sim.metadata import choices as metadata_choices
from kraft.sim.metadata import cluster as metadata_cluster
from kraft.sim.metadata.step import step as metadata_step
from kraft.sim.reassignment import choices as reassignment
from kraft.sim.reassignment import cluster as reassignment_cluster
from kraft.sim.reassignment.step import step as reassignment_step
from kraft.sim.registration import choices as registration
from kraft.sim.registration import cluster as registration_cluster
from kraft.sim.registration.step import step as registration_step

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.refinement.common.lockstep import Judge

__all__ = ["CLUSTER", "GAMES", "LEASE", "METADATA", "REASSIGNMENT", "REGISTRATION", "Game"]


@dataclass(frozen=True, slots=True)
class Game:
    """A simulation, its judge, and its files.

    ``judge`` takes a configuration and the conditional properties to judge as well. ``of_message``
    are the choices that name a message by its id, ``modules`` the specs that judge it.
    """

    name: str
    first_cluster: Callable[[Any], Any]
    step: Callable[[Any, Any], Any]
    judge: Callable[[Any, tuple[str, ...]], Judge]
    recorder: Callable[[Any, Any], Any]
    recording: Callable[[Any, Any], Any]
    to_json: Callable[[Any], bytes]
    from_json: Callable[[bytes | str], Any]
    of_message: tuple[type[Any], ...]
    modules: tuple[str, ...]


LEASE: Final = Game(
    "lease",
    lease_cluster.first_cluster,
    lease_step,
    lease_spec.judge,
    LeaseTraceRecorder,
    Recording,
    to_json,
    partial(
        from_json,
        configuration=lease_configuration.Configuration,
        choice=lease.Choice,
        name="lease",
    ),
    (lease.Deliver, lease.LoseMessage, lease.DuplicateMessage),
    (lease_spec.MODULE,),
)

REASSIGNMENT: Final = Game(
    "reassignment",
    reassignment_cluster.first_cluster,
    reassignment_step,
    reassignment_spec.judge,
    TraceRecorder,
    Recording,
    to_json,
    partial(
        from_json,
        configuration=reassignment_cluster.Configuration,
        choice=reassignment.Choice,
        name="reassignment",
    ),
    (reassignment.Deliver, reassignment.RetryAlterPartition),
    (reassignment_spec.MODULE, reassignment_spec.ELR_MODULE),
)

METADATA: Final = Game(
    "metadata",
    metadata_cluster.first_cluster,
    metadata_step,
    metadata_spec.judge,
    TraceRecorder,
    Recording,
    to_json,
    partial(
        from_json,
        configuration=metadata_cluster.Configuration,
        choice=metadata_choices.Choice,
        name="metadata",
    ),
    (),
    (metadata_spec.MODULE,),
)
REGISTRATION: Final = Game(
    "registration",
    registration_cluster.first_cluster,
    registration_step,
    registration_spec.judge,
    TraceRecorder,
    Recording,
    to_json,
    partial(
        from_json,
        configuration=registration_cluster.Configuration,
        choice=registration.Choice,
        name="registration",
    ),
    (
        registration.Deliver,
        registration.DeliverElsewhere,
        registration.LoseMessage,
        registration.DuplicateMessage,
    ),
    (registration_spec.MODULE,),
)

CLUSTER: Final = Game(
    "cluster",
    cluster_cluster.first_cluster,
    cluster_step,
    cluster_spec.judge,
    TraceRecorder,
    Recording,
    to_json,
    partial(
        from_json,
        configuration=cluster_cluster.Configuration,
        choice=cluster.Choice,
        name="cluster",
    ),
    (cluster.Deliver, cluster.LoseMessage),
    (cluster_spec.MODULE,),
)

GAMES: Final = {game.name: game for game in (LEASE, REASSIGNMENT, REGISTRATION, METADATA, CLUSTER)}
