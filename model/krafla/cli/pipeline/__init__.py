"""``krafla pipeline``: logs into tables, their audit in many processes, a report; by Spark."""

from __future__ import annotations

from krafla.cli.pipeline import audit, ingest, report, watch

__all__ = ["ACTIONS", "HELP"]

ACTIONS = {
    "ingest": (ingest.command, "Read very many logs into tables."),
    "audit": (audit.command, "Judge the logs that an ingest has read."),
    "watch": (watch.command, "Judge the logs of running clusters as they grow."),
    "report": (report.command, "Draw a report of an ingest and its audit, or of a campaign."),
}
"""Each action in the order of the help, with its line there."""

HELP = """Read and audit very many logs, in Spark: here or on a cluster.

SRC and OUT are paths, or URIs of any storage that Spark knows: s3a://, hdfs://, abfs://, gs://
(SRC of a watch: not hdfs://). OUT has the tables of logs or of a campaign, not of both.
After a kill, repeat the command: it goes on where it was.

Spark needs Java 17 or 21 and the extra: pip install 'krafla[spark]', in a checkout
.venv/bin/pip install -e '.[spark]'. For Spark on several machines: docs/internals/places.md.

\b
Examples:
  krafla pipeline ingest /backups/kafka tables
  krafla pipeline audit tables
  krafla pipeline report tables
  krafla pipeline watch /var/lib/kafka/metadata watched
  krafla pipeline ACTION --help
"""
