"""A handler at work: the state it changes, and the effects it has asked for so far.

Handlers are pure: `begin` takes a state apart, `step` puts the next one together, and a turn never
leaves its handler. In between, a turn is plain variables, which reads better than a chain of
copies, and makes one new state instead of many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.chance import advanced, mix
from kraft.raft.state import RaftState, Step

if TYPE_CHECKING:
    from immutables import Map

    from kraft.ids import NodeId, ReplicaKey
    from kraft.log.image import LogImage
    from kraft.raft.configuration import Configuration
    from kraft.raft.controls import ControlHistory
    from kraft.raft.effects import Effect
    from kraft.raft.roles import Role
    from kraft.raft.state import Connection, ListenerProgress
    from kraft.raft.voters import VoterSet


class Turn:
    """The variables of a RaftState, the time `now`, and `effects` in the order they must happen."""

    __slots__ = (
        "_chance",
        "configuration",
        "connections",
        "controls",
        "effects",
        "high_watermark",
        "listener",
        "log",
        "next_correlation_id",
        "now",
        "role",
        "shutdown_deadline",
    )

    configuration: Configuration
    role: Role
    log: LogImage
    controls: ControlHistory
    high_watermark: int | None
    connections: Map[NodeId, Connection]
    next_correlation_id: int
    listener: ListenerProgress
    shutdown_deadline: int | None
    now: int
    effects: list[Effect]
    _chance: int

    @classmethod
    def begin(cls, state: RaftState, now: int, chance: int) -> Turn:
        """Return a turn on this state at this time of the replica's clock, in nanoseconds."""
        turn = cls()
        turn.configuration = state.configuration
        turn.role = state.role
        turn.log = state.log
        turn.controls = state.controls
        turn.high_watermark = state.high_watermark
        turn.connections = state.connections
        turn.next_correlation_id = state.next_correlation_id
        turn.listener = state.listener
        turn.shutdown_deadline = state.shutdown_deadline
        turn.now = now
        turn._chance = chance
        turn.effects = []
        return turn

    def step(self) -> Step:
        """Return the state after the turn, and its effects."""
        state = RaftState(
            self.configuration,
            self.role,
            self.log,
            self.controls,
            self.high_watermark,
            self.connections,
            self.next_correlation_id,
            self.listener,
            self.shutdown_deadline,
        )
        return Step(state, tuple(self.effects))

    def do(self, effect: Effect) -> None:
        """Add an effect, after all earlier ones."""
        self.effects.append(effect)

    def draw(self, bound: int) -> int:
        """Return a number from 0 to `bound` - 1 from the chance that the event brought.

        Every call gives another number.
        """
        drawn = mix(self._chance)
        self._chance = advanced(self._chance)
        return drawn % bound

    @property
    def voters(self) -> VoterSet:
        """The voters by the replica's own log, committed or not. Spec: KRaftState!Voters."""
        return self.controls.voters

    @property
    def key(self) -> ReplicaKey | None:
        """The replica's own key; None for an observer without an id."""
        return self.configuration.key

    @property
    def is_voter(self) -> bool:
        """Whether the replica is a voter by its own log. Spec: KRaftState!IsVoter."""
        key = self.configuration.key
        return key is not None and self.controls.voters.is_voter(key)
