"""The objects that a history consists of, as trees, and made again from these.

Every attribute of an object is kept but those listed as made anew: memos, what a `Tally` has, and
what is handed in again. So a new attribute is kept unless somebody says otherwise.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import fields, is_dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from krafla.audit.change_reader import ChangeReader
from krafla.audit.check_counts import CheckCounts
from krafla.audit.entities import Entities
from krafla.audit.heartbeats import Heartbeats
from krafla.audit.history import History
from krafla.audit.history_state import HistoryState
from krafla.audit.image import Image
from krafla.audit.invariants_topics import Creations
from krafla.audit.known_bugs import KnownBugs
from krafla.audit.lease_steps import LeaseRun
from krafla.audit.losses import Losses
from krafla.audit.mapping import OtherRecords
from krafla.audit.noted_changes import BrokerEvent, NotedChange
from krafla.audit.partition_state import NO_CHANGE, NO_LEADER, PartitionChange, PartitionState
from krafla.audit.partition_steps import PartitionRun
from krafla.audit.partitions import Partitions
from krafla.audit.raft_steps import RaftRun
from krafla.audit.registration_steps import RegistrationRun
from krafla.audit.saved_values import ValueRestorer, ValueSaver, text_of
from krafla.audit.spec_steps import SpecSteps
from krafla.testing import State

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from krafla.audit.noted_changes import Registrations
    from krafla.audit.saving import Tree
    from krafla.audit.specs import LoadingSpec

_NO_STATE: Final = PartitionState(NO_LEADER, (), ())
_NO_CHANGE: Final = PartitionChange(NO_CHANGE, None, None)
_Anew = dict[str, "Callable[[Restorer], Any]"]
_ANEW: Final[dict[type[Any], _Anew]] = {
    History: {
        "_expected": attrgetter("expected"),
        "_findings": lambda _: [],
        "_aside": lambda _: [],
        "_known": lambda _: KnownBugs(),
        "_batch": lambda _: None,
    },
    HistoryState: {
        "path": lambda _: None,
        "created": lambda _: Creations(),
        "counts": lambda _: CheckCounts(),
    },
    Image: {"changes": attrgetter("reader")},
    SpecSteps: {"_batch": lambda _: None},
    RaftRun: {
        "_loading": attrgetter("loading"),
        "taken": lambda _: 0,
        "judged": lambda _: 0,
        "aside": lambda _: [],
    },
    LeaseRun: {
        "_loading": attrgetter("loading"),
        "taken": lambda _: 0,
        "judged": lambda _: 0,
        "known": lambda _: [],
    },
    RegistrationRun: {
        "_loading": attrgetter("loading"),
        "taken": lambda _: 0,
        "passed_over": lambda _: Counter(),
    },
    Entities: {},
    Heartbeats: {},
    Losses: {},
    OtherRecords: {},
}
"""The classes of objects that are changed in place, with the attributes that are made anew."""
_BY_NAME: Final = {cls.__name__: cls for cls in _ANEW}
_OWN: Final = {cls.__name__: cls for cls in (Partitions, PartitionRun)}
"""The classes that write and read their own trees."""


def signature() -> list[list[str]]:
    """Return the classes of objects, with the attributes that are made anew."""
    return [[cls.__name__, *anew] for cls, anew in _ANEW.items()]


class Saver(ValueSaver):
    """The writer of a history; `open_changes` are the changes whose judgment is open.

    States of partitions, changes that were noted, and registrations at some time stand many times
    in a history: `tables` has each once.
    """

    def __init__(self, open_changes: list[NotedChange], root: Path | None = None) -> None:
        super().__init__(root)
        self._open = {id(noted) for noted in open_changes}
        self._states: dict[PartitionState, int] = {}
        self._noted: dict[int, int] = {}
        self._noted_trees: list[Tree] = []
        self._shared: dict[str, int] = {}
        self._places: dict[int, int] = {}

    def tree(self, value: Any) -> Tree:
        """Return the tree of a value or an object."""
        cls = type(value)
        if cls is PartitionState:
            return ["P", self.state(value)]
        if cls is BrokerEvent:
            return ["e", value.action, value.broker, self.shared(value.registered)]
        if cls is State:
            return ["d", *self.pairs((name, value[name]) for name in value)]
        if cls.__name__ in _OWN:
            return ["x", cls.__name__, value.saved(self)]
        if isinstance(value, History):
            cls = History
        anew = _ANEW.get(cls)
        if anew is None:
            return super().tree(value)
        kept = [name for name in _attributes(value) if name not in anew]
        return [
            "o",
            cls.__name__,
            *(one for n in kept for one in (n, self.tree(getattr(value, n)))),
        ]

    def state(self, state: PartitionState) -> int:
        """Return the place of a partition's state in the table of states."""
        return self._states.setdefault(state, len(self._states))

    def noted(self, noted: Any) -> int:
        """Return the place of a noted change in their table."""
        assert isinstance(noted, NotedChange), "a history notes each change"
        if id(noted) not in self._noted:
            tree = self._noted_tree(noted)
            self._noted[id(noted)] = len(self._noted_trees)
            self._noted_trees.append(tree)
        return self._noted[id(noted)]

    def shared(self, registered: Registrations) -> int:
        """Return the place of registrations in their table: equal ones have one."""
        place = self._places.get(id(registered))
        if place is None:
            text = text_of(self.tree(registered))
            place = self._shared.setdefault(text, len(self._shared))
            self._places[id(registered)] = place
        return place

    def tables(self) -> Tree:
        """Return the tables."""
        states = [[super(Saver, self).tree(each) for each in state] for state in self._states]
        return [states, self._noted_trees, [*self._shared]]

    def _noted_tree(self, noted: NotedChange) -> Tree:
        """Return the tree of a change; of a settled one, only what became of it."""
        if id(noted) in self._open:
            place = self.shared(noted.registered)
            names = ("before", "after", "change", "events", "passed")
            told = [self.tree(getattr(noted, name)) for name in names]
            return [noted.offset, noted.key.hex(), place, *told]
        if noted.like is not None and id(noted.like) in self._open:
            return [noted.offset, self.noted(noted.like)]
        return [noted.offset, None, (noted.like or noted).passed]


