r"""Ask for a cluster's id, from a node's files: kafka-cluster without a broker.

\b
Example:
  kraft cluster cluster-id --log-dir /var/lib/kafka
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from kraft.log.text_files import META_PROPERTIES, read_meta_properties
from kraft.tools.guard import ToolError
from kraft.tools.properties import read_configuration


def cluster_id(
    config: Annotated[
        Path | None, typer.Option("--config", "-c", help="The server.properties of a node.")
    ] = None,
    log_dir: Annotated[
        Path | None, typer.Option("--log-dir", help="A log directory of a node.")
    ] = None,
) -> None:
    """Print the id of the cluster that a log directory belongs to."""
    if (config is None) == (log_dir is None):
        raise ToolError("give either --config or --log-dir: there is no client to ask a broker")
    if log_dir is None and config is not None:
        log_dir = Path(read_configuration(config).metadata_directory)
    assert log_dir is not None
    path = log_dir / META_PROPERTIES
    found = read_meta_properties(path).cluster_id
    if found is None:
        raise ToolError(f"{path}: no cluster.id in it")
    sys.stdout.write(f"Cluster ID: {found}\n")


def unregister(
    broker_id: Annotated[int | None, typer.Option("--id", "-i", help="The broker.")] = None,
) -> None:
    """Refuse: this needs a broker to talk to."""
    which = "" if broker_id is None else f" {broker_id}"
    reason = f"to unregister a broker{which}, a broker must be asked, and there is no client here"
    raise ToolError(f"{reason}; use Kafka's kafka-cluster.sh unregister")


def list_endpoints() -> None:
    """Refuse: this needs a broker to talk to."""
    raise ToolError(
        "to list endpoints, a broker must be asked, and there is no client here; the listeners of"
        " registered brokers are in the log: kraft dump-log"
    )


VERBS: Final = {
    "cluster-id": cluster_id,
    "unregister": unregister,
    "list-endpoints": list_endpoints,
}
"""The verbs of `kraft cluster`, in the order of its help."""
