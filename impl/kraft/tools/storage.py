r"""Look at, or format, the log directories of a node, as kafka-storage does.

\b
Examples:
  kraft storage random-uuid
  kraft storage format -t CLUSTER_ID -c server.properties --standalone
  kraft storage info -c server.properties
  kraft storage version-mapping --release-version 4.0
  kraft storage feature-dependencies --feature kraft.version=1
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from kraft.ids import DirectoryId, NodeId, ReplicaKey
from kraft.log.checkpoint import BOOTSTRAP_NAME
from kraft.log.identity import format_directory
from kraft.log.real_files import RealFiles
from kraft.log.text_files import META_PROPERTIES, read_meta_properties
from kraft.raft.voters import Voter, VoterSet
from kraft.rpc.endpoints import Endpoint
from kraft.tools.directory_format import (
    bootstrap_checkpoint,
    parse_voters,
    random_uuid,
    voters_checkpoint,
)
from kraft.tools.feature_list import feature_dependencies, version_mapping
from kraft.tools.features import SCRAM_SINCE, VERSION_NAMES, feature_levels, release_level
from kraft.tools.guard import ExitCode, ToolError
from kraft.tools.properties import NodeConfiguration, read_configuration
from kraft.tools.scram import scram_fields

if TYPE_CHECKING:
    from kraft.log.text_files import MetaProperties

_Config = Annotated[Path, typer.Option("--config", "-c", help="The server.properties of the node.")]
_Many = list[str]


def random() -> None:
    """Print a random UUID, for a cluster or a directory."""
    _print(random_uuid())


def info(config: _Config) -> None:
    """Print the state of a node's log directories; exit status 1 if there is a problem."""
    found, problems = [], []
    metadata: MetaProperties | None = None
    for name in read_configuration(config).directories:
        place = Path(name)
        if not place.exists():
            problems.append(f"{name} does not exist")
        elif not place.is_dir():
            problems.append(f"{name} is not a directory")
        else:
            found.append(name)
            if not (place / META_PROPERTIES).exists():
                problems.append(f"{name} is not formatted.")
            else:
                metadata = metadata or read_meta_properties(place / META_PROPERTIES)
    _section("Found log director", ("y", "ies"), found)
    if metadata is not None:
        known = {
            "cluster.id": metadata.cluster_id,
            "directory.id": metadata.directory_id,
            "node.id": metadata.node_id,
            "version": metadata.version,
        }
        shown = ", ".join(f"{key}={value}" for key, value in known.items() if value is not None)
        _print(f"Found metadata: {{{shown}}}\n")
    _section("Found problem", ("", "s"), problems)
    if problems:
        raise typer.Exit(ExitCode.REFUSED)


def format_(
    config: _Config,
    cluster_id: Annotated[str, typer.Option("--cluster-id", "-t", help="The cluster's id.")],
    release_version: Annotated[
        str | None, typer.Option("--release-version", "-r", help="Features of which release.")
    ] = None,
    feature: Annotated[
        _Many | None, typer.Option("--feature", "-f", help="A feature=level, any number.")
    ] = None,
    add_scram: Annotated[
        _Many | None, typer.Option("--add-scram", "-S", help="MECHANISM=[name=...,password=...]")
    ] = None,
    ignore_formatted: Annotated[
        bool, typer.Option("--ignore-formatted", "-g", help="Skip what is formatted.")
    ] = False,
    standalone: Annotated[
        bool, typer.Option("--standalone", "-s", help="This controller is the only voter.")
    ] = False,
    no_initial_controllers: Annotated[
        bool, typer.Option("--no-initial-controllers", "-N", help="It will learn the voters.")
    ] = False,
    initial_controllers: Annotated[
        str | None,
        typer.Option("--initial-controllers", "-I", help="id@host:port:directory,..."),
    ] = None,
) -> None:
    """Format the log directories of a node."""
    node = read_configuration(config)
    flags = [standalone, no_initial_controllers, initial_controllers is not None]
    _check_flags(node, sum(flags))
    voters = _initial_voters(node, initial_controllers, standalone=standalone)
    level = release_level(release_version)
    levels = feature_levels(level, feature or [])
    _check_version(levels.pop("kraft.version", None), is_dynamic=any(flags))
    credentials = [scram_fields(one) for one in add_scram or []]
    _check_scram(level, has_credentials=bool(credentials))
    blank = _unformatted(node, cluster_id, ignore_formatted=ignore_formatted)
    if not blank:
        _print("All of the log directories are already formatted.")
    bootstrap = bootstrap_checkpoint(level, levels, credentials, _now())
    for name in blank:
        is_metadata = name == node.metadata_directory
        own = None if voters is None or not is_metadata else voters.get(NodeId(node.node_id))
        kind = _kind(is_metadata=is_metadata, is_dynamic=any(flags), is_voter=own is not None)
        _print(f"Formatting {kind} {name} with metadata.version {VERSION_NAMES[level]}.")
        quorum = None if own is None else voters
        directory_id = (own and own.key.directory_id) or DirectoryId(random_uuid())
        snapshot = None if quorum is None else voters_checkpoint(quorum, _now())
        _format_one(Path(name), cluster_id, node.node_id, directory_id, bootstrap, snapshot)


