"""The partitions of a metadata log.

Nearly every record of a large log changes a partition, so this is the inner loop of the audit. The
effect of a PartitionChangeRecord repeats thousands of times, as does what its bytes say.

Kafka: ReplicationControlManager.replay, PartitionRegistration.merge.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeAlias, cast

from krafla.audit.change_records import KEY_END, KEY_START, MEMO_SIZE, Change
from krafla.audit.partition_state import (
    FIRST_EPOCHS,
    NO_CHANGE,
    Epochs,
    Loss,
    PartitionChange,
    PartitionState,
    kept_in_sync,
    loss_of,
)
from kraft.ids import uuid_bytes, uuid_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from krafla.audit.result import Invariant
    from krafla.audit.saving import Restores, Saves, Tree
    from kraft.records.schema import Fields

_LEADER_EPOCH: Final = 1 << 32
"""Both epochs of a partition are one number: the leader's epoch is its upper half."""


Objections: TypeAlias = "tuple[tuple[Invariant, str], ...]"


class ChangeCounter(Protocol):
    """The counter of equal changes."""

    times: int

    @property
    def offset(self) -> int | None:
        """The offset of the record that was noted, if it was."""


Note: TypeAlias = (
    "Callable[[int, bytes, PartitionState, PartitionState, PartitionChange], ChangeCounter]"
)

Lost: TypeAlias = "Callable[[int, bytes, PartitionState, PartitionState, Loss], None]"


@dataclass(slots=True)
class Uncounted:
    """The counter of changes when no caller counts them."""

    times: int = 0
    offset: None = None


_UNCOUNTED: Final = Uncounted()


class Meanings(Protocol):
    """A reader of PartitionChangeRecords: `meaning` has the change of each tail it has read."""

    meaning: dict[bytes, PartitionChange]


class Refusal(NamedTuple):
    """A refused change: the record of this index in its batch.

    `objections` are the broken invariants with a sentence each. There are none if the partition
    does not exist.
    """

    record_index: int
    objections: Objections


def key_of(fields: Fields) -> bytes:
    """Return a partition's key: four bytes of its id, then 16 of its topic id."""
    partition_id: int = fields["partitionId"]
    return partition_id.to_bytes(4, "big", signed=True) + uuid_bytes(fields["topicId"])


_Effect: TypeAlias = tuple[PartitionState, int, ChangeCounter, int, Loss | None, int]
"""The state after a change, what the change adds to the two epochs (packed in one number), the
counter of equal changes, the size of the ISR if that may be too large beside an ELR, what the
partition loses, and how many replicas it had, if it has another number after."""


