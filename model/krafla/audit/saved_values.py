"""Values of an audit as trees of JSON, and back: what a history knows, and what it has found.

Equal values have equal trees, in every process: sets are sorted, dictionaries keep their order.
A class is named, and only the classes listed here are made again; nothing is evaluated.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import fields
from pathlib import Path, PosixPath, WindowsPath
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from krafla.audit.broker_registrations import BrokerRegistration
from krafla.audit.change_tally import ChangeTally
from krafla.audit.check_counts import CheckCounts, SpecCounts
from krafla.audit.heartbeats import Repeated
from krafla.audit.history_outcome import Ending, Tally
from krafla.audit.known_bugs import KnownChange
from krafla.audit.losses import Leaderless, Offline, Unfencing
from krafla.audit.mapping import LogStep, Place
from krafla.audit.noted_changes import RememberedBatch
from krafla.audit.partition_state import Loss, PartitionChange, PartitionState
from krafla.audit.raft_steps import Formatted
from krafla.audit.releases import ReleaseSigns
from krafla.audit.result import Evidence, Finding, Weight
from krafla.audit.voters import Voter
from krafla.report.explain.outcome import Falsehood
from krafla.values import Function, ModelValue
from krafla.verdict import KraflaError
from kraft.records.batch import RecordBatch, parse_batch
from kraft.records.record import MetadataRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from krafla.audit.saving import Tree

_CLASSES: Final[tuple[type[Any], ...]] = (
    BrokerRegistration, ChangeTally, CheckCounts, Ending, Evidence, Falsehood, Finding,
    Formatted, KnownChange, Leaderless, LogStep, Loss, MetadataRecord, Offline, PartitionChange,
    PartitionState, Place, ReleaseSigns, RememberedBatch, Repeated, SpecCounts, Tally, Unfencing,
    Voter,
)  # fmt: skip
_BY_NAME: Final = {cls.__name__: cls for cls in _CLASSES}
_PLAIN: Final = frozenset({type(None), bool, int, str})


class SavedStateError(KraflaError):
    """The state of a history cannot be saved, or what was saved cannot be used."""


def names_of(cls: type[Any]) -> tuple[str, ...]:
    """Return the names of a class's fields."""
    found: tuple[str, ...] = getattr(cls, "_fields", ())
    return found or tuple(each.name for each in fields(cls))


def signature() -> list[list[str]]:
    """Return the classes of values and their fields: other code cannot read what was saved."""
    return [[cls.__name__, *names_of(cls)] for cls in _CLASSES]


