"""The options of the commands that ask a cluster, and what becomes of their errors.

Kafka: CommandLineUtils.initializeBootstrapProperties.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kraft.errors import printable
from kraft.tools.guard import ExitCode, ToolError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kraft.client.admin import AdminClient

_SERVER_HELP = "host:port,... of brokers to begin with."
_CONTROLLER_HELP = "host:port,... of controllers to begin with."
_CONFIG_HELP = "A file of properties for the client, such as security.protocol and ssl.*"


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """Where a command begins: brokers or controllers, and a file with what a client must know."""

    server: str | None
    controller: str | None
    configuration: Path | None


def bootstrap_options(
    context: typer.Context,
    bootstrap_server: Annotated[
        str | None, typer.Option("--bootstrap-server", help=_SERVER_HELP)
    ] = None,
    bootstrap_controller: Annotated[
        str | None, typer.Option("--bootstrap-controller", help=_CONTROLLER_HELP)
    ] = None,
    command_config: Annotated[
        Path | None, typer.Option("--command-config", help=_CONFIG_HELP)
    ] = None,
) -> None:
    """Keep the options of a group, which stand before its verb, for the verb."""
    context.obj = Bootstrap(bootstrap_server, bootstrap_controller, command_config)


ServerOption = Annotated[str | None, typer.Option("--bootstrap-server", "-b", help=_SERVER_HELP)]
ControllerOption = Annotated[
    str | None, typer.Option("--bootstrap-controller", "-C", help=_CONTROLLER_HELP)
]
ConfigOption = Annotated[Path | None, typer.Option("--config", "-c", help=_CONFIG_HELP)]


def _say(sentence: str) -> None:
    sys.stderr.write(f"kraft: {printable(sentence)}\n")


@contextmanager
def connected(bootstrap: Bootstrap) -> Iterator[AdminClient]:
    """Give a client; its errors become a ToolError.

    What a server refuses has the status REFUSED, as for Kafka's tools.
    """
    # Verbs that read files need no network.
    from kraft.client.admin import AdminClient
    from kraft.client.configuration import read_client_configuration
    from kraft.client.errors import ClientError, RefusedError
    from kraft.node.configuration import ConfigurationError

    servers = bootstrap.controller or bootstrap.server
    if servers is None or (bootstrap.controller and bootstrap.server):
        raise ToolError("give either --bootstrap-server or --bootstrap-controller")
    try:
        configuration = read_client_configuration(
            servers, bootstrap.configuration, are_controllers=bootstrap.controller is not None
        )
        with AdminClient(configuration, _say) as client:
            yield client
    except ConfigurationError as error:
        raise ToolError(str(error)) from None
    except RefusedError as error:
        raise ToolError(str(error), ExitCode.REFUSED) from None
    except ClientError as error:
        raise ToolError(str(error)) from None
