"""The placement of new partitions: racks and brokers take turns.

Kafka draws where to begin. It shuffles again once each unfenced broker could have led once. Here
all draws follow from a number that the caller brings.

Kafka: StripedReplicaPlacer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.chance import Stream
from kraft.controller.operations.errors import ControllerError
from kraft.errors import ErrorCode

if TYPE_CHECKING:
    from kraft.ids import BrokerId
    from kraft.image.metadata_image import MetadataImage


def place(
    image: MetadataImage, partition_count: int, replication_factor: int, chance: int
) -> tuple[tuple[BrokerId, ...], ...]:
    """Return the replicas of each new partition, spread over as many racks as possible.

    A broker in controlled shutdown gets none. A fenced broker is never the first replica. All draws
    follow from `chance`, which is any number.

    Raises ControllerError (INVALID_REPLICATION_FACTOR) if there are too few brokers, or all are
    fenced.
    Kafka: StripedReplicaPlacer.place.
    """
    racks = _Racks(image, Stream(chance, "placement"))
    reason = f"unable to replicate the partition {replication_factor} time(s): "
    if replication_factor <= 0:
        reason += "the number of replicas must be positive"
    elif replication_factor > racks.usable:
        reason += f"only {racks.usable} broker(s) are registered"
    elif racks.unfenced == 0:
        reason += "all brokers are fenced"
    else:
        return tuple(racks.place(replication_factor) for _ in range(partition_count))
    raise ControllerError(ErrorCode.INVALID_REPLICATION_FACTOR, reason)


class _Brokers:
    """The fenced or the unfenced brokers of one rack, which take turns.

    Each round has every broker once; it begins one broker later than the last round.
    """

    def __init__(self) -> None:
        self.ids: list[BrokerId] = []
        self.offset = 0
        self._round = 0
        self._taken = 0

    def next(self, number: int) -> BrokerId | None:
        """Return the next broker of the round with this number, None if the round is over."""
        if not self.ids:
            return None
        if number != self._round:
            self._round, self._taken = number, 0
            self.offset = (self.offset + 1) % len(self.ids)
        if self._taken == len(self.ids):
            return None
        self._taken += 1
        return self.ids[(self.offset + self._taken - 1) % len(self.ids)]


class _Racks:
    """The racks by name; brokers without a rack come first.

    `usable` counts the brokers that are not in controlled shutdown.

    Kafka: StripedReplicaPlacer.RackList.
    """

    def __init__(self, image: MetadataImage, chance: Stream) -> None:
        self._chance = chance
        by_name: dict[str, tuple[_Brokers, _Brokers]] = {}
        for broker_id, registration in sorted(image.brokers.items()):
            if not registration.in_controlled_shutdown:
                rack = by_name.setdefault(registration.rack or "", (_Brokers(), _Brokers()))
                rack[registration.fenced].ids.append(broker_id)
        self._racks = [by_name[name] for name in sorted(by_name)]
        self.unfenced = sum(len(unfenced.ids) for unfenced, _ in self._racks)
        self.usable = self.unfenced + sum(len(fenced.ids) for _, fenced in self._racks)
        for brokers in self._lists():
            brokers.offset = chance.below(len(brokers.ids)) if brokers.ids else 0
        self._offset = chance.below(len(self._racks)) if self._racks else 0
        self._round = 0

    def place(self, replication_factor: int) -> tuple[BrokerId, ...]:
        """Return the replicas of the next partition.

        The caller has checked that there are enough brokers.
        """
        if self._round == self.unfenced > 1:
            self._shuffle()
        begin = self._offset % len(self._racks)
        from_here = [*range(begin, len(self._racks)), *range(begin)]
        first, leader = next(
            (index, broker)
            for index in from_here
            if (broker := self._racks[index][0].next(self._round)) is not None
        )
        replicas = [leader]
        # The leader's rack is skipped once.
        in_turn = [index for index in from_here if index != first]
        while len(replicas) < replication_factor:
            for index in in_turn:
                if len(replicas) == replication_factor:
                    break
                broker = self._next(index)
                if broker is not None:
                    replicas.append(broker)
            in_turn = from_here
        self._round += 1
        self._offset = begin + 1
        return tuple(replicas)

    def _next(self, index: int) -> BrokerId | None:
        unfenced, fenced = self._racks[index]
        broker = unfenced.next(self._round)
        return fenced.next(self._round) if broker is None else broker

    def _shuffle(self) -> None:
        """Start new rounds in another order, so that placements do not repeat."""
        self._racks = self._chance.shuffled(self._racks)
        for brokers in self._lists():
            brokers.ids = self._chance.shuffled(brokers.ids)
        self._round = 0

    def _lists(self) -> list[_Brokers]:
        return [brokers for rack in self._racks for brokers in rack]
