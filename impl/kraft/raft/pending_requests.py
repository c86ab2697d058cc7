"""Requests that a leader has not answered yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from kraft.raft.events import Source
    from kraft.raft.voters import Voter
    from kraft.rpc.fetch import FetchRequest


@dataclass(frozen=True, slots=True)
class ParkedFetch:
    """A fetch that waits for records, until its deadline. Kafka: fetchPurgatory."""

    source: Source
    request: FetchRequest
    deadline: int


@dataclass(frozen=True, slots=True)
class PendingVoterChange:
    """A request to add or remove a voter; `offset` is None until its record is appended.

    Kafka: AddVoterHandlerState, RemoveVoterHandlerState.
    """

    kind: Literal["add", "remove"]
    source: Source
    voter: Voter
    deadline: int
    offset: int | None = None
