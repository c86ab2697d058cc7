"""TLC's values for one loaded spec, each built once.

A call into the JVM costs as much as a small formula. So a value is requested by what it consists of
(numbers, names, other values), and the same request gets the same value again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from krafla.refinement.common.interner import Interner
from krafla.refinement.common.operators import Operators
from krafla.refinement.raft.spec import VERSION_VALUE
from kraft.ids import NodeId, ReplicaKey
from kraft.records.control_schemas import KRAFT_VERSION, KRAFT_VOTERS, LEADER_CHANGE

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from krafla.testing import Spec
    from kraft.log.batches import LogBatch
    from kraft.records.schema import Fields

__all__ = ["Message", "Term", "Terms"]

_REMEMBERED: Final = 200_000
_PRINTABLE: Final = range(0x20, 0x7F)


class Term:
    """A value with a key. Equal keys mean equal values."""

    __slots__ = ("java", "key")

    def __init__(self, key: Hashable, java: Any) -> None:
        self.key = key
        self.java = java

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Term) and self.key == other.key


class Message(NamedTuple):
    """A message of the spec: its fields in the order of their names, and its value in TLC.

    Messages with the same fields are one object.
    """

    type: str
    sender: str
    receiver: str
    fields: tuple[tuple[str, Any], ...]
    is_request: bool
    awaited: bool
    java: Any

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def get(self, name: str) -> Any:
        """Return a field by its name."""
        return dict(self.fields)[name]


class Terms:
    """The values of one spec."""

    def __init__(self, spec: Spec, names: Sequence[str]) -> None:
        self.spec = spec
        classes = spec.classes
        self._array = classes.array("tlc2.value.impl.Value")
        self._names_array = classes.array("util.UniqueString")
        self._unique = classes("util.UniqueString").uniqueStringOf
        self._record_class = classes("tlc2.value.impl.RecordValue")
        self._tuple_class = classes("tlc2.value.impl.TupleValue")
        self._function_class = classes("tlc2.value.impl.FcnRcdValue")
        self._set_class = classes("tlc2.value.impl.SetEnumValue")
        self._operators = Operators(spec)
        self._to_java = spec.converter.to_java
        self._plain: Interner[Any] = Interner(_REMEMBERED)
        self._known: Interner[Any] = Interner(_REMEMBERED)
        self._shapes: dict[tuple[str, ...], tuple[Any, tuple[str, ...]]] = {}
        self._messages: Interner[Message] = Interner(_REMEMBERED)
        self._entries: Interner[tuple[Any, ...]] = Interner(_REMEMBERED)
        self.leaders: dict[tuple[int, NodeId], str] = {}
        self.nil = spec.converter.to_java(_nil(spec))
        self.one = self.plain(1)
        self.empty = self.sequence(())
        self.replicas, self._domain = self._in_normal_order(names)

    def plain(self, value: bool | int | str) -> Any:
        """Return a number, a string or a Boolean."""
        # True and 1 are equal in Python, and different values in TLA+.
        return self._plain.get((value, value.__class__), self._to_java, value)

    def optional(self, name: str | None) -> Any:
        """Return the name of a replica; Nil for None."""
        return self.nil if name is None else self.plain(name)

    def sequence(self, values: Iterable[Any]) -> Any:
        """Return a sequence of values."""
        return self._tuple_class(self._array(list(values)))

    def joined(self, one: Any, other: Any) -> Any:
        """Return the concatenation of two sequences."""
        return self._operators.value("Joined", self.spec.empty_state, (one, other))

    def piece(self, one: Any, first: int, last: int) -> Any:
        """Return the elements of a sequence from one index to another, counted from 1."""
        arguments = (one, self.plain(first), self.plain(last))
        return self._operators.value("Piece", self.spec.empty_state, arguments)

    def members(self, names: Iterable[str]) -> Any:
        """Return a set of replicas."""
        key = ("members", *sorted(names))
        return self.once(key, lambda: self.set_of(self.plain(name) for name in key[1:]))

    def set_of(self, values: Iterable[Any]) -> Any:
        """Return a set of values."""
        found = self._set_class(self._array(list(values)), False)
        found.deepNormalize()
        return found

    def by_replica(self, values: Sequence[Any]) -> Any:
        """Return the function from each replica to its value, in the order of `replicas`."""
        return self._function_class(self._domain, self._array(values), True)

    def bag(self, counts: dict[Message, int]) -> Any:
        """Return a bag of messages."""
        if not counts:
            return self.empty
        one = self.one
        # TLC sorts it when it is compared.
        return self._function_class(
            self._array([message.java for message in counts]),
            self._array([one if n == 1 else self.plain(n) for n in counts.values()]),
            False,
        )

    def record(self, fields: Sequence[tuple[str, Any]]) -> Any:
        """Return a record; the fields are in the order of their names."""
        key = tuple(name for name, _ in fields)
        shape = self._shapes.get(key)
        if shape is None:
            shape = self._shapes[key] = self._shape(key)
        names, order = shape
        values = dict(fields)
        return self._record_class(names, self._array([values[name] for name in order]), True)

    def offset_and_epoch(self, end_offset: int, epoch: int) -> Any:
        """Return the id of a snapshot, or the end of a log."""
        key = ("offset", end_offset, epoch)
        return self.once(
            key,
            lambda: self.record(
                [("end_offset", self.plain(end_offset)), ("epoch", self.plain(epoch))]
            ),
        )

    def message(
        self, type_: str, sender: str, receiver: str, awaited: bool | None, *more: tuple[str, Any]
    ) -> Message:
        """Return a message. `more` are its other fields: plain values, terms, or None for Nil.

        `awaited` is None for an answer.
        """

        def built() -> Message:
            fields = [("type", type_), ("from", sender), ("to", receiver), *more]
            if awaited is not None:
                fields.append(("awaited", awaited))
            java = self.record([(name, self.java(value)) for name, value in fields])
            is_request = awaited is not None
            return Message(type_, sender, receiver, more, is_request, bool(awaited), java)

        return self._messages.get((type_, sender, receiver, awaited, *more), built)

    def java(self, value: bool | int | str | Term | Message | None) -> Any:
        """Return TLC's value of a plain value or a term; Nil for None."""
        if value is None:
            return self.nil
        return value.java if isinstance(value, Term | Message) else self.plain(value)

    def unawaited(self, message: Message) -> Message:
        """Return the request as one that is no longer awaited."""
        return self.message(message.type, message.sender, message.receiver, False, *message.fields)

    def entries(self, batch: LogBatch, name_of: Callable[[ReplicaKey], str]) -> tuple[Any, ...]:
        """Return a batch as entries of the spec.

        Spec: KRaftState!Entry.
        """

        def read() -> tuple[Any, ...]:
            if batch.controls:
                return tuple(self._control(batch.epoch, *one, name_of) for one in batch.controls)
            return tuple(self._entry(batch.epoch, "Data", self.value(one)) for one in batch.values)

        return self._entries.get(batch.raw, read)

    def value(self, data: bytes) -> Any:
        """Return the bytes of a record as a value: as text, or in hexadecimal."""
        if all(byte in _PRINTABLE for byte in data):
            return self.plain(data.decode("ascii"))
        return self.plain(data.hex())

    def once(self, key: Hashable, build: Callable[[], Any]) -> Any:
        """Return the value of a key, built when it is first requested."""
        return self._known.get(key, build)

    def _entry(self, epoch: int, kind: str, value: Any) -> Any:
        return self.record(
            [("epoch", self.plain(epoch)), ("kind", self.plain(kind)), ("value", value)]
        )

    def _control(
        self, epoch: int, kind: int, fields: Fields, name_of: Callable[[ReplicaKey], str]
    ) -> Any:
        if kind == LEADER_CHANGE.api_key:
            leader = self._leader_of(epoch, NodeId(fields["leaderId"]), name_of)
            return self._entry(epoch, "LeaderChange", self.plain(leader))
        if kind == KRAFT_VERSION.api_key:
            return self._entry(epoch, "Data", self.plain(VERSION_VALUE))
        if kind == KRAFT_VOTERS.api_key:
            voters = [
                name_of(ReplicaKey(NodeId(one["voterId"]), one["voterDirectoryId"]))
                for one in fields["voters"]
            ]
            return self._entry(epoch, "Voters", self.members(voters))
        raise ValueError(f"a log has no control records of type {kind}")

    def _leader_of(self, epoch: int, node: NodeId, name_of: Callable[[ReplicaKey], str]) -> str:
        known = self.leaders.get((epoch, node))
        return known if known is not None else name_of(ReplicaKey(node))

    def _shape(self, names: tuple[str, ...]) -> tuple[Any, tuple[str, ...]]:
        """Return field names in TLC's order, as TLC's array and as text."""
        unique = self._names_array([self._unique(name) for name in names])
        probe = self._record_class(
            unique, self._array([self.plain(index) for index in range(len(names))]), False
        )
        probe.normalize()
        order = tuple(names[int(value.val)] for value in probe.values)
        return self._names_array([self._unique(name) for name in order]), order

    def _in_normal_order(self, names: Sequence[str]) -> tuple[tuple[str, ...], Any]:
        probe = self._function_class(
            self._array([self.plain(name) for name in names]),
            self._array([self.plain(index) for index in range(len(names))]),
            False,
        )
        probe.normalize()
        order = tuple(names[int(value.val)] for value in probe.values)
        return order, self._array([self.plain(name) for name in order])


def _nil(spec: Spec) -> Any:
    return spec.evaluate("Nil")