class Partitions:
    """All partitions, changed in place.

    `touched` are the partitions changed since the last `settle`. Transitions are kept by state and
    tail of the record; `_known` makes equal states one object.
    """

    def __init__(self, reader: Meanings) -> None:
        self._reader = reader
        self.states: dict[bytes, PartitionState] = {}
        self.touched: dict[bytes, PartitionState] = {}
        self.topics: dict[bytes, list[bytes]] = {}
        self._epochs: dict[bytes, int] = {}
        self._former: dict[bytes, frozenset[int]] = {}
        self._known: dict[PartitionState, PartitionState] = {}
        self._seen: set[PartitionState] = set()
        self._transitions: dict[tuple[int, bytes], _Effect] = {}
        self._late: list[tuple[Sequence[bytes], Sequence[bytes]]] = []
        self._late_count = 0

    def put(self, key: bytes, state: PartitionState, epochs: Epochs = FIRST_EPOCHS) -> None:
        """Create or replace a partition."""
        if key not in self.states:
            self.topics.setdefault(key[4:], []).append(key)
        self._catch_up()
        self.states[key] = self.touched[key] = self._known.setdefault(state, state)
        self._epochs[key] = epochs.leader * _LEADER_EPOCH + epochs.partition

    def epochs(self, key: bytes) -> Epochs:
        """Return the epochs of a partition that exists."""
        self._catch_up()
        return Epochs(*divmod(self._epochs[key], _LEADER_EPOCH))

    def change(
        self,
        changes: Iterable[Change],
        check: Callable[[PartitionState, PartitionState, PartitionChange], Objections],
        note: Note | None = None,
        eligible: Callable[[bytes, int], Objections] = lambda _, __: (),
        lost: Lost = lambda *_: None,
    ) -> Refusal | None:
        """Apply PartitionChangeRecords up to the first refused one; return its refusal.

        `check` returns the objections to a state before, a state after and a change. It is called
        once for each distinct effect until `forget_transitions`. `note`, called next, returns the
        counter of that effect. `eligible` returns the objections to a partition that has an ELR
        beside an ISR of some size; it depends on the topic, so it is called for each such change.
        `lost` is called for each change that takes its leader, or replicas, from a partition, or
        that changes nothing.
        """
        states, touched, transitions = self.states, self.touched, self._transitions
        epochs, state_of, effect_of = self._epochs, self.states.get, self._transitions.get
        for index, key, tail in changes:
            before = state_of(key)
            if before is None:
                return Refusal(index, ())
            found = effect_of((id(before), tail))
            if found is None:
                change = self._reader.meaning[tail]
                after = change.applied_to(before)
                objections = check(before, after, change)
                if objections:
                    return Refusal(index, objections)
                after = self._known.setdefault(after, after)
                if len(transitions) >= MEMO_SIZE:
                    transitions.clear()
                times = _UNCOUNTED if note is None else note(index, key, before, after, change)
                raised = 1 if change.leader == NO_CHANGE else _LEADER_EPOCH + 1
                loss = loss_of(before, after, change)
                resized = len(before.replicas) != len(after.replicas)
                former = len(before.replicas) if resized else 0
                found = (after, raised, times, kept_in_sync(before, after), loss, former)
                transitions[id(before), tail] = found
            after, raised, times, in_sync, loss, former = found
            if in_sync:
                objections = eligible(key, in_sync)
                if objections:
                    return Refusal(index, objections)
            if loss is not None:
                lost(index, key, before, after, loss)
            if former:
                self._former[key] = self._former.get(key, frozenset()) | {former}
            states[key] = touched[key] = after
            epochs[key] += raised
            times.times += 1
        return None

    def replay(
        self, keys: Sequence[bytes], tails: Sequence[bytes], kinds: Collection[bytes]
    ) -> list[int] | None:
        """Apply changes without any check if the effect of each is known, else none of them.

        `kinds` are the distinct tails. Return the indexes of the first changes of each kind whose
        effect is not known; None if one partition changes twice, or if effects are about to be
        forgotten. Nothing is counted, and nothing asked about losses.
        """
        if len(set(keys)) < len(keys):
            return None
        states, meaning = self.states, self._reader.meaning
        effects = zip(map(id, map(states.get, keys)), tails, strict=True)
        found = [*map(self._transitions.get, effects)]
        if None in found:
            return self._first_unknown(keys, tails)
        states.update(zip(keys, map(itemgetter(0), cast("list[_Effect]", found)), strict=True))
        leads = {tail for tail in kinds if meaning[tail].leader != NO_CHANGE}
        elected = keys if len(leads) == len(kinds) else ()
        if leads and not elected:
            elected = [key for key, tail in zip(keys, tails, strict=True) if tail in leads]
        self._late.append((keys, elected))
        self._late_count += len(keys)
        if self._late_count >= MEMO_SIZE:
            self._catch_up()
        return []

    def _first_unknown(self, keys: Sequence[bytes], tails: Sequence[bytes]) -> list[int] | None:
        kinds = [*zip(map(id, map(self.states.get, keys)), tails, strict=True)]
        fresh = set(kinds) - self._transitions.keys()
        if len(self._transitions) + len(fresh) >= MEMO_SIZE:
            return None
        return sorted(map(kinds.index, fresh))

    def _catch_up(self) -> None:
        """Add to the epochs, and to the present states, what `replay` left for later."""
        if not self._late:
            return
        for place, raised in ((0, 1), (1, _LEADER_EPOCH)):
            times = Counter(chain.from_iterable(late[place] for late in self._late))
            for key, number in times.items():
                self._epochs[key] += raised * number
        self._late, self._late_count = [], 0
        self._seen.update({id(state): state for state in self.states.values()}.values())

    def clear_elr(self, topic: bytes | None) -> None:
        """Empty both ELR fields of a topic's partitions, or of all. Kafka: ClearElrRecord."""
        for key, state in self.states.items():
            if (topic is None or key[4:] == topic) and (state.elr or state.last_known_elr):
                cleared = state._replace(elr=(), last_known_elr=())
                cleared = self._known.setdefault(cleared, cleared)
                self.states[key] = self.touched[key] = cleared
                self._epochs[key] += 1

    def forget_transitions(self) -> None:
        """Check every effect anew, because brokers or features changed."""
        self._transitions.clear()

    def remove_topic(self, topic: bytes) -> None:
        """Forget the partitions of a topic."""
        self._catch_up()
        for key in self.topics.pop(topic, ()):
            self.states.pop(key, None)
            self.touched.pop(key, None)
            self._epochs.pop(key, None)

    def replica_counts(self, key: bytes) -> frozenset[int]:
        """Return how many replicas a partition has, and had since the last `settle`.

        Kafka makes all records of an operation from the state before it.
        """
        state = self.states.get(key)
        if state is None:
            return frozenset()
        return self._former.get(key, frozenset()) | {len(state.replicas)}

    def settle(self) -> set[PartitionState]:
        """Return the distinct states of the touched partitions, and forget which were touched."""
        fresh = set({id(state): state for state in self.touched.values()}.values())
        self.touched = {}
        self._former = {}
        self._seen |= fresh
        return fresh

    def present(self) -> set[PartitionState]:
        """Return every distinct state of a partition, and perhaps some past states."""
        self._catch_up()
        return set(self._seen)

    def holder(self, state: PartitionState) -> bytes | None:
        """Return the least key of a partition in a state; forget the state if there is none."""
        keys = [key for key, held in self.states.items() if held == state]
        if not keys:
            self._seen.discard(state)
        return min(keys, default=None)

    def saved(self, saver: Saves) -> Tree:
        """Return all partitions, and the effects of changes that are known.

        States of the past are left out: they only cost time.
        """
        self._catch_up()
        index = saver.state
        return {
            "keys": b"".join(self.states).hex(),
            "states": [index(state) for state in self.states.values()],
            "epochs": [self._epochs[key] for key in self.states],
            "touched": [key.hex() for key in self.touched],
            "former": saver.tree(self._former),
            "effects": [
                [index(before), tail.hex(), index(after), raised, saver.noted(times), in_sync,
                 saver.tree(loss), former]
                for (before, tail), (after, raised, times, in_sync, loss, former)
                in self._known_effects()
            ],
        }  # fmt: skip

    @classmethod
    def restored(cls, tree: Any, restorer: Restores) -> Partitions:
        """Return the partitions that were saved."""
        found = cls(restorer.reader)
        states = restorer.states
        found._known = {state: state for state in states}
        keys, size = bytes.fromhex(tree["keys"]), KEY_END - KEY_START
        for at, (index, epochs) in enumerate(zip(tree["states"], tree["epochs"], strict=True)):
            key = keys[at * size : (at + 1) * size]
            found.topics.setdefault(key[4:], []).append(key)
            found.states[key] = states[index]
            found._epochs[key] = epochs
        found.touched = {key: found.states[key] for key in map(bytes.fromhex, tree["touched"])}
        found._former = restorer.value(tree["former"])
        found._seen = set(found.states.values())
        for before, tail, after, raised, times, in_sync, loss, former in tree["effects"]:
            effect = (
                states[after], raised, restorer.noted(times), in_sync, restorer.value(loss), former
            )  # fmt: skip
            found._transitions[id(states[before]), bytes.fromhex(tail)] = effect
        return found

    def _known_effects(self) -> Iterator[tuple[tuple[PartitionState, bytes], _Effect]]:
        """Yield the effects of changes by the state before and the tail of the record."""
        by_id = {id(state): state for state in self._known}
        for (before, tail), effect in self._transitions.items():
            yield (by_id[before], tail), effect

    def copy(self) -> Partitions:
        """Return an independent copy."""
        self._catch_up()
        twin = Partitions(self._reader)
        twin.states = dict(self.states)
        twin.touched = dict(self.touched)
        twin.topics = {topic: list(keys) for topic, keys in self.topics.items()}
        twin._epochs = dict(self._epochs)
        twin._former = dict(self._former)
        twin._known = dict(self._known)
        twin._seen = set(self._seen)
        return twin


def key_text(key: bytes) -> str:
    """Return a partition's key as text: `<topic id>-<partition id>`."""
    return f"{uuid_text(key[4:])}-{int.from_bytes(key[:4], 'big', signed=True)}"
