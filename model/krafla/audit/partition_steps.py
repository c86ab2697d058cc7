"""The partition changes of a history, each judged by PartitionLog.tla.

A PartitionChangeRecord is one action: a request, an election, or the effect of a broker that was
fenced, unfenced, shut down, replaced or removed. The log does not say which, so every action that
could cause the change is tried. A broker's record stands before or after the partition changes that
it causes, and an operation may fill several batches. So changes wait until their operation ends.
Then they are queued, so that the log is read while the spec is being loaded. Equal changes are
judged once.

The spec has no eligible leader replicas (KIP-966) and no directories, and has sets in place of
lists. A change that depends on one of these is skipped, and counted by the reason.

Spec: PartitionLog!NewTarget, PartitionLog!CancelTarget, PartitionLog!Elect, PartitionLog!ChangeIsr,
PartitionLog!Fence, PartitionLog!Unfence, PartitionLog!ShutDown, PartitionLog!Unregister.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from krafla.audit.directories import directory_online
from krafla.audit.invariants import MINIMUM_METADATA_VERSION
from krafla.audit.invariants_partitions import MV_3_6_IV0
from krafla.audit.mapping import LogStep, Place
from krafla.audit.partition_state import NO_CHANGE, RECOVERED
from krafla.audit.refusals import refusal
from krafla.audit.releases import bug_of_completion
from krafla.values import function, record, same

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from krafla.audit.broker_registrations import BrokerRegistration
    from krafla.audit.image import Image
    from krafla.audit.partition_state import PartitionChange, PartitionState
    from krafla.audit.result import Finding
    from krafla.audit.specs import LoadingSpec
    from krafla.values import Value
    from kraft.records.batch import RecordBatch

    Registrations = Mapping[int, BrokerRegistration]

ELIGIBLE: Final = "eligible leader replicas"
DIRECTORIES: Final = "directories"
ORDER: Final = "the order of a list"
OLD: Final = "a metadata version before 3.6-IV0"
MIGRATING: Final = "a migration from ZooKeeper"
OF_ITS_RELEASE: Final = "a known bug of its release"
UNFINISHED: Final = "an operation that has not ended"
UNREACHED: Final = "a violation before them"
_SHUTS_DOWN: Final = "BeginControlledShutdown"
_BEHIND: Final = {"UnfenceBroker": "Unfence", _SHUTS_DOWN: "ShutDown"}
"""Changes of a broker that stand before the partition changes they cause."""
_AHEAD: Final = {
    "FenceBroker": "Fence", "UnregisterBroker": "Unregister", "RegisterBroker": "Fence",
}  # fmt: skip
"""Changes of a broker that stand after them. A replaced broker counts as fenced first."""
_FAILS: Final = "ChangeDirectories"
_NO_EXTRAS: Final = (((), ()), ((), ()))


@dataclass(slots=True)
class NotedChange:
    """A partition change that occurred `times` times, with the registrations at that time.

    `events` counts the broker changes before it in its operation. `passed` is the reason why it was
    skipped, None if it was judged. `like` is the earlier change with an equal step, which is judged
    for both.
    """

    offset: int
    key: bytes
    before: PartitionState
    after: PartitionState
    change: PartitionChange
    registered: Registrations
    events: int
    passed: str | None = UNFINISHED
    times: int = 0
    like: NotedChange | None = None


@dataclass(frozen=True, slots=True)
class BrokerEvent:
    """A change of a broker: its action of the lease, and the registrations before it."""

    action: str
    broker: int
    registered: Registrations


@dataclass(frozen=True, slots=True)
class QueuedChange:
    """A partition change whose operation has ended with a batch, and what `around` may cause it.

    Changes with equal keys have equal answers.
    """

    noted: NotedChange
    around: list[BrokerEvent]
    batch: RecordBatch
    key: tuple[object, ...]


@dataclass(slots=True)
class PartitionRun:
    """The run of a history's partition changes in PartitionLog."""

    loading: LoadingSpec
    _events: list[BrokerEvent] = field(default_factory=list)
    _waiting: list[NotedChange] = field(default_factory=list)
    _queue: list[QueuedChange] = field(default_factory=list)
    _all: list[NotedChange] = field(default_factory=list)
    _registered: Registrations | None = None
    _steps: dict[object, NotedChange] = field(default_factory=dict)

    @property
    def taken(self) -> int:
        """The number of distinct steps, whether judged here or in an earlier history."""
        return sum(first.passed is None for first in self._steps.values())

    def note(
        self,
        image: Image,
        offset: int,
        key: bytes,
        states: tuple[PartitionState, PartitionState],
        change: PartitionChange,
    ) -> NotedChange:
        """Note a change that has not occurred since registrations last changed."""
        if self._registered is None:
            self._registered = dict(image.registrations)
        noted = NotedChange(offset, key, *states, change, self._registered, len(self._events))
        self._all.append(noted)
        noted.passed = _beyond(noted, image)
        if noted.passed is None:
            noted.passed = UNFINISHED
            self._waiting.append(noted)
        return noted

    def note_event(self, image: Image, action: str, broker: int) -> None:
        """Note a change of a broker before it is replayed."""
        self._events.append(BrokerEvent(action, broker, dict(image.registrations)))
        self._registered = None

    def end_operation(self, batch: RecordBatch) -> None:
        """Queue the waiting changes at the end of an operation, which this batch ends."""
        waiting, events = self._waiting, self._events
        self._waiting, self._events = [], []
        fails = any(event.action == _FAILS for event in events)
        for noted in waiting:
            if fails:
                noted.passed = DIRECTORIES
                continue
            step = _step(noted, _around(noted, events), batch)
            first = self._steps.setdefault(step.key, noted)
            if first is not noted:
                noted.like = first
                continue
            noted.passed = UNREACHED
            self._queue.append(step)

    @property
    def queued(self) -> int:
        """The number of steps in the queue."""
        return len(self._queue)

    def take(self) -> tuple[QueuedChange, Finding] | None:
        """Judge the queued changes; return the first that is a violation, with its finding."""
        queue, self._queue = self._queue, []
        known = self.loading.memory
        for step in queue:
            step.noted.passed = None
            if step.key not in known:
                if len(known) >= _MEMORY:
                    known.clear()
                known[step.key] = self._ask(step)
            if known[step.key] is None:
                return step, self._refused(step)
        return None

    def leave_operation(self) -> frozenset[int]:
        """Forget an operation that never ends; return the brokers that began to shut down in it."""
        events, self._waiting, self._events = self._events, [], []
        return frozenset(event.broker for event in events if event.action == _SHUTS_DOWN)

    @property
    def ended_with_event(self) -> bool:
        """Whether the operation changes a broker, so that the next cannot reuse its effects."""
        return bool(self._events)

    def counts(self) -> tuple[int, dict[str, int]]:
        """Return how many records were judged, and how many were skipped, by the reason."""
        judged, passed = 0, Counter[str]()
        for noted in self._all:
            reason = (noted.like or noted).passed
            if reason is None:
                judged += noted.times
            else:
                passed[reason] += noted.times
        return judged, dict(sorted(passed.items()))

    def _ask(self, step: QueuedChange) -> str | None:
        """Return an action that explains a change, None if none does."""
        noted = step.noted
        after = _value(noted.after, int(noted.change.leader != NO_CHANGE), 1)
        for unclean in (False, True):
            spec = self.loading.partitions(unclean=unclean)
            for registered, action, parameters in _candidates(noted, step.around):
                values = tuple(value for _, value in parameters)
                state = spec.state(_state(noted, registered, values))
                for found in spec.outcomes(state, action, *values):
                    if same(found["partition"], after):
                        return action
        return None

    def _refused(self, step: QueuedChange) -> Finding:
        """Return the violation by a change that no action explains, naming the likeliest action."""
        noted = step.noted
        registered, action, parameters = next(_candidates(noted, step.around))
        spec = self.loading.partitions(unclean=False)
        before = spec.state(_state(noted, registered, tuple(value for _, value in parameters)))
        after = _value(noted.after, int(noted.change.leader != NO_CHANGE), 1)
        refused = LogStep(action, parameters, noted.offset, Place(None, 0, None))
        return refusal(spec, refused, before, {"partition": after})


