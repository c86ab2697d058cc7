"""The verdict on a sighting without an explanation: forbidden by the spec, or not known.

A finding names the line or the record, and the false conjunct with real epochs and offsets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from krafla.audit.refusals import false_conjuncts
from krafla.audit.result import Evidence, Finding, Weight
from krafla.audit.server_logs.events import EventKind
from krafla.audit.server_logs.lease import MODULE, NIL
from krafla.audit.server_logs.numbers import WrittenOffsets
from krafla.audit.server_logs.operations import Act
from krafla.audit.server_logs.permissive_states import permissive_states, state_with_oldest_session
from krafla.report.explain.outcome import Falsehood
from krafla.values import Function, fmt
from kraft.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krafla.audit.server_logs.candidate import Candidate
    from krafla.audit.server_logs.explain import Explainer, Goal
    from krafla.audit.server_logs.lines import LogLine
    from krafla.audit.server_logs.search import SearchOutcome
    from krafla.audit.server_logs.sightings import Sighting
    from krafla.oracle.blame import Reason
    from krafla.testing import State
    from krafla.values import Value

UNRECORDED: Final = "line-has-its-record"
"""A rule of the join of both logs, not of the spec, which has no lines."""
_BY_THE_JOIN: Final = "the join of server log and metadata log, not the spec"
_SHOWN: Final = ("registrations", "contact_age", "metadata_offset", "controlled_shutdown_offset")
_SHOWN_OF_PROCESS: Final = ("status", "broker_epoch")
_OF_AN_EPOCH_HELD: Final = frozenset({"SawRegistered", "WroteAmendment"})
"""The actions that lack an explanation if a process registers again while it holds an epoch."""
_NOTHING: Final = "there is nothing to choose from"


@dataclass(frozen=True, slots=True)
class _Refusal:
    """One way to explain a sighting, and the goal that the spec refused."""

    candidate: Candidate
    state: State
    goal: Goal
    is_forbidden: bool
    reasons: tuple[Reason, ...]

    def ranks_after(self, sighting: Sighting) -> tuple[WrittenOffsets, ...]:
        """Return the offsets of all operations up to and including the sighting's."""
        ranks, op = self.candidate.ranks, sighting.operation
        if op is None or (ranks and ranks[-1].at == op.offset):
            return ranks
        return (*ranks, WrittenOffsets(op.first, op.offset, op.last, op.least))

    @property
    def lacks_something(self) -> bool:
        """Whether the refusal is only for lack of an earlier step."""
        return bool(self.reasons) and self.reasons[0].note == _NOTHING


