"""The small text files of a node: meta.properties, quorum-state, leader-epoch-checkpoint.

Kafka: MetaProperties, FileQuorumStateStore, LeaderEpochCheckpointFile.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from kraft.errors import CorruptRecordError, UnsupportedVersionError
from kraft.ids import ZERO_UUID, uuid_bytes
from kraft.log.files import read_small_text
from kraft.records.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from pathlib import Path

META_PROPERTIES: Final = "meta.properties"
QUORUM_STATE: Final = "quorum-state"
LEADER_EPOCH_CHECKPOINT: Final = "leader-epoch-checkpoint"

_META_VERSIONS: Final = ("0", "1")
_INT32_MAX: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class MetaProperties:
    """The owner of a log directory."""

    path: Path
    version: int
    cluster_id: str | None
    node_id: int | None
    directory_id: str | None


@dataclass(frozen=True, slots=True)
class QuorumState:
    """The election state a node keeps through restarts.

    `voted_directory_id` is the zero UUID in version 0, which has `voters` instead (None if null).
    """

    path: Path
    version: int
    leader_id: int
    leader_epoch: int
    voted_id: int
    voted_directory_id: str
    voters: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class EpochStart:
    """The offset an epoch's first record has."""

    epoch: int
    start_offset: int


def read_meta_properties(path: Path, *, limits: Limits = DEFAULT_LIMITS) -> MetaProperties:
    """Return the identity in a meta.properties file.

    Raises UnreadableFileError, CorruptRecordError (a line that is not `key=value`, a repeated key,
    an invalid number or UUID), UnsupportedVersionError.
    Kafka: MetaProperties.
    """
    return parse_meta_properties(read_small_text(path, limits), path)


def parse_meta_properties(content: str, path: Path) -> MetaProperties:
    """Return the identity in the text of such a file; raises as `read_meta_properties`."""
    values: dict[str, str] = {}
    for number, line in enumerate(content.splitlines(), 1):
        text = line.strip()
        if not text or text[0] in "#!":
            continue
        key, separator, value = (part.strip() for part in text.partition("="))
        if not separator:
            raise CorruptRecordError(f"line {number} is not `key=value`", path=path)
        if key in values:
            raise CorruptRecordError(f"line {number} has {key} a second time", path=path)
        values[key] = value
    version = values.get("version", "0")
    if version not in _META_VERSIONS:
        raise UnsupportedVersionError(f"meta.properties version {version!r}", path=path)
    node = values.get("node.id", values.get("broker.id"))
    return MetaProperties(
        path,
        int(version),
        values.get("cluster.id"),
        None if node is None else _property_number(node, "node.id", path),
        _property_uuid(values.get("directory.id"), path),
    )


def read_quorum_state(path: Path, *, limits: Limits = DEFAULT_LIMITS) -> QuorumState:
    """Return the state in a quorum-state file of data version 0 or 1.

    Raises UnreadableFileError, CorruptRecordError (empty, more than one line, not the JSON of a
    quorum state, a negative epoch), UnsupportedVersionError. Kafka would ignore further lines.
    Kafka: FileQuorumStateStore.readElectionState.
    """
    return parse_quorum_state(read_small_text(path, limits), path)


def parse_quorum_state(content: str, path: Path) -> QuorumState:
    """Return the quorum state in the text of such a file; raises as `read_quorum_state`."""
    lines = content.splitlines()
    if len(lines) != 1:
        raise CorruptRecordError(f"{len(lines)} lines where there is one", path=path)
    data = _json_object(lines[0], path)
    version = data.pop("data_version", None)
    if type(version) is not int:
        raise CorruptRecordError("no data_version", path=path, field="data_version")
    if version not in _QUORUM_STATE_KEYS:
        raise UnsupportedVersionError(f"quorum-state data_version {version}", path=path)
    strangers = sorted(set(data) ^ _QUORUM_STATE_KEYS[version])
    if strangers:
        raise CorruptRecordError(f"fields missing or unknown: {', '.join(strangers)}", path=path)
    return _checked(
        QuorumState(
            path,
            version,
            _number(data, "leaderId", path),
            _number(data, "leaderEpoch", path),
            _number(data, "votedId", path),
            _voted_directory(data, path),
            _voters(data.get("currentVoters"), path),
        )
    )


