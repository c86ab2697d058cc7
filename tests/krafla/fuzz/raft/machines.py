"""Hypothesis decides what happens to a quorum; every property is checked after each step."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.krafla.fuzz.raft.hand_cluster import HandCluster

# Counted from the end: the latest message is delivered most often, as in a real network.
CHOICE = st.integers(min_value=0, max_value=10**6)


class ElectionMachine(RuleBasedStateMachine):
    """Elections and replication: messages, timers, crashes, appends."""

    cluster: HandCluster

    @initialize(voters=st.integers(min_value=1, max_value=4))
    def begin(self, voters):
        self.cluster = HandCluster(voters)

    def node(self, choice):
        running = self.cluster.running
        return running[choice % len(running)]

    def message(self, choice):
        return choice % len(self.cluster.messages)

    @precondition(lambda self: self.cluster.messages)
    @rule(choice=CHOICE)
    def deliver(self, choice):
        self.cluster.deliver(self.message(choice))

    @precondition(lambda self: self.cluster.messages)
    @rule(count=st.integers(min_value=1, max_value=20))
    def deliver_in_order(self, count):
        for _ in range(count):
            if self.cluster.messages:
                self.cluster.deliver(0)

    @precondition(lambda self: self.cluster.messages)
    @rule(choice=CHOICE)
    def lose(self, choice):
        self.cluster.lose(self.message(choice))

    @precondition(lambda self: self.cluster.messages)
    @rule(choice=CHOICE)
    def duplicate(self, choice):
        message = self.message(choice)
        if self.cluster.messages[message].is_request:
            self.cluster.duplicate(message)

    @precondition(lambda self: self.cluster.running)
    @rule(choice=CHOICE)
    def fire_timer(self, choice):
        self.cluster.fire_timer(self.node(choice))

    @precondition(lambda self: self.cluster.running)
    @rule(choice=CHOICE, milliseconds=st.sampled_from((0, 30, 600, 2_500, 5_000)))
    def let_time_pass(self, choice, milliseconds):
        self.cluster.let_time_pass(self.node(choice), milliseconds)

    @precondition(lambda self: self.cluster.running)
    @rule(choice=CHOICE, keeps_tail=st.booleans())
    def crash(self, choice, keeps_tail):
        self.cluster.crash(self.node(choice), keeps_tail=keeps_tail)

    @precondition(lambda self: len(self.cluster.running) < len(self.cluster.nodes))
    @rule(choice=CHOICE)
    def start(self, choice):
        stopped = [node for node in self.cluster.nodes if node.state is None]
        self.cluster.start(stopped[choice % len(stopped)])

    @precondition(lambda self: self.cluster.leaders)
    @rule(choice=CHOICE, count=st.integers(min_value=1, max_value=3))
    def append(self, choice, count):
        leaders = self.cluster.leaders
        self.cluster.append(leaders[choice % len(leaders)], count)

    @precondition(lambda self: self.cluster.leaders)
    @rule(choice=CHOICE)
    def resign(self, choice):
        leaders = self.cluster.leaders
        self.cluster.resign(leaders[choice % len(leaders)])

    @invariant()
    def every_property_holds(self):
        violation = self.cluster.checks.violation if hasattr(self, "cluster") else None
        assert violation is None, str(violation)


class ChangingMachine(ElectionMachine):
    """Also observers, snapshots, cleaned logs, and changes of the voters."""

    @initialize(voters=st.integers(min_value=1, max_value=3))
    def begin(self, voters):
        self.cluster = HandCluster(voters, observers=2)

    @precondition(lambda self: self.cluster.running)
    @rule(choice=CHOICE)
    def snapshot(self, choice):
        self.cluster.snapshot(self.node(choice))

    @precondition(lambda self: self.cluster.running)
    @rule(choice=CHOICE)
    def clean(self, choice):
        self.cluster.clean(self.node(choice))

    @precondition(lambda self: self.cluster.leaders)
    @rule(choice=CHOICE, other=CHOICE)
    def add_voter(self, choice, other):
        leaders, nodes = self.cluster.leaders, self.cluster.nodes
        self.cluster.add_voter(leaders[choice % len(leaders)], nodes[other % len(nodes)])

    @precondition(lambda self: self.cluster.leaders)
    @rule(choice=CHOICE, other=CHOICE)
    def remove_voter(self, choice, other):
        leaders, nodes = self.cluster.leaders, self.cluster.nodes
        self.cluster.remove_voter(leaders[choice % len(leaders)], nodes[other % len(nodes)])
