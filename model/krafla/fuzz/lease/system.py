"""The lease system: brokers and their lease at one controller, judged by BrokerLease."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from krafla.fuzz.engine.choice_run import Profile
from krafla.fuzz.engine.choice_system import ChoiceSystem
from krafla.fuzz.lease.shrinker import LeaseShrinker
from krafla.refinement.lease import spec
from krafla.refinement.lease.faults import FAULTS
from krafla.refinement.lease.trace_recorder import LeaseTraceRecorder
from kraft.sim.lease import choices
from kraft.sim.lease.cluster import first_cluster
from kraft.sim.lease.configuration import PROFILES as CONFIGURATIONS
from kraft.sim.lease.configuration import (
    Configuration,
    kafka_4_1,
    processes,
    promises_no_overlap,
)
from kraft.sim.lease.faults import draw_fault_plan
from kraft.sim.lease.random_driver import RandomDriver
from kraft.sim.lease.scheduler import Scheduler
from kraft.sim.lease.step import step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from random import Random

    from krafla.fuzz.engine.choice_run import Driver

__all__ = ["SYSTEM", "conditions_met"]


def _scheduled(configuration: Configuration, random: Random) -> Driver:
    return Scheduler(configuration, draw_fault_plan(random, configuration), random)


def _scheduled_with(**faults: int) -> Callable[[Configuration, Random], Driver]:
    def driver(configuration: Configuration, random: Random) -> Driver:
        plan = msgspec.structs.replace(draw_fault_plan(random, configuration), **faults)
        return Scheduler(configuration, plan, random)

    return driver


def _restless_promising(configuration: Configuration, random: Random) -> Driver:
    return RandomDriver(configuration, random, without=(choices.UnregisterBroker,))


def _repeating(configuration: Configuration, random: Random) -> Driver:
    """Return a driver under which requests arrive late and twice, and little else goes wrong."""
    faults = (choices.FailOver, choices.UnregisterBroker, choices.Crash, choices.RequestShutdown)
    often: dict[type[choices.Choice], int] = {
        choices.DuplicateMessage: 150,
        choices.RequestTimeout: 40,
    }
    return RandomDriver(configuration, random, without=faults, often=often)


_IN_ORDER_AND_IN_TIME: Final = ("NoOverlapInv", "OneServerPerIdInv", "RegistrationIsKnownInv")
_SHORT: Final = Configuration(
    processes(2, 6), session_timeout_ms=6, heartbeat_interval_ms=2, request_timeout_ms=3
)
_ALONE: Final = msgspec.structs.replace(_SHORT, processes=processes(1, 8))
_SHORT_PROMISING: Final = msgspec.structs.replace(
    _SHORT, broker_timeout_ms=5, max_skew_ms=1, reorder=False
)

# The names seed the runs, so they never change.
_PROFILES: Final = {
    profile.name: profile
    for profile in (
        Profile(
            "kafka-4.1",
            "Kafka's defaults: heartbeats every 2 s, sessions of 9 s.",
            CONFIGURATIONS["kafka-4.1"](),
            _scheduled,
        ),
        Profile(
            "kip-631",
            "The defaults of KIP-631: heartbeats every 3 s, sessions of 18 s.",
            CONFIGURATIONS["kip-631"](),
            _scheduled,
        ),
        Profile(
            "kip-343",
            "Brokers fence themselves, later than the controller does.",
            CONFIGURATIONS["kip-343"](),
            _scheduled,
        ),
        Profile(
            "self-fencing",
            "Brokers fence themselves first: no fenced broker serves.",
            CONFIGURATIONS["self-fencing"](),
            _scheduled_with(unregister_every_ms=0),
            _IN_ORDER_AND_IN_TIME,
        ),
        Profile(
            "shutdowns",
            "As kafka-4.1, with many controlled shutdowns.",
            kafka_4_1(),
            _scheduled_with(shutdown_every_ms=9_000),
        ),
        Profile(
            "cut-off",
            "As kafka-4.1, with brokers that are cut off for long.",
            kafka_4_1(),
            _scheduled_with(cut_off_every_ms=9_000),
        ),
        Profile(
            "restless",
            "One choice after another at random, with short timeouts.",
            _SHORT,
            RandomDriver,
        ),
        Profile("repeating", "One broker; requests arrive late and twice.", _ALONE, _repeating),
        Profile(
            "restless-self-fencing",
            "As restless, with brokers that fence themselves first.",
            _SHORT_PROMISING,
            _restless_promising,
            _IN_ORDER_AND_IN_TIME,
        ),
    )
}
assert all(
    promises_no_overlap(profile.configuration)
    for profile in _PROFILES.values()
    if "NoOverlapInv" in profile.also
), "a profile may only be held to what its configuration promises"

# kip-631 and kip-343 are left out: they differ from others in their timeouts only. cut-off came
# later: in the turns it would change which profile a run of a seed has.
_DEFAULT_PROFILES: Final = (
    "restless", "kafka-4.1", "restless-self-fencing",
    "repeating", "self-fencing", "shutdowns",
)  # fmt: skip


def conditions_met(
    configuration: Configuration, taken: Iterable[choices.Choice]
) -> tuple[str, ...]:
    """Return the conditional properties that a list of choices must keep."""
    if configuration.reorder:
        return ()
    none_unregisters = not any(isinstance(one, choices.UnregisterBroker) for one in taken)
    if promises_no_overlap(configuration) and none_unregisters:
        return _IN_ORDER_AND_IN_TIME
    return ("RegistrationIsKnownInv",)


SYSTEM: Final = ChoiceSystem(
    name="lease",
    first_cluster=first_cluster,
    step=step,
    judge=spec.judge,
    recorder=LeaseTraceRecorder,
    configuration=Configuration,
    choice=choices.Choice,
    of_message=(choices.Deliver, choices.LoseMessage, choices.DuplicateMessage),
    modules=(spec.MODULE,),
    profiles=_PROFILES,
    default_profiles=_DEFAULT_PROFILES,
    faults=FAULTS,
    conditions=conditions_met,
    shrinker=LeaseShrinker,
)
