"""The explanations of a sighting: unseen steps before it, then the steps that were seen.

Each kind of sighting has a few ways to come about: a process sent a message, or replayed a record.
They are proposals; the spec judges each step. `goals` are the seen steps in order, as actions of
ObservedLease.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from krafla.audit.server_logs.events import EventKind
from krafla.audit.server_logs.lease import NIL, NO_NUMBER
from krafla.audit.server_logs.numbers import Numbers, WrittenOffsets
from krafla.audit.server_logs.operations import Act
from krafla.audit.server_logs.proposals import LAST, Proposals, members

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.audit.server_logs.candidate import Candidate, StepTaker
    from krafla.audit.server_logs.events import Event
    from krafla.audit.server_logs.operations import Operation
    from krafla.audit.server_logs.sightings import Coverage, Sighting
    from krafla.values import Value

_ANSWERS: Final = {
    EventKind.IN_RECOVERY: ("RECOVERY", "RECOVERY"),
    EventKind.SHUTDOWN_PENDING: ("PENDING_CONTROLLED_SHUTDOWN", "PENDING_CONTROLLED_SHUTDOWN"),
    EventKind.LEAVE: ("PENDING_CONTROLLED_SHUTDOWN", "SHUTTING_DOWN"),
}
_FACTS: Final = {
    EventKind.REGISTERED: "registered",
    EventKind.CAUGHT_UP: "ready",
    EventKind.SHUTDOWN_ASKED: "asked",
}
_CAUSES: Final = {
    EventKind.SESSION_EXPIRED: "WroteFenceOfSilent",
    EventKind.LEAVE_GIVEN: "WroteLeave",
    EventKind.LEAVE_AT_ONCE: "WroteLeave",
    EventKind.FENCING_ASKED: "WroteFenceAsked",
}
_UNTOLD: Final = ("WroteLeave", "WroteFenceAsked")
"""The causes of a fencing of which a controller's log has no line."""


class Goal(NamedTuple):
    """One action that was seen, in a server log with `by_line`, else in a record."""

    action: str
    parameters: tuple[Value, ...]
    by_line: bool


