"""A candidate: a behaviour of BrokerLease that explains the sightings so far.

`StepTaker` takes unseen steps: heartbeats, replay, time, loss. It returns None where the spec
allows no such step.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from krafla.audit.server_logs.lease import NO_NUMBER
from krafla.values import Function, Value, function

if TYPE_CHECKING:
    from krafla.audit.server_logs.numbers import WrittenOffsets
    from krafla.audit.server_logs.sightings import Sighting
    from krafla.testing import Spec, State

_HEARD: Final = ("KeepFenced", "KeepUnfenced", "ContinueControlledShutdown", "RejectHeartbeat")
"""The ways to handle a heartbeat that write no record."""


@dataclass(frozen=True, slots=True)
class TakenStep:
    """A step that a candidate took; `sighting` is None if the step was not seen."""

    action: str
    parameters: tuple[Value, ...]
    state: State
    sighting: Sighting | None
    before: TakenStep | None = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A state, how it was reached, and what is certain about the past of brokers and processes.

    `clock_ms` is the controller's clock. `contacts` has the time of a broker's last certain contact
    in its present registration; None if never. `facts` are pairs of a word and a process.
    """

    state: State
    clock_ms: int
    ranks: tuple[WrittenOffsets, ...]
    contacts: tuple[tuple[int, int | None], ...] = ()
    facts: frozenset[tuple[str, str]] = frozenset()
    running: tuple[tuple[int, str], ...] = ()
    taken: TakenStep | None = None

    def knows(self, fact: str, process: str) -> bool:
        """Return whether a fact about a process is known."""
        return (fact, process) in self.facts

    def with_fact(self, fact: str, process: str) -> Candidate:
        """Return the candidate with one more fact about a process."""
        return replace(self, facts=self.facts | {(fact, process)})

    def with_contact(self, broker: int, time_ms: int | None) -> Candidate:
        """Return the candidate with the time of a broker's last certain contact."""
        contacts = dict(self.contacts)
        contacts[broker] = time_ms
        return replace(self, contacts=tuple(sorted(contacts.items())))

    def last_contact(self, broker: int) -> int | None:
        """Return the time of a broker's last certain contact, None if not known."""
        return dict(self.contacts).get(broker)

    def of(self, variable: str, argument: Value) -> Any:
        """Return the value of a function-valued variable at an argument."""
        value = self.state[variable]
        if isinstance(value, tuple):
            assert isinstance(argument, int), "a sequence is applied to numbers"
            return value[argument - 1]
        assert isinstance(value, Function), "only functions have arguments"
        return value[argument]

    def messages(self, process: str) -> list[Function]:
        """Return the messages in flight from or to a process."""
        bag = self.state["messages"]
        if not isinstance(bag, Function):
            return []
        return [m for m in bag if isinstance(m, Function) and m.incarnation == process]


class StepTaker:
    """The steps of one spec, taken from candidate to candidate."""

    def __init__(self, spec: Spec, timeout_ms: int) -> None:
        self.spec = spec
        self.timeout_ms = timeout_ms
        self._processes = tuple(_set(spec.evaluate("Incarnation")))
        self.steps = 0

    def take(
        self,
        candidate: Candidate,
        action: str,
        *parameters: Value,
        sighting: Sighting | None = None,
    ) -> Candidate | None:
        """Return the candidate after a step's first outcome; None if the step is not allowed."""
        found = self.spec.outcomes(candidate.state, action, *parameters)
        self.steps += 1
        if not found:
            return None
        taken = TakenStep(action, parameters, found[0], sighting, candidate.taken)
        return replace(candidate, state=found[0], taken=taken)

    def at_time(self, candidate: Candidate, time_ms: int) -> Candidate:
        """Return the candidate at a time of the controller's clock, which never goes back."""
        elapsed = time_ms - candidate.clock_ms
        if elapsed <= 0:
            return candidate
        # An age past the timeout stops growing, so no more of it than this can matter.
        shown = min(elapsed, self.timeout_ms + 1)
        clocks = function(dict.fromkeys(self._processes, shown))
        later = self.take(candidate, "Tick", shown, clocks)
        assert later is not None, "time can always pass"
        return replace(later, clock_ms=time_ms)

    def without_requests(self, candidate: Candidate, process: str) -> Candidate:
        """Return the candidate in which a process's messages are lost and it awaits no answer."""
        if candidate.of("request_age", process) != NO_NUMBER:
            candidate = self.take(candidate, "RequestTimeout", process) or candidate
        for message in candidate.messages(process):
            if "awaited" in message:
                candidate = self.take(candidate, "LoseMessage", message) or candidate
        return candidate

    def send_heartbeat(
        self, candidate: Candidate, process: str, *, want_fence: bool
    ) -> Candidate | None:
        """Return the candidate after a process replayed the whole log and sent a heartbeat."""
        candidate = self.without_requests(candidate, process)
        latest = int(_integer(candidate.state["log_end"])) - 1
        if latest > candidate.of("applied_offset", process):
            replayed = self.take(candidate, "ReplayMetadata", process, latest)
            if replayed is None:
                return None
            candidate = replayed
        return self.take(candidate, "SendHeartbeat", process, want_fence)

    def handle_heartbeat(self, candidate: Candidate, process: str) -> Candidate | None:
        """Return the candidate after a heartbeat of a process was handled without a record."""
        for message in candidate.messages(process):
            if message.type == "HeartbeatRequest":
                for action in _HEARD:
                    after = self.take(candidate, action, message)
                    if after is not None:
                        return after
        return None

    def exchange_heartbeat(self, candidate: Candidate, process: str) -> Candidate | None:
        """Return the candidate after a heartbeat whose answer is lost."""
        status = candidate.of("status", process)
        asked = self.send_heartbeat(candidate, process, want_fence=status == "STARTING")
        if asked is None and status == "RECOVERY":
            asked = self.send_heartbeat(candidate, process, want_fence=True)
        after = None if asked is None else self.handle_heartbeat(asked, process)
        return None if after is None else self.without_requests(after, process)

    def send_registration(self, candidate: Candidate, process: str) -> Candidate | None:
        """Return the candidate after a process sent a registration request."""
        return self.take(self.without_requests(candidate, process), "SendRegistration", process)


def _set(value: Value) -> list[str]:
    assert isinstance(value, frozenset), "a set of processes"
    return sorted(str(member) for member in value)


def _integer(value: Value) -> int:
    assert isinstance(value, int), "an offset is a number"
    return value