class Restorer(ValueRestorer):
    """The reader of a history that was saved, with what is handed in anew."""

    def __init__(
        self,
        tables: Tree,
        loading: LoadingSpec,
        expected: Mapping[int, tuple[Path, ...]],
        kind: type[History],
        root: Path | None = None,
    ) -> None:
        super().__init__(root)
        self.loading, self.expected, self._kind = loading, expected, kind
        self.reader = ChangeReader()
        states, self._trees, shared = tables
        self.states = [PartitionState(*map(self.value, each)) for each in states]
        self._shared = [self.value(json.loads(text)) for text in shared]
        self._noted: dict[int, NotedChange] = {}

    def value(self, tree: Tree) -> Any:
        """Return the value or the object of a tree."""
        kind = tree[0] if isinstance(tree, list) else None
        if kind == "P":
            return self.states[tree[1]]
        if kind == "e":
            return BrokerEvent(tree[1], tree[2], self._shared[tree[3]])
        if kind == "x":
            return _OWN[tree[1]].restored(tree[2], self)
        if kind == "o":
            return self._object(_BY_NAME[tree[1]], tree[2:])
        return super().value(tree)

    def noted(self, place: int) -> NotedChange:
        """Return the noted change at a place of the table."""
        if place not in self._noted:
            self._noted[place] = self._noted_of(self._trees[place])
        return self._noted[place]

    def every_noted(self) -> list[NotedChange]:
        """Return all changes that were noted, in the order of their table."""
        return [self.noted(place) for place in range(len(self._trees))]

    def _noted_of(self, tree: Tree) -> NotedChange:
        if len(tree) > 3:
            offset, key, place, *told = tree
            before, after, change, events, passed = map(self.value, told)
            registered = self._shared[place]
            return NotedChange(
                offset, bytes.fromhex(key), before, after, change, registered, events, passed
            )
        noted = NotedChange(tree[0], b"", _NO_STATE, _NO_STATE, _NO_CHANGE, {}, 0)
        if tree[1] is None:
            noted.passed = tree[2]
        else:
            noted.like = self.noted(tree[1])
        return noted

    def _object(self, cls: type[Any], rest: list[Tree]) -> Any:
        made: Any = object.__new__(self._kind if cls is History else cls)
        for name, tree in zip(rest[::2], rest[1::2], strict=True):
            setattr(made, name, self.value(tree))
        for name, make in _ANEW[cls].items():
            setattr(made, name, make(self))
        return made


def _attributes(value: Any) -> list[str]:
    return [each.name for each in fields(value)] if is_dataclass(value) else [*vars(value)]
