"""What kinds of run there are: a configuration, who makes the choices, and what is promised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from krafla.fuzz.cluster.profiles import CLUSTER
from krafla.fuzz.cluster.profiles import CONFIGURATIONS as CLUSTERS
from krafla.fuzz.cluster.profiles import driver as cluster_driver
from krafla.fuzz.engine.systems import LEASE, Game
from krafla.fuzz.lease.random_driver import RandomDriver
from krafla.fuzz.metadata.profiles import CONTROLLING, METADATA, controlling
from krafla.fuzz.reassignment.profiles import CONFIGURATIONS, REASSIGNMENT, moving
from krafla.fuzz.registration.profiles import CONFIGURATIONS as REGISTERING
from krafla.fuzz.registration.profiles import REGISTRATION, registering
from krafla.verdict import KraflaError
from kraft.sim.lease.choices import (
    Crash,
    DuplicateMessage,
    FailOver,
    RequestShutdown,
    RequestTimeout,
    UnregisterBroker,
)
from kraft.sim.lease.configuration import (
    PROFILES,
    Configuration,
    kafka_4_1,
    processes,
    promises_no_overlap,
)
from kraft.sim.lease.faults import draw_fault_plan
from kraft.sim.lease.scheduler import Scheduler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from random import Random

    from kraft.sim.lease.choices import Choice

__all__ = [
    "DEFAULT_PROFILES",
    "PROFILES_OF",
    "Driver",
    "Profile",
    "conditions_met",
    "find_profile",
    "profiles_chosen",
]


class Driver(Protocol):
    """Who makes the choices of a run."""

    def next_choice(self, cluster: Any) -> Any:
        """Return what happens next."""

    def observe(self, result: Any) -> None:
        """Hear what came of it."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A kind of run; ``also`` names the conditional properties whose condition it meets."""

    name: str
    configuration: Any
    driver: Callable[[Any, Random], Driver]
    also: tuple[str, ...] = ()
    game: Game = LEASE


def _scheduled(configuration: Configuration, random: Random) -> Driver:
    return Scheduler(configuration, draw_fault_plan(random, configuration), random)


def _scheduled_without(**faults: int) -> Callable[[Configuration, Random], Driver]:
    def driver(configuration: Configuration, random: Random) -> Driver:
        plan = msgspec.structs.replace(draw_fault_plan(random, configuration), **faults)
        return Scheduler(configuration, plan, random)

    return driver


def _restless_promising(configuration: Configuration, random: Random) -> Driver:
    return RandomDriver(configuration, random, without=(UnregisterBroker,))


def _repeating(configuration: Configuration, random: Random) -> Driver:
    """Return a driver under which requests arrive late and twice, and little else goes wrong."""
    faults = (FailOver, UnregisterBroker, Crash, RequestShutdown)
    often: dict[type[Choice], int] = {DuplicateMessage: 150, RequestTimeout: 40}
    return RandomDriver(configuration, random, without=faults, often=often)


_IN_ORDER_AND_IN_TIME: Final = ("NoOverlapInv", "OneServerPerIdInv", "RegistrationIsKnownInv")
_SHORT: Final = Configuration(
    processes(2, 6), session_timeout_ms=6, heartbeat_interval_ms=2, request_timeout_ms=3
)
_ALONE: Final = msgspec.structs.replace(_SHORT, processes=processes(1, 8))
_SHORT_PROMISING: Final = msgspec.structs.replace(
    _SHORT, broker_timeout_ms=5, max_skew_ms=1, reorder=False
)

_ALL: Final = (
    Profile("kafka-4.1", PROFILES["kafka-4.1"](), _scheduled),
    Profile("kip-631", PROFILES["kip-631"](), _scheduled),
    Profile("kip-343", PROFILES["kip-343"](), _scheduled),
    Profile(
        "self-fencing",
        PROFILES["self-fencing"](),
        _scheduled_without(unregister_every_ms=0),
        _IN_ORDER_AND_IN_TIME,
    ),
    Profile("shutdowns", kafka_4_1(), _scheduled_without(shutdown_every_ms=9_000)),
    Profile("restless", _SHORT, RandomDriver),
    Profile("repeating", _ALONE, _repeating),
    Profile("restless-self-fencing", _SHORT_PROMISING, _restless_promising, _IN_ORDER_AND_IN_TIME),
)
assert all(
    promises_no_overlap(profile.configuration) for profile in _ALL if "NoOverlapInv" in profile.also
), "a profile may only be held to what its configuration promises"
_MOVING: Final = tuple(
    Profile(name, configuration, moving, game=REASSIGNMENT)
    for name, configuration in CONFIGURATIONS.items()
)
_CONTROLLING: Final = tuple(
    Profile(name, configuration, controlling, game=METADATA)
    for name, configuration in CONTROLLING.items()
)
_REGISTERING: Final = tuple(
    Profile(name, configuration, registering, game=REGISTRATION)
    for name, configuration in REGISTERING.items()
)
_CLUSTER: Final = tuple(
    Profile(name, configuration, cluster_driver, game=CLUSTER)
    for name, configuration in CLUSTERS.items()
)
_BY_NAME: Final = {
    profile.name: profile for profile in (*_ALL, *_MOVING, *_REGISTERING, *_CONTROLLING, *_CLUSTER)
}

# Taken in turn. kip-631 and kip-343 are left out: they differ from others in their timeouts only.
DEFAULT_PROFILES: Final = (
    "restless", "kafka-4.1", "restless-self-fencing",
    "repeating", "self-fencing", "shutdowns",
)  # fmt: skip
PROFILES_OF: Final = {
    "lease": DEFAULT_PROFILES,
    "reassignment": tuple(CONFIGURATIONS),
    "metadata": tuple(CONTROLLING),
    "registration": tuple(REGISTERING),
    "cluster": tuple(CLUSTERS),
}
"""The profiles that the runs of each game take in turn."""


def conditions_met(configuration: Configuration, choices: Iterable[Choice]) -> tuple[str, ...]:
    """Return the conditional properties that a list of choices must keep."""
    if configuration.reorder:
        return ()
    nobody_unregisters = not any(isinstance(one, UnregisterBroker) for one in choices)
    if promises_no_overlap(configuration) and nobody_unregisters:
        return _IN_ORDER_AND_IN_TIME
    return ("RegistrationIsKnownInv",)


def find_profile(name: str) -> Profile:
    """Return the profile of this name; ``KraflaError`` lists them if there is none."""
    if name not in _BY_NAME:
        raise KraflaError(f"no profile {name!r}; there are: {', '.join(_BY_NAME)}")
    return _BY_NAME[name]


def profiles_chosen(game: str, names: Sequence[str] | None) -> tuple[str, ...]:
    """Return the profiles that ``--profile`` names, all that the runs of a game take if none.

    ``KraflaError`` for a name that no profile has, or one of another game.
    """
    for name in names or ():
        if find_profile(name).game.name != game:
            known = "; ".join(f"{other} has {', '.join(its)}" for other, its in PROFILES_OF.items())
            raise KraflaError(f"{name} is no profile of {game}: {known}")
    return tuple(names) if names else PROFILES_OF[game]
