"""What the gauges of a node are read from.

States are values, which no step changes. So the thread of a scraper may read them while the node
goes on: it takes each of them by one reference, and neither waits for the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kraft.controller.state import visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kraft.controller.state import ControllerState
    from kraft.ids import NodeId
    from kraft.image.metadata_image import MetadataImage
    from kraft.node.metrics.image_counts import ImageCounts
    from kraft.raft.state import RaftState


class Tally(NamedTuple):
    """What a node has counted, as far as its gauges tell it; times are in milliseconds."""

    idle_ratio: float
    last_applied_ms: int
    leaders: int
    events_started: int
    events_timed_out: int
    snapshots_loaded: int
    connections: Mapping[str, int]
    raft_connections: int


class Reading(NamedTuple):
    """The states of a node at one time, by its clock; who leads, if known; what it has counted."""

    now_ms: int
    raft: RaftState
    controller: ControllerState
    leader_id: NodeId | None
    counts: ImageCounts
    tally: Tally

    @property
    def image(self) -> MetadataImage:
        """Return what any client may read."""
        return visible(self.controller).image
