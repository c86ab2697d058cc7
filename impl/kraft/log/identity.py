"""The owner of a log directory: format writes meta.properties, and every start checks it.

Kafka: Formatter, MetaPropertiesEnsemble.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.errors import CorruptRecordError
from kraft.ids import DirectoryId, OffsetAndEpoch
from kraft.log.files import utf8_text
from kraft.log.names import snapshot_name
from kraft.log.text_file_writer import meta_properties_text, replace_file
from kraft.log.text_files import META_PROPERTIES, parse_meta_properties
from kraft.log.unusable import FORMAT, WRONG_DIRECTORY, UnusableLogError, unusable

if TYPE_CHECKING:
    from kraft.ids import NodeId
    from kraft.log.storage_files import Files

_BOOTSTRAP = OffsetAndEpoch(0, 0)


def format_directory(
    files: Files,
    cluster_id: str,
    node_id: NodeId,
    directory_id: DirectoryId,
    bootstrap_snapshot: bytes | None = None,
) -> None:
    """Make an empty log directory that of a node; meta.properties comes last.

    `bootstrap_snapshot` is the file of the snapshot at offset 0, which tells the first replica of a
    cluster with kraft.version 1 its voters. Raises UnusableLogError if the directory is formatted
    already. Kafka: Formatter.doFormat, Formatter.writeDynamicQuorumSnapshot.
    """
    if META_PROPERTIES in files.names(""):
        raise UnusableLogError(
            "the log directory is formatted already",
            path=files.place(META_PROPERTIES),
            remedy="start from it, or name an empty directory",
        )
    content = meta_properties_text(cluster_id, node_id, directory_id)
    if bootstrap_snapshot is not None:
        name = snapshot_name(_BOOTSTRAP)
        directory = name.rpartition("/")[0]
        if name in files.names(directory):
            files.remove(name)
        files.append(name, bootstrap_snapshot)
        files.flush(name)
        files.flush_directory(directory)
    replace_file(files, META_PROPERTIES, content)


def check_identity(
    files: Files, cluster_id: str, node_id: NodeId | None, directory_id: DirectoryId | None
) -> DirectoryId:
    """Return the directory id of a log directory that belongs to this node.

    A `node_id` or `directory_id` of None is not compared. Raises UnusableLogError if the directory
    is not formatted, or is that of another cluster, node or disk.
    Kafka: MetaPropertiesEnsemble.verify.
    """
    place = files.place(META_PROPERTIES)
    if META_PROPERTIES not in files.names(""):
        raise UnusableLogError("no such file: not formatted", path=place, remedy=FORMAT)
    try:
        found = parse_meta_properties(utf8_text(files.read(META_PROPERTIES), place), place)
    except CorruptRecordError as error:
        raise unusable(error) from None
    wanted = (
        ("cluster.id", cluster_id, found.cluster_id),
        ("node.id", node_id, found.node_id),
        ("directory.id", directory_id, found.directory_id),
    )
    for key, expected, value in wanted:
        if expected is not None and value != expected:
            raise UnusableLogError(
                f"{key} is {'missing' if value is None else value}, not {expected}",
                path=place,
                field=key,
                remedy=WRONG_DIRECTORY,
            )
    if found.directory_id is None:
        raise UnusableLogError("directory.id is missing", path=place, remedy=FORMAT)
    return DirectoryId(found.directory_id)