class Judge:
    """The judge of a failed search: which sighting is at fault, and why."""

    def __init__(
        self, explainer: Explainer, timeout_ms: int, skew_ms: int, *, gaps: frozenset[int]
    ) -> None:
        self._explainer = explainer
        self._spec = explainer.taker.spec
        self._timeout_ms = timeout_ms
        self._skew_ms = skew_ms
        self._gaps = gaps

    def finding(self, found: SearchOutcome) -> Finding:
        """Return the finding about the sighting to blame.

        The spec may forbid several of the next sightings. One that contradicts what was seen is
        blamed before one that only lacks an earlier step.
        """
        self._explainer.leader = found.leader
        judged = [(s, self._refusals(found.candidate, s)) for s in found.next_up if not s.hint]
        judged = [(s, refusals) for s, refusals in judged if refusals]
        if not judged or not found.exhausted:
            return _gave_up(found)
        sighting, refusals = min(judged, key=lambda entry: _rank(*entry))
        finding = self._of(sighting, refusals)
        if finding.line is None and self._explainer.proposals.is_covered(sighting):
            return _at_line(finding, _line_of_broker(found, sighting))
        return finding

    def _refusals(self, candidate: Candidate, sighting: Sighting) -> list[_Refusal]:
        now = self._explainer.taker.at_time(candidate, sighting.time_ms)
        refusals = []
        for ready, goals in self._explainer.ways(now, sighting):
            at: Candidate | None = ready
            for goal in goals:
                assert at is not None, "the loop ends with the first refusal"
                after = self._explainer.taker.take(at, goal.action, *goal.parameters)
                if after is None:
                    refusals.append(self._refusal(at, sighting, goal))
                    break
                at = after
            else:
                if sighting.operation is None and sighting.incarnation is None:
                    refusals.append(_Refusal(ready, ready.state, goals[-1], False, ()))
        return refusals

    def _refusal(self, candidate: Candidate, sighting: Sighting, goal: Goal) -> _Refusal:
        broker, processes = _about(candidate, sighting)
        states = permissive_states(
            candidate, broker, processes, timeout_ms=self._timeout_ms, skew_ms=self._skew_ms,
            watched=self._explainer.proposals.is_covered(sighting),
        )  # fmt: skip
        parameters = goal.parameters
        forbidden = not any(self._spec.outcomes(s, goal.action, *parameters) for s in states)
        state = state_with_oldest_session(candidate, broker, self._timeout_ms, self._skew_ms)
        if candidate.of("registrations", broker) == NIL or self._spec.outcomes(
            state, goal.action, *parameters
        ):
            state = candidate.state
        reasons = self._spec.explain(state, goal.action, parameters).reasons
        return _Refusal(candidate, state, goal, forbidden, reasons)

    def _of(self, sighting: Sighting, refusals: Sequence[_Refusal]) -> Finding:
        chosen = refusals[0]
        ranks = chosen.ranks_after(sighting)
        if not chosen.reasons:
            return self._unrecorded(sighting, chosen)
        weight = Weight.VIOLATION
        doubt = ""
        if not all(refusal.is_forbidden for refusal in refusals):
            weight = Weight.INCONCLUSIVE
            doubt = "; unseen steps that were not tried may explain it"
            if chosen.goal.action in _OF_AN_EPOCH_HELD:
                doubt += ", or a process that registers again while it holds an epoch: not modelled"
            op = sighting.operation
            if op is not None and self._explainer.is_untold(sighting):
                doubt += f", and no line of controller {self._explainer.leader} gives the reason"
        elif self._gaps & _nodes(sighting, self._explainer.leader):
            weight = Weight.INCONCLUSIVE
            doubt = "; but a line of this node was not understood"
        elif chosen.lacks_something:
            doubt = f", unless clocks differ by more than {self._skew_ms} ms"
        real = self._explainer.numbers.real
        false = false_conjuncts(chosen.reasons, lambda name, value: real(name, value, ranks))
        call = self._call(chosen.goal, ranks)
        what = " ".join(false[0].text.split())
        detail = f"{_what(sighting)}: {call} is not allowed: {what} is false{doubt}"
        evidence = Evidence(
            rule=f"{MODULE}!{chosen.goal.action}",
            statement=f"{chosen.goal.action} is allowed only where each of its conjuncts is true",
            source=false[0].place,
            action=chosen.goal.action,
            parameters=tuple(
                (n, self._explainer.numbers.real(n, v, ranks)) for n, v in self._named(chosen.goal)
            ),
            false=false,
            state=tuple(self._state(sighting, chosen, chosen.ranks_after(sighting))),
            expected=self._legal(sighting, chosen),
            said=None if sighting.event is None else sighting.event.line.text,
        )
        return finding_at(weight, evidence.rule, detail, sighting, evidence, chosen.goal.by_line)

    def _unrecorded(self, sighting: Sighting, chosen: _Refusal) -> Finding:
        """Return the finding that a line has no record, although the spec allows its action."""
        detail = (
            f"{_what(sighting)}: {chosen.goal.action} is allowed, but the metadata log has no such"
            " record at that time"
        )
        assert sighting.event is not None, "only a line can lack a record"
        text = "the metadata log has a record of the line's operation near the line's time"
        evidence = Evidence(
            rule=UNRECORDED,
            statement="a change of a registration in the active controller's log has a record",
            source=_BY_THE_JOIN,
            false=(Falsehood(_BY_THE_JOIN, text),),
            state=tuple(self._state(sighting, chosen, chosen.ranks_after(sighting))),
            said=sighting.event.line.text,
        )
        return finding_at(Weight.VIOLATION, evidence.rule, detail, sighting, evidence, by_line=True)

    def _named(self, goal: Goal) -> list[tuple[str, Value]]:
        definition = self._spec.definition(goal.action)
        names = [str(formal.getName().toString()) for formal in definition.getParams()]
        return list(zip(names, goal.parameters, strict=True))

    def _call(self, goal: Goal, ranks: tuple[WrittenOffsets, ...]) -> str:
        real = self._explainer.numbers.real
        arguments = ", ".join(fmt(real(name, value, ranks)) for name, value in self._named(goal))
        return f"{goal.action}({arguments})" if arguments else goal.action

    def _state(
        self, sighting: Sighting, refusal: _Refusal, ranks: tuple[WrittenOffsets, ...]
    ) -> Iterator[tuple[str, Value]]:
        broker, processes = _about(refusal.candidate, sighting)
        shown: list[tuple[str, Value]] = [(name, broker) for name in _SHOWN]
        shown += [(name, process) for process in sorted(processes) for name in _SHOWN_OF_PROCESS]
        for name, argument in shown:
            value = _applied(refusal.state, name, argument)
            real = self._explainer.numbers.real(name, value, ranks)
            yield f"{name}[{fmt(argument)}]", real

    def _legal(self, sighting: Sighting, refusal: _Refusal) -> str:
        """Return what the spec would allow to be seen of this broker or process instead."""
        broker, processes = _about(refusal.candidate, sighting)
        states = permissive_states(
            refusal.candidate, broker, processes, timeout_ms=self._timeout_ms,
            skew_ms=self._skew_ms, watched=self._explainer.proposals.is_covered(sighting),
        )  # fmt: skip
        registered = refusal.candidate.of("registrations", broker)
        names = []
        if sighting.operation is None and sighting.incarnation is not None:
            names = self._legal_lines(states, refusal.candidate, sighting.incarnation)
        elif registered != NIL:
            records = (
                "WroteUnfence", "WroteShutdownBegun", "WroteLeave", "WroteFenceOfSilent",
                "WroteFenceAsked", "WroteUnregistration",
            )  # fmt: skip
            names = [
                name
                for name in records
                if any(self._spec.outcomes(s, name, broker, registered.epoch) for s in states)
            ]
        return ", ".join(names) if names else "nothing of this kind"

    def _legal_lines(
        self, states: Sequence[State], candidate: Candidate, process: str
    ) -> list[str]:
        status = candidate.of("status", process)
        tried: list[tuple[str, tuple[object, ...]]] = [
            (f"SawAnswer to {after}", ("SawAnswer", process, status, after))
            for after in ("RECOVERY", "RUNNING", "PENDING_CONTROLLED_SHUTDOWN", "SHUTTING_DOWN")
        ]
        tried.append(("SawShutdownAsked", ("SawShutdownAsked", process)))
        tried.append(("SawStopping", ("SawStopping", process, status)))
        for rank in range(len(candidate.ranks)):
            epoch = candidate.ranks[rank].first
            tried.append((f"SawRegistered with epoch {epoch}", ("SawRegistered", process, rank)))
        return [
            name
            for name, (action, *parameters) in tried
            if any(self._spec.outcomes(s, str(action), *parameters) for s in states)
        ]


