r"""Describe the quorum of the controllers, or change its voters, as kafka-metadata-quorum does.

\b
Examples:
  kraft quorum --bootstrap-controller localhost:9093 describe --status
  kraft quorum --bootstrap-server localhost:9092 describe --replication --human-readable
  kraft quorum --bootstrap-controller localhost:9093 \
    --command-config new.properties add-controller
  kraft quorum --bootstrap-controller localhost:9093 \
    remove-controller --controller-id 3 --controller-directory-id DIRECTORY
"""

from __future__ import annotations

import base64
import binascii
import sys
import time
from typing import Annotated, Final

import typer

from kraft.ids import UUID_BYTES, uuid_text
from kraft.tools.client_options import connected
from kraft.tools.guard import ExitCode, ToolError
from kraft.tools.new_controller import read_new_controller
from kraft.tools.quorum_text import replication_text, status_text

_ADD_RAFT_VOTER: Final = 80
_REMOVE_RAFT_VOTER: Final = 81
_DESCRIBE_QUORUM: Final = 55
_METADATA_PARTITION: Final = {
    "topics": ({"topicName": "__cluster_metadata", "partitions": ({"partitionIndex": 0},)},)
}
_SPECIFIED: Final = "specified with describe sub-command"
_DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Print what would be done, but do not do it.")
]


def describe(
    context: typer.Context,
    status: Annotated[
        bool, typer.Option("--status", help="Print a summary, with voters and observers.")
    ] = False,
    replication: Annotated[
        bool, typer.Option("--replication", help="Print how far each replica is.")
    ] = False,
    human_readable: Annotated[
        bool, typer.Option("--human-readable", help="With --replication: times as 'N ms ago'.")
    ] = False,
) -> None:
    """Print the state of the quorum."""
    if status and replication:
        raise _refused(f"Only one of --status or --replication should be {_SPECIFIED}")
    if not (status or replication):
        raise _refused(f"One of --status or --replication must be {_SPECIFIED}")
    if status and human_readable:
        raise _refused("The option --human-readable is only supported along with --replication")
    with connected(context.obj) as client:
        cluster_id = client.describe_cluster()["clusterId"] if status else ""
        response = client.ask(_DESCRIBE_QUORUM, _METADATA_PARTITION)
    if status:
        sys.stdout.write(status_text(cluster_id, response))
    else:
        sys.stdout.write(replication_text(response, time.time() if human_readable else None))


def add_controller(context: typer.Context, dry_run: _DryRun = False) -> None:
    """Make a controller a voter, whose server.properties is the --command-config."""
    path = context.obj.configuration
    if path is None:
        raise _refused(
            "You must supply the configuration file of the controller you are adding when using"
            " add-controller."
        )
    new = read_new_controller(path)
    if not dry_run:
        with connected(context.obj) as client:
            client.ask(
                _ADD_RAFT_VOTER,
                {
                    "clusterId": None,
                    "timeoutMs": client.timeout_ms,
                    "voterId": new.node_id,
                    "voterDirectoryId": new.directory_id,
                    "listeners": tuple(
                        {"name": name, "host": host, "port": port}
                        for name, host, port in new.listeners
                    ),
                },
            )
    done = "DRY RUN of adding" if dry_run else "Added"
    sys.stdout.write(f"{done} controller {new}\n")


def remove_controller(
    context: typer.Context,
    controller_id: Annotated[
        int, typer.Option("--controller-id", "-i", help="The id of the controller to remove.")
    ],
    controller_directory_id: Annotated[
        str,
        typer.Option(
            "--controller-directory-id", "-d", help="Its directory.id, from meta.properties."
        ),
    ],
    dry_run: _DryRun = False,
) -> None:
    """Make a voter an observer."""
    if controller_id < 0:
        raise _refused(f"Invalid negative --controller-id: {controller_id}")
    directory_id = _directory_id(controller_directory_id)
    if not dry_run:
        with connected(context.obj) as client:
            asked = {"voterId": controller_id, "voterDirectoryId": directory_id}
            client.ask(_REMOVE_RAFT_VOTER, {"clusterId": None, **asked})
    # Kafka prints two blanks here.
    done = "DRY RUN of removing " if dry_run else "Removed "
    what = f"KRaft controller {controller_id} with directory id {directory_id}"
    sys.stdout.write(f"{done} {what}\n")


def _directory_id(text: str) -> str:
    """Return the UUID in a text as Kafka reads it, which knows several spellings of one.

    Kafka: Uuid.fromString.
    """
    try:
        padding = "=" * (-len(text) % 4)
        raw = base64.b64decode(text.encode("ascii") + padding.encode(), b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise _refused(
            f"Failed to parse --controller-directory-id: {text[:40]!r} is no base64"
        ) from None
    if len(raw) != UUID_BYTES:
        raise _refused(
            f"Failed to parse --controller-directory-id: Input string `{text[:40]}` decoded as"
            f" {len(raw)} bytes, which is not equal to the expected 16 bytes of a base64-encoded"
            " UUID"
        )
    return uuid_text(raw)


def _refused(reason: str) -> ToolError:
    return ToolError(reason, ExitCode.REFUSED)


VERBS: Final = {
    "describe": describe,
    "add-controller": add_controller,
    "remove-controller": remove_controller,
}
"""The verbs of `kraft quorum`, in the order of its help."""
