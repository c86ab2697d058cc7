"""Fault plans: which faults a run has and how often. A plan is data, drawn anew for each run.

Each run switches every kind of fault on or off at random: a run with everything on finds other
bugs than many runs with a few things on, because faults hide each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from kraft.sim.lease.configuration import promises_no_overlap

if TYPE_CHECKING:
    from random import Random

    from kraft.sim.lease.configuration import Configuration


class FaultPlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How often each fault happens; 0 is never.

    `..._permille` is of a thousand messages, or of a thousand ticks for `skew_permille`;
    `..._every_ms` is the mean time from one to the next.
    """

    lost_permille: int = 0
    duplicated_permille: int = 0
    delayed_permille: int = 0
    skew_permille: int = 0
    crash_every_ms: int = 0
    shutdown_every_ms: int = 0
    conflict_every_ms: int = 0
    fail_over_every_ms: int = 0
    unregister_every_ms: int = 0


def draw_fault_plan(random: Random, configuration: Configuration) -> FaultPlan:
    """Return a plan in which each fault is on in about every second run.

    Off is what the configuration rules out, and what would break its promise that no two processes
    serve at once: removing the registration of a live broker.
    """

    def sometimes(*frequencies: int) -> int:
        return random.choice((0, random.choice(frequencies)))

    session_ms = configuration.session_timeout_ms
    plan = FaultPlan(
        lost_permille=sometimes(5, 50, 300),
        duplicated_permille=sometimes(5, 50, 200),
        delayed_permille=sometimes(20, 200),
        skew_permille=sometimes(50, 500),
        crash_every_ms=sometimes(session_ms, 8 * session_ms),
        shutdown_every_ms=sometimes(session_ms, 8 * session_ms),
        conflict_every_ms=sometimes(2 * session_ms, 10 * session_ms),
        fail_over_every_ms=sometimes(session_ms // 2, 4 * session_ms),
        unregister_every_ms=sometimes(3 * session_ms),
    )
    if not configuration.max_skew_ms:
        plan = msgspec.structs.replace(plan, skew_permille=0)
    if not configuration.reorder:
        plan = msgspec.structs.replace(plan, duplicated_permille=0)
    if promises_no_overlap(configuration):
        plan = msgspec.structs.replace(plan, unregister_every_ms=0)
    return plan
