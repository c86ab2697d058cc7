"""Fault plans: which faults a run has, and how often. A plan is data, drawn anew for each run.

Each run switches every kind of fault on or off at random. Faults hide each other, so many runs with
a few faults find other bugs than one run with all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from kraft.sim.lease.configuration import promises_no_overlap

if TYPE_CHECKING:
    from random import Random

    from kraft.sim.lease.configuration import Configuration


class FaultPlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The frequency of each fault; 0 is never.

    `..._permille` is per thousand messages; `skew_permille` is per thousand ticks. `..._every_ms`
    is the mean time between two faults. A broker that is cut off runs on, and all its messages get
    lost for up to two sessions; no seed draws this fault, so older runs stay as they are.
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
    cut_off_every_ms: int = 0


def draw_fault_plan(random: Random, configuration: Configuration) -> FaultPlan:
    """Return a plan in which each fault is on in about half of the runs.

    A fault is off if the configuration rules it out. Unregistering a live broker is off if it would
    break the promise that no two processes serve at once.
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
