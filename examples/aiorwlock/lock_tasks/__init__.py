"""Tasks that share a read-write lock, on an event loop that moves only when it is told to."""

from lock_tasks.stepped_tasks import SteppedTasks

__all__ = ["SteppedTasks"]