_MEMORY: Final = 100_000
Parameters = tuple[tuple[str, Any], ...]


def _candidates(
    noted: NotedChange, around: list[BrokerEvent]
) -> Iterator[tuple[Registrations, str, Parameters]]:
    """Yield the actions that may explain a change, the likeliest first, with registrations."""
    before, after = noted.before, noted.after
    for event in around:
        action = _BEHIND.get(event.action) or _AHEAD[event.action]
        yield event.registered, action, (("b", event.broker),)
    registered = noted.registered
    if (before.replicas, before.adding, before.removing) != (
        after.replicas, after.adding, after.removing,
    ):  # fmt: skip
        targets = [(registered, "NewTarget", (("target", t),)) for t in _targets(after)]
        if not before.in_progress or after.in_progress:
            yield from targets
            yield from _isrs(noted)
        else:
            yield from _isrs(noted)
            yield registered, "CancelTarget", ()
            yield from targets
    elif before.isr != after.isr or before.recovery != after.recovery:
        yield from _isrs(noted)
    for election in ("ONLINE", "PREFERRED", "UNCLEAN"):
        yield registered, "Elect", (("election", election),)
    if before.isr == after.isr:
        yield from _isrs(noted)


def _targets(after: PartitionState) -> list[tuple[int, ...]]:
    """Return the targets that may have been requested; leaving replicas are last in the list.

    A replica marked as leaving may be in the target, if an earlier target left that mark behind.
    Spec: PartitionChange!NewAssignment.
    """
    likely = tuple(r for r in after.replicas if r not in after.removing)
    heads = (after.replicas[:length] for length in range(len(after.replicas), 0, -1))
    return list(dict.fromkeys((likely, *heads)))


