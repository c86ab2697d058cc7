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

from kraft.errors import CorruptRecordError, UnreadableFileError
from kraft.ids import DirectoryId, NodeId, ReplicaKey
from kraft.log.checkpoint import BOOTSTRAP_NAME
from kraft.log.identity import format_directory
from kraft.log.real_files import RealFiles
from kraft.log.text_files import META_PROPERTIES
from kraft.raft.voters import Voter, VoterSet
from kraft.rpc.endpoints import Endpoint
from kraft.tools.directory_format import (
    bootstrap_checkpoint,
    parse_voters,
    random_uuid,
    voters_checkpoint,
)
from kraft.tools.feature_list import feature_dependencies, version_mapping
from kraft.tools.features import (
    QUORUM_FLAGS,
    SCRAM_SINCE,
    VERSION_NAMES,
    asked_levels,
    feature_levels,
    first_metadata_version,
)
from kraft.tools.guard import ExitCode, ToolError
from kraft.tools.log_directories import (
    LEGACY_VERSION,
    find_directories,
    load_properties,
    properties_text,
    verify_owner,
)
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
    owner: MetaProperties | None = None
    for name in read_configuration(config).directories:
        place = Path(name)
        if not place.exists():
            problems.append(f"{name} does not exist")
        elif not place.is_dir():
            problems.append(f"{name} is not a directory")
        else:
            found.append(name)
            path = place / META_PROPERTIES
            if not path.exists():
                problems.append(f"{name} is not formatted.")
                continue
            try:
                loaded = load_properties(path)
            except (CorruptRecordError, UnreadableFileError, ValueError) as error:
                problems.append(f"Error loading {path}: {error}")
                continue
            owner = owner or loaded
            problems += _mismatch(owner, loaded)
    if owner is not None and owner.version == LEGACY_VERSION:
        problems.append(_LEGACY)
    _section("Found log director", ("y", "ies"), found)
    if owner is not None:
        _print(f"Found metadata: {properties_text(owner)}\n")
    _section("Found problem", ("", "s"), problems)
    if problems:
        raise typer.Exit(ExitCode.REFUSED)


def format_(
    config: _Config,
    cluster_id: Annotated[str, typer.Option("--cluster-id", "-t", help="The cluster's id.")],
    release_version: Annotated[
        str | None,
        typer.Option(
            "--release-version", "-r", help="The release whose feature levels are written."
        ),
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
    asked = asked_levels(feature or [])
    level = first_metadata_version(release_version, asked)
    voters = _initial_voters(node, initial_controllers, standalone=standalone)
    levels = feature_levels(level, asked, is_dynamic=any(flags))
    # The records of a quorum tell this feature, not those of the cluster.
    del levels["kraft.version"]
    credentials = [scram_fields(one) for one in add_scram or []]
    _check_scram(level, has_credentials=bool(credentials))
    blank = _unformatted(node, cluster_id, ignore_formatted=ignore_formatted)
    bootstrap = bootstrap_checkpoint(level, levels, credentials, _now())
    for name in blank:
        is_metadata = name == node.metadata_directory
        own = None if voters is None or not is_metadata else voters.get(NodeId(node.node_id))
        kind = _kind(is_metadata=is_metadata, has_voters=voters is not None, is_voter=bool(own))
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

_LEGACY: Final = (
    "The kafka configuration file appears to be for a cluster in KRaft mode, but the directories"
    " are formatted for legacy mode."
)
_NO_VOTERS: Final = (
    "Because controller.quorum.voters is not set on this controller, you must specify one of the"
    f" following: {QUORUM_FLAGS}."
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
        raise ToolError(f"give at most one of {names}", ExitCode.REFUSED)
    if "controller" in node.roles and not node.has_static_voters and not given:
        raise ToolError(_NO_VOTERS, ExitCode.REFUSED)


def _check_scram(level: int, *, has_credentials: bool) -> None:
    if has_credentials and level < SCRAM_SINCE:
        since = VERSION_NAMES[SCRAM_SINCE]
        reason = f"SCRAM is only supported in metadata.version {since} or later."
        raise ToolError(reason, ExitCode.REFUSED)


def _mismatch(owner: MetaProperties, other: MetaProperties) -> list[str]:
    """Return in what two directories of one node differ, though they must not."""
    if owner.cluster_id != other.cluster_id:
        return ["Mismatched cluster IDs between storage directories."]
    if owner.node_id != other.node_id:
        return ["Mismatched node IDs between storage directories."]
    return []


def _unformatted(node: NodeConfiguration, cluster_id: str, *, ignore_formatted: bool) -> list[str]:
    """Return the directories to format; those that cannot be read are named and left alone.

    Kafka: Formatter.doFormat.
    """
    found = find_directories(node.directories)
    verify_owner(found.formatted, cluster_id, node.node_id)
    if found.formatted and not ignore_formatted:
        reason = (
            f"Log directory {next(iter(found.formatted))} is already formatted. Use"
            " --ignore-formatted to ignore this directory and format the others."
        )
        raise ToolError(reason, ExitCode.REFUSED)
    for name in found.unreadable:
        _print(f"I/O error trying to read log directory {name}. Ignoring...")
    if not found.blank and not found.formatted:
        raise ToolError("No available log directories to format.", ExitCode.REFUSED)
    if not found.blank:
        _print("All of the log directories are already formatted.")
    return list(found.blank)


def _kind(*, is_metadata: bool, has_voters: bool, is_voter: bool) -> str:
    """Return the words for a directory. Kafka: Formatter.DirectoryType."""
    if not is_metadata:
        return "data directory"
    if is_voter:
        return "dynamic metadata voter directory"
    return "dynamic metadata directory" if has_voters else "metadata directory"


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
    files = RealFiles(directory)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if BOOTSTRAP_NAME in files.names(""):
            files.remove(BOOTSTRAP_NAME)
        files.append(BOOTSTRAP_NAME, bootstrap)
        files.flush(BOOTSTRAP_NAME)
        format_directory(files, cluster_id, NodeId(node_id), directory_id, snapshot)
    except OSError as error:
        reason = f"Error while writing meta.properties file {directory}: {error.strerror}"
        raise ToolError(reason, ExitCode.REFUSED) from None
    except ValueError as error:
        raise ToolError(str(error)) from None


def _now() -> int:
    return time.time_ns() // 1_000_000
