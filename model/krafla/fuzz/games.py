"""The simulations whose runs are lists of choices: how each is played, judged and written down."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from krafla.refinement import tracing
from krafla.refinement.game_tracing import GameRecorder
from krafla.refinement.lease_spec import lease_judge
from krafla.refinement.metadata import metadata_spec
from krafla.refinement.properties import MODULE as LEASE_MODULE
from krafla.refinement.reassignment import reassignment_spec
from krafla.refinement.registration import registration_spec
from krafla.refinement.together import together_spec
from kraft.sim import choices as lease
from kraft.sim import cluster as lease_cluster
from kraft.sim import recording as lease_recording
from kraft.sim.metadata import cluster as metadata_cluster
from kraft.sim.metadata import recording as metadata_recording
from kraft.sim.metadata.step import step as metadata_step
from kraft.sim.reassignment import choices as reassignment
from kraft.sim.reassignment import cluster as reassignment_cluster
from kraft.sim.reassignment import recording as reassignment_recording
from kraft.sim.reassignment.step import step as reassignment_step
from kraft.sim.registration import choices as registration
from kraft.sim.registration import cluster as registration_cluster
from kraft.sim.registration import recording as registration_recording
from kraft.sim.registration.step import step as registration_step
from kraft.sim.step import step as lease_step
from kraft.sim.together import choices as together
from kraft.sim.together import cluster as together_cluster
from kraft.sim.together import recording as together_recording
from kraft.sim.together.step import step as together_step

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.refinement.lockstep import Judge

__all__ = ["GAMES", "LEASE", "METADATA", "REASSIGNMENT", "REGISTRATION", "TOGETHER", "Game"]


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


def _recorder(
    module_of: Callable[[Any], str], constants_of: Callable[[Any], Any]
) -> Callable[[Any, Any], Any]:
    return partial(GameRecorder, module_of=module_of, constants_of=constants_of)


LEASE: Final = Game(
    "lease",
    lease_cluster.first_cluster,
    lease_step,
    lease_judge,
    tracing.TraceRecorder,
    lease_recording.Recording,
    lease_recording.to_json,
    lease_recording.from_json,
    (lease.Deliver, lease.LoseMessage, lease.DuplicateMessage),
    (LEASE_MODULE,),
)

REASSIGNMENT: Final = Game(
    "reassignment",
    reassignment_cluster.first_cluster,
    reassignment_step,
    reassignment_spec.reassignment_judge,
    _recorder(reassignment_spec.module_of, reassignment_spec.constants_of),
    reassignment_recording.Recording,
    reassignment_recording.to_json,
    reassignment_recording.from_json,
    (reassignment.Deliver, reassignment.RetryAlterPartition),
    (reassignment_spec.MODULE, reassignment_spec.ELR_MODULE),
)

METADATA: Final = Game(
    "metadata",
    metadata_cluster.first_cluster,
    metadata_step,
    metadata_spec.metadata_judge,
    _recorder(lambda _: metadata_spec.MODULE, metadata_spec.constants_of),
    metadata_recording.Recording,
    metadata_recording.to_json,
    metadata_recording.from_json,
    (),
    (metadata_spec.MODULE,),
)
REGISTRATION: Final = Game(
    "registration",
    registration_cluster.first_cluster,
    registration_step,
    registration_spec.registration_judge,
    _recorder(lambda _: registration_spec.MODULE, registration_spec.constants_of),
    registration_recording.Recording,
    registration_recording.to_json,
    registration_recording.from_json,
    (
        registration.Deliver,
        registration.DeliverElsewhere,
        registration.LoseMessage,
        registration.DuplicateMessage,
    ),
    (registration_spec.MODULE,),
)

TOGETHER: Final = Game(
    "together",
    together_cluster.first_cluster,
    together_step,
    together_spec.together_judge,
    _recorder(lambda _: together_spec.MODULE, together_spec.constants_of),
    together_recording.Recording,
    together_recording.to_json,
    together_recording.from_json,
    (together.Deliver, together.LoseMessage),
    (together_spec.MODULE,),
)

GAMES: Final = {game.name: game for game in (LEASE, REASSIGNMENT, REGISTRATION, METADATA, TOGETHER)}
