"""The periodic tasks of an active controller.

Kafka: PeriodicTaskControlManager.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from immutables import Map

from kraft.controller.effects import Failure
from kraft.controller.state import NEVER, is_active
from kraft.controller.write_path import generate, write_generated

if TYPE_CHECKING:
    from kraft.controller.operation_table import Operations
    from kraft.controller.state import ControllerState, Turn

IMMEDIATE_PERIOD_MS: Final = 10
"""When to run a task again that has more to do. Kafka: PeriodicTask.DEFAULT_IMMEDIATE_PERIOD."""

ERROR_PERIOD_MS: Final = 5 * 60 * 1000
"""When to run a task again that failed.

Kafka: PeriodicTaskControlManager.nextDelayTimeNs.
"""


def schedule_all(turn: Turn, operations: Operations) -> None:
    """Schedule the first run of each task. Kafka: PeriodicTaskControlManager.activate."""
    configuration = turn.state.configuration
    periods = {task.name: task.period_ms(configuration) for task in operations.tasks}
    turn.change(
        tasks=Map({name: turn.now_ms + period for name, period in periods.items() if period})
    )


def task_deadline(state: ControllerState) -> int:
    """Return when the next task is due, in milliseconds; NEVER if there is none."""
    return min(state.tasks.values(), default=NEVER)


def run_due_task(turn: Turn, operations: Operations) -> None:
    """Run the task that has been due longest, and schedule its next run.

    The controller stays active if the task fails.

    Kafka: PeriodicTaskControlManager.PeriodicTaskOperation, PeriodicControlTaskException.
    """
    state = turn.state
    due = sorted((at, name) for name, at in state.tasks.items() if at <= turn.now_ms)
    if not due:
        return
    _, name = due[0]
    task = next(one for one in operations.tasks if one.name == name)
    generated = generate(turn, task.operation, None, 0)
    if isinstance(generated, Failure) or isinstance(generated.result.response, Failure):
        turn.change(tasks=state.tasks.set(name, turn.now_ms + ERROR_PERIOD_MS))
        return
    again = write_generated(turn, generated)
    if is_active(turn.state):
        period = IMMEDIATE_PERIOD_MS if again is True else task.period_ms(state.configuration)
        turn.change(tasks=turn.state.tasks.set(name, turn.now_ms + period))
