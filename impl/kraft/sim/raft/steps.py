"""The steps that a simulation passes to its observers, and the messages in flight.

Both are named tuples: a run makes hundreds of thousands, and a tuple is made five times faster than
a frozen dataclass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from kraft.ids import NodeId

if TYPE_CHECKING:
    from kraft.ids import ReplicaKey
    from kraft.raft.effects import Effect
    from kraft.raft.events import Event
    from kraft.raft.state import RaftState, Step
    from kraft.rpc.requests import RaftRequest, RaftResponse

CLIENT: Final = NodeId(-1)
"""The node id of a client, which has no id of its own."""

NO_MESSAGE: Final = -1

StepKind = Literal["event", "start", "crash", "lose", "duplicate", "fault", "listener"]


class ListenerStep(NamedTuple):
    """A step of a state machine above Raft: the event that it took, and the result.

    `said` is its new position, for people.
    """

    kind: str
    before: Any
    event: Any
    after: Any
    effects: tuple[Any, ...] = ()
    said: str = ""


class Envelope(NamedTuple):
    """One message in flight.

    `message_id` is unique in a run; a duplicate has its own id, and `copy_of` names the first
    message. `incarnation` is the process that sent the request, or that a response is for.
    Incarnations are numbered through a whole run, so a restarted process never gets responses to
    its predecessor. `answers` is the message id of the answered request.
    """

    message_id: int
    source: NodeId
    destination: NodeId
    correlation_id: int
    payload: RaftRequest | RaftResponse
    is_request: bool
    incarnation: int
    answers: int = NO_MESSAGE
    copy_of: int = NO_MESSAGE


class SimStep(NamedTuple):
    """One step of a run.

    * "event": `replica` took `event`, because of the message `received` if there is one, and went
      from `before` to `after`; `effects` are those performed. If it crashed while it performed
      them, `after` is None, and `whole` has the state and all effects of the complete step.
    * "start": a process starts from its disk; `after` is its state, or None if it refused (`error`
      says why) or crashed while it performed the effects of the start (`whole`).
    * "crash": a process ends between two events. Its start shows what its disk has then.
    * "lose", "duplicate": the network loses a message, or will deliver it once more; `received` is
      that message, the new copy for "duplicate".
    * "fault": a fault of the plan takes effect, or ends; `fault` is its kind, or "heal" where all
      faults end. The end of a fault is not an effect of it, so `fault` is empty then.
    * "listener": the state machine above Raft took a step, which is in `listener`; `received` is
      the message that it took, if there is one. It handles what Raft told it after Raft's step.

    The `source` of a RequestReceived has the sender's node id and, as its correlation id, the
    `message_id` of the message; the response finds its connection by that. `sent` are the messages
    that were sent, including those that the network will lose; `time` is in true nanoseconds.
    `detail` describes the step for people.
    """

    number: int
    time: int
    kind: StepKind
    replica: ReplicaKey
    received: Envelope | None = None
    event: Event | None = None
    before: RaftState | None = None
    after: RaftState | None = None
    effects: tuple[Effect, ...] = ()
    whole: Step | None = None
    sent: tuple[Envelope, ...] = ()
    detail: str = ""
    incarnation: int = NO_MESSAGE
    fault: str = ""
    error: Exception | None = None
    listener: ListenerStep | None = None
