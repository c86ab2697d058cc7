"""The processes of one transaction, their disks, and a network that loses and repeats messages."""

from __future__ import annotations

from two_phase_commit import Coordinator, Decision, Disk, Participant, Vote

COORDINATOR = "coordinator"


class CrashError(Exception):
    """The process ends here: what it holds in memory is lost."""


class Cluster:
    """All of them; a crash can come before any flush of a disk and before any message."""

    coordinator_class = Coordinator
    participant_class = Participant

    def __init__(self, participants):
        self.participants = participants
        self.disks = {name: CrashingDisk(self) for name in (*participants, COORDINATOR)}
        self.up = {}
        self.in_flight = []
        self.sent = set()
        self.effects_left = None
        self._sends = []
        for name in self.disks:
            self.recover(name)

    @property
    def has_votes_in_flight(self):
        """Return whether the coordinator may still hear of a vote without asking."""
        return any(receiver == COORDINATOR for receiver, _ in self.in_flight)

    def run(self, name, call, effects=None):
        """Let a process handle something; it crashes before it has more than ``effects`` effects.

        Return the messages that it sent, and whether it crashed. A process that does not run does
        nothing.
        """
        if name not in self.up:
            return [], False
        self._sends, self.effects_left = [], effects
        try:
            call(self.up[name])
        except CrashError:
            self.crash(name)
        self.effects_left = None
        return self._sends, name not in self.up

    def deliver(self, receiver, message, effects):
        """Hand a message to its receiver; it is lost if that does not run."""
        if isinstance(message, Decision):
            return self.run(receiver, lambda process: process.on_decision(message), effects)
        return self.run(receiver, lambda process: process.on_vote(message), effects)

    def crash(self, name):
        """End a process that runs."""
        del self.up[name]
        self.disks[name].crash()

    def recover(self, name):
        """Start a process again, from its disk."""
        if name == COORDINATOR:
            self.up[name] = self.coordinator_class(self.participants, self.disks[name], self.send)
        else:
            self.up[name] = self.participant_class(name, self.disks[name], self.send)

    def effect(self):
        """Count an effect of the process that runs, or end it."""
        if self.effects_left == 0:
            raise CrashError
        if self.effects_left is not None:
            self.effects_left -= 1

    def send(self, message):
        """Take a message to the network."""
        self.effect()
        self._sends.append(message)
        self.sent.add(message)
        receivers = [COORDINATOR] if isinstance(message, Vote) else self.participants
        self.in_flight += [(receiver, message) for receiver in receivers]


def cluster_of(process_class):
    """Return the class of clusters with these coordinators, or these participants."""
    is_coordinator = issubclass(process_class, Coordinator)
    kind = "coordinator_class" if is_coordinator else "participant_class"
    return type(f"ClusterOf{process_class.__name__}", (Cluster,), {kind: process_class})


class CrashingDisk(Disk):
    """A disk whose flush is an effect."""

    def __init__(self, cluster):
        super().__init__()
        self._cluster = cluster

    def flush(self):
        """Flush, unless the process ends before."""
        self._cluster.effect()
        super().flush()
