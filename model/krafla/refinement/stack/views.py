"""What a controller or a broker has in memory and on its disk, in the notation of the spec.

This changes the notation and holds no rule of the protocol. An image gets the number of its only
possible counterpart if it equals that, and otherwise a number that no image has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from krafla.refinement.lease.vocabulary import NIL
from krafla.refinement.stack.log import NO_END, NO_IMAGE, Replayed
from krafla.values import function, record
from kraft.controller.effects import Failure
from kraft.controller.memory import stable_end_of, visible_of
from kraft.controller.state import NO_EPOCH
from kraft.errors import ErrorCode
from kraft.ids import NO_OFFSET

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from krafla.refinement.stack.log import Images, Log
    from krafla.values import Value
    from kraft.controller.memory import Memory
    from kraft.controller.state import ControllerState
    from kraft.image.metadata_image import MetadataImage

__all__ = [
    "NOTHING",
    "SOMETHING_ELSE",
    "ControllerRequest",
    "Node",
    "answer_value",
    "request_value",
]

NOTHING: Final = "nothing"
"""The answer of the spec to a request that was not answered."""
SOMETHING_ELSE: Final = "something else"


class ControllerRequest(NamedTuple):
    """A request: its number and value in the spec, and its operation's response."""

    number: int
    value: Value
    response: Any


def request_value(number: int, records: tuple[Value, ...]) -> Value:
    """Return a request of the spec, which carries its own outcome."""
    return record(id=number, records=records, result=f"answer {number}")


def answer_value(response: object, request: ControllerRequest | None) -> Value:
    """Return an answer of the spec: an operation's own answer is named after its request.

    NOT_CONTROLLER comes from the controller, not from an operation.
    """
    if isinstance(response, Failure) and response.error_code is ErrorCode.NOT_CONTROLLER:
        return "NOT_CONTROLLER"
    if request is not None and (response is request.response or response == request.response):
        return f"answer {request.number}"
    return SOMETHING_ELSE


class Node:
    """What is known of one node after its last step.

    `raft_leads` is the epoch that its Raft client leads, if any. `leads` is the same, from the
    record that begins the epoch until the node resigns. `snapshot` has the end and the image of the
    newest snapshot on its disk, `own` the ends of what it has appended since its election.
    `written` and `visible` are what it has and shows. `is_known` says whether a process has started
    on it.
    """

    def __init__(self, log: Log, images: Images) -> None:
        self._log = log
        self._images = images
        self.raft_leads: int | None = None
        self.leads: int | None = None
        self.snapshot = (0, 0)
        self.is_known = False
        self.start()

    def start(self) -> None:
        """Begin with nothing in memory."""
        self.own: dict[int, int] = {}
        self.committed_end = self.write_end = 0
        self.written = Replayed()
        self.visible = 0
        self._ahead: tuple[int, ...] = ()
        self._known: dict[int, tuple[MetadataImage, int]] = {}

    def append(self, end: int, image: int) -> None:
        """Note where the controller's own append ends, and the image after it."""
        self.own[end] = self.write_end + 1
        self._ahead = (image,)

    def end(self, offset: int, committed: int) -> int:
        """Return an end of the spec; a committed end is the same for all nodes."""
        ends = self._log.ends if offset <= committed else self.own
        return ends.get(offset, NO_END)

    def of_controller(
        self, state: ControllerState, requests: Mapping[object, ControllerRequest]
    ) -> Value:
        """Return what a controller has. Spec: MetadataLogSteps!ViewOf."""
        committed = state.committed_end
        view = _View(self, committed, self._candidates(self.end(committed, committed)))
        # A token that is deferred twice stands for an unknown request.
        tokens = [one.token for one in state.deferred]
        parked = [
            (requests.get(one.token) if tokens.count(one.token) == 1 else None, one)
            for one in state.deferred
        ]
        visible = state.timeline.get(state.stable_end)
        value = record(
            claim_epoch=state.claim_epoch,
            leader_epoch=NO_EPOCH if self.leads is None else self.leads,
            committed_end=self.end(committed, committed),
            stable_end=self.end(state.stable_end, committed),
            write_end=self.end(state.write_end, committed),
            written=view.memory(state.written),
            timeline=function(
                (self.end(end, committed), view.memory(one))
                for end, one in state.timeline.items()
            ),
            deferred=frozenset(
                (one.number if one is not None else 0, self.end(parked.end, committed),
                 answer_value(parked.response, one))
                for one, parked in parked
            ),
            snapshot=self._snapshot(),
        )  # fmt: skip
        if visible is not None:
            self.visible = view.image(visible.image)
        self._rest(view, state.written, committed)
        return value

    def of_broker(self, memory: Memory) -> Value:
        """Return what a broker has. Spec: MetadataLogSteps!ViewOf."""
        end = self.end(memory.end, memory.end)
        stable = self.end(stable_end_of(memory), memory.end)
        view = _View(self, memory.end, self._candidates(end))
        visible = view.image(visible_of(memory).image)
        value = record(
            claim_epoch=NO_EPOCH,
            leader_epoch=NO_EPOCH,
            committed_end=end,
            stable_end=stable,
            write_end=end,
            written=view.memory(memory),
            timeline=function([(stable, _between(visible))]),
            deferred=frozenset(),
            snapshot=self._snapshot(),
        )
        self.visible = visible
        self._rest(view, memory, memory.end)
        return value

    def image(self, image: MetadataImage, candidates: Iterable[int]) -> int:
        """Return the number of an image that can only be one of some candidates."""
        known = self._known.get(id(image))
        if known is not None:
            return known[1]
        found = (one for one in candidates if self._images.is_number(one, image))
        return next(found, NO_IMAGE)

    def _candidates(self, end: int) -> tuple[int, ...]:
        if end == NO_END:
            return self._ahead
        replayed = self._log.at[end]
        before = () if replayed.before is None else (replayed.before,)
        return (*self._ahead, replayed.image, *before)

    def _snapshot(self) -> Value:
        end, image = self.snapshot
        return record(end=end, image=image)

    def _rest(self, view: _View, written: Memory, committed: int) -> None:
        """Remember the state in which the next step begins."""
        before = None if written.before is None else view.image(written.before.image)
        self.written = Replayed(view.image(written.image), before)
        self.committed_end = self.end(committed, committed)
        self.write_end = self.end(written.end, committed)
        self._known, self._ahead = view.known, ()


class _View:
    """One look at a node, in which each image is numbered once."""

    def __init__(self, node: Node, committed: int, candidates: tuple[int, ...]) -> None:
        self._node = node
        self._committed = committed
        self._candidates = candidates
        self.known: dict[int, tuple[MetadataImage, int]] = {}

    def image(self, image: MetadataImage) -> int:
        known = self.known.get(id(image))
        if known is None:
            known = image, self._node.image(image, self._candidates)
            self.known[id(image)] = known
        return known[1]

    def memory(self, memory: Memory) -> Value:
        """Return a state in memory. Spec: MetadataLog!Between."""
        start = memory.transaction_start
        return record(
            image=self.image(memory.image),
            transaction_start=NO_OFFSET if start == NO_OFFSET
            else self._node.end(start, self._committed),
            image_before=NIL if memory.before is None else self.image(memory.before.image),
        )  # fmt: skip


def _between(image: int) -> Value:
    return record(image=image, transaction_start=NO_OFFSET, image_before=NIL)