def _line_of_broker(found: SearchOutcome, sighting: Sighting) -> LogLine | None:
    """Return the line at which a broker's log contradicts a record, None if none does.

    That is the start of another process than the registered one, or the broker's next line.
    """
    op = sighting.operation
    taken = found.candidate.taken
    while op is not None and op.act is Act.REGISTER and taken is not None:
        seen = taken.sighting
        if seen is not None and seen.event is not None and seen.event.broker == op.broker:
            is_other = seen.event.kind is EventKind.STARTING and seen.incarnation != op.incarnation
            if is_other and not found.candidate.knows("registered", seen.incarnation or ""):
                return seen.event.line
            break
        taken = taken.before
    of_broker = [
        other.event.line
        for other in found.next_up
        if op is not None and other.event is not None and other.event.node == op.broker
        if other.operation is None and other.incarnation is not None
    ]
    return of_broker[0] if of_broker else None


def _at_line(finding: Finding, line: LogLine | None) -> Finding:
    """Return a finding about a record, moved to the broker's line that contradicts it."""
    if line is None or finding.path is None or finding.evidence is None:
        return finding
    record = f"the record is in {printable(str(finding.path))}"
    return replace(
        finding,
        path=line.path,
        line=line.number,
        position=None,
        detail=f"{finding.detail}; {record}",
        evidence=replace(finding.evidence, said=line.text),
    )


