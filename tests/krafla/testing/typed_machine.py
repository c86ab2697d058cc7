"""A machine as a user writes it: mypy finds what is wrong with the last line, and nothing else."""

from __future__ import annotations

from krafla.testing import (
    Judge,
    Refused,
    Spec,
    SpecMachine,
    Taken,
    Trace,
    action,
    member_of,
)


class Machine(SpecMachine):
    """It says each option of a class."""

    spec = "Lock.tla"
    cfg = "Lock.cfg"
    constants = None
    observes = False
    hidden = ("Grant",)
    hidden_max = 2
    spec_invariants = ["HolderInv"]  # noqa: RUF012 - as a user writes it
    properties = ("HolderProp",)
    frontier = 10
    limit_s = 5

    @action("Acquire", client=member_of("Client"), only_if_enabled=True)
    def acquire(self, client: str) -> Taken | None:
        """Say what the code did."""
        raise Refused("Acquire", client)


def judged(machine: Machine) -> None:
    """Use what the types promise."""
    judge: Judge = machine.judge
    spec: Spec = judge.spec
    taken: Taken | None = machine.acquire("c1")
    trace = judge.trace
    steps = len(trace.steps) if isinstance(trace, Trace) else len(trace.observations)
    judge.step("Acquire", spec.name, taken, steps)
    judge.step(1)  # type: ignore[arg-type]  # an error that mypy must find
