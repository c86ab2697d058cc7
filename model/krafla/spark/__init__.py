"""Data sources for a Spark session of your own: metadata logs, traces and campaigns as tables.

``register(spark)`` makes the formats ``kraft-log``, ``krafla-trace`` and ``krafla-campaign`` known
to a session, a classic one or a client of Spark Connect. docs/spark.md explains them.
"""

from krafla.spark.registration import register

__all__ = ["register"]
