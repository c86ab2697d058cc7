"""Since when the finalized features are as they are.

Kafka: FeaturesPublisher, FinalizedFeatures.finalizedFeaturesEpoch. KIP-584.
"""

from __future__ import annotations

from typing import Any, Final

from kraft.controller.state import visible

NO_EPOCH: Final = -1


class FinalizedFeatures:
    """Observes a controller: `epoch` is the last offset of the batch that last changed a level.

    After a snapshot it is the last offset in the snapshot; before any record it is -1.
    """

    def __init__(self) -> None:
        self.epoch = NO_EPOCH

    def controller_step(
        self,
        kind: str,
        before: Any,
        event: Any,  # noqa: ARG002 - an observer gets all of a step
        after: Any,
        effects: tuple[Any, ...],  # noqa: ARG002 - as above
        message: Any,  # noqa: ARG002 - as above
    ) -> None:
        """Note a step of the controller. It is a `kraft.hosting.controller_host.Observer`."""
        if kind != "controller":
            return
        seen, shown = visible(before), visible(after)
        if shown.image is not seen.image and shown.image.features != seen.image.features:
            self.epoch = shown.end - 1
