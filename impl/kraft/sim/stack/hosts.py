"""What the hosts above Raft have in common, and the host of a simulated controller.

A host is the listener of its process. Each of its actions is a separate step of the simulation.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final

from kraft.chance import derive
from kraft.controller.operations.leader_eligibility import ELIGIBLE_LEADER_REPLICAS
from kraft.controller.registration_sender import RegistrationSender
from kraft.hosting.controller_host import ControllerHost, records_of
from kraft.ids import ControllerId, IncarnationId, uuid_text
from kraft.image.metadata_image import METADATA_VERSION
from kraft.image.versions import LATEST_METADATA_VERSION
from kraft.rpc.node_description import Listener, SupportedFeature
from kraft.sim.raft.steps import ListenerStep

if TYPE_CHECKING:
    from kraft.controller.configuration import Configuration
    from kraft.log.batches import LogBatch
    from kraft.records.typed_record import TypedRecord
    from kraft.sim.raft.cluster import Simulation
    from kraft.sim.raft.machines import Process

FEATURES: Final = (
    SupportedFeature(METADATA_VERSION, 1, LATEST_METADATA_VERSION),
    SupportedFeature(ELIGIBLE_LEADER_REPLICAS, 0, 1),
)
"""What every node supports."""

_KNOWN_BATCHES: Final = 4096
_LISTENERS: Final = (Listener("CONTROLLER", "localhost", 9093),)


def incarnation_of(seed: int, number: int) -> IncarnationId:
    """Return the incarnation id of a process, by its number in the run."""
    words = (derive(seed, "incarnation", number), derive(seed, "incarnation", number, 1))
    return IncarnationId(uuid_text(b"".join(word.to_bytes(8, "big") for word in words)))


class Decoder:
    """Decodes the records of each batch once, for all replicas that have it."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[int, bytes], tuple[TypedRecord, ...]] = OrderedDict()

    def records(self, batch: LogBatch) -> tuple[TypedRecord, ...]:
        """Return the records of a batch; one of Raft's own has none."""
        if not batch.values:
            return ()
        key = batch.base_offset, batch.raw
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = records_of(batch)
            if len(self._known) > _KNOWN_BATCHES:
                self._known.popitem(last=False)
        return known


def controller_host(
    sim: Simulation, process: Process, decoder: Decoder, configuration: Configuration
) -> ControllerHost:
    """Return the controller of a process; observers of the simulation see each of its steps."""

    def observe(
        kind: str, before: Any, event: Any, after: Any, effects: tuple[Any, ...], message: Any
    ) -> None:
        step = ListenerStep(kind, before, event, after, effects, _stands(host))
        sim.emit_listener(process, step, message)

    incarnation = incarnation_of(sim.seed, process.incarnation)
    controller_id = ControllerId(process.machine.node_id)
    sender = RegistrationSender(controller_id, incarnation, _LISTENERS, FEATURES)
    host = ControllerHost(process, configuration, sender, observe, decoder.records)
    return host


def _stands(host: ControllerHost) -> str:
    """Return the epoch in which a controller is active, and its offsets."""
    state = host.state
    return f"epoch {state.claim_epoch} stable {state.stable_end} written {state.write_end}"
