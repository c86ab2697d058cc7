"""Known stories: the methods of the machine, called in order without Hypothesis."""


def deliver_next(machine, effects=None):
    """Deliver the oldest message; the receiver may crash after some effects."""
    machine.deliver(message=machine.cluster.in_flight[0], effects=effects)


def all_vote_yes(machine):
    """Let both participants promise."""
    machine.prepare(participant="p1", can_commit=True, effects=None)
    machine.prepare(participant="p2", can_commit=True, effects=None)


def commit_and_forget(machine):
    """Commit; crash the coordinator before it announces that again; let it wait no longer."""
    all_vote_yes(machine)
    deliver_next(machine)
    deliver_next(machine)
    machine.wait_no_longer(effects=0)
    machine.recover(process="coordinator")
    machine.wait_no_longer(effects=None)


def crash_while_announcing(machine):
    """Commit; crash the coordinator at once when the decision has left."""
    all_vote_yes(machine)
    deliver_next(machine)
    deliver_next(machine, effects=1)
    machine.recover(process="coordinator")
    machine.wait_no_longer(effects=None)


def vote_twice(machine):
    """Let one participant vote twice, and the other not at all."""
    machine.prepare(participant="p1", can_commit=True, effects=None)
    machine.ask_again(participant="p1", effects=None)
    deliver_next(machine)
    deliver_next(machine)


def ask_again(machine):
    """Let a participant promise, and ask what became of it."""
    machine.prepare(participant="p1", can_commit=True, effects=None)
    machine.ask_again(participant="p1", effects=None)


def promise_and_forget(machine):
    """Let a participant promise and crash; then it cannot commit any more."""
    machine.prepare(participant="p1", can_commit=True, effects=None)
    machine.ask_again(participant="p1", effects=0)
    machine.recover(process="p1")
    machine.prepare(participant="p1", can_commit=False, effects=None)


def commit_and_show_nothing(machine):
    """Commit; crash a participant that has shown its client so."""
    all_vote_yes(machine)
    deliver_next(machine)
    deliver_next(machine)
    deliver_next(machine)
    machine.crash(process="p1")
    machine.recover(process="p1")