_QUORUM_STATE_KEYS: Final = {
    0: {"clusterId", "leaderId", "leaderEpoch", "votedId", "appliedOffset", "currentVoters"},
    1: {"leaderId", "leaderEpoch", "votedId", "votedDirectoryId"},
}


def read_leader_epochs(path: Path, *, limits: Limits = DEFAULT_LIMITS) -> tuple[EpochStart, ...]:
    """Return the epochs of a leader-epoch-checkpoint, oldest first.

    There are none in a file without a byte, as Kafka creates it, or with a version alone. Raises
    UnreadableFileError, CorruptRecordError (a line that is not two numbers, a wrong count, epochs
    or offsets that do not ascend), UnsupportedVersionError.
    Kafka: LeaderEpochCheckpointFile, CheckpointFile.CheckpointReadBuffer.read.
    """
    return parse_leader_epochs(read_small_text(path, limits), path)


def parse_leader_epochs(content: str, path: Path) -> tuple[EpochStart, ...]:
    """Return the epochs in the text of such a file; raises as `read_leader_epochs`."""
    lines = content.splitlines()
    if not lines:
        return ()
    if lines[0].strip() != "0":
        raise UnsupportedVersionError(f"leader-epoch-checkpoint version {lines[0]!r}", path=path)
    if len(lines) == 1:
        return ()
    entries: list[EpochStart] = []
    for number, line in enumerate(lines[2:], 3):
        words = line.split()
        if len(words) != 2 or not all(w.isascii() and w.isdigit() for w in words):
            raise CorruptRecordError(f"line {number} is not `epoch offset`", path=path)
        entry = EpochStart(_property_number(words[0], "epoch", path), int(words[1][:20]))
        last = entries[-1] if entries else EpochStart(-1, -1)
        if entry.epoch <= last.epoch or entry.start_offset < last.start_offset:
            raise CorruptRecordError(f"line {number} does not ascend", path=path)
        entries.append(entry)
    if lines[1].strip() != str(len(entries)):
        raise CorruptRecordError(f"{len(entries)} entries, line 2 says {lines[1]!r}", path=path)
    return tuple(entries)


def _property_number(text: str, key: str, path: Path) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and int(text) <= _INT32_MAX):
        raise CorruptRecordError(f"{key} is not a number from 0 on: {text[:40]!r}", path=path)
    return int(text)


def _property_uuid(text: str | None, path: Path) -> str | None:
    if text is None:
        return None
    try:
        uuid_bytes(text)
    except ValueError as error:
        raise CorruptRecordError(str(error), path=path, field="directory.id") from None
    return text


def _json_object(text: str, path: Path) -> dict[str, Any]:
    try:
        data = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise CorruptRecordError(f"not valid JSON: {str(error)[:200]}", path=path) from None
    if not isinstance(data, dict):
        raise CorruptRecordError("not a JSON object", path=path)
    return data


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is not JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise ValueError("a key twice in one object")
    return data


def _number(data: dict[str, Any], key: str, path: Path) -> int:
    value = data[key]
    if type(value) is not int or not -1 <= value <= _INT32_MAX:
        raise CorruptRecordError(
            f"not a number from -1 on: {str(value)[:40]}", path=path, field=key
        )
    return value


def _voted_directory(data: dict[str, Any], path: Path) -> str:
    text = data.get("votedDirectoryId", ZERO_UUID)
    try:
        uuid_bytes(str(text))
    except ValueError as error:
        raise CorruptRecordError(str(error), path=path, field="votedDirectoryId") from None
    return str(text)


def _voters(value: Any, path: Path) -> tuple[int, ...] | None:
    if value is None:
        return None
    try:
        voters = tuple(_number(voter, "voterId", path) for voter in value)
    except (TypeError, KeyError):
        raise CorruptRecordError("not a list of voters", path=path, field="currentVoters") from None
    return voters


def _checked(state: QuorumState) -> QuorumState:
    if state.leader_epoch < 0:
        raise CorruptRecordError("negative epoch", path=state.path, field="leaderEpoch")
    if state.version == 1 and state.voted_id == -1 and state.voted_directory_id != ZERO_UUID:
        raise CorruptRecordError("a voted directory without a voted id", path=state.path)
    return state
