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

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from krafla.audit.change_tally import ChangeTally
from krafla.audit.mapping import LogStep, Place
from krafla.audit.noted_changes import (
    AHEAD,
    BEHIND,
    DIGEST_BYTES,
    DIRECTORIES,
    FAILS,
    SHUTS_DOWN,
    UNFINISHED,
    UNREACHED,
    BrokerEvent,
    NotedChange,
    QueuedChange,
    around_of,
    beyond,
    concerned,
    digest_of,
    queued_change,
)
from krafla.audit.partition_state import NO_CHANGE, RECOVERED
from krafla.audit.refusals import refusal
from krafla.values import function, record, same

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.audit.image import Image
    from krafla.audit.noted_changes import Registrations
    from krafla.audit.partition_state import PartitionChange, PartitionState
    from krafla.audit.result import Finding
    from krafla.audit.saving import Restores, Saves, Tree
    from krafla.audit.specs import LoadingSpec
    from krafla.values import Value
    from kraft.records.batch import RecordBatch


@dataclass(slots=True)
class PartitionRun:
    """The run of a history's partition changes in PartitionLog.

    `_earlier` has a digest of each step that was queued before this run was restored; `_carried`
    are the changes that waited then, `_again` those that may occur again.
    """

    loading: LoadingSpec
    _events: list[BrokerEvent] = field(default_factory=list)
    _waiting: list[NotedChange] = field(default_factory=list)
    _queue: list[QueuedChange] = field(default_factory=list)
    _all: list[NotedChange] = field(default_factory=list)
    _registered: Registrations | None = None
    _steps: dict[object, NotedChange] = field(default_factory=dict)
    _earlier: set[bytes] = field(default_factory=set)
    _carried: tuple[NotedChange, ...] = ()
    _again: tuple[NotedChange, ...] = ()

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
        noted.passed = beyond(noted, image)
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
        fails = any(event.action == FAILS for event in events)
        for noted in waiting:
            if fails:
                noted.passed = DIRECTORIES
                continue
            step = queued_change(noted, around_of(noted, events), batch)
            first = self._steps.get(step.key)
            if first is not None:
                noted.like = first
            elif self._earlier and step.digest in self._earlier:
                noted.passed = None
            else:
                self._steps[step.key] = noted
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
        return frozenset(event.broker for event in events if event.action == SHUTS_DOWN)

    @property
    def ended_with_event(self) -> bool:
        """Whether the operation changes a broker, so that the next cannot reuse its effects."""
        return bool(self._events)

    def open_changes(self) -> list[NotedChange]:
        """Return the changes whose judgment is open: they wait, or are queued."""
        return [*self._waiting, *(step.noted for step in self._queue)]

    def tally(self) -> ChangeTally:
        """Return how many changes were judged, or skipped, and which are open."""
        tally = ChangeTally(taken=sum(first.passed is None for first in self._steps.values()))
        still = {id(noted) for noted in self.open_changes()}
        for noted in self._all:
            final = noted.like or noted
            if id(final) in still:
                assert final.passed is not None, "the change is not judged"
                tally.add_open(final.offset, final.passed, noted.times)
            else:
                tally.add(final.passed, noted.times)
        for noted in self._carried:
            final = noted.like or noted
            if id(final) not in still:
                tally.settled[noted.offset] = final.passed
            elif final is not noted:
                tally.settled[noted.offset] = final.offset
        tally.again = {noted.offset: noted.times for noted in self._again if noted.times}
        return tally

    def saved(self, saver: Saves) -> Tree:
        """Return what a later run must know of this one."""
        queue = [
            [saver.noted(step.noted), saver.tree(step.around), saver.tree(step.remembered)]
            for step in self._queue
        ]
        digests = self._earlier | {digest_of(key) for key in self._steps}
        digests -= {step.digest for step in self._queue}
        return {
            "events": saver.tree(self._events),
            "waiting": [saver.noted(noted) for noted in self._waiting],
            "queue": queue,
            "earlier": b"".join(sorted(digests)).hex(),
        }

    @classmethod
    def restored(cls, tree: Any, restorer: Restores) -> PartitionRun:
        """Return the run that was saved."""
        run = cls(restorer.loading)
        run._events = restorer.value(tree["events"])
        run._waiting = [restorer.noted(index) for index in tree["waiting"]]
        for index, around, remembered in tree["queue"]:
            noted, batch = restorer.noted(index), restorer.value(remembered)
            step = queued_change(noted, restorer.value(around), batch)
            run._queue.append(step)
            run._steps[step.key] = noted
        digests = bytes.fromhex(tree["earlier"])
        run._earlier = {
            digests[at : at + DIGEST_BYTES] for at in range(0, len(digests), DIGEST_BYTES)
        }
        run._all = restorer.every_noted()
        run._carried, run._again = tuple(run.open_changes()), tuple(run._all)
        return run

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
        action = BEHIND.get(event.action) or AHEAD[event.action]
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
    brokers = {*concerned(noted), *(p for p in parameters if isinstance(p, int))}
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