def text_of(tree: Tree) -> str:
    """Return a tree as text, the same for equal trees."""
    return json.dumps(tree, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


class ValueSaver:
    """The writer of values; `tree` returns the tree of one.

    Paths below the folder `root`, also those in texts, are written without it.
    """

    def __init__(self, root: Path | None = None) -> None:
        self._root = None if root is None else str(root)

    def tree(self, value: Any) -> Tree:
        """Return a value's tree. Raises SavedStateError for one of another class."""
        cls = type(value)
        if cls in _PLAIN:
            return value if cls is not str else self._text(value)
        kind = _KINDS.get(cls)
        if kind is not None:
            return [kind[0], *kind[1](self, value)]
        if cls.__name__ in _BY_NAME:
            return ["v", cls.__name__, *(self.tree(getattr(value, n)) for n in names_of(cls))]
        raise SavedStateError(f"a {cls.__name__} is no part of a saved state")

    def sorted_trees(self, values: Iterable[Any]) -> list[Tree]:
        """Return the trees of a set's members, in the order of their texts."""
        return sorted(map(self.tree, values), key=text_of)

    def pairs(self, items: Iterable[tuple[Any, Any]]) -> list[Tree]:
        """Return the trees of the keys and values of a dictionary, by turns."""
        return [self.tree(one) for item in items for one in item]

    def path(self, path: Path) -> list[Tree]:
        """Return what a path's tree has: two parts if it lies below the root."""
        if self._root is None or not path.is_relative_to(self._root):
            return [str(path)]
        return [str(path.relative_to(self._root)), 1]

    def _text(self, text: str) -> Tree:
        if self._root is None or self._root not in text:
            return text
        return ["r", *text.split(self._root)]


class ValueRestorer:
    """The reader of values; `value` returns that of a tree.

    `root` is the folder that was left out when they were written, wherever that is now.
    """

    def __init__(self, root: Path | None = None) -> None:
        self._root = root

    def value(self, tree: Tree) -> Any:
        """Return the value of a tree; one that no ValueSaver wrote raises some error."""
        if not isinstance(tree, list):
            return tree
        kind, *rest = tree
        if kind == "v":
            return _BY_NAME[rest[0]](*map(self.value, rest[1:]))
        return _MAKERS[kind](self, rest)

    def path(self, rest: list[Tree]) -> Path:
        """Return the path of a tree."""
        return Path(rest[0]) if len(rest) == 1 else self._below() / rest[0]

    def text(self, rest: list[Tree]) -> str:
        """Return a text that names the root."""
        return str(self._below()).join(rest)

    def _below(self) -> Path:
        if self._root is None:
            raise SavedStateError("what was saved has paths below a folder, and none was given")
        return self._root

    def items(self, rest: list[Tree]) -> list[tuple[Any, Any]]:
        """Return the keys and values of a dictionary."""
        values = [*map(self.value, rest)]
        return [*zip(values[::2], values[1::2], strict=True)]


def _float(text: str) -> float:
    # Audits compare the one object that is no number.
    return math.nan if text == "nan" else float(text)


_Saving: TypeAlias = "Callable[[ValueSaver, Any], Iterable[Tree]]"
_path: Final[tuple[str, _Saving]] = ("p", lambda saver, value: saver.path(value))
_KINDS: Final[dict[type[Any], tuple[str, _Saving]]] = {
    float: ("f", lambda _, value: (repr(value),)),
    bytes: ("b", lambda _, value: (value.hex(),)),
    tuple: ("t", lambda saver, value: map(saver.tree, value)),
    list: ("l", lambda saver, value: map(saver.tree, value)),
    set: ("s", lambda saver, value: saver.sorted_trees(value)),
    frozenset: ("z", lambda saver, value: saver.sorted_trees(value)),
    dict: ("d", lambda saver, value: saver.pairs(value.items())),
    Counter: ("c", lambda saver, value: saver.pairs(value.items())),
    Function: ("F", lambda saver, value: saver.pairs(value.items())),
    ModelValue: ("M", lambda _, value: (value.name,)),
    Weight: ("w", lambda _, value: (value.name,)),
    RecordBatch: (
        "B",
        lambda saver, one: (one.raw.hex(), one.position, saver.tree(one.path)),
    ),
    PosixPath: _path,
    WindowsPath: _path,
}
_MAKERS: Final[dict[str, Callable[[ValueRestorer, list[Tree]], Any]]] = {
    "f": lambda _, rest: _float(*rest),
    "b": lambda _, rest: bytes.fromhex(*rest),
    "t": lambda restorer, rest: tuple(map(restorer.value, rest)),
    "l": lambda restorer, rest: [*map(restorer.value, rest)],
    "s": lambda restorer, rest: {*map(restorer.value, rest)},
    "z": lambda restorer, rest: frozenset(map(restorer.value, rest)),
    "d": lambda restorer, rest: dict(restorer.items(rest)),
    "c": lambda restorer, rest: Counter(dict(restorer.items(rest))),
    "F": lambda restorer, rest: Function(restorer.items(rest)),
    "M": lambda _, rest: ModelValue(*rest),
    "w": lambda _, rest: Weight[rest[0]],
    "B": lambda restorer, rest: parse_batch(
        bytes.fromhex(rest[0]), position=rest[1], path=restorer.value(rest[2])
    ),
    "p": lambda restorer, rest: restorer.path(rest),
    "r": lambda restorer, rest: restorer.text(rest),
}
