"""A metric: the name that Kafka gives it, and the name and help that Prometheus gets.

One rule leads from Kafka's name to the other, that of the usual rules of the JMX exporter.
"""

from __future__ import annotations

import enum
import re
from typing import Final, NamedTuple

_RATES: Final = ("PerSec", "-rate", "-total")


class Kind(enum.Enum):
    """What Prometheus makes of a metric."""

    GAUGE = "gauge"
    COUNTER = "counter"
    HISTOGRAM = "histogram"


class Metric(NamedTuple):
    """A metric of Kafka: the domain, type and name of its MBean, and what it says.

    `labels` are the other keys of the MBean, or those that make a number of a text.
    """

    kind: Kind
    domain: str
    type: str
    name: str
    meaning: str
    labels: tuple[str, ...] = ()

    @property
    def mbean(self) -> str:
        """Return Kafka's name, in the form of its documentation."""
        keys = "".join(f",{label}=*" for label in self.labels)
        return f"{self.domain}:type={self.type},name={self.name}{keys}"

    @property
    def help(self) -> str:
        """Return what Prometheus gets as help: the meaning, and Kafka's name."""
        return f"{self.meaning} {self.mbean}"

    @property
    def prometheus_name(self) -> str:
        """Return domain, type and name in small letters, joined by underscores.

        A rate of Kafka's is a counter, whose name ends in `_total` instead. An average is a
        histogram, without that word in its name.
        """
        name = self.name
        if self.kind is Kind.COUNTER:
            for rate in _RATES:
                name = name.removesuffix(rate)
            name += "_total"
        elif self.kind is Kind.HISTOGRAM:
            name = name.removesuffix("-avg")
        return re.sub(r"\W", "_", f"{self.domain}_{self.type}_{name}").lower()
