r"""Run a controller, as kafka-server-start does.

\b
Example:
  kraft storage format -t CLUSTER_ID -c server.properties
  kraft server start server.properties --override node.id=1
"""

from __future__ import annotations

import gc
from pathlib import Path  # noqa: TC003 - typer reads it at run time
from typing import Annotated

import typer

from kraft.node.log_form import LogFormat, LogLevel
from kraft.tools.guard import ExitCode, ToolError


def start(
    configuration: Annotated[Path, typer.Argument(help="The server.properties of the node.")],
    override: Annotated[
        list[str] | None,
        typer.Option("--override", help="Replace a setting: key=value; may be repeated."),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            "--metrics",
            metavar="HOST:PORT",
            help="Serve metrics for Prometheus there; :9404 is port 9404 of 127.0.0.1.",
        ),
    ] = None,
    log_format: Annotated[
        LogFormat, typer.Option("--log-format", help="Lines for people, or JSON.")
    ] = LogFormat.TEXT,
    log_level: Annotated[
        LogLevel, typer.Option("--log-level", help="The least level that is logged.")
    ] = LogLevel.INFO,
) -> None:
    """Run a controller until SIGTERM or SIGINT; exit status 1 if a fault ended it."""
    # Other verbs need neither network nor event loop.
    from kraft.log.unusable import UnusableLogError
    from kraft.node.configuration import ConfigurationError, read_configuration
    from kraft.node.disk import DiskError
    from kraft.node.log_form import start_logging
    from kraft.node.metrics.exposition import metrics_address
    from kraft.node.server import run_server
    from kraft.raft.boot import BootError

    try:
        # What is imported stays: Python's collector, which stops everything, need not look at it.
        gc.freeze()
        address = None if metrics is None else metrics_address(metrics)
        node = read_configuration(configuration, override or ())
        start_logging(node.node_id, node.warnings, log_format, log_level)
        is_done = run_server(node, address)
    except (ConfigurationError, DiskError, UnusableLogError, BootError) as error:
        raise ToolError(str(error), ExitCode.REFUSED) from None
    if not is_done:
        raise typer.Exit(ExitCode.REFUSED)


VERBS = {"start": start}
