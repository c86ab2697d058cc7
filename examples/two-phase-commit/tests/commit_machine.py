"""A Hypothesis state machine of the transaction: the spec judges what can be seen from outside.

Messages, crashes and outcomes are seen. What a process writes to its log and counts in its memory
is not: those steps are hidden, and the judge tries all that may have been taken.
"""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import precondition
from two_phase_commit import Vote

from krafla.testing import SpecMachine, Taken, action
from tests.cluster import COORDINATOR, Cluster

PARTICIPANTS = ("p1", "p2")
# Nine of ten participants can commit, and three of ten handlers end in a crash.
CAN_COMMIT = st.sampled_from([True] * 9 + [False])
EFFECTS = st.sampled_from([None] * 6 + [0, 1, 1, 2])


def one_of(choices):
    """Return the strategy of what a machine can choose from now."""
    return st.runner().flatmap(lambda machine: st.sampled_from(choices(machine.cluster)))


class CommitMachine(SpecMachine):
    """Two participants and a coordinator, that crash and lose messages."""

    spec = "../specs/TwoPhaseCommit.tla"
    hidden = ("Prepare", "GiveUp", "Finish", "TakeVote", "DecideCommit", "DecideAbort")
    hidden_max = 4
    cluster_class = Cluster

    def __init__(self):
        super().__init__()
        self.cluster = self.cluster_class(PARTICIPANTS)

    def observe(self):
        """Return the messages, the processes that run, and what each client is shown."""
        up = self.cluster.up
        outcomes = {name: up[name].outcome if name in up else None for name in PARTICIPANTS}
        shown = {name: "none" if one is None else one for name, one in outcomes.items()}
        return {"sent": self.cluster.sent, "up": set(up), "shown": shown}

    @action(
        None,
        participant=st.sampled_from(PARTICIPANTS),
        can_commit=CAN_COMMIT,
        effects=EFFECTS,
    )
    def prepare(self, participant, can_commit, effects):
        """Ask a participant for its vote."""
        return self.taken(
            participant, lambda process: process.on_prepare(can_commit=can_commit), effects
        )

    @action(None, participant=st.sampled_from(PARTICIPANTS), effects=EFFECTS)
    def ask_again(self, participant, effects):
        """Let a participant send its vote again, as it hears nothing."""
        return self.taken(participant, lambda process: process.vote(), effects)

    @precondition(lambda machine: machine.cluster.sent and not machine.cluster.has_votes_in_flight)
    @action(None, effects=EFFECTS)
    def wait_no_longer(self, effects):
        """Let the coordinator decide without the votes that it has not got."""
        return self.taken(COORDINATOR, lambda process: process.on_timeout(), effects)

    @precondition(lambda machine: machine.cluster.in_flight)
    @action(None, message=one_of(lambda cluster: cluster.in_flight), effects=EFFECTS)
    def deliver(self, message, effects):
        """Deliver a message that was sent."""
        self.cluster.in_flight.remove(message)
        return steps(message[0], *self.cluster.deliver(*message, effects))

    @action("Crash", only_if_enabled=True)
    def crash(self, process):
        """End a process between two of its handlers."""
        self.cluster.crash(process)

    @action("Recover", only_if_enabled=True)
    def recover(self, process):
        """Start a process again."""
        self.cluster.recover(process)

    def taken(self, name, call, effects):
        """Let a process do something, if it runs; return the steps that could be seen."""
        return steps(name, *self.cluster.run(name, call, effects))


def steps(name, messages, has_crashed):
    """Return the actions of the spec that a process took: its messages, and its crash."""
    found = [
        Taken("SendYes" if one.is_yes else "SendNo", name)
        if isinstance(one, Vote)
        else Taken("SendDecision", one.outcome)
        for one in messages
    ]
    if has_crashed:
        found.append(Taken("Crash", name))
    return found
