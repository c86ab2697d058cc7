r"""Ask for a cluster's id and its endpoints, or unregister a broker, as kafka-cluster does.

\b
Examples:
  kraft cluster cluster-id --bootstrap-controller localhost:9093
  kraft cluster list-endpoints --bootstrap-server localhost:9092
  kraft cluster unregister --bootstrap-controller localhost:9093 --id 3
  kraft cluster cluster-id --log-dir /var/lib/kafka
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from kraft.log.text_files import META_PROPERTIES, read_meta_properties
from kraft.tools.client_options import (
    Bootstrap,
    ConfigOption,
    ControllerOption,
    ServerOption,
    connected,
)
from kraft.tools.guard import ExitCode, ToolError
from kraft.tools.properties import read_configuration

if TYPE_CHECKING:
    from kraft.records.schema import Fields

_UNREGISTER_BROKER: Final = 64
_RACK_WIDTH: Final = 10
_HOST_WIDTH: Final = 100
"""The widths of columns without a value in them, as in Kafka."""


def cluster_id(
    bootstrap_server: ServerOption = None,
    bootstrap_controller: ControllerOption = None,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            "-c",
            help="A file of properties for the client; without a server to ask,"
            " the server.properties of a node.",
        ),
    ] = None,
    log_dir: Annotated[
        Path | None, typer.Option("--log-dir", help="A log directory of a node.")
    ] = None,
) -> None:
    """Print the id of a cluster, of which a server, or a log directory, is a part."""
    if bootstrap_server is None and bootstrap_controller is None:
        found = _cluster_of_directory(config, log_dir)
    else:
        with connected(Bootstrap(bootstrap_server, bootstrap_controller, config)) as client:
            found = client.describe_cluster()["clusterId"]
    sys.stdout.write(f"Cluster ID: {found}\n")


def _cluster_of_directory(config: Path | None, log_dir: Path | None) -> str:
    if (config is None) == (log_dir is None):
        raise ToolError(
            "give --bootstrap-server or --bootstrap-controller, or else --config or --log-dir"
        )
    if log_dir is None and config is not None:
        log_dir = Path(read_configuration(config).metadata_directory)
    assert log_dir is not None
    path = log_dir / META_PROPERTIES
    found = read_meta_properties(path).cluster_id
    if found is None:
        raise ToolError(f"{path}: no cluster.id in it")
    return found


def unregister(
    broker_id: Annotated[int, typer.Option("--id", "-i", help="The broker to unregister.")],
    bootstrap_server: ServerOption = None,
    bootstrap_controller: ControllerOption = None,
    config: ConfigOption = None,
) -> None:
    """Unregister a broker that will not come back; exit status 1 if that is refused."""
    with connected(Bootstrap(bootstrap_server, bootstrap_controller, config)) as client:
        client.ask(_UNREGISTER_BROKER, {"brokerId": broker_id})
    sys.stdout.write(f"Broker {broker_id} is no longer registered.\n")


def list_endpoints(
    bootstrap_server: ServerOption = None,
    bootstrap_controller: ControllerOption = None,
    config: ConfigOption = None,
    include_fenced_brokers: Annotated[
        bool, typer.Option("--include-fenced-brokers", help="List fenced brokers, too.")
    ] = False,
) -> None:
    """Print where the brokers, or the controllers, listen."""
    if include_fenced_brokers and bootstrap_controller is not None:
        option = "The option --include-fenced-brokers"
        reason = f"{option} is only supported with --bootstrap-server option"
        raise ToolError(reason, ExitCode.REFUSED)
    with connected(Bootstrap(bootstrap_server, bootstrap_controller, config)) as client:
        described = client.describe_cluster(include_fenced_brokers=include_fenced_brokers)
    sys.stdout.write(endpoints_text(described, are_brokers=bootstrap_server is not None))


def endpoints_text(described: Fields, *, are_brokers: bool) -> str:
    """Return the table of the nodes in a response to DescribeCluster, in order of their ids.

    Kafka: ClusterTool.listEndpoints.
    """
    nodes = sorted(described["brokers"], key=lambda node: node["brokerId"])
    host = max((len(node["host"]) for node in nodes), default=_HOST_WIDTH)
    rack = max((len(node["rack"]) for node in nodes if node["rack"]), default=_RACK_WIDTH)
    rows = [("ID", "HOST", "PORT", "RACK", "STATE", "ENDPOINT_TYPE")]
    for node in nodes:
        state = "fenced" if node.get("isFenced") else "unfenced"
        named = "null" if node["rack"] is None else node["rack"]
        kind = "broker" if are_brokers else "controller"
        start = (str(node["brokerId"]), node["host"], str(node["port"]), named)
        rows.append((*start, state, kind))
    return "".join(
        f"{number:<10} {name:<{host}} {port:<10} {place:<{rack}} "
        + (f"{state:<10} " if are_brokers else "")
        + f"{kind:<15}\n"
        for number, name, port, place, state, kind in rows
    )


VERBS: Final = {
    "cluster-id": cluster_id,
    "unregister": unregister,
    "list-endpoints": list_endpoints,
}
"""The verbs of `kraft cluster`, in the order of its help."""
