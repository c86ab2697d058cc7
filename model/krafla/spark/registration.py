"""The formats that a session learns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.spark.campaign_source import CampaignSource
from krafla.spark.log_source import KraftLogSource
from krafla.spark.trace_source import TraceSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["register"]


def register(spark: SparkSession) -> None:
    """Make the formats ``kraft-log``, ``krafla-trace`` and ``krafla-campaign`` known to a session.

    krafla must be installed where the session's Python workers run, or be sent there before, by
    `krafla.pipeline.shipping.ship`.
    """
    for source in (KraftLogSource, TraceSource, CampaignSource):
        spark.dataSource.register(source)
