"""The active controller, as far as the broker lease goes.

Operations generate records; `replay` makes an image of them; `kraft.controller.active` has the
handlers that join the two.
"""

from kraft.controller.cluster_control import (
    ControllerResult,
    Decision,
    activate,
    elect_leader,
    fence_stale_broker,
    process_broker_heartbeat,
    register_broker,
    unregister_broker,
)
from kraft.controller.image import EMPTY_IMAGE, BrokerRegistration, ClusterImage
from kraft.controller.replay import FatalReplayError, replay, replay_log

__all__ = [
    "EMPTY_IMAGE",
    "BrokerRegistration",
    "ClusterImage",
    "ControllerResult",
    "Decision",
    "FatalReplayError",
    "activate",
    "elect_leader",
    "fence_stale_broker",
    "process_broker_heartbeat",
    "register_broker",
    "replay",
    "replay_log",
    "unregister_broker",
]
