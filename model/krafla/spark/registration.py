"""The formats that a session learns."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from krafla.spark.log_source import KraftLogSource
from krafla.spark.trace_source import TraceSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import DataSource


__all__ = ["register"]

_CAMPAIGN: Final = "krafla.pipeline.campaign_source"


def register(spark: SparkSession) -> None:
    """Make the formats ``kraft-log``, ``krafla-trace`` and ``krafla-campaign`` known to a session.

    krafla must be installed where the session's Python workers run.
    """
    for source in _sources():
        spark.dataSource.register(source)


def _sources() -> list[type[DataSource]]:
    found: list[type[DataSource]] = [KraftLogSource, TraceSource]
    if find_spec(_CAMPAIGN) is not None:
        found.append(import_module(_CAMPAIGN).CampaignSource)
    return found
