"""After the chaos: a core with a quorum is healed, and must elect a leader and commit.

Everything else stays broken for good: stopped machines stay down, cut links stay cut. Healing
everything would hide bugs that a partly healed cluster shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from kraft.chance import Stream
from kraft.raft.roles import Follower, Leader
from kraft.sim.raft.identity_faults import put_own_disk_back

if TYPE_CHECKING:
    from kraft.raft.state import RaftState
    from kraft.raft.voters import VoterSet
    from kraft.sim.raft.cluster import Simulation
    from kraft.sim.raft.machines import Machine

_BACKLOG_RATE = 200
"""The least records per simulated second that a follower must be able to fetch."""

LivenessKind = Literal["progress", "stuck", "excused", "not tried"]


class LivenessVerdict(NamedTuple):
    """The result of the phase: progress, stuck, or excused because faults took a majority for good.

    `detail` is the reason; `took` is the simulated time until there was progress, in nanoseconds.
    """

    kind: LivenessKind
    detail: str = ""
    took: int = 0


class Liveness:
    """The phase after the chaos.

    `core` are the healed machines, empty if no quorum is possible; `target` is the high watermark
    that all of them must pass before `deadline`.
    """

    __slots__ = ("_began", "_sim", "core", "deadline", "excuse", "target", "took")

    def __init__(self, simulation: Simulation) -> None:
        sim = self._sim = simulation
        chance = Stream(sim.seed, "liveness")
        self._began = sim.time
        self.took: int | None = None
        self.excuse = ""
        for machine in sim.nodes:
            # Identities must be unique, or messages to the core could go elsewhere for good.
            put_own_disk_back(sim, machine)
            sim.processes.remove_extra(machine, "there is one of each node again")
        sets = sim.voter_sets()
        self.core = self._choose(chance, sets)
        self.target = max((_high_watermark(machine) for machine in sim.nodes), default=0)
        ends = [_log_end(machine) for machine in sim.nodes]
        backlog = (max(ends, default=0) - min(ends, default=0)) * 10**9 // _BACKLOG_RATE
        timeout = sim.configuration.timeouts.election
        self.deadline = sim.time + sim.configuration.liveness_elections * timeout + backlog
        self.deadline += self._still_busy()
        if self.core:
            self._heal(chance)
        else:
            self.deadline = sim.time

    def _choose(self, chance: Stream, sets: tuple[VoterSet, ...]) -> frozenset[int]:
        """Return machines that are a majority of every voter set in use.

        None of them has a damaged disk, because a process may refuse to start on one.
        """
        sim = self._sim
        damaged = sim.damage_log.damaged
        able = [
            machine
            for machine in sim.nodes
            if not (machine.is_gone or machine.is_extra or machine.refused)
            and machine.key not in damaged
        ]
        chosen: list[Machine] = []
        for machine in chance.shuffled(able):
            if all(_has_quorum(voters, chosen) for voters in sets):
                break
            chosen.append(machine)
        if not all(_has_quorum(voters, chosen) for voters in sets):
            lost = sorted({str(damage.replica) for damage in sim.damage_log.damages})
            self.excuse = f"no majority is left: {', '.join(lost) or 'disks are not there'}"
            return frozenset()
        spare = [machine for machine in able if machine not in chosen]
        if spare and chance.below(2):
            chosen.append(chance.choice(spare))
        return frozenset(machine.index for machine in chosen)

    def _still_busy(self) -> int:
        """Return how long a machine of the core is still in a step that began on a slow disk."""
        processes = (self._sim.nodes[index].process for index in self.core)
        ends = [process.busy_until for process in processes if process is not None]
        return max(0, max(ends, default=0) - self._sim.time)

    def _heal(self, chance: Stream) -> None:
        sim = self._sim
        hears = bool(chance.below(2))
        sim.network.heal_core(self.core, hears=hears)
        members = ", ".join(str(index) for index in sorted(self.core))
        whom = "all" if hears else "only each other"
        sim.report("heal", detail=f"machines {members}; they hear {whom}")
        for machine in sim.nodes:
            if machine.index not in self.core:
                continue
            machine.disk.is_full = False
            machine.disk.cut_after = None
            machine.armed_truncation = None
            machine.disk.latency = sim.knobs.flush_latency
            machine.disk.forget_stray()
            machine.clock.drift(sim.time, 0)
            if machine.process is None:
                sim.processes.start_later(machine, 1)
            else:
                machine.process.armed = None
                # If it was asked to end before, it restarts at once.
                machine.process.down = 1
                machine.is_paused = False
                sim.processes.look_again(machine)

    def look(self) -> bool:
        """Return whether the core has a leader, and all of it has passed the target."""
        if self.took is None and self.core and self._is_reached() and self._is_served():
            self.took = self._sim.time - self._began
        return self.took is not None

    def _is_reached(self) -> bool:
        leads = False
        for index in self.core:
            process = self._sim.nodes[index].process
            if process is None:
                return False
            high_watermark = process.state.high_watermark
            if high_watermark is None or high_watermark <= self.target:
                return False
            leads = leads or isinstance(process.state.role, Leader)
        return leads

    def _is_served(self) -> bool:
        return self._sim.workload.is_served(self._began)

    def verdict(self) -> LivenessVerdict:
        """Return the result of the phase."""
        if self.excuse:
            return LivenessVerdict("excused", self.excuse)
        if self.took is not None:
            return LivenessVerdict("progress", "", self.took)
        if removed := self._waits_for_removed():
            return LivenessVerdict("excused", removed)
        why = "no leader serves clients" if self._is_reached() else self._why()
        return LivenessVerdict("stuck", why, self._sim.time - self._began)

    def _members(self) -> list[Machine]:
        return [self._sim.nodes[index] for index in sorted(self.core)]

    def _waits_for_removed(self) -> str:
        """Return which removed voter an election needs although it will not stand, in words.

        That happens if a leader appends a voter set without itself and loses its leadership before
        any other replica has the record. By its own log it is an observer then, and never stands.
        To the others it is a voter, and its longer log grants none of them a vote. In the Raft
        dissertation, 4.2.2, it stands.

        Kafka: KafkaRaftClient.pollUnattached, pollUnattachedAsObserver.
        """
        members = [(m.key, m.process.state) for m in self._members() if m.process is not None]
        needed: set[str] = set()
        for own, state in members:
            voters, end = state.controls.voters, _log_of(state)
            if not voters.is_voter(own):
                continue
            others = [(key, other) for key, other in members if voters.is_voter(key)]
            granting = sum(_log_of(other) <= end for _, other in others)
            if granting >= voters.majority:
                return ""
            removed = [
                str(key.node_id)
                for key, other in others
                if _log_of(other) > end and not other.controls.voters.is_voter(key)
            ]
            if granting + len(removed) >= voters.majority:
                needed.update(removed)
        if not needed:
            return ""
        return f"node {', '.join(sorted(needed))} removed itself, stands not, and is needed"

    def _why(self) -> str:
        """Return why there is no progress, as far as it shows from outside."""
        lines = []
        for machine in self._members():
            process = machine.process
            if process is None:
                lines.append(f"{machine.index} does not run ({machine.refused or 'it ended'})")
                continue
            state = process.state
            role = state.role
            lines.append(
                f"{machine.index} {type(role).__name__} of epoch {role.epoch},"
                f" log {state.log.last_epoch}@{state.log.end_offset},"
                f" high watermark {state.high_watermark}"
            )
        return f"{self._cause()}: {'; '.join(lines)}; wanted more than {self.target}"

    def _cause(self) -> str:
        running = [m.process.state for m in self._members() if m.process is not None]
        if len(running) < len(self.core):
            return "a process does not start"
        leaders = [state for state in running if isinstance(state.role, Leader)]
        if not leaders:
            follows = {s.role.leader_id for s in running if isinstance(s.role, Follower)}
            if follows:
                return "a replica follows a leader that is not there"
            return "no voter wins an election"
        best = max(leaders, key=lambda state: state.role.epoch)
        if best.role.epoch < max(state.role.epoch for state in running):
            return "the leader is of an old epoch"
        if best.high_watermark is None or best.high_watermark <= self.target:
            return "the leader does not commit"
        return "a member does not follow the leader"


def _has_quorum(voters: VoterSet, machines: list[Machine]) -> bool:
    keys = sum(voters.is_voter(machine.key) for machine in machines)
    return keys >= voters.majority or not voters.voters


def _log_of(state: RaftState) -> tuple[int, int]:
    return state.log.last_epoch, state.log.end_offset


def _high_watermark(machine: Machine) -> int:
    state = machine.last_state if machine.process is None else machine.process.state
    return 0 if state is None or state.high_watermark is None else state.high_watermark


def _log_end(machine: Machine) -> int:
    state = machine.last_state if machine.process is None else machine.process.state
    return 0 if state is None else state.log.end_offset