VERBS: Final = {
    "info": info,
    "format": format_,
    "random-uuid": random,
    "version-mapping": version_mapping,
    "feature-dependencies": feature_dependencies,
}
"""The verbs of `kraft storage`, in the order of its help."""

_FLAGS: Final = "--standalone, --initial-controllers, or --no-initial-controllers"
_NO_VOTERS: Final = (
    "Because controller.quorum.voters is not set on this controller, you must specify one of the"
    f" following: {_FLAGS}."
)


def _initial_voters(
    node: NodeConfiguration, text: str | None, *, standalone: bool
) -> VoterSet | None:
    if text is None and not standalone:
        return None
    if "controller" not in node.roles or node.listener is None:
        raise ToolError("only a controller with a controller listener begins a quorum")
    name, host, port = node.listener
    if text is not None:
        return parse_voters(text, name)
    key = ReplicaKey(NodeId(node.node_id), DirectoryId(random_uuid()))
    return VoterSet.of([Voter(key, (Endpoint(name, host, port),))])


def _check_flags(node: NodeConfiguration, given: int) -> None:
    if given > 1:
        names = "--standalone, --no-initial-controllers and --initial-controllers"
        raise ToolError(f"of {names} only one may be given", ExitCode.REFUSED)
    if "controller" in node.roles and not node.has_static_voters and not given:
        raise ToolError(_NO_VOTERS, ExitCode.REFUSED)


def _check_scram(level: int, *, has_credentials: bool) -> None:
    if has_credentials and level < SCRAM_SINCE:
        since = VERSION_NAMES[SCRAM_SINCE]
        reason = f"SCRAM is only supported in metadata.version {since} or later."
        raise ToolError(reason, ExitCode.REFUSED)


def _check_version(asked: int | None, *, is_dynamic: bool) -> None:
    if asked is not None and bool(asked) != is_dynamic:
        when = "if" if is_dynamic else "unless"
        reason = f"Cannot set kraft.version to {asked} {when} one of the flags {_FLAGS} is used."
        raise ToolError(reason, ExitCode.REFUSED)


def _unformatted(node: NodeConfiguration, cluster_id: str, *, ignore_formatted: bool) -> list[str]:
    blank = []
    for name in node.directories:
        path = Path(name) / META_PROPERTIES
        if not path.exists():
            blank.append(name)
            continue
        if not ignore_formatted:
            reason = (
                f"Log directory {name} is already formatted. Use --ignore-formatted to ignore this"
                " directory and format the others."
            )
            raise ToolError(reason, ExitCode.REFUSED)
        found = read_meta_properties(path).cluster_id
        if found != cluster_id:
            reason = f"Invalid cluster.id in: {path}. Expected {cluster_id}, but read {found}"
            raise ToolError(reason, ExitCode.REFUSED)
    return blank


def _kind(*, is_metadata: bool, is_dynamic: bool, is_voter: bool) -> str:
    if not is_metadata:
        return "data directory"
    if is_voter:
        return "dynamic metadata voter directory"
    return "dynamic metadata directory" if is_dynamic else "static metadata directory"


def _section(title: str, endings: tuple[str, str], entries: list[str]) -> None:
    if entries:
        lines = "".join(f"\n  {entry}" for entry in entries)
        _print(f"{title}{endings[len(entries) > 1]}:{lines}\n")


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def _format_one(
    directory: Path,
    cluster_id: str,
    node_id: int,
    directory_id: DirectoryId,
    bootstrap: bytes,
    snapshot: bytes | None,
) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    files = RealFiles(directory)
    if BOOTSTRAP_NAME in files.names(""):
        files.remove(BOOTSTRAP_NAME)
    files.append(BOOTSTRAP_NAME, bootstrap)
    files.flush(BOOTSTRAP_NAME)
    try:
        format_directory(files, cluster_id, NodeId(node_id), directory_id, snapshot)
    except ValueError as error:
        raise ToolError(str(error)) from None


def _now() -> int:
    return time.time_ns() // 1_000_000