class Explainer:
    """The explanations of one cluster's sightings."""

    def __init__(
        self, taker: StepTaker, coverage: Coverage, numbers: Numbers, skew_ms: int
    ) -> None:
        self.taker = taker
        self.proposals = Proposals(taker, coverage)
        self._coverage = coverage
        self.numbers = numbers
        self._skew_ms = skew_ms

    def explain(self, candidate: Candidate, sighting: Sighting) -> Iterator[Candidate]:
        """Yield candidates in which a sighting happened next.

        A controller's line without a record has none: its operation is not in the log.
        """
        now = self.taker.at_time(candidate, sighting.time_ms)
        if sighting.hint:
            heard = self.proposals.with_contact(now, sighting)
            yield heard
            if heard is not now:
                yield now
            return
        if sighting.operation is None and sighting.incarnation is None:
            return
        for start in (now, self._late(now, sighting)):
            if start is None:
                continue
            for ready, goals in self.ways(start, sighting):
                after: Candidate | None = ready
                for goal in goals:
                    assert after is not None, "the loop ends with the first refusal"
                    after = self.taker.take(after, goal.action, *goal.parameters, sighting=sighting)
                    if after is None:
                        break
                if after is not None:
                    yield self._settled(after, sighting, goals)

    def _late(self, candidate: Candidate, sighting: Sighting) -> Candidate | None:
        """Return the candidate later by the clock skew, for sightings that depend on a session.

        What depends on an expired session may happen up to the skew after its timestamp.
        """
        op = sighting.operation
        timed = op is not None and op.act in (Act.REGISTER, Act.FENCE)
        timed = timed or (
            sighting.event is not None and sighting.event.kind is EventKind.SESSION_EXPIRED
        )
        return self.taker.at_time(candidate, candidate.clock_ms + self._skew_ms) if timed else None

    def ways(
        self, candidate: Candidate, sighting: Sighting
    ) -> Iterator[tuple[Candidate, list[Goal]]]:
        """Yield the ways to explain a sighting: a candidate, and goals to reach from it."""
        if sighting.operation is not None:
            yield from self._of_record(candidate, sighting, sighting.operation)
        elif sighting.event is not None and sighting.incarnation is not None:
            yield from self._of_line(candidate, sighting.event, sighting.incarnation)
        elif sighting.event is not None:
            yield from self._unrecorded(candidate, sighting.event)

    # A broker's lines.

    def _of_line(
        self, candidate: Candidate, event: Event, process: str
    ) -> Iterator[tuple[Candidate, list[Goal]]]:
        taker = self.taker
        if not candidate.knows("started", process):
            candidate = self.proposals.advanced(candidate, process, _before(event))
        if event.kind is EventKind.STARTING:
            before = dict(candidate.running).get(event.node)
            if before is not None:
                leaving = self.proposals.after_registration_request(candidate, before)
                candidate = taker.take(leaving, "Crash", before) or candidate
            yield candidate, [Goal("SawStarting", (process, event.node), by_line=True)]
        elif event.kind is EventKind.REGISTERED:
            epoch = self.numbers.rank_of_epoch(_known(event.epoch), candidate.ranks)
            yield candidate, [Goal("SawRegistered", (process, epoch), by_line=True)]
        elif event.kind is EventKind.REFUSED:
            yield from self._refused(candidate, process)
        elif event.kind is EventKind.STALE:
            goal = [Goal("SawStaleEpoch", (process,), by_line=True)]
            yield candidate, goal
            yield from (
                (c, goal) for c in self.proposals.after_answer(candidate, process, want_fence=False)
            )
        elif event.kind is EventKind.SHUTDOWN_ASKED:
            yield candidate, [Goal("SawShutdownAsked", (process,), by_line=True)]
        elif event.kind is EventKind.STOPPING:
            said = event.before or ""
            leaving = self.proposals.after_registration_request(candidate, process)
            yield leaving, [Goal("SawStopping", (process, said), by_line=True)]
        else:
            before, after = _ANSWERS.get(event.kind) or (event.before or "", event.after or "")
            goal = [Goal("SawAnswer", (process, before, after), by_line=True)]
            yield candidate, goal
            if event.kind is not EventKind.LEAVE:
                fence = event.kind in (EventKind.CAUGHT_UP, EventKind.IN_RECOVERY)
                yield from (
                    (c, goal)
                    for c in self.proposals.after_answer(candidate, process, want_fence=fence)
                )

    def _refused(
        self, candidate: Candidate, process: str
    ) -> Iterator[tuple[Candidate, list[Goal]]]:
        told = Goal("SawRefused", (process,), by_line=True)
        yield candidate, [told]
        asked = self.taker.send_registration(candidate, process)
        if asked is not None:
            (request,) = asked.messages(process)
            yield asked, [Goal("RefuseRegistration", (request,), by_line=True), told]

    # The records, with the controller's lines about them.

    def _of_record(
        self, candidate: Candidate, sighting: Sighting, op: Operation
    ) -> Iterator[tuple[Candidate, list[Goal]]]:
        b = op.broker
        epoch = self.numbers.rank_of_epoch(op.epoch, candidate.ranks)
        if op.act is Act.LEADER_CHANGE:
            yield candidate, [Goal("WroteLeaderChange", (), by_line=False)]
        elif op.act is Act.UNREGISTER:
            yield candidate, [Goal("WroteUnregistration", (b, epoch), by_line=False)]
        elif op.act is Act.REGISTER:
            yield from self._registration(candidate, sighting, op)
        elif op.act is Act.UNFENCE:
            says = self._says(candidate, sighting)
            for ready in self.proposals.after_heartbeat(candidate, sighting, "RECOVERY"):
                yield ready, [*says, Goal("WroteUnfence", (b, epoch), by_line=False)]
        elif op.act is Act.SHUTDOWN:
            for ready in self.proposals.after_heartbeat(
                self.proposals.with_leadership(candidate, op), sighting, LAST
            ):
                yield ready, [Goal("WroteShutdownBegun", (b, epoch), by_line=False)]
        else:
            yield from self._fencing(candidate, sighting, op, epoch)

    def _registration(
        self, candidate: Candidate, sighting: Sighting, op: Operation
    ) -> Iterator[tuple[Candidate, list[Goal]]]:
        process = op.incarnation or ""
        if candidate.of("status", process) == "NOT_RUNNING" and not self.proposals.is_covered(
            sighting
        ):
            candidate = self.taker.take(candidate, "StartBroker", process) or candidate
        registered = candidate.of("registrations", op.broker)
        is_new = registered == NIL or registered.incarnation != process
        ready = self.taker.send_registration(candidate, process) or candidate
        if is_new:
            rank = len(candidate.ranks)
            goals = [Goal("WroteRegistration", (op.broker, process, rank), by_line=False)]
        else:
            rank = self.numbers.rank_of_epoch(op.epoch, candidate.ranks)
            goals = [Goal("WroteAmendment", (op.broker, process, rank), by_line=False)]
        event = sighting.event
        if event is not None:
            ranks = (*candidate.ranks, WrittenOffsets(op.first, op.offset, op.last, op.least))
            said = self.numbers.rank_of_epoch(_known(event.epoch), ranks)
            incarnation = event.incarnation or ""
            goals.append(Goal("SaysRegistered", (op.broker, incarnation, said), by_line=True))
        yield ready, goals

    def _fencing(
        self, candidate: Candidate, sighting: Sighting, op: Operation, epoch: int
    ) -> Iterator[tuple[Candidate, list[Goal]]]:
        for cause in self.causes(sighting):
            goal = Goal(cause, (op.broker, epoch), by_line=False)
            says = self._says(candidate, sighting)
            if cause == "WroteFenceOfSilent":
                yield candidate, [*says, goal]
            elif cause == "WroteLeave":
                for ready in self.proposals.after_heartbeat(
                    self.proposals.with_offsets_reported(candidate, op), sighting, LAST
                ):
                    yield ready, [*says, goal]
            else:
                for ready in self.proposals.after_heartbeat(
                    candidate, sighting, "STARTING", want_fence=True
                ):
                    yield ready, [goal]

    def causes(self, sighting: Sighting) -> tuple[str, ...]:
        """Return the possible causes of a fencing, each as the action of its record."""
        if sighting.event is not None:
            return (_CAUSES[sighting.event.kind],)
        assert sighting.operation is not None, "a fencing has a record"
        return _UNTOLD if self.is_untold(sighting) else ("WroteFenceOfSilent", *_UNTOLD)

    def is_untold(self, sighting: Sighting) -> bool:
        """Return whether a broker was fenced without a line in the controller's log."""
        op = sighting.operation
        if op is None or op.act is not Act.FENCE or sighting.event is not None:
            return False
        return self._coverage.controller(self.leader, sighting.time_ms)

    leader: int = NO_NUMBER
    """The active controller; the search keeps it up to date."""

    def _says(self, candidate: Candidate, sighting: Sighting) -> list[Goal]:
        """Return the goals of a controller's line that come before the goal of its record."""
        event = sighting.event
        if event is None or event.broker is None:
            return []
        b, ranks = event.broker, candidate.ranks
        if event.kind is EventKind.SESSION_EXPIRED:
            epoch = self.numbers.rank_of_epoch(_known(event.epoch), ranks)
            return [Goal("SaysSilent", (b, epoch), by_line=True)]
        if event.kind is EventKind.UNFENCING:
            rank = self.numbers.rank_of_offset(_known(event.offset), ranks, end=False)
            return [Goal("SaysUnfence", (b, rank), by_line=True)]
        if event.kind is EventKind.LEAVE_GIVEN and candidate.knows(
            "began", sighting.incarnation or ""
        ):
            rank = self.numbers.rank_of_offset(_known(event.offset), ranks, end=True)
            return [Goal("SaysLeave", (b, rank), by_line=True)]
        return []

    def _unrecorded(
        self, candidate: Candidate, event: Event
    ) -> Iterator[tuple[Candidate, list[Goal]]]:
        """Yield the ways to explain a controller's line as if it had a record."""
        b = _known(event.broker)
        registered = candidate.of("registrations", b)
        present = NO_NUMBER if registered == NIL else registered.epoch
        epoch = present
        if event.epoch is not None:
            epoch = self.numbers.rank_of_epoch(event.epoch, candidate.ranks)
        if event.kind is EventKind.SESSION_EXPIRED:
            yield candidate, [Goal("WroteFenceOfSilent", (b, epoch), by_line=True)]
        elif event.kind is EventKind.REGISTERING:
            incarnation = event.incarnation or ""
            ready = self.taker.send_registration(candidate, incarnation) or candidate
            yield ready, [Goal("WroteRegistration", (b, incarnation, epoch), by_line=True)]
        else:
            action = {
                EventKind.UNFENCING: "WroteUnfence",
                EventKind.SHUTDOWN_BEGUN: "WroteShutdownBegun",
                EventKind.FENCING_ASKED: "WroteFenceAsked",
            }.get(event.kind, "WroteLeave")
            goal = [Goal(action, (b, epoch), by_line=True)]
            if registered == NIL:
                yield candidate, goal
                return
            fence = event.kind is EventKind.FENCING_ASKED
            asked = self.taker.send_heartbeat(candidate, registered.incarnation, want_fence=fence)
            yield (asked or candidate), goal

    def _settled(self, candidate: Candidate, sighting: Sighting, goals: list[Goal]) -> Candidate:
        """Return the candidate with the facts that a sighting makes certain."""
        op, event, process = sighting.operation, sighting.event, sighting.incarnation
        if op is not None:
            return self._recorded(candidate, sighting, op, goals)
        if event is None or process is None:
            return candidate
        if event.kind is EventKind.STARTING:
            running = {**dict(candidate.running), event.node: process}
            started = candidate.with_fact("started", process)
            return replace(started, running=tuple(sorted(running.items())))
        fact = _FACTS.get(event.kind)
        return candidate if fact is None else candidate.with_fact(fact, process)

    def _recorded(
        self, candidate: Candidate, sighting: Sighting, op: Operation, goals: list[Goal]
    ) -> Candidate:
        ranks = (*candidate.ranks, WrittenOffsets(op.first, op.offset, op.last, op.least))
        candidate = replace(candidate, ranks=ranks)
        if op.act is Act.LEADER_CHANGE:
            return self._failed_over(candidate, sighting.time_ms)
        process = op.incarnation or ""
        action = goals[-1].action if goals else ""
        if op.act in (Act.REGISTER, Act.UNREGISTER) or action == "WroteFenceOfSilent":
            known = candidate.with_contact(op.broker, None)
            if op.act is Act.REGISTER and not self.proposals.is_covered(sighting):
                return self.proposals.with_epoch_known(known, process)
            return known
        candidate = candidate.with_contact(op.broker, sighting.time_ms)
        if op.act is Act.UNFENCE:
            return candidate.with_fact("unfenced", process)
        if op.act is Act.SHUTDOWN:
            return candidate.with_fact("began", process)
        return candidate.with_fact("left", process) if op.act is Act.FENCE else candidate

    def _failed_over(self, candidate: Candidate, time_ms: int) -> Candidate:
        for broker in sorted(members(self.taker.spec.evaluate("Broker"))):
            age = candidate.of("contact_age", broker)
            candidate = candidate.with_contact(broker, None if age == NO_NUMBER else time_ms)
        return candidate


def _before(event: Event) -> str:
    """Return the state that a process must be in to write a line."""
    if event.kind in _ANSWERS:
        return _ANSWERS[event.kind][0]
    if event.kind is EventKind.SHUTDOWN_ASKED:
        return "RUNNING"
    return event.before or "STARTING"


def _known(number: int | None) -> int:
    assert number is not None, "the sentence has this number"
    return number
