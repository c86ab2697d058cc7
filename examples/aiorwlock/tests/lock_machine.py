"""Hypothesis state machines of three tasks that share a lock of aiorwlock."""

from __future__ import annotations

from aiorwlock import RWLock
from hypothesis import strategies as st
from hypothesis.stateful import precondition
from lock_tasks import SteppedTasks

from krafla.testing import Refused, SpecMachine, Taken, action

TASKS = ("t1", "t2", "t3")
MODE = st.sampled_from(["read", "write"])


def one_of(choices):
    """Return the strategy of what a machine can choose from now."""
    return st.runner().flatmap(lambda machine: st.sampled_from(choices(machine)))


# A task that waits for the lock can do nothing else.
IDLE = one_of(lambda machine: machine.tasks.idle)
if_a_task_is_idle = precondition(lambda machine: machine.tasks.idle)


class LockMachine(SpecMachine):
    """Tasks acquire and release the lock and are cancelled; the event loop turns step by step.

    Nothing of the state is observed: the tasks say what they did, and that decides it.
    """

    spec = "../specs/ReadWriteLock.tla"
    cfg = "../specs/Promise.cfg"
    lock_class = RWLock
    observes = False

    def __init__(self):
        super().__init__()
        self.tasks = SteppedTasks(TASKS, self.lock_class)

    def teardown(self):
        """End the tasks."""
        self.tasks.close()

    @if_a_task_is_idle
    @action("Ask", task=IDLE, mode=MODE)
    def acquire(self, task, mode):
        """Let a task ask for the lock."""
        return self.took(lambda: self.tasks.acquire(task, mode))

    @if_a_task_is_idle
    @action("ReleaseRead", task=IDLE)
    def release_read(self, task):
        """Let a task release the lock for reading, whether it holds it or not."""
        return self.took(lambda: self.tasks.release(task, "read"))

    @if_a_task_is_idle
    @action("ReleaseWrite", task=IDLE)
    def release_write(self, task):
        """Let a task release the lock for writing, whether it holds it or not."""
        return self.took(lambda: self.tasks.release(task, "write"))

    @action("Cancel", only_if_enabled=True)
    def cancel(self, task):
        """Cancel a task that waits."""
        return self.took(lambda: self.tasks.cancel(task))

    @action(None)
    def turn(self):
        """Let the event loop turn once."""
        return self.took(self.tasks.turn)

    @action(None)
    def rest(self):
        """Let the event loop turn until nothing more happens."""
        self.tasks.rest()
        return [*self.new_steps(), Taken("Rest", *self.tasks.locked())]

    def took(self, call):
        """Call the lock; return the steps of all tasks since the last ones that were judged."""
        try:
            call()
        except RuntimeError as error:
            # What other tasks did before is judged first.
            for step in self.new_steps():
                self.judge.step(step.action, *step.parameters)
            raise Refused from error
        return self.new_steps()

    def new_steps(self):
        """Return the steps that tasks took since the last call."""
        return [Taken(event.action, *event.parameters) for event in self.tasks.new_events()]


class UncancelledMachine(LockMachine):
    """No task is cancelled."""

    cancel = None


class PlainMachine(UncancelledMachine):
    """Nor does a task acquire the lock again that it holds."""

    @precondition(lambda machine: machine.tasks.free)
    @action("Ask", task=one_of(lambda machine: machine.tasks.free), mode=MODE)
    def acquire(self, task, mode):
        """Let a task that does not hold the lock ask for it."""
        return self.took(lambda: self.tasks.acquire(task, mode))


class AsFoundMachine(LockMachine):
    """All of it, judged by what aiorwlock 1.5.1 does instead of by its promise."""

    cfg = "../specs/AsFound.cfg"
