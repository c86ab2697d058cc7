"""Traces of the lock, by action, client and the state after it."""

from __future__ import annotations

from krafla.testing import ModelValue, Trace
from krafla.traces import Claim, Step
from krafla.values import Function

C1, C2 = ModelValue("c1"), ModelValue("c2")
NOBODY = ModelValue("Nobody")


def of_lock(
    *steps: tuple[str, ModelValue, ModelValue, tuple[ModelValue, ...]], claim: Claim | None = None
) -> Trace:
    """Return a trace of the lock: action, client, and the state after it."""
    first = Step("Init", (), Function({"holder": NOBODY, "queue": ()}))
    more = (
        Step(name, (client,), Function({"holder": holder, "queue": queue}))
        for name, client, holder, queue in steps
    )
    return Trace("Lock", (first, *more), claim=claim)
