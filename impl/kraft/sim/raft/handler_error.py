"""The error of a simulation whose simulated code raises."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kraft.sim.raft.cluster import Simulation
    from kraft.sim.raft.machines import Machine


class HandlerError(Exception):
    """A handler raised, or never became idle; the message names the seed and the step."""


def handler_error(
    sim: Simulation, machine: Machine, event: object, error: Exception
) -> HandlerError:
    """Return the error of a handler, with the seed and the step that reproduce it."""
    return HandlerError(
        f"seed {sim.seed}, step {sim.number}, {sim.time} ns, {machine.key},"
        f" {type(event).__name__}: {type(error).__name__}: {error}"
    )
