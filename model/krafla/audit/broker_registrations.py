"""The registrations of brokers, as the records of a log leave them.

Kafka: BrokerRegistration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kraft.records.lease import RegisterBrokerRecord
    from kraft.records.schema import Fields

BLANKS: Final = "".join(map(chr, range(0x21)))
"""What Java's String.trim takes away."""
_VERSION: Final = "metadata.version"
_MV_3_6_IV2: Final = 14
"""The newest metadata version of Kafka 3.6, the first release that takes no blank listener."""


def listeners_normalised(fields: Fields) -> bool:
    """Return whether a registration names its listeners as Kafka does.

    That is in upper case and, from a node of Kafka 3.6 or later, not blank.
    Kafka: ListenerName.normalised.
    """
    names = [one["name"] for one in fields["endPoints"]]
    if any("a" <= letter <= "z" for name in names for letter in name):
        return False
    levels = (f["maxSupportedVersion"] for f in fields["features"] if f["name"] == _VERSION)
    return max(levels, default=0) < _MV_3_6_IV2 or all(name.strip(BLANKS) for name in names)


@dataclass(frozen=True, slots=True)
class BrokerRegistration:
    """A registered broker, with the directories and features of its last records.

    `endpoints` has the name, host, port and security protocol of each, by name.
    """

    incarnation: str
    epoch: int
    fenced: bool
    in_controlled_shutdown: bool
    directories: tuple[str, ...] = ()
    features: tuple[tuple[str, int, int], ...] = ()
    rack: str | None = None
    endpoints: tuple[tuple[str, str, int, int], ...] = ()

    @property
    def active(self) -> bool:
        """Whether the broker may lead partitions and be in sync.

        Kafka: ClusterControlManager.isActive.
        """
        return not self.fenced and not self.in_controlled_shutdown


def registration_of(record: RegisterBrokerRecord) -> BrokerRegistration:
    """Return the registration that a RegisterBrokerRecord gives its broker."""
    return BrokerRegistration(
        record.incarnation_id,
        record.broker_epoch,
        record.fenced,
        record.in_controlled_shutdown,
        tuple(sorted(record.log_dirs)),
        tuple(sorted((f.name, f.minimum, f.maximum) for f in record.features)),
        record.rack,
        tuple(sorted((e.name, e.host, e.port, e.security_protocol) for e in record.endpoints)),
    )
