"""The options of every command that judges server logs beside metadata logs."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["ClockSkew", "ServerLogs", "SessionTimeout"]

ServerLogs = Annotated[
    bool, typer.Option("--server-logs", help="Also judge server.log and controller.log.")
]
ClockSkew = Annotated[
    int,
    typer.Option(
        help="Largest error of a timestamp in a server log.", min=0, max=60_000, metavar="MS"
    ),
]
SessionTimeout = Annotated[
    int | None,
    typer.Option(
        help="broker.session.timeout.ms of the controllers; else from server.properties.",
        min=1,
        max=10**9,
        metavar="MS",
    ),
]
