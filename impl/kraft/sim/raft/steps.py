"""What a simulation tells its observers: one step after the other, and the messages between them.

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
"""The node id of a client, which has none."""

NO_MESSAGE: Final = -1

StepKind = Literal["event", "start", "crash", "lose", "duplicate", "fault", "listener"]


class ListenerStep(NamedTuple):
    """What a state machine above Raft did, of some kind: it took an event, and what came of it.

    `said` is where it then stands, for people.
    """

    kind: str
    before: Any
    event: Any
    after: Any
    effects: tuple[Any, ...] = ()
    said: str = ""


class Envelope(NamedTuple):
    """One message in flight.

    `message_id` is unique in a run; the second copy of a message has its own, and `copy_of` names
    the first. `incarnation` is the process that sent the request, or the one that an answer is for:
    incarnations are numbered through a whole run, so a process that was started again never gets
    the answers of the one before. `answers` is the message id of the request that is answered.
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
      from `before` to `after`; `effects` are those that were performed. If it crashed while it
      performed them, `after` is None, and `whole` has the state and all effects that it would have
      come to.
    * "start": a process starts from what is on its disk; `after` is its state, or None if it
      refused (`error` says why) or crashed while it performed the effects of the start (`whole`).
    * "crash": a process ends between two events. What its disk then has is seen at its start.
    * "lose", "duplicate": the network loses a message, or will deliver it once more; `received` is
      that message, the new copy for "duplicate".
    * "fault": a fault of the plan takes effect, or ends; `fault` is its kind, or "heal" where all
      of them end. What a fault ends with is an effect of none: `fault` is empty then.
    * "listener": the state machine above Raft did something, which is in `listener`; `received` is
      the message that it took, if there is one. What Raft told it, it does after that step.

    The `source` of a RequestReceived has the sender's node id, and as its correlation id the
    `message_id` of the message: that is how the answer finds its connection. `sent` are the
    messages that were sent, also those that the network will lose; `time` is in true nanoseconds.
    `detail` says the same to people.
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
