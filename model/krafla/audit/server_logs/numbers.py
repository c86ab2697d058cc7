"""Ranks: the offsets and epochs of a real log as BrokerLease counts them, and back.

BrokerLease has one record for each operation on the lease and nothing between them. It only
compares offsets and epochs and adds one. So operation n of a real log has rank n, whatever lies
between. An epoch is the first offset of its operation, a registration's offset that of its record,
a controlled shutdown's offset the last. A foreign number, which is none of these, gets a large
unique rank.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from krafla.values import Function

if TYPE_CHECKING:
    from krafla.values import Value

FOREIGN: Final = 1_000_000_000
_EPOCHS: Final = frozenset({"epoch", "broker_epoch"})
_RECORDS: Final = frozenset({"record_offset"})
_ENDS: Final = frozenset(
    {"metadata_offset", "applied_offset", "controlled_shutdown_offset", "offset"}
)


class WrittenOffsets(NamedTuple):
    """The offsets of an operation: its first, its record's (None: unknown), its last.

    If the batch goes on after the operation, the last is one from `least` to `last`.
    """

    first: int
    at: int | None
    last: int
    least: int | None = None


class Numbers:
    """The ranks of one cluster's numbers."""

    def __init__(self) -> None:
        self._foreign: dict[int, int] = {}

    def foreign(self, number: int) -> int:
        """Return the rank of a foreign number."""
        return self._foreign.setdefault(number, FOREIGN + len(self._foreign))

    def rank_of_epoch(self, epoch: int, ranks: tuple[WrittenOffsets, ...]) -> int:
        """Return the rank of an epoch among the operations so far."""
        for rank, written in enumerate(ranks):
            if written.first == epoch:
                return rank
        return self.foreign(epoch)

    def rank_of_offset(self, offset: int, ranks: tuple[WrittenOffsets, ...], *, end: bool) -> int:
        """Return the rank of a record's offset, or with `end` of an operation's last one."""
        for rank, written in enumerate(ranks):
            least = written.last if written.least is None else written.least
            if least <= offset <= written.last if end else offset == written.at:
                return rank
            if written.at is None and not end and written.first <= offset:
                following = ranks[rank + 1 :]
                if all(w.first > offset for w in following):
                    return rank
        return self.foreign(offset)

    def real(self, name: str, value: Value, ranks: tuple[WrittenOffsets, ...]) -> Value:
        """Return a value of the spec with real epochs and offsets in place of ranks.

        `name` is the variable, the field, or a path to one.
        """
        if isinstance(value, Function):
            return (
                Function({k: self.real(_inner(name, k), v, ranks) for k, v in value.items()})
                if value
                else value
            )
        if isinstance(value, tuple):
            return tuple(self.real(name, v, ranks) for v in value)
        if isinstance(value, frozenset):
            return frozenset(self.real(name, v, ranks) for v in value)
        if isinstance(value, int) and not isinstance(value, bool):
            return self._number(name, value, ranks)
        return value

    def _number(self, name: str, value: int, ranks: tuple[WrittenOffsets, ...]) -> int:
        if value >= FOREIGN:
            return next((real for real, rank in self._foreign.items() if rank == value), value)
        kind = name.partition("[")[0] if name.endswith("]") else name.rpartition(".")[2]
        if kind == "log_end":
            return ranks[-1].last + 1 if ranks else 0
        if not 0 <= value < len(ranks):
            return value
        if kind in _EPOCHS:
            return ranks[value].first
        if kind in _RECORDS:
            at = ranks[value].at
            return ranks[value].first if at is None else at
        return ranks[value].last if kind in _ENDS else value


def _inner(name: str, key: Value) -> str:
    """Return the name of a part: a record's field has its own, a function's result that of it."""
    return key if isinstance(key, str) and _is_field(key) else name


def _is_field(key: str) -> bool:
    return key in _EPOCHS or key in _RECORDS or key in _ENDS
