"""The content of a formatted log directory, and the first voters.

Kafka: Formatter, DynamicVoters, BootstrapDirectory.
"""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING, Final

from kraft.errors import printable
from kraft.ids import (
    METADATA_TOPIC_ID,
    ZERO_UUID,
    DirectoryId,
    NodeId,
    OffsetAndEpoch,
    ReplicaKey,
    uuid_bytes,
    uuid_text,
)
from kraft.raft.snapshot_file import snapshot_bytes
from kraft.raft.voters import Voter, VoterSet
from kraft.records.metadata_schemas import FEATURE_LEVEL, USER_SCRAM_CREDENTIAL
from kraft.records.value import encode_value
from kraft.rpc.endpoints import Endpoint
from kraft.tools.guard import ExitCode, ToolError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

_VOTER: Final = re.compile(r"(\d{1,9})@(?:\[([^\]]+)\]|([^:\[\]]+)):(\d{1,5}):([\w-]+)", re.ASCII)
_START: Final = OffsetAndEpoch(0, 0)


def random_uuid() -> str:
    """Return a random UUID that Kafka would draw, too. Kafka: Uuid.randomUuid."""
    while True:
        raw = bytearray(secrets.token_bytes(16))
        raw[6] = raw[6] & 0x0F | 0x40
        raw[8] = raw[8] & 0x3F | 0x80
        text = uuid_text(bytes(raw))
        # An id that begins with a dash would look like a flag.
        if text not in {ZERO_UUID, METADATA_TOPIC_ID} and not text.startswith("-"):
            return text


def parse_voters(text: str, listener: str) -> VoterSet:
    """Return the voters in `id@host:port:directory,...`. Raises ToolError.

    Kafka: DynamicVoters.parse.
    """
    voters = []
    for part in text.split(","):
        match = _VOTER.fullmatch(part.strip())
        if match is None:
            shown = printable(part[:80])
            raise ToolError(f"not id@host:port:directory: {shown!r}", ExitCode.REFUSED)
        try:
            uuid_bytes(match[5])
        except ValueError as error:
            raise ToolError(str(error), ExitCode.REFUSED) from None
        endpoint = Endpoint(listener, match[2] or match[3], int(match[4]))
        key = ReplicaKey(NodeId(int(match[1])), DirectoryId(match[5]))
        voters.append(Voter(key, (endpoint,)))
    try:
        return VoterSet.of(voters)
    except ValueError as error:
        raise ToolError(f"--initial-controllers: {error}", ExitCode.REFUSED) from None


def bootstrap_checkpoint(
    metadata_version: int,
    levels: Mapping[str, int],
    credentials: Sequence[Mapping[str, Any]],
    timestamp: int,
) -> bytes:
    """Return the bytes of bootstrap.checkpoint; `timestamp`, in milliseconds, is when it is made.

    Features at level 0 are not in it. Kafka: BootstrapDirectory.writeBinaryFile.
    """
    features = [("metadata.version", metadata_version)]
    features += [(name, level) for name, level in sorted(levels.items()) if level]
    values = [
        encode_value(FEATURE_LEVEL.api_key, 0, {"name": name, "featureLevel": level})
        for name, level in features
    ]
    values += [encode_value(USER_SCRAM_CREDENTIAL.api_key, 0, dict(one)) for one in credentials]
    return snapshot_bytes(_START, values, None, 0, 0, timestamp)


def voters_checkpoint(voters: VoterSet, timestamp: int) -> bytes:
    """Return the bytes of the snapshot at offset 0 that tells a new quorum its voters.

    Kafka: Formatter.writeDynamicQuorumSnapshot.
    """
    return snapshot_bytes(_START, (), voters, 1, timestamp)
