"""The active controller: the image, the soft state, and what it does on each event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kraft.controller.heartbeats import Heartbeats
    from kraft.controller.image import ClusterImage


@dataclass(frozen=True, slots=True)
class ControllerState:
    """Everything the active controller knows: what is in the log, and what is only in memory."""

    image: ClusterImage
    heartbeats: Heartbeats