def _rank(sighting: Sighting, refusals: Sequence[_Refusal]) -> tuple[bool, bool, bool, int]:
    """Return the sort key of a sighting to blame; the least is blamed."""
    # A sighting that is not modelled comes before sightings that may only be stuck behind it.
    again = any(r.goal.action in _OF_AN_EPOCH_HELD and not r.is_forbidden for r in refusals)
    has_record = sighting.operation is not None or sighting.incarnation is not None
    return not again, has_record, all(r.lacks_something for r in refusals), sighting.time_ms


def _about(candidate: Candidate, sighting: Sighting) -> tuple[int, frozenset[str]]:
    """Return the broker of a sighting, and the processes that it may involve."""
    broker = 0
    if sighting.operation is not None:
        broker = sighting.operation.broker
        if sighting.operation.act is Act.LEADER_CHANGE:
            return _any_broker(candidate), frozenset()
    elif sighting.event is not None and sighting.event.broker is not None:
        broker = sighting.event.broker
    named = {sighting.incarnation} if sighting.incarnation is not None else set()
    registered = candidate.of("registrations", broker)
    if registered != NIL:
        named.add(registered.incarnation)
    return broker, frozenset(named)


def _any_broker(candidate: Candidate) -> int:
    """Return any broker, for a failover, which has none."""
    registrations = candidate.state["registrations"]
    return 1 if isinstance(registrations, tuple) else min(dict(candidate.contacts), default=0)


def _applied(state: State, name: str, argument: Value) -> Value:
    value = state[name]
    if isinstance(value, tuple):
        assert isinstance(argument, int), "a sequence is applied to numbers"
        return value[argument - 1]
    assert isinstance(value, Function), "a variable of BrokerLease is a function"
    return value[argument]


def _nodes(sighting: Sighting, leader: int) -> set[int]:
    nodes = {leader} if sighting.operation is not None else set()
    if sighting.operation is not None:
        nodes.add(sighting.operation.broker)
    if sighting.event is not None:
        nodes.add(sighting.event.node)
        if sighting.event.broker is not None:
            nodes.add(sighting.event.broker)
    return nodes


def _what(sighting: Sighting) -> str:
    """Return a sighting in words."""
    if sighting.event is not None and (
        sighting.operation is None or sighting.event.kind is EventKind.SESSION_EXPIRED
    ):
        of_broker = "" if sighting.event.broker is None else f", broker {sighting.event.broker}"
        return f"{sighting.event.kind.value}{of_broker}"
    assert sighting.operation is not None, "a line, or a record"
    return f"{sighting.operation.act.value} of broker {sighting.operation.broker}"


def finding_at(
    weight: Weight, kind: str, detail: str, sighting: Sighting, evidence: Evidence | None,
    by_line: bool,
) -> Finding:  # fmt: skip
    """Return a finding at a sighting's line, or at its record."""
    op, event = sighting.operation, sighting.event
    offset = None if op is None else op.offset
    if event is not None and (by_line or op is None or op.path is None):
        line = event.line
        return Finding(weight, kind, detail, line.path, None, offset, evidence, line=line.number)
    assert op is not None, "a sighting is of a line or of a record"
    if event is not None:
        detail += f" (by {event.line.place})"
    return Finding(weight, kind, detail, op.path, op.position, op.offset, evidence)


def _gave_up(found: SearchOutcome) -> Finding:
    sighting = found.next_up[0]
    detail = "no order of lines and records was found that explains this, but not all were tried"
    return finding_at(Weight.INCONCLUSIVE, "not explained", detail, sighting, None, by_line=True)
