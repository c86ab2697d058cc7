"""Frames that a hostile process might send: legal ones of hostile values, and broken ones.

The breaks know the schema: each length, count, tag and value of a frame is a piece of its own.
Everything follows from a seed.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kraft.ids import METADATA_TOPIC_ID, ZERO_UUID, uuid_bytes, uuid_text
from kraft.records.layouts import layout_of
from kraft.records.primitives import encode_uvarint, fixed_layout
from kraft.records.schema import FIXED_FORMATS, FieldType
from kraft.wire.apis import CONTROLLER_APIS
from kraft.wire.frames import framed
from kraft.wire.headers import RequestHeader, request_header_bytes

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from kraft.records.layouts import Layout
    from kraft.records.schema import Field, Fields

VERSIONS = tuple(
    (key, version)
    for key, api in CONTROLLER_APIS.items()
    for version in range(api.request.oldest, api.request.newest + 1)
)
ENVELOPE = 58
_OF_ELECTIONS = frozenset({52, 53, 54})
"""Those of the right cluster may depose a leader: so the protocol says."""

_BITS = {
    FieldType.INT8: 8,
    FieldType.INT16: 16,
    FieldType.INT32: 32,
    FieldType.INT64: 64,
    FieldType.UINT16: 16,
}
_CONFIGS = (
    "cleanup.policy", "retention.ms", "min.insync.replicas", "max.message.bytes", "no.such.key",
    "compression.type", "leader.replication.throttled.replicas", "unclean.leader.election.enable",
    "",
)  # fmt: skip
_CONFIG_VALUES = (
    "", "compact", "delete", "1", "1000", "gzip", "compact,delete", "-1", "0", "2147483648",
    "9" * 400, "1e9", "٣", "NaN", "true", "*", "\x00", "größe" * 20, "0:1,1:2,x",
    "a" * 32_000,
)  # fmt: skip
_NAMES = (
    "calm", "calm", "a", "", ".", "..", "__cluster_metadata", "a b", "größe", "a" * 249, "a" * 250,
    "a" * 32_767, "\x00\x1b[31m", "User:*", "*", "User:a", "metadata.version", "kraft.version",
    "SCRAM-SHA-256", "user", "client-id", "ip", "consumer_byte_rate", "7", "1", "-1",
)  # fmt: skip
_LIKELY: Final[dict[str, tuple[Any, ...]]] = {
    "numPartitions": (1, 1, 3, -1, 0, 10_001, 2**31 - 1),
    "replicationFactor": (1, 1, 1, 2, -1, 0, 2**15 - 1),
    "count": (1, 3, 5, 20_000, 2**31 - 1),
    "assignments": ((), (), (), None),
    "timeoutMs": (1000, 1000, 0, -1, 2**31 - 1),
    "validateOnly": (False, False, True),
    "resourceType": (2, 2, 3, 4, 4, 16, 32),
    "resourceTypeFilter": (1, 2),
    "resourcePatternType": (3, 3, 4),
    "patternTypeFilter": (1, 2, 3),
    "operation": (2, 3, 4, 12),
    "permissionType": (2, 3),
    "principal": ("User:a", "User:*"),
    "configOperation": (0, 0, 1, 2, 3),
    "isMigratingZkBroker": (False,),
    "iterations": (4096, 8192),
    "mechanism": (1, 2),
    "electionType": (0, 1),
    "upgradeType": (1, 2, 3),
    "maxWaitMs": (0, 1, 100),
    "wantShutDown": (False, False, False, True),
    "remove": (False, True),
    "entityType": ("user", "client-id", "ip"),
    "securityProtocol": (0, 1),
    "leaderRecoveryState": (0, 1),
    "endpointType": (1, 2),
}
"""Values that a controller mostly takes, so that many requests change something."""


class World(NamedTuple):
    """What the sender knows of the node: its cluster, a broker and its epoch, a topic."""

    cluster: str
    broker_id: int
    broker_epoch: int
    topic: str
    topic_id: str


class Piece(NamedTuple):
    """Some bytes of a frame, and what they are: `length`, `count`, `tag` or `value`."""

    kind: str
    data: bytes


class HostileFrames:
    """Draws frames of all APIs and versions, one after the other."""

    def __init__(self, choose: random.Random, world: World) -> None:
        self._choose = choose
        self._world = world
        self._number = 0

    def legal(self) -> bytes:
        """Return the next frame that its schema allows."""
        return framed(b"".join(piece.data for piece in self._next()))

    def broken(self) -> bytes:
        """Return the next frame with something wrong in one to three places."""
        pieces = list(self._next())
        for _ in range(self._choose.choice((1, 1, 2, 3))):
            at = self._choose.randrange(len(pieces))
            pieces[at] = Piece(pieces[at].kind, self._break(pieces[at]))
        payload = b"".join(piece.data for piece in pieces)
        if self._choose.random() < 0.3:
            payload = self._flip(payload or b"\x00")
        size = len(payload)
        if self._choose.random() < 0.05:
            size = self._choose.choice((0, size // 2, max(0, size - 1), -1, 2**31 - 1, 2**21 + 1))
        return size.to_bytes(4, "big", signed=True) + payload

    def _next(self) -> Iterator[Piece]:
        key, version = VERSIONS[self._number % len(VERSIONS)]
        self._number += 1
        yield from self._request(key, version)

    def _request(self, key: int, version: int) -> Iterator[Piece]:
        schema = CONTROLLER_APIS[key].request
        header = RequestHeader(key, version, self._number, "hostile")
        yield Piece("value", request_header_bytes(header, schema))
        layout = layout_of(schema, version)
        fields = self._struct(layout, key)
        if key == ENVELOPE and self._choose.random() < 0.8:
            others = [one for one in VERSIONS if one[0] != ENVELOPE]
            inner = self._request(*self._choose.choice(others))
            fields["requestData"] = b"".join(piece.data for piece in inner)
        yield from struct_pieces(layout, fields)

    # Legal values

    def _struct(self, layout: Layout, key: int) -> Fields:
        values: Fields = {}
        for f in layout.fields:
            likely = _likely(f)
            if likely and self._choose.random() < 0.8:
                values[f.name] = self._choose.choice(likely)
            elif f.nullable and self._choose.random() < 0.2:
                values[f.name] = None
            elif f.array:
                values[f.name] = tuple(self._value(f, layout, key) for _ in range(self._count()))
            else:
                values[f.name] = self._value(f, layout, key)
        return values

    def _count(self) -> int:
        """Return how many elements an array has: rarely many, which are then mostly alike."""
        if self._choose.random() < 0.005:
            return 60
        return self._choose.choice((0, 1, 1, 1, 1, 1, 2, 2, 3))

    def _value(self, f: Field, layout: Layout, key: int) -> Any:
        choose = self._choose
        if f.type is FieldType.STRUCT:
            return self._struct(layout.inner[f.name], key)
        if f.type in _BITS and choose.random() < 0.5:
            return self._number_near(f.name)
        if f.type in _BITS:
            return _extreme(f.type, choose)
        if f.type is FieldType.BOOL:
            return choose.random() < 0.5
        if f.type is FieldType.FLOAT64:
            return choose.choice((0.0, -1.5, 1e300, float("nan"), float("inf"), 1024.0))
        if f.type is FieldType.BYTES:
            return choose.choice((b"", b"\x00", b"\xff" * 16, bytes(4), b"x" * 4000))
        if f.type is FieldType.UUID:
            known = (self._world.topic_id, METADATA_TOPIC_ID, ZERO_UUID)
            return choose.choice((*known, uuid_text(choose.randbytes(16))))
        return self._text(f.name, key)

    def _number_near(self, name: str) -> int:
        """Return a number that a node might take: small, or one that it knows."""
        world = self._world
        if name == "brokerEpoch":
            return world.broker_epoch
        if name in {"brokerId", "brokerIds", "replicas"}:
            return world.broker_id
        return self._choose.choice((0, 0, 1, 1, 2, 3, 5, world.broker_id))

    def _text(self, name: str, key: int) -> str:
        choose = self._choose
        if name == "clusterId":
            is_right = choose.random() < 0.9 and key not in _OF_ELECTIONS
            return self._world.cluster if is_right else "AAAAAAAAAAAAAAAAAAAAAA"
        if name == "value":
            return choose.choice(_CONFIG_VALUES)
        if name in {"key", "configurationKeys"} and choose.random() < 0.8:
            return choose.choice(_CONFIGS)
        if name == "name" and choose.random() < 0.3:
            return choose.choice(_CONFIGS)
        if choose.random() < 0.2:
            return self._world.topic
        return choose.choice(_NAMES)

    # Broken bytes

    def _break(self, piece: Piece) -> bytes:
        choose, data = self._choose, piece.data
        if not data:
            return b"\xff"
        if piece.kind == "value":
            return choose.choice((b"", self._flip(data), data + data, choose.randbytes(len(data))))
        if len(data) in (2, 4):
            extreme = choose.choice((-1, -2, 0, 1, 2 ** (8 * len(data) - 1) - 1))
            return choose.choice((extreme.to_bytes(len(data), "big", signed=True), b""))
        huge = choose.choice((0, 1, 2, 127, 128, 2**21, 2**31 - 1, 2**32 - 1))
        overlong = b"\xff\xff\xff\xff\xff\x01"
        return choose.choice((encode_uvarint(huge), encode_uvarint(data[0] ^ 1), overlong, b"\x80"))

    def _flip(self, data: bytes) -> bytes:
        changed = bytearray(data)
        for _ in range(self._choose.choice((1, 1, 4))):
            at = self._choose.randrange(len(changed))
            changed[at] ^= 1 << self._choose.randrange(8)
        return bytes(changed)


@cache
def _likely(f: Field) -> tuple[Any, ...]:
    """Return the likely values that a field can have."""
    likely = _LIKELY.get(f.name, ())
    if f.array or f.type is FieldType.STRUCT:
        return tuple(one for one in likely if one == () or (one is None and f.nullable))
    if f.type is FieldType.STRING:
        return tuple(one for one in likely if isinstance(one, str))
    if f.type is FieldType.BOOL:
        return tuple(one for one in likely if isinstance(one, bool))
    most = 2 ** (_BITS[f.type] - 1) if f.type in _BITS else 0
    return tuple(one for one in likely if isinstance(one, int) and -most <= one < most)


def _extreme(kind: FieldType, choose: random.Random) -> int:
    bits = _BITS[kind]
    if kind is FieldType.UINT16:
        return choose.choice((0, 65_535))
    most = 2 ** (bits - 1) - 1
    return choose.choice((-1, -2, -most - 1, most, most - 1, 100, choose.randint(-most, most)))


def struct_pieces(layout: Layout, fields: Fields) -> Iterator[Piece]:
    """Yield the pieces of a struct: the bytes of the codec, each with what it is."""
    for f in layout.plain:
        yield from _value_pieces(f, layout, fields[f.name])
    if not layout.is_flexible:
        return
    yield Piece("count", encode_uvarint(len(layout.tagged)))
    for tag, f in layout.tagged.items():
        value = fields[f.name]
        data = b"".join(piece.data for piece in _value_pieces(f, layout, value))
        yield Piece("tag", encode_uvarint(tag))
        yield Piece("length", encode_uvarint(len(data)))
        yield Piece("value", data)


def _value_pieces(f: Field, layout: Layout, value: Any) -> Iterator[Piece]:
    if not f.array:
        yield from _element_pieces(f, layout, value)
        return
    count = -1 if value is None else len(value)
    yield Piece("count", _length(count, 4, is_flexible=layout.is_flexible))
    for one in value or ():
        yield from _element_pieces(f, layout, one)


def _element_pieces(f: Field, layout: Layout, value: Any) -> Iterator[Piece]:
    if f.type is FieldType.STRUCT:
        yield from struct_pieces(layout.inner[f.name], value)
    elif f.type in FIXED_FORMATS:
        raw = uuid_bytes(value) if f.type is FieldType.UUID else value
        yield Piece("value", fixed_layout(f.type).pack(raw))
    else:
        size = 2 if f.type is FieldType.STRING else 4
        raw = value.encode() if isinstance(value, str) else value
        length = -1 if raw is None else len(raw)
        yield Piece("length", _length(length, size, is_flexible=layout.is_flexible))
        yield Piece("value", raw or b"")


@cache
def _length(length: int, size: int, *, is_flexible: bool) -> bytes:
    if is_flexible:
        return encode_uvarint(length + 1)
    return length.to_bytes(size, "big", signed=True)