def _isrs(noted: NotedChange) -> Iterator[tuple[Registrations, str, Parameters]]:
    """Yield the ISRs that may have been requested; a removed replica may have been in it."""
    before, after, registered = noted.before, noted.after, noted.registered
    leaving = {r for r in before.removing if r in registered and registered[r].active}
    for isr in dict.fromkeys((frozenset({*after.isr, *leaving}), frozenset(after.isr))):
        yield registered, "ChangeIsr", (("isr", isr),)


def _step(noted: NotedChange, around: list[BrokerEvent], batch: RecordBatch) -> QueuedChange:
    """Return the queued change, with those broker changes that could cause it."""
    ids = _concerned(noted)
    around = [e for e in around if e.broker in noted.before.isr or e.action == "UnfenceBroker"]
    signs = tuple((e.action, e.broker, _activity(e.registered, {*ids, e.broker})) for e in around)
    leads_on = noted.change.leader == NO_CHANGE
    key = (noted.before, noted.after, leads_on, _activity(noted.registered, ids), signs)
    return QueuedChange(noted, around, batch, key)


def _around(noted: NotedChange, events: list[BrokerEvent]) -> list[BrokerEvent]:
    """Return the broker changes that may have caused a partition change."""
    ahead = [event for event in events[noted.events :] if event.action in _AHEAD][:1]
    behind = [event for event in events[: noted.events] if event.action in _BEHIND][-1:]
    return [event for event in (*ahead, *behind) if event.broker in event.registered]


def _beyond(noted: NotedChange, image: Image) -> str | None:
    """Return why the spec does not model a change, None if it does.

    Eligible leader replicas matter to a change only if the requested ISR is empty: then no member
    of the old ISR stays. Spec: PartitionChangeElr!ElectedElr.
    """
    before, after = noted.before, noted.after
    if (image.metadata_version or MINIMUM_METADATA_VERSION) < MV_3_6_IV0:
        return OLD
    if image.may_migrate:
        return MIGRATING
    if image.left_over & set(before.isr):
        return UNFINISHED
    if bug_of_completion(image, before, after) is not None:
        return OF_ITS_RELEASE
    extras = (before.elr, before.last_known_elr), (after.elr, after.last_known_elr)
    kept = set(before.isr) & set(after.isr)
    if not before.isr or not after.isr or (extras != _NO_EXTRAS and not kept):
        return ELIGIBLE
    if _projected(before) == _projected(after) and noted.change.leader == NO_CHANGE:
        if extras[0] != extras[1]:
            return ELIGIBLE
        return ORDER if before.directories == after.directories else DIRECTORIES
    offline = (
        not directory_online(state, broker, image.registrations)
        for state in (before, after)
        for broker in state.replicas
    )
    return DIRECTORIES if any(offline) else None


def _projected(state: PartitionState) -> tuple[object, ...]:
    sets = (frozenset(state.isr), frozenset(state.adding), frozenset(state.removing))
    return (state.replicas, state.leader, state.recovery, *sets)


def _concerned(noted: NotedChange) -> frozenset[int]:
    return frozenset({*noted.before.replicas, *noted.after.replicas})


def _activity(registered: Registrations, brokers: frozenset[int] | set[int]) -> tuple[object, ...]:
    """Return the parts of brokers' registrations that the spec reads."""
    return tuple(
        (b, registered[b].fenced, registered[b].in_controlled_shutdown)
        if b in registered
        else (b, None, None)
        for b in sorted(brokers)
    )


def _value(state: PartitionState, leader_epoch: int, partition_epoch: int) -> Value:
    """Return a partition as a value of the spec; epochs count from the change."""
    return record(
        replicas=state.replicas,
        isr=frozenset(state.isr),
        leader=state.leader,
        leader_epoch=leader_epoch,
        partition_epoch=partition_epoch,
        adding=frozenset(state.adding),
        removing=frozenset(state.removing),
        recovery="RECOVERED" if state.recovery == RECOVERED else "RECOVERING",
    )


def _state(
    noted: NotedChange, registered: Registrations, parameters: tuple[Any, ...]
) -> dict[str, Value]:
    """Return the state before a change: the partition and the brokers of the change."""
    brokers = {*_concerned(noted), *(p for p in parameters if isinstance(p, int))}
    registrations = {
        b: record(
            epoch=0,
            registered=b in registered,
            fenced=b not in registered or registered[b].fenced,
            in_controlled_shutdown=b in registered and registered[b].in_controlled_shutdown,
        )
        for b in sorted(brokers)
    }
    return {"partition": _value(noted.before, 0, 0), "registrations": function(registrations)}
